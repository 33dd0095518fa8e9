"""The reductions of a dispatch region, and what they go into."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.dispatch import DispatchRegion
from ...dialects.linalg import tensor_type
from ...dialects.mlir import Operation, Value, operations_of, walk

# Linalg ops other than `generic` that only have parallel loops.
_PARALLEL = """
abs add broadcast ceil copy div div_unsigned elementwise erf exp fill floor log map max min mul
negf pack powf reciprocal round rsqrt select sqrt square sub tanh transpose unpack
"""
_PARALLEL_NAMES = frozenset(f"linalg.{name}" for name in _PARALLEL.split())
_OTHER_REDUCTIONS = (
    "headrace.matmul",
    "iree_linalg_ext.attention",
    "iree_linalg_ext.online_attention",
)


@dataclass(frozen=True)
class Reductions:
    """The reductions of a region: the ranks of their results, and the values that
    every one of them goes into."""

    ranks: frozenset[int]
    into: frozenset[Value]

    def all_go_into(self, value: Value) -> bool:
        """Whether nothing is reduced beside ``value``, or from it."""
        return not self.ranks or value in self.into


def reductions_of(region: DispatchRegion) -> Reductions:
    ranks: set[int] = set()
    into: dict[Value, int] = {}  # per value a bit for each reduction
    count = 0
    for op in operations_of(region.body):
        bits = 0
        for inner in walk(op) if len(op.regions) else (op,):
            for operand in inner.operands:
                bits |= into.get(operand, 0)
        if _is_reduction(op):
            bits |= 1 << count
            count += 1
            ranks.update(tensor_type(result).rank for result in op.results)
        if bits:
            into.update(dict.fromkeys(op.results, bits))
    after_all = (value for value, bits in into.items() if bits == (1 << count) - 1)
    return Reductions(frozenset(ranks), frozenset(after_all))


def _is_reduction(op: Operation) -> bool:
    if op.name == "linalg.generic":
        return "reduction" in str(op.attributes["iterator_types"])
    if op.name.startswith("linalg."):
        return op.name not in _PARALLEL_NAMES
    return op.name in _OTHER_REDUCTIONS
