"""Keeps IREE from swapping the results of a dispatch that reads no tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import (
    Attribute,
    DenseElementsAttr,
    InsertionPoint,
    Operation,
    RankedTensorType,
    Value,
    defining_op,
    walk,
)
from ..base import Pass

_BARRIER = "util.optimization_barrier"
_DISPATCHED = ("linalg.", "flow.dispatch.region")


@dataclass(frozen=True)
class HoldSourcelessResults(Pass):
    """Put a barrier behind the results of ops that read no tensor and have several.

    %v:2 = linalg.generic outs(%e, %f) { linalg.index ... }
    // =>
    %v:2 = linalg.generic outs(%e, %f) { linalg.index ... }
    %h:2 = util.optimization_barrier %v#0, %v#1

    To IREE 3.13 a dispatch without tensor operands is as cheap as a splat: where
    a result is copied or transferred, it clones the dispatch instead, and takes
    the clone's first result, whichever was copied (iree-org/iree#14566 is of
    this kind). Constants that are splats, fills and what is made of them alone
    go into the dispatch, so an op that reads only those reads nothing.
    """

    name: ClassVar[str] = "hold-sourceless-results"

    def run(self, module: Operation) -> None:
        known: dict[Value, bool] = {}
        for op in walk(module):
            several = len(op.results) > 1 and op.name.startswith(_DISPATCHED)
            if several and all(_is_sourceless(v, known) for v in _read(op)):
                _hold(op)


def _read(op: Operation) -> list[Value]:
    """The tensors that an op reads from outside, in its regions too."""
    found = [*op.operands]
    if len(op.regions):
        inner = walk(op)
        own = dict.fromkeys(r for i in inner for r in i.results)
        found += [v for i in inner if i != op for v in i.operands if v not in own]
    return [v for v in found if isinstance(v.type, RankedTensorType)]


def _is_sourceless(value: Value, known: dict[Value, bool]) -> bool:
    """Whether all that the value is made of is made in its user's dispatch, or may be."""
    if value not in known:
        op = defining_op(value)
        known[value] = False  # a block's argument
        if op is not None:
            if op.name == "arith.constant":
                constant: Attribute = op.attributes["value"]
                known[value] = isinstance(constant, DenseElementsAttr) and constant.is_splat
            elif op.name.startswith(("tensor.", *_DISPATCHED)):
                known[value] = all(_is_sourceless(v, known) for v in _read(op))
    return known[value]


def _hold(op: Operation) -> None:
    results = [*op.results]
    with InsertionPoint.after(op), op.location:
        held = Operation.create(
            _BARRIER, results=[r.type for r in results], operands=results
        ).operation
    for old, new in zip(results, held.results, strict=True):
        old.replace_all_uses_except(new, held)
