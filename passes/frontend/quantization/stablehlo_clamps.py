"""Recognises clamps in all the forms that frontends write."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.ops.constraints import is_per_tensor, shape_of
from ....dialects.upstream.stablehlo import constant_elements
from ...rewriting import Miss
from .clamps import Clamp, Limit, nested_clamp
from .stablehlo_constants import uniform_value

_CLAMP = "stablehlo.clamp"
_LOWER = "stablehlo.maximum"
_UPPER = "stablehlo.minimum"


def find_clamp(value: ir.Value) -> Clamp[ir.Value] | Miss | None:
    """The clamp that makes ``value``, None if there is none.

    Takes stablehlo.clamp, and maximum and minimum in either nesting and
    operand order. A Miss says why what looks like a clamp is not one with
    two constant bounds.
    """
    op = ir.defining_op(value)
    if op is not None and op.name == _CLAMP:
        low, high = uniform_value(op.operands[0]), uniform_value(op.operands[2])
        if low is None or high is None:
            return Miss(_no_number(op.operands[0 if low is None else 2]))
        return Clamp(op.operands[1], low, high)
    return nested_clamp(value, _limit)


def _limit(value: ir.Value) -> Limit[ir.Value] | Miss | None:
    op = ir.defining_op(value)
    if op is None or op.name not in (_LOWER, _UPPER):
        return None
    for bound, other in ((op.operands[0], op.operands[1]), (op.operands[1], op.operands[0])):
        number = uniform_value(bound)
        if number is not None:
            return Limit(other, number, op.name == _UPPER)
    for operand in op.operands:
        if constant_elements(operand) is not None or _is_spread_scalar(operand):
            return Miss(_no_number(operand))
    return None  # of two ordinary tensors


def _is_spread_scalar(value: ir.Value) -> bool:
    op = ir.defining_op(value)
    if op is None or not op.name.endswith("broadcast_in_dim"):
        return False
    source = op.operands[0]
    return isinstance(source.type, ir.RankedTensorType) and is_per_tensor(shape_of(source))


def _no_number(bound: ir.Value) -> str:
    if constant_elements(bound) is not None:
        return "a bound of the clamp is not the same for all elements"
    return "a bound of the clamp is not a constant"
