"""bf16 arithmetic whose rounding IREE keeps.

It drops others (quirks.BF16_ROUNDINGS_DROPPED): a quotient that falls between two
fp8 codes then goes to the wrong one in about 3 of 100 cases. A rounding in integer
arithmetic stays.
"""

from __future__ import annotations

from ....dialects import ir
from ....dialects.upstream.arith import Scalars


def widen(s: Scalars, value: ir.Value) -> ir.Value:
    """A bf16 as f32 by its bits: an extf takes back the rounding before it."""
    bits = s.convert("extui", s.convert("bitcast", value, s.integer_type(16)), s.integer_type(32))
    return s.convert("bitcast", s.binary("shli", bits, 16), ir.F32Type.get(s.loc.context))


def binary(s: Scalars, name: str, a: ir.Value, b: ir.Value) -> ir.Value:
    """``arith.<name>`` of two values of one type, rounded to that type.

    For add, sub, mul and div of bf16: f32 has more than twice bf16's bits, so
    rounding twice gives what rounding once would.
    """
    if not isinstance(a.type, ir.BF16Type):
        return s.binary(name, a, b)
    wide = s.binary(name, widen(s, a), widen(s, b))
    return convert(s, wide, a.type)


def convert(s: Scalars, value: ir.Value, type_: ir.Type) -> ir.Value:
    """``convert_float``, with a rounding from f32 to bf16 that stays."""
    if isinstance(value.type, ir.F32Type) and isinstance(type_, ir.BF16Type):
        value = _to_bf16_value(s, value)
    return s.convert_float(value, type_)


def round_in_f32(s: Scalars, value: ir.Value, type_: ir.Type) -> ir.Value:
    """An f32 rounded to what ``type_`` holds, as an f32."""
    if isinstance(type_, ir.BF16Type):
        return _to_bf16_value(s, value)
    return s.convert_float(s.convert_float(value, type_), value.type)


def round_finite(s: Scalars, value: ir.Value) -> ir.Value:
    """An f32 that is no NaN as the f32 that is the nearest bf16, ties to even."""
    bits = s.convert("bitcast", value, s.integer_type(32))
    return s.convert("bitcast", _rounded_bits(s, bits), value.type)


def upper_half(s: Scalars, value: ir.Value, type_: ir.Type) -> ir.Value:
    """An f32 that is a bf16's value as that bf16, exactly, subnormals too."""
    bits = s.convert("bitcast", value, s.integer_type(32))
    half = s.convert("trunci", s.binary("shrui", bits, 16), s.integer_type(16))
    return s.convert("bitcast", half, type_)


def _to_bf16_value(s: Scalars, value: ir.Value) -> ir.Value:
    """The f32 that is the nearest bf16, ties to even; NaN stays NaN."""
    bits = s.convert("bitcast", value, s.integer_type(32))
    rounded = _rounded_bits(s, bits)
    # A NaN whose payload lies in the low half would round to infinity.
    is_nan = s.compare("ugt", s.binary("andi", bits, 0x7FFFFFFF), 0x7F800000)
    quiet = s.binary("ori", bits, 0x00400000)
    return s.convert("bitcast", s.select(is_nan, quiet, rounded), value.type)


def _rounded_bits(s: Scalars, bits: ir.Value) -> ir.Value:
    last = s.binary("andi", s.binary("shrui", bits, 16), 1)
    rounded = s.binary("addi", s.binary("addi", bits, 0x7FFF), last)
    return s.binary("andi", rounded, 0xFFFF0000)
