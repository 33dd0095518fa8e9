"""The fp8 formats: type names, limits and bit layouts.

Source: OCP 8-bit floating point specification (E4M3FN, E5M2) and the FNUZ
variants of Noune et al. 2022, as named by MLIR's builtin types.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import ir


@dataclass(frozen=True)
class Fp8Format:
    """One fp8 format; ``max`` is the largest finite value."""

    name: str  # MLIR's type name, e.g. "f8E4M3FN"
    mantissa_bits: int
    bias: int
    max: float
    has_infinity: bool
    is_fnuz: bool  # no -0; the one NaN is 0x80

    def type(self, context: ir.Context) -> ir.Type:
        return ir.Type.parse(self.name, context)


E4M3FN = Fp8Format("f8E4M3FN", 3, 7, 448.0, False, False)
E5M2 = Fp8Format("f8E5M2", 2, 15, 57344.0, True, False)
E4M3FNUZ = Fp8Format("f8E4M3FNUZ", 3, 8, 240.0, False, True)
E5M2FNUZ = Fp8Format("f8E5M2FNUZ", 2, 16, 57344.0, False, True)

# Printing a type to compare its name takes 5 microseconds.
_FORMATS_BY_CLASS: dict[type[ir.Type], Fp8Format] = {
    ir.Float8E4M3FNType: E4M3FN,
    ir.Float8E5M2Type: E5M2,
    ir.Float8E4M3FNUZType: E4M3FNUZ,
    ir.Float8E5M2FNUZType: E5M2FNUZ,
}


def fp8_format(type_: ir.Type) -> Fp8Format | None:
    """The format of an fp8 type or of a tensor's fp8 element type, else None."""
    if isinstance(type_, ir.RankedTensorType):
        type_ = type_.element_type
    return _FORMATS_BY_CLASS.get(type(type_))
