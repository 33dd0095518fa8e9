"""quantize and dequantize: the arithmetic around an fp8 value."""

from .. import ir
from .base import HeadraceOp
from .constraints import Fp8Tensor, WideTensor, element_type_of, scale_fault, shape_of, shapes_agree
from .declaration import Operand, Result, attribute

SCALE_MODES = ("multiply", "divide")


def _mode_fault(mode: str) -> str | None:
    if mode in SCALE_MODES:
        return None
    return f"scale_mode must be one of {', '.join(SCALE_MODES)}, got '{mode}'"


class QuantizeOp(HeadraceOp, name="quantize"):
    """`convert(clamp(input / scale))`, exactly as the source graph computed it.

    The division (or, with `scale_mode = "multiply"`, the multiplication) and
    the clamp to the format's finite range are done in the input's element
    type; then one conversion, round to nearest even. NaN stays NaN. Without
    `saturate` there is no clamp: overflow becomes NaN (inf for f8E5M2), a
    different op. Without a scale the input is only clamped and converted.

    A scale has one element (per tensor), or the input's rank with sizes that
    are 1, the input's (per axis), or divide it (per block).
    """

    input: Operand[WideTensor]
    scale: Operand[WideTensor] | None
    scale_mode: ir.StringAttr = attribute(default_factory=lambda: ir.StringAttr.get("divide"))
    saturate: ir.BoolAttr = attribute(default_factory=lambda: ir.BoolAttr.get(True))
    result: Result[Fp8Tensor]

    def verify_invariants(self) -> str | None:
        shape = shape_of(self.input)
        if not shapes_agree(shape, shape_of(self.result)):
            return f"result shape {shape_of(self.result)} is not the input's {shape}"
        if self.scale is not None:
            if element_type_of(self.scale) != element_type_of(self.input):
                return "the scale's element type is not the input's"
            if fault := scale_fault(shape_of(self.scale), shape):
                return fault
        return _mode_fault(self.scale_mode.value)


def quantize(
    input: ir.Value,
    scale: ir.Value | None,
    result_type: ir.Type,
    *,
    scale_mode: str = "divide",
    saturate: bool = True,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> QuantizeOp:
    """Builds a QuantizeOp; shapes and types as in its docstring."""
    with loc.context:
        return QuantizeOp.create(
            [result_type],
            loc=loc,
            ip=ip,
            input=input,
            scale=scale,
            scale_mode=ir.StringAttr.get(scale_mode),
            saturate=ir.BoolAttr.get(saturate),
        )


class DequantizeOp(HeadraceOp, name="dequantize"):
    """`convert(input) * scale`, in the result's element type.

    With `scale_mode = "divide"` the converted value is divided by the scale.
    Without a scale only the conversion is left, which is exact: every finite
    fp8 value is a bf16, an f16 (the smallest ones subnormal there), an f32.
    """

    input: Operand[Fp8Tensor]
    scale: Operand[WideTensor] | None
    scale_mode: ir.StringAttr = attribute(default_factory=lambda: ir.StringAttr.get("multiply"))
    result: Result[WideTensor]

    def verify_invariants(self) -> str | None:
        shape = shape_of(self.input)
        if not shapes_agree(shape, shape_of(self.result)):
            return f"result shape {shape_of(self.result)} is not the input's {shape}"
        if self.scale is not None:
            if element_type_of(self.scale) != element_type_of(self.result):
                return "the scale's element type is not the result's"
            if fault := scale_fault(shape_of(self.scale), shape):
                return fault
        return _mode_fault(self.scale_mode.value)


def dequantize(
    input: ir.Value,
    scale: ir.Value | None,
    result_type: ir.Type,
    *,
    scale_mode: str = "multiply",
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> DequantizeOp:
    """Builds a DequantizeOp; shapes and types as in its docstring."""
    with loc.context:
        return DequantizeOp.create(
            [result_type],
            loc=loc,
            ip=ip,
            input=input,
            scale=scale,
            scale_mode=ir.StringAttr.get(scale_mode),
        )
