"""Keeps IREE from fusing a reduction with what reads its result in two ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.barriers import hold
from ...dialects.op_traits import VIEWS
from ...dialects.upstream.generic import GENERIC, is_parallel, maps_of
from ...dialects.upstream.linalg import TensorBuilder
from ...dialects.upstream.tensor import dynamic_sizes
from ..base import Pass

# For each dimension of a reduction's result the loop, or later the dimension,
# that walks along it; anything else where that cannot be said so.
Access = tuple[object, ...]
Accesses = dict[ir.Value, dict[Access, None]]

# Whose maps are identities where none are given.
_SAME = ("linalg.map", "linalg.elementwise", "linalg.copy")


@dataclass(frozen=True)
class HoldCrossedReductions(Pass):
    """Put a barrier behind reductions that one elementwise op reads through two maps.

    %s = linalg.reduce { arith.addf } ins(%x)
    %d = linalg.generic ins(%s by (i), %s by (j)) outs(%e by (i, j))
    // =>
    %s = linalg.reduce { arith.addf } ins(%x)
    %b = util.optimization_barrier %s
    %d = linalg.generic ins(%b by (i), %b by (j)) outs(%e by (i, j))

    As pairwise distances do. IREE would compute both in one dispatch, and most rows
    wrongly: quirks.REDUCTION_READ_TWO_WAYS. What lies between the two may be any
    number of elementwise ops, which IREE fuses into one.
    """

    name: ClassVar[str] = "hold-crossed-reductions"

    def run(self, module: ir.Operation) -> None:
        accesses: dict[ir.Value, Accesses] = {}
        crossed: dict[ir.Value, None] = {}
        for op in ir.walk(module):
            if op.name.startswith("linalg.") and len(op.results):
                _visit(op, accesses, crossed)
            elif op.name in VIEWS and (found := accesses.get(op.operands[0])) is not None:
                way: Access = (op.name, str(op.operands[0].type), str(op.results[0].type))
                accesses[op.results[0]] = {
                    root: {(*a, way) if op.name != "tensor.cast" else a: None for a in ways}
                    for root, ways in found.items()
                }
        for root in crossed:
            producer = ir.defining_op(root)
            assert producer is not None
            b = TensorBuilder(ir.InsertionPoint.after(producer), producer.location)
            number = len(producer.operands) - len(producer.results) + ir.result_number(root)
            held, barrier = hold(b, root, dynamic_sizes(b, producer.operands[number]))
            root.replace_all_uses_except(held, barrier)


def _visit(
    op: ir.Operation, accesses: dict[ir.Value, Accesses], crossed: dict[ir.Value, None]
) -> None:
    """What the op's results are made of; a reduction starts anew."""
    maps = _maps(op)
    if maps is None:
        for result in op.results:
            if isinstance(result.type, ir.RankedTensorType):
                rank = len(ir.RankedTensorType(result.type).shape)
                accesses[result] = {result: {tuple(range(rank)): None}}
        return
    read: Accesses = {}
    inputs = len(op.operands) - len(op.results)
    for operand, way in zip(op.operands, maps, strict=True):
        for root, ways in accesses.get(operand, {}).items():
            into = read.setdefault(root, {})
            for access in ways:
                into[_through(access, way)] = None
    for root, ways in read.items():
        if len(ways) > 1:
            crossed[root] = None
    for result, way in zip(op.results, maps[inputs:], strict=True):
        places = {loop: dim for dim, loop in enumerate(way)}
        accesses[result] = {
            root: {tuple(places.get(a, a) for a in access): None for access in ways}
            for root, ways in read.items()
        }


def _through(access: Access, way: Access) -> Access:
    """The loops that walk along the dimensions of a root, which an operand has so."""
    if all(isinstance(a, int) for a in access):
        return tuple(way[a] for a in access if isinstance(a, int))
    return (*access, way)


def _maps(op: ir.Operation) -> list[Access] | None:
    """Of all operands of an elementwise op; None for another op."""
    ranks = [
        len(ir.RankedTensorType(o.type).shape) if isinstance(o.type, ir.RankedTensorType) else 0
        for o in op.operands
    ]
    if op.name == GENERIC:
        return [_loops(m) for m in maps_of(op)] if is_parallel(op) else None
    if op.name == "linalg.fill":
        return [(), tuple(range(ranks[1]))]
    if op.name in _SAME and "indexing_maps" not in op.attributes:
        return [tuple(range(rank)) for rank in ranks]
    if op.name == "linalg.transpose":
        order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
        return [tuple(order.index(d) for d in range(ranks[0])), tuple(range(ranks[1]))]
    if op.name == "linalg.broadcast":
        added = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        return [tuple(d for d in range(ranks[1]) if d not in added), tuple(range(ranks[1]))]
    return None


def _loops(map_: ir.AffineMap) -> Access:
    """The loop of each dimension; the text of one that is none."""
    found: list[object] = []
    for expression in map_.results:
        try:
            found.append(ir.affine_position(expression))
        except ValueError:
            found.append(str(expression))
    return tuple(found)
