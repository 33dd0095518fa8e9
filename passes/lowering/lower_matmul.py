"""The pass ``lower-matmul``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import MatmulOp
from ...dialects.ops.constraints import integers
from ...dialects.upstream.arith import Scalars
from ...dialects.upstream.linalg import TensorBuilder, tensor_type
from ..rewriting import Miss, Pattern, Rewriter, apply_patterns
from ..targets.fp8_support import Fp8Support
from ..targets.lookup import TargetPass
from .converts import bf16_rounding
from .fp8.convert import from_fp8, to_fp8
from .fp8.scales import scale_access
from .matmul.contraction import Dims, contract
from .matmul.operand_types import OperandTypes, Sizes, bring_operand, operand_types, product_size


@dataclass(frozen=True)
class LowerMatmul(TargetPass):
    """Lowers headrace.matmul to a linalg contraction and one elementwise op.

    Operands keep their fp8 types where the target multiplies them natively;
    elsewhere they become unscaled headrace.dequantize ops, which
    legalize-fp8 lowers. Accumulation is in f32 (f64 for f64 operands).
    """

    name: ClassVar[str] = "lower-matmul"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [LowerScaledMatmul(self.facts.fp8)])


# The name of an op, its second operand, and which loop each dimension of that runs along.
_Step = tuple[str, ir.Value | None, Sequence[int]]


class LowerScaledMatmul(Pattern[OperandTypes]):
    """A matmul as contraction, then scales, bias, epilogue and one rounding.

    %y = "headrace.matmul"(%a, %b, %sa, %sb) {...}
        : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>, ...) -> tensor<4x4xbf16>
    // =>
    %acc = linalg.matmul ins(%a, %b) outs(%zero : tensor<4x4xf32>)
    %y = linalg.generic ins(%acc, %sa, %sb) { mulf; mulf; truncf }
    """

    roots = (MatmulOp.OPERATION_NAME,)

    def __init__(self, support: Fp8Support) -> None:
        self.support = support

    def match(self, op: ir.Operation) -> OperandTypes | Miss:
        view = MatmulOp(op)
        dims = dims_of(view)
        lhs, rhs = tensor_type(view.lhs), tensor_type(view.rhs)
        sizes = Sizes(
            product_size([lhs.shape[d] for d in dims.lhs_free]),
            product_size([rhs.shape[d] for d in dims.rhs_free]),
            product_size([lhs.shape[d] for d in dims.lhs_contracting]),
        )
        # The types of what is multiplied: where an operand is scaled and
        # rounded first, that which it is rounded to.
        types = (
            self._rounding(view, "lhs") or lhs.element_type,
            self._rounding(view, "rhs") or rhs.element_type,
        )
        if types == (lhs.element_type, rhs.element_type) or self.support.multiplies_bf16:
            return operand_types(*types, sizes, self.support)
        f32 = ir.F32Type.get(op.context)
        return OperandTypes(f32, f32, f32)

    def rewrite(self, op: ir.Operation, match: OperandTypes, rewriter: Rewriter) -> None:
        view = MatmulOp(op)
        b = TensorBuilder(rewriter.before(op), op.location)
        dims = dims_of(view)
        lhs, lhs_scale = self._operand(b, view, "lhs", match.lhs)
        rhs, rhs_scale = self._operand(b, view, "rhs", match.rhs)
        product = contract(b, lhs, rhs, dims, match.accumulator)
        steps: list[_Step] = [
            ("mulf", lhs_scale, dims.lhs_loops()),
            ("mulf", rhs_scale, dims.rhs_loops()),
            ("addf", view.bias, range(dims.parallel)),
            (view.epilogue.value, None, ()),
            ("mulf", view.result_scale, ()),
        ]
        steps = [s for s in steps if s[1] is not None or s[0] in EPILOGUES]
        value = self._finish(b, product, match.factor, steps, tensor_type(view.result).element_type)
        if value.type != view.result.type:
            value = b.op("tensor.cast", [value], view.result.type)
        rewriter.replace(op, [value])

    def _rounding(self, op: MatmulOp, side: str) -> ir.Type | None:
        """The type that the source rounded the scaled operand to, where that is kept.

        Where operands are decoded to f32 they can be scaled and rounded at
        once, which gives the source's numbers. ``fuse-scaled-matmul`` leaves
        the type as an attribute.
        """
        name = f"headrace.{side}_rounding"
        is_fp8 = fp8_format(getattr(op, side).type) is not None
        if not is_fp8 or not self.support.rounds_operands or name not in op.attributes:
            return None
        return ir.TypeAttr(op.attributes[name]).value if getattr(op, f"{side}_scale") else None

    def _operand(
        self, b: TensorBuilder, op: MatmulOp, side: str, element: ir.Type
    ) -> tuple[ir.Value, ir.Value | None]:
        """The operand as it is multiplied, and the scale that is left for the sum."""
        value: ir.Value = getattr(op, side)
        scale: ir.Value | None = getattr(op, f"{side}_scale")
        rounding, format_ = self._rounding(op, side), fp8_format(value.type)
        if scale is None or rounding is None or format_ is None:
            return bring_operand(b, value, element, self.support), scale

        def body(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
            f32 = ir.F32Type.get(op.context)
            wide = from_fp8(s, arguments[0], format_, f32, self.support)
            value = s.binary("mulf", wide, s.convert_float(arguments[1], wide.type))
            return s.convert_float(bf16_rounding.round_in_f32(s, value, rounding), element)

        rank = tensor_type(value).rank
        others = [scale_access(b, scale, range(rank), rank)]
        return b.elementwise(value, others, element, body), None

    def _finish(
        self,
        b: TensorBuilder,
        product: ir.Value,
        factor: float,
        steps: list[_Step],
        element: ir.Type,
    ) -> ir.Value:
        """The steps and the rounding in one elementwise op."""
        if not steps and factor == 1.0 and tensor_type(product).element_type == element:
            return product

        def body(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
            value = arguments[0]
            if factor != 1.0:
                value = s.binary("mulf", value, factor)
            others = iter(arguments[1:])
            for name, operand, _ in steps:
                if operand is None:
                    value = EPILOGUES[name](s, value)
                else:
                    value = s.binary(name, value, s.convert_float(next(others), value.type))
            return self._round(s, value, element)

        rank = tensor_type(product).rank
        others = [scale_access(b, v, loops, rank) for _, v, loops in steps if v is not None]
        return b.elementwise(product, others, element, body)

    def _round(self, s: Scalars, value: ir.Value, element: ir.Type) -> ir.Value:
        format_ = fp8_format(element)
        if format_ is None:
            return bf16_rounding.convert(s, value, element)
        return to_fp8(s, value, format_, self.support, saturate=True)


def _relu(s: Scalars, value: ir.Value) -> ir.Value:
    return s.binary("maximumf", value, 0.0)


def _gelu_tanh(s: Scalars, value: ir.Value) -> ir.Value:
    """``x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))``.

    Source: Hendrycks and Gimpel 2016, equation for the tanh approximation.
    """
    cube = s.binary("mulf", s.binary("mulf", value, value), value)
    inner = s.binary("addf", value, s.binary("mulf", cube, 0.044715))
    tanh = s.op("math.tanh", [s.binary("mulf", inner, math.sqrt(2.0 / math.pi))], value.type)
    return s.binary("mulf", value, s.binary("mulf", s.binary("addf", tanh, 1.0), 0.5))


EPILOGUES: dict[str, Callable[[Scalars, ir.Value], ir.Value]] = {
    "relu": _relu,
    "gelu_tanh": _gelu_tanh,
}


def dims_of(op: MatmulOp) -> Dims:
    return Dims(
        tuple(integers(op.lhs_batch)),
        tuple(integers(op.rhs_batch)),
        tuple(op.lhs_free),
        tuple(op.rhs_free),
        tuple(integers(op.lhs_contracting)),
        tuple(integers(op.rhs_contracting)),
    )
