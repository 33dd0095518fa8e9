"""Conversions of the element types of microscaling formats, in integer arithmetic.

``f8E8M0FNU``: scales, which are powers of two from 2^-127 to 2^127 or NaN.
``f4E2M1FN``: elements, 0 to 6 and their negatives. Source: OCP microscaling
formats specification 1.0; what it leaves open is as XLA and ml_dtypes have it.

IREE lacks some, and rounds otherwise: quirks.MICROSCALING_ON_CUDA,
quirks.F4_CONVERTS, quirks.E8M0_TRUNCATED.
"""

from __future__ import annotations

from ....dialects import ir
from ....dialects.upstream.arith import Scalars

_SCALE = ir.Float8E8M0FNUType
_ELEMENT = ir.Float4E2M1FNType
_F32_NAN = 0x7FC00000


def is_microscaling(type_: ir.Type) -> bool:
    """Whether a scalar type is f8E8M0FNU or f4E2M1FN."""
    return isinstance(type_, _SCALE | _ELEMENT)


def decode(s: Scalars, value: ir.Value) -> ir.Value:
    """The f32 that a value of either type is, exactly.

    2^-127, a subnormal, is made as bits: IREE's CPU workers flush those that
    are computed.
    """
    f32 = ir.F32Type.get(s.loc.context)
    integer = s.integer_type(32)
    if isinstance(value.type, _SCALE):
        code = s.convert("extui", s.convert("bitcast", value, s.integer_type(8)), integer)
        least = s.constant(1 << 22, integer)
        bits = s.select(s.compare("eq", code, 0), least, s.binary("shli", code, 23))
        bits = s.select(s.compare("eq", code, 0xFF), s.constant(_F32_NAN, integer), bits)
        return s.convert("bitcast", bits, f32)
    code = s.convert("extui", s.convert("bitcast", value, s.integer_type(4)), integer)
    magnitude = s.binary("andi", code, 7)
    # From 1.0, code 2, on: exponent and one bit of mantissa; below, 0 and 0.5.
    bits = s.binary("addi", s.binary("shli", magnitude, 22), 126 << 23)
    small = s.binary("muli", magnitude, 126 << 23)
    bits = s.select(s.compare("ult", magnitude, 2), small, bits)
    bits = s.binary("ori", bits, s.binary("shli", s.binary("andi", code, 8), 28))
    return s.convert("bitcast", bits, f32)


def decode_f64(s: Scalars, value: ir.Value) -> ir.Value:
    """The f64 that a value of either type is: none is a subnormal there."""
    f64, integer = ir.F64Type.get(s.loc.context), s.integer_type(64)
    if isinstance(value.type, _ELEMENT):
        return s.convert_float(decode(s, value), f64)
    code = s.convert("extui", s.convert("bitcast", value, s.integer_type(8)), integer)
    bits = s.binary("shli", s.binary("addi", code, 1023 - 127), 52)
    nan = s.constant(0x7FF8 << 48, integer)
    return s.convert("bitcast", s.select(s.compare("eq", code, 0xFF), nan, bits), f64)


def encode(s: Scalars, value: ir.Value, type_: ir.Type) -> ir.Value:
    """An f32 or f64 in one of the types, rounded once."""
    if isinstance(type_, _SCALE):
        code = _scale_of_f64(s, value) if isinstance(value.type, ir.F64Type) else _scale(s, value)
        return s.convert("bitcast", s.convert("trunci", code, s.integer_type(8)), type_)
    return s.convert("bitcast", _element(s, value), type_)


def _scale(s: Scalars, value: ir.Value) -> ir.Value:
    """The code of the nearest power of two, the larger one of two.

    What lies below 2^-127 gets its code, and all between it and 2^-126 the
    code of the latter. Zero, negative values, and what rounds to 2^128, become
    NaN: the format has neither zero, sign nor infinity.
    """
    bits = s.convert("bitcast", value, s.integer_type(32))
    normal = s.convert("extui", s.compare("uge", bits, 1 << 23), bits.type)
    half = s.binary("addi", normal, (1 << 22) - 1)
    code = s.binary("shrui", s.binary("addi", bits, half), 23)
    # Zero wraps around, and the sign is the highest bit: one test for all.
    invalid = s.compare("ugt", s.binary("subi", bits, 1), 0x7F800000 - 2)
    return s.select(invalid, s.constant(0xFF, bits.type), code)


def _scale_of_f64(s: Scalars, value: ir.Value) -> ir.Value:
    """The same of an f64, but that what lies below 2^-127 becomes NaN.

    XLA's rule; ml_dtypes goes through f32, which rounds twice.
    """
    bits = s.convert("bitcast", value, s.integer_type(64))
    least = (1023 - 127) << 52
    code = s.binary("shrui", s.binary("addi", bits, (1 << 51) - least), 52)
    is_zero = s.compare("eq", code, 0)
    above = s.convert("extui", s.compare("ugt", bits, least), bits.type)
    code = s.select(is_zero, above, code)
    largest = (1023 + 128) << 52
    invalid = s.compare("ugt", s.binary("subi", bits, least), largest - least - 1)
    return s.select(invalid, s.constant(0xFF, bits.type), code)


def _element(s: Scalars, value: ir.Value) -> ir.Value:
    """The i4 code of the nearest f4E2M1FN, ties to even; beyond 6, and for
    infinities, 6 with the sign; for NaN, which the format lacks, -0."""
    is_f64 = isinstance(value.type, ir.F64Type)
    width, mantissa, bias = (64, 52, 1023) if is_f64 else (32, 23, 127)
    bits = s.convert("bitcast", value, s.integer_type(width))
    magnitude = s.binary("andi", bits, (1 << (width - 1)) - 1)
    shift = mantissa - 1
    last = s.binary("andi", s.binary("shrui", magnitude, shift), 1)
    rounded = s.binary("addi", s.binary("addi", magnitude, last), (1 << (shift - 1)) - 1)
    rounded = s.binary("subi", s.binary("shrui", rounded, shift), (bias - 1) << 1)

    def at_least(bound: int) -> ir.Value:
        return s.convert("extui", s.compare("uge", magnitude, bound), bits.type)

    quarter, three_quarters = (bias - 2) << mantissa, ((bias - 1) << mantissa) | 1 << shift
    below_one = s.binary("addi", at_least(quarter + 1), at_least(three_quarters))
    code = s.select(s.compare("ult", magnitude, bias << mantissa), below_one, rounded)
    code = s.select(s.compare("ugt", code, 7), s.constant(7, bits.type), code)
    sign = s.binary("andi", s.binary("shrui", bits, width - 4), 8)
    code = s.binary("ori", code, sign)
    infinity = ((1 << (width - 1)) - 1) >> mantissa << mantissa
    code = s.select(s.compare("ugt", magnitude, infinity), s.constant(8, bits.type), code)
    return s.convert("trunci", code, s.integer_type(4))
