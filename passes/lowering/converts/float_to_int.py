"""Floats as integers, saturating.

arith's converts leave open what a value gives that does not fit, and CPUs
differ (quirks.FLOAT_TO_INTEGER_OVERFLOW); XLA, on all its backends, gives the
nearest integer that fits, and 0 for NaN. StableHLO leaves it to the implementation.
"""

from __future__ import annotations

from ....dialects import ir
from ....dialects.upstream.arith import Scalars

_F32_PRECISION = 24
_F64_PRECISION = 53
_I32 = 32


def to_integer(s: Scalars, value: ir.Value, type_: ir.IntegerType, *, signed: bool) -> ir.Value:
    """An f32 or f64 as an integer: rounded towards zero, saturated, NaN to 0.

    A bound that the float type holds is clamped to before the convert; only
    the upper bounds of wide integers are not, and are selected after it.
    """
    name = "fptosi" if signed else "fptoui"
    width = type_.width - 1 if signed else type_.width
    lowest = -(2.0**width) if signed else 0.0
    if signed:
        zero = s.constant(0.0, value.type)
        value = s.select(s.compare_floats("ord", value, value), value, zero)
    # Unsigned, the comparison takes NaN to 0 as well.
    clamped = s.select(
        s.compare_floats("ogt", value, lowest), value, s.constant(lowest, value.type)
    )
    precision = _F64_PRECISION if isinstance(value.type, ir.F64Type) else _F32_PRECISION
    if width <= precision:
        largest = s.constant(2**width - 1, value.type)
        clamped = s.select(s.compare_floats("olt", clamped, 2**width - 1), clamped, largest)
        if not signed and width < _I32:  # a signed convert, which vmvx has as well
            return s.convert("trunci", s.convert("fptosi", clamped, s.integer_type(_I32)), type_)
        return s.convert(name, clamped, type_)
    overflows = s.compare_floats("oge", value, 2.0**width)
    return s.select(overflows, s.constant(2**width - 1, type_), s.convert(name, clamped, type_))
