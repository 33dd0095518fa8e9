"""fp8 conversions in integer arithmetic, exact for every code of all four formats.

For targets whose instruction set or whose IREE backend has no fp8 convert.
No step computes with a subnormal: IREE's CPU workers flush those to zero,
which would lose the subnormal codes (the known trick of one big multiply
does). Values: OCP 8-bit floating point specification; FNUZ: Noune et al. 2022.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.fp8 import Fp8Format
from ....dialects.upstream.arith import Scalars
from ..converts import bf16_rounding


@dataclass(frozen=True)
class _Wide:
    """Layout of an IEEE binary format: ``width`` bits, ``mantissa``, ``bias``."""

    width: int
    mantissa: int
    bias: int

    @property
    def infinity(self) -> int:
        """The bits of +inf; anything above, the sign apart, is a NaN."""
        return ((1 << (self.width - 1)) - 1) >> self.mantissa << self.mantissa


_F16 = _Wide(16, 10, 15)
_F32 = _Wide(32, 23, 127)
_F64 = _Wide(64, 52, 1023)


def _magnitude_limits(format_: Fp8Format) -> tuple[int, int]:
    """The codes of the largest finite value and of the NaN or infinity above it."""
    if format_.is_fnuz:
        return 0x7F, 0x80
    if format_.has_infinity:
        return 0x7B, 0x7C
    return 0x7E, 0x7F


def decode(s: Scalars, code: ir.Value, format_: Fp8Format, type_: ir.Type) -> ir.Value:
    """The value of an i8 ``code`` as bf16, f16, f32 or f64; exact.

    NaN codes become a quiet NaN, infinities stay infinities. In f16 the
    smallest values of the two E5M2 formats are subnormals: made with shifts.
    """
    f32 = ir.F32Type.get(s.loc.context)
    if isinstance(type_, ir.F16Type):
        return _decode_bits(s, code, format_, _F16, type_)
    if isinstance(type_, ir.BF16Type):
        # A decoded f32 has only zeros where bf16 ends, so no rounding is needed.
        return bf16_rounding.upper_half(s, _decode_bits(s, code, format_, _F32, f32), type_)
    value = _decode_bits(s, code, format_, _F32, f32)
    return s.convert_float(value, type_)


def _decode_bits(
    s: Scalars, code: ir.Value, format_: Fp8Format, wide: _Wide, type_: ir.Type
) -> ir.Value:
    integer = s.integer_type(wide.width)
    bits = s.convert("extui", code, integer)
    magnitude = s.binary("andi", bits, 0x7F)
    shift = wide.mantissa - format_.mantissa_bits
    rebias = wide.bias - format_.bias
    shifted = s.binary("shli", magnitude, shift)
    result = shifted
    if rebias:
        result = s.binary("addi", shifted, rebias << wide.mantissa)
        tiny = _decode_tiny(s, magnitude, shifted, format_, wide, type_)
        # Below 2^m lie the subnormals. With a negative rebias the codes of
        # the first binade become subnormals of the wide format as well.
        limit = 1 << (format_.mantissa_bits + (1 if rebias < 0 else 0))
        result = s.select(s.compare("ult", magnitude, limit), tiny, result)
    finite, _ = _magnitude_limits(format_)
    if format_.has_infinity:
        special = s.binary("ori", shifted, wide.infinity)
        result = s.select(s.compare("ugt", magnitude, finite), special, result)
    elif not format_.is_fnuz:
        nan = s.constant(wide.infinity | (1 << (wide.mantissa - 1)), integer)
        result = s.select(s.compare("ugt", magnitude, finite), nan, result)
    sign = s.binary("shli", s.binary("andi", bits, 0x80), wide.width - 8)
    result = s.binary("ori", result, sign)
    if format_.is_fnuz:
        nan = s.constant(wide.infinity | (1 << (wide.mantissa - 1)), integer)
        result = s.select(s.compare("eq", bits, 0x80), nan, result)
    return s.convert("bitcast", result, type_)


def _decode_tiny(
    s: Scalars,
    magnitude: ir.Value,
    shifted: ir.Value,
    format_: Fp8Format,
    wide: _Wide,
    type_: ir.Type,
) -> ir.Value:
    """Bits of the values ``magnitude * 2^(1 - bias - m)`` near zero."""
    if format_.bias > wide.bias:
        # The format's last bit is `format_.bias - wide.bias` binades below
        # the shifted one; spacing is even down here, so a shift divides.
        return s.binary("shrui", shifted, format_.bias - wide.bias)
    unit = 2.0 ** (1 - format_.bias - format_.mantissa_bits)
    value = s.binary("mulf", s.convert("uitofp", magnitude, type_), unit)
    return s.convert("bitcast", value, magnitude.type)


def encode(s: Scalars, value: ir.Value, format_: Fp8Format, *, saturate: bool) -> ir.Value:
    """The i8 code of a bf16, f16, f32 or f64 value: one rounding, to nearest even.

    Saturating, values beyond the largest finite one and infinities get its
    code, which is what a clamp in the source type followed by a convert
    gives. Otherwise overflow gives the format's infinity, or NaN where it has
    none. NaN stays NaN. In the FNUZ formats -0 becomes 0.
    """
    wide = _F64 if isinstance(value.type, ir.F64Type) else _F32
    if isinstance(value.type, ir.BF16Type):
        value = bf16_rounding.widen(s, value)
    elif wide is _F32:
        value = s.convert_float(value, ir.F32Type.get(s.loc.context))
    integer = s.integer_type(wide.width)
    bits = s.convert("bitcast", value, integer)
    magnitude = s.binary("andi", bits, (1 << (wide.width - 1)) - 1)
    code = _round(s, magnitude, format_, wide, value.type)
    finite, overflow = _magnitude_limits(format_)
    limit = s.constant(finite if saturate else overflow, integer)
    code = s.select(s.compare("ugt", code, finite), limit, code)
    sign = s.binary("andi", s.binary("shrui", bits, wide.width - 8), 0x80)
    is_nan = s.compare("ugt", magnitude, wide.infinity)
    if format_.is_fnuz:
        # 0x80 is the NaN: a zero takes no sign, and neither does the NaN.
        sign = s.select(s.compare("eq", code, 0), code, sign)
        signed = s.binary("ori", code, sign)
        nan = s.constant(0x80, integer)
        signed = s.select(is_nan, nan, signed)
    else:
        nan = s.constant(0x7E if format_.has_infinity else 0x7F, integer)
        signed = s.binary("ori", s.select(is_nan, nan, code), sign)
    return s.convert("trunci", signed, s.integer_type(8))


def _round(
    s: Scalars, magnitude: ir.Value, format_: Fp8Format, wide: _Wide, type_: ir.Type
) -> ir.Value:
    """The rounded code of a non-negative value; above the finite codes on overflow."""
    shift = wide.mantissa - format_.mantissa_bits
    rebias = (wide.bias - format_.bias) << wide.mantissa
    # Half of what is cut off, less one, plus the last kept bit: nearest even.
    last = s.binary("andi", s.binary("shrui", magnitude, shift), 1)
    rounded = s.binary("addi", magnitude, (1 << (shift - 1)) - 1 - rebias)
    rounded = s.binary("addi", rounded, last)
    normal = s.binary("shrui", rounded, shift)
    # Results below the smallest normal: adding a float whose last place is
    # the format's smallest step makes the adder do the rounding.
    step = 1 - format_.bias - format_.mantissa_bits
    magic = 2.0 ** (step + wide.mantissa)
    summed = s.binary("addf", s.convert("bitcast", magnitude, type_), magic)
    magic_bits = (step + wide.mantissa + wide.bias) << wide.mantissa
    tiny = s.binary("subi", s.convert("bitcast", summed, magnitude.type), magic_bits)
    smallest_normal = (1 - format_.bias + wide.bias) << wide.mantissa
    return s.select(s.compare("ult", magnitude, smallest_normal), tiny, normal)
