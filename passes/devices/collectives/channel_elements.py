"""What channels can carry and reduce, and how to bring a tensor there.

RCCL and NCCL know no fp8 and no 16-bit integers, and IREE's RCCL binding
takes bf16 for f64. Bytes that are only moved travel as another type of the
same width; bf16 and 16-bit integers are reduced in 32 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.upstream.linalg import TensorBuilder, with_element_type

_SUM = {"add": "sum", "mul": "product", "max": "maximum", "min": "minimum"}
_UNSIGNED = {"umax": "maximum", "umin": "minimum"}
_BOOLEAN = {
    **dict.fromkeys(("add", "or", "max", "umax"), "maximum"),
    **dict.fromkeys(("mul", "and", "min", "umin"), "minimum"),
    # Parity: the lowest bit of the sum, which may wrap.
    "xor": "sum",
}


@dataclass(frozen=True)
class Wire:
    """The type that travels, and how flow calls it; ``cast`` gives the ops
    there and back, ``None`` where the tensor travels as it is."""

    element: str
    type: ir.Type | None = None
    cast: tuple[str, str] | None = None

    def wrap(self, b: TensorBuilder, value: ir.Value) -> ir.Value:
        return value if self.cast is None else self._convert(b, value, self.cast[0], self.type)

    def unwrap(self, b: TensorBuilder, value: ir.Value, element: ir.Type) -> ir.Value:
        return value if self.cast is None else self._convert(b, value, self.cast[1], element)

    @staticmethod
    def _convert(b: TensorBuilder, value: ir.Value, name: str, element: ir.Type | None) -> ir.Value:
        assert element is not None
        if name == "tensor.bitcast":
            with b.loc:
                type_ = with_element_type(value.type, element)
            return b.op(name, [value], type_)
        return b.elementwise(
            value, [], element, lambda s, arguments: s.op(name, [arguments[0]], element)
        )


def movement_wire(element: ir.Type) -> Wire | None:
    """How values of a type are moved; None where they cannot be."""
    context = element.context
    i8 = ir.IntegerType.get_signless(8, context)
    if isinstance(element, ir.IntegerType) and element.width == 1:
        return Wire("ui8", i8, ("arith.extui", "arith.trunci"))
    width = element.width if isinstance(element, ir.IntegerType | ir.FloatType) else 0
    if width == 8:
        is_byte = isinstance(element, ir.IntegerType)
        return Wire("si8") if is_byte else Wire("si8", i8, ("tensor.bitcast", "tensor.bitcast"))
    if width == 16:
        if isinstance(element, ir.F16Type):
            return Wire("f16")
        return Wire("f16", ir.F16Type.get(context), ("tensor.bitcast", "tensor.bitcast"))
    if width in (32, 64):
        return Wire(f"{'si' if isinstance(element, ir.IntegerType) else 'f'}{width}")
    return None


def reduction_wire(element: ir.Type, reduction: str) -> tuple[Wire, str] | None:
    """How values are reduced, and flow's name of the reduction.

    None where channels cannot: and, or, xor of integers, fp8, other widths.
    """
    context = element.context
    if isinstance(element, ir.F16Type | ir.F32Type | ir.F64Type):
        width = {ir.F16Type: "f16", ir.F32Type: "f32", ir.F64Type: "f64"}[type(element)]
        return Wire(width), _SUM[reduction]
    if isinstance(element, ir.BF16Type):
        return Wire("f32", ir.F32Type.get(context), ("arith.extf", "arith.truncf")), _SUM[reduction]
    if not isinstance(element, ir.IntegerType):
        return None
    if element.width == 1:
        i8 = ir.IntegerType.get_signless(8, context)
        return Wire("ui8", i8, ("arith.extui", "arith.trunci")), _BOOLEAN[reduction]
    name = (_UNSIGNED if reduction in _UNSIGNED else _SUM).get(reduction)
    if name is None or element.width not in (8, 16, 32, 64):
        return None
    sign = "ui" if reduction in _UNSIGNED else "si"
    if element.width == 16:
        extend = "arith.extui" if sign == "ui" else "arith.extsi"
        i32 = ir.IntegerType.get_signless(32, context)
        return Wire(f"{sign}32", i32, (extend, "arith.trunci")), name
    return Wire(f"{sign}{element.width}"), name
