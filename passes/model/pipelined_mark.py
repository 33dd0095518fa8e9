"""The marks that the pipeliner leaves on collectives and on copies of matmuls."""

from __future__ import annotations

from collections.abc import Iterable

from ...dialects.headrace import CollectiveOp
from ...dialects.mlir import BoolAttr, Operation, UnitAttr, walk
from .contractions import CONTRACTIONS

PIPELINE_REASON = "headrace.pipeline_reason"

# On a matmul whose original is in the loop: the report counts it once.
PEELED = "headrace.peeled"
_MATMULS = frozenset(("headrace.matmul", *CONTRACTIONS))


def is_collective(op: Operation) -> bool:
    return isinstance(op.opview, CollectiveOp)


def collective_view(op: Operation) -> CollectiveOp:
    """The typed view of a collective; AssertionError for any other op."""
    view = op.opview
    assert isinstance(view, CollectiveOp), op.name
    return view


def mark_pipelined(ops: Iterable[Operation]) -> None:
    """Sets ``pipelined`` on the collectives among freshly cloned ops."""
    for op in ops:
        if is_collective(op):
            with op.context:
                op.attributes["pipelined"] = BoolAttr.get(True)
            if PIPELINE_REASON in op.attributes:
                del op.attributes[PIPELINE_REASON]


def mark_peeled(ops: Iterable[Operation]) -> None:
    """Marks the matmuls among copies of ops that a loop still holds, nested ones included."""
    for op in ops:
        for inner in walk(op) if len(op.regions) else (op,):
            if inner.name in _MATMULS:
                with inner.context:
                    inner.attributes[PEELED] = UnitAttr.get()
