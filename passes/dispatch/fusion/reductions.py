"""The reductions of a dispatch region, and what they go into."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.headrace import MatmulOp
from ....dialects.iree.dispatch import DispatchRegion
from ....dialects.op_traits import ATTENTION, LINALG_PARALLEL
from ....dialects.upstream.generic import GENERIC, is_parallel, iterators_of, maps_of
from ....dialects.upstream.linalg import DYNAMIC, tensor_type


@dataclass(frozen=True)
class Reductions:
    """The reductions of a region: the ranks of their results, of those also that
    reduce a dynamic dimension, and the values that every one of them goes into."""

    ranks: frozenset[int]
    dynamic_ranks: frozenset[int]
    into: frozenset[ir.Value]

    def all_go_into(self, value: ir.Value) -> bool:
        """Whether nothing is reduced beside ``value``, or from it."""
        return not self.ranks or value in self.into


def reductions_of(region: DispatchRegion) -> Reductions:
    ranks: set[int] = set()
    dynamic_ranks: set[int] = set()
    into: dict[ir.Value, int] = {}  # per value a bit for each reduction
    count = 0
    for op in ir.operations_of(region.body):
        bits = 0
        for operand in ir.all_operands(op):
            bits |= into.get(operand, 0)
        if _is_reduction(op):
            bits |= 1 << count
            count += 1
            found = {tensor_type(result).rank for result in op.results}
            ranks |= found
            if _reduces_dynamic_dimension(op):
                dynamic_ranks |= found
        if bits:
            into.update(dict.fromkeys(op.results, bits))
    after_all = (value for value, bits in into.items() if bits == (1 << count) - 1)
    return Reductions(frozenset(ranks), frozenset(dynamic_ranks), frozenset(after_all))


def _reduces_dynamic_dimension(op: ir.Operation) -> bool:
    """Whether it does, for a ``linalg.generic``; for other ops whether it may."""
    tensors = [(i, v) for i, v in enumerate(op.operands) if isinstance(v.type, ir.RankedTensorType)]
    if op.name != GENERIC:
        return any(DYNAMIC in tensor_type(value).shape for _, value in tensors)
    reduced = {f"d{loop}" for loop, kind in enumerate(iterators_of(op)) if kind == "reduction"}
    maps = maps_of(op)
    return any(
        size == DYNAMIC and not reduced.isdisjoint(re.findall(r"d\d+", str(place)))
        for index, value in tensors
        for size, place in zip(tensor_type(value).shape, maps[index].results, strict=True)
    )


def _is_reduction(op: ir.Operation) -> bool:
    if op.name == GENERIC:
        return not is_parallel(op)
    if op.name.startswith("linalg."):
        return op.name not in LINALG_PARALLEL
    return op.name == MatmulOp.OPERATION_NAME or op.name in ATTENTION
