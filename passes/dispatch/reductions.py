"""Which values of a dispatch region come after all its reductions."""

from __future__ import annotations

from ...dialects.dispatch import DispatchRegion
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


def values_after_reductions(region: DispatchRegion) -> set[Value] | None:
    """The values that every reduction in the region goes into; None for all.

    The others are computed beside a reduction or before it.
    """
    ops = operations_of(region.body)
    into: dict[Value, int] = {}  # per value a bit for each reduction
    count = 0
    for op in ops:
        bits = 0
        for inner in walk(op) if len(op.regions) else (op,):
            for operand in inner.operands:
                bits |= into.get(operand, 0)
        if _is_reduction(op):
            bits |= 1 << count
            count += 1
        if bits:
            into.update(dict.fromkeys(op.results, bits))
    if count == 0:
        return None
    return {value for value, bits in into.items() if bits == (1 << count) - 1}


def _is_reduction(op: Operation) -> bool:
    if op.name == "linalg.generic":
        return "reduction" in str(op.attributes["iterator_types"])
    if op.name.startswith("linalg."):
        return op.name not in _PARALLEL_NAMES
    return op.name in _OTHER_REDUCTIONS
