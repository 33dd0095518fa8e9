"""Elementwise reduction of several tensors, in one linalg.generic."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import ir
from ....dialects.fp8 import fp8_format
from ....dialects.headrace import CollectiveOp, ReducingCollectiveOp
from ....dialects.upstream.arith import Scalars
from ....dialects.upstream.linalg import TensorBuilder, dims_map, tensor_type

_FLOAT = {"add": "addf", "mul": "mulf", "max": "maximumf", "min": "minimumf"}
_INTEGER = {
    "add": "addi",
    "mul": "muli",
    "max": "maxsi",
    "min": "minsi",
    "umax": "maxui",
    "umin": "minui",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
}
# StableHLO: on booleans, add is logical or and multiply is logical and.
_BOOLEAN = {
    "add": "ori",
    "max": "ori",
    "umax": "ori",
    "or": "ori",
    "mul": "andi",
    "min": "andi",
    "umin": "andi",
    "and": "andi",
    "xor": "xori",
}


def check_reducible(op: CollectiveOp) -> None:
    """Raises HeadraceError for a reduction of fp8 values: one byte does not
    hold the sum, and no library that IREE calls adds them up."""
    element = tensor_type(op.operands[0]).element_type
    if isinstance(op, ReducingCollectiveOp) and fp8_format(element) is not None:
        raise ir.error_at(
            op, f"'{op.name}' of {element} values is not supported: convert them to f32 first"
        )


def reduce_elementwise(b: TensorBuilder, values: Sequence[ir.Value], reduction: str) -> ir.Value:
    """``values`` combined from left to right, all of one tensor type.

    Sums and products of bf16 and f16 are taken in f32 and rounded once, as
    XLA's CPU compiler promotes bf16 reductions. The order is that of
    ``values``, so that equal lists give bit-identical results.
    """
    if len(values) == 1:
        return values[0]
    type_ = tensor_type(values[0])
    with b.loc:
        identity = dims_map(type_.rank, range(type_.rank))
    init = b.empty(type_, [(values[0], dim) for dim in range(type_.rank)])
    return b.generic(
        [(value, identity) for value in values],
        (init, identity),
        lambda s, arguments: _combine(s, arguments[:-1], reduction),
    )


def _combine(s: Scalars, values: Sequence[ir.Value], reduction: str) -> ir.Value:
    element = values[0].type
    wide = element
    if isinstance(element, ir.BF16Type | ir.F16Type) and reduction in ("add", "mul"):
        wide = ir.F32Type.get(s.loc.context)
    if isinstance(element, ir.FloatType):
        name = _FLOAT[reduction]
    else:
        name = (_BOOLEAN if ir.IntegerType(element).width == 1 else _INTEGER)[reduction]
    total, *others = (s.convert_float(value, wide) for value in values)
    for value in others:
        total = s.binary(name, total, value)
    return s.convert_float(total, element)
