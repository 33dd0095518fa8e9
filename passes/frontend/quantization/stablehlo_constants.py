"""Values that are one known number everywhere, as the graph rounds it."""

from __future__ import annotations

import math

from ....dialects import ir
from ....dialects.op_traits import REARRANGEMENTS
from ....dialects.upstream.stablehlo import splat_element

# Bits of the significand, and the exponent of the largest power of two.
_FORMATS: dict[type[ir.Type], tuple[int, int]] = {
    ir.BF16Type: (8, 127),
    ir.F16Type: (11, 15),
    ir.F32Type: (24, 127),
    ir.F64Type: (53, 1023),
}


def uniform_value(value: ir.Value) -> float | None:
    """The number that all elements of ``value`` are, None if not known.

    Looks through broadcasts, reshapes, negations and conversions of a
    constant, and rounds as each conversion to bf16, f16, f32 or f64 does.
    """
    steps: list[ir.Type | None] = []  # a conversion's target; None negates
    while (element := splat_element(value)) is None:
        op = ir.defining_op(value)
        if op is None:
            return None
        if op.name == "stablehlo.convert":
            steps.append(ir.RankedTensorType(op.results[0].type).element_type)
        elif op.name == "stablehlo.negate":
            steps.append(None)
        elif op.name not in REARRANGEMENTS:
            return None
        value = op.operands[0]
    if not isinstance(element, ir.FloatAttr | ir.IntegerAttr):
        return None
    number: float | None = float(element.value)
    for step in reversed(steps):
        if number is not None:
            number = -number if step is None else rounded(number, step)
    return number


def rounded(number: float, type_: ir.Type) -> float | None:
    """``number`` in a float type, round to nearest even; None for other types."""
    if type(type_) not in _FORMATS:
        return None
    bits, largest = _FORMATS[type(type_)]
    if number == 0 or not math.isfinite(number):
        return number
    # The unit in the last place, that of the smallest normal for subnormals.
    unit = max(math.frexp(number)[1], 2 - largest) - bits
    # Python's round is half to even, and scaling by powers of two is exact.
    result = math.ldexp(round(math.ldexp(number, -unit)), unit)
    limit = math.ldexp(2.0 - math.ldexp(1.0, 1 - bits), largest)
    return result if abs(result) <= limit else math.copysign(math.inf, number)
