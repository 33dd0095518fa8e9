"""Scalar conversions to and from fp8, native or by integers as the target asks.

Native ones go through f32, the only type that all backends convert.
"""

from __future__ import annotations

from ....dialects import ir
from ....dialects.fp8 import Fp8Format
from ....dialects.upstream.arith import Scalars
from ...targets.fp8_support import Fp8Support
from .codec import decode, encode


def to_fp8(
    s: Scalars, value: ir.Value, format_: Fp8Format, support: Fp8Support, *, saturate: bool
) -> ir.Value:
    """A wide scalar as an fp8 one, rounded once; clamped first if ``saturate``.

    f64 always goes by integers: the native converts take f32, and going
    through it would round twice.
    """
    type_ = format_.type(s.loc.context)
    if format_ not in support.converted or isinstance(value.type, ir.F64Type):
        return s.convert("bitcast", encode(s, value, format_, saturate=saturate), type_)
    if saturate:
        value = s.binary("maximumf", value, -format_.max)
        value = s.binary("minimumf", value, format_.max)
    return s.convert_float(s.convert_float(value, ir.F32Type.get(s.loc.context)), type_)


def from_fp8(
    s: Scalars, value: ir.Value, format_: Fp8Format, type_: ir.Type, support: Fp8Support
) -> ir.Value:
    """An fp8 scalar as a wide one, exactly."""
    if format_ in support.converted:
        return s.convert_float(s.convert_float(value, ir.F32Type.get(s.loc.context)), type_)
    code = s.convert("bitcast", value, s.integer_type(8))
    return decode(s, code, format_, type_)
