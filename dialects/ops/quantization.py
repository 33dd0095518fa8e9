"""quantize and dequantize: the arithmetic around an fp8 value."""

from typing import ClassVar, Literal

from .. import ir
from .base import HeadraceOp
from .constraints import Fp8Tensor, WideTensor, element_type_of, scale_error, shape_of, shapes_agree
from .declaration import Operand, Result, attribute

SCALE_MODES = ("multiply", "divide")


class _ScalingOp(HeadraceOp):
    """What both are: a conversion, and a scaling in the type of its wide side."""

    scale: Operand[WideTensor] | None

    # Which side that is; the scale has its element type.
    wide: ClassVar[Literal["input", "result"]]

    def verify_invariants(self) -> str | None:
        shape, result = shape_of(self.operands[0]), shape_of(self.results[0])
        if not shapes_agree(shape, result):
            return f"result shape {result} is not the input's {shape}"
        if self.scale is not None:
            if element_type_of(self.scale) != element_type_of(getattr(self, self.wide)):
                return f"the scale's element type is not the {self.wide}'s"
            if error := scale_error(shape_of(self.scale), shape):
                return error
        mode = ir.StringAttr(self.attributes["scale_mode"]).value
        if mode not in SCALE_MODES:
            return f"scale_mode must be one of {', '.join(SCALE_MODES)}, got '{mode}'"
        return None


class QuantizeOp(_ScalingOp, name="quantize"):
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
    scale_mode: ir.StringAttr = attribute(default_factory=lambda: ir.StringAttr.get("divide"))
    saturate: ir.BoolAttr = attribute(default_factory=lambda: ir.BoolAttr.get(True))
    result: Result[Fp8Tensor]

    wide = "input"


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


class DequantizeOp(_ScalingOp, name="dequantize"):
    """`convert(input) * scale`, in the result's element type.

    With `scale_mode = "divide"` the converted value is divided by the scale.
    Without a scale only the conversion is left, which is exact: every finite
    fp8 value is a bf16, an f16 (the smallest ones subnormal there), an f32.
    """

    input: Operand[Fp8Tensor]
    scale_mode: ir.StringAttr = attribute(default_factory=lambda: ir.StringAttr.get("multiply"))
    result: Result[WideTensor]

    wide = "result"


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
