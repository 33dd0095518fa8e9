"""The pass ``lower-matmul``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...dialects.arith import Scalars
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import MatmulOp, dequantize
from ...dialects.linalg import TensorBuilder, dims_map, tensor_type, with_element_type
from ...dialects.mlir import (
    AffineMap,
    F16Type,
    F32Type,
    F64Type,
    Operation,
    Type,
    TypeAttr,
    Value,
)
from ...dialects.ops.constraints import integers
from ..base import Pass
from ..rewriting import Miss, Pattern, Rewriter, apply_patterns
from . import bf16_rounding
from .accumulate_in_f32 import convert_elements
from .contraction import Dims, contract
from .fp8_convert import from_fp8, to_fp8
from .fp8_support import Fp8Support, fp8_support


@dataclass(frozen=True)
class LowerMatmul(Pass):
    """Lowers headrace.matmul to a linalg contraction and one elementwise op.

    Operands keep their fp8 types where the target multiplies them natively;
    elsewhere they become unscaled headrace.dequantize ops, which
    legalize-fp8 lowers. Accumulation is in f32 (f64 for f64 operands).
    """

    name: ClassVar[str] = "lower-matmul"
    target: str = "cpu"

    def run(self, module: Operation) -> None:
        apply_patterns(module, [LowerScaledMatmul(fp8_support(self.target))])


@dataclass(frozen=True)
class _Plan:
    """Element types that the operands are brought to, and the accumulator's."""

    op: MatmulOp
    lhs: Type
    rhs: Type
    accumulator: Type


class LowerScaledMatmul(Pattern[_Plan]):
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

    def match(self, op: Operation) -> _Plan | Miss:
        view = MatmulOp(op)
        return _plan(view, self.support)

    def rewrite(self, op: Operation, match: _Plan, rewriter: Rewriter) -> None:
        view = match.op
        b = TensorBuilder(rewriter.before(op), op.location)
        dims = dims_of(view)
        lhs, lhs_scale = self._operand(b, view, "lhs", match.lhs)
        rhs, rhs_scale = self._operand(b, view, "rhs", match.rhs)
        product = contract(b, lhs, rhs, dims, match.accumulator)
        rewriter.replace(op, [self._finish(b, view, dims, product, (lhs_scale, rhs_scale))])

    def _operand(
        self, b: TensorBuilder, op: MatmulOp, side: str, element: Type
    ) -> tuple[Value, Value | None]:
        """The operand as it is multiplied, and the scale that is left for the sum.

        Where operands are decoded and the source rounded the scaled elements,
        they are scaled and rounded here, which gives the source's numbers.
        """
        value: Value = getattr(op, side)
        scale: Value | None = getattr(op, f"{side}_scale")
        name = f"headrace.{side}_rounding"
        if scale is None or name not in op.attributes or not self.support.rounds_operands:
            return _widened(b, value, element), scale
        rounding = TypeAttr(op.attributes[name]).value
        format_ = fp8_format(value.type)
        assert format_ is not None

        def body(s: Scalars, arguments: list[Value]) -> Value:
            wide = from_fp8(s, arguments[0], format_, element, self.support)
            return bf16_rounding.round_in_f32(s, s.binary("mulf", wide, arguments[1]), rounding)

        rank = tensor_type(value).rank
        return b.elementwise(value, [_access(b, scale, range(rank), rank)], element, body), None

    def _finish(
        self,
        b: TensorBuilder,
        op: MatmulOp,
        dims: Dims,
        product: Value,
        scales: tuple[Value | None, Value | None],
    ) -> Value:
        """Scales, bias, epilogue, result scale and rounding in one elementwise op."""
        steps: list[tuple[str, Value | None, Sequence[int]]] = [
            ("mulf", scales[0], dims.lhs_loops()),
            ("mulf", scales[1], dims.rhs_loops()),
            ("addf", op.bias, range(dims.parallel)),
            (op.epilogue.value, None, ()),
            ("mulf", op.result_scale, ()),
        ]
        steps = [s for s in steps if s[1] is not None or s[0] in EPILOGUES]
        element = tensor_type(op.result).element_type

        def body(s: Scalars, arguments: list[Value]) -> Value:
            value = arguments[0]
            others = iter(arguments[1:])
            for name, operand, _ in steps:
                if operand is None:
                    value = EPILOGUES[name](s, value)
                else:
                    value = s.binary(name, value, s.convert_float(next(others), value.type))
            return self._round(s, value, element)

        if steps or tensor_type(product).element_type != element:
            others = [
                _access(b, value, loops, dims.parallel)
                for _, value, loops in steps
                if value is not None
            ]
            product = b.elementwise(product, others, element, body)
        if product.type != op.result.type:
            product = b.op("tensor.cast", [product], op.result.type)
        return product

    def _round(self, s: Scalars, value: Value, element: Type) -> Value:
        format_ = fp8_format(element)
        if format_ is None:
            return bf16_rounding.convert(s, value, element)
        return to_fp8(s, value, format_, self.support, saturate=True)


def _access(
    b: TensorBuilder, value: Value, loops: Sequence[int], parallel: int
) -> tuple[Value, AffineMap]:
    """A scale or bias without its unit dimensions, and the loops it is read along."""
    shape = list(tensor_type(value).shape)
    units = [d for d, size in enumerate(shape) if size == 1]
    kept = [loops[d] for d in range(len(shape)) if d not in units]
    with b.loc:
        return b.drop_unit_dims(value, units), dims_map(parallel, kept)


def _relu(s: Scalars, value: Value) -> Value:
    return s.binary("maximumf", value, 0.0)


def _gelu_tanh(s: Scalars, value: Value) -> Value:
    """``x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))``.

    Source: Hendrycks and Gimpel 2016, equation for the tanh approximation.
    """
    cube = s.binary("mulf", s.binary("mulf", value, value), value)
    inner = s.binary("addf", value, s.binary("mulf", cube, 0.044715))
    tanh = s.op("math.tanh", [s.binary("mulf", inner, math.sqrt(2.0 / math.pi))], value.type)
    return s.binary("mulf", value, s.binary("mulf", s.binary("addf", tanh, 1.0), 0.5))


EPILOGUES: dict[str, Callable[[Scalars, Value], Value]] = {"relu": _relu, "gelu_tanh": _gelu_tanh}


def dims_of(op: MatmulOp) -> Dims:
    return Dims(
        tuple(integers(op.lhs_batch)),
        tuple(integers(op.rhs_batch)),
        tuple(op.lhs_free),
        tuple(op.rhs_free),
        tuple(integers(op.lhs_contracting)),
        tuple(integers(op.rhs_contracting)),
    )


def _plan(op: MatmulOp, support: Fp8Support) -> _Plan:
    lhs, rhs = (tensor_type(value).element_type for value in (op.lhs, op.rhs))
    context = op.location.context
    f32, f64 = F32Type.get(context), F64Type.get(context)
    if isinstance(lhs, F64Type) or isinstance(rhs, F64Type):
        return _Plan(op, f64, f64, f64)
    if support.is_cpu:
        return _Plan(op, f32, f32, f32)
    formats = (fp8_format(lhs), fp8_format(rhs))
    if formats in support.matmuls:
        return _Plan(op, lhs, rhs, f32)
    wide = _common_type(lhs, rhs)
    return _Plan(op, wide, wide, f32)


def _common_type(lhs: Type, rhs: Type) -> Type:
    """The smallest type that holds both operands exactly: every fp8 code fits in f16 and bf16."""
    wide = [t for t in (lhs, rhs) if fp8_format(t) is None]
    if not wide:
        return F16Type.get(lhs.context)
    if all(t == wide[0] for t in wide):
        return wide[0]
    return F32Type.get(lhs.context)


def _widened(b: TensorBuilder, value: Value, element: Type) -> Value:
    """The operand in another element type, exactly."""
    type_ = with_element_type(value.type, element)
    if value.type == type_:
        return value
    if fp8_format(value.type) is not None:
        return dequantize(value, None, type_, loc=b.loc, ip=b.ip).result
    return convert_elements(b, value, element)
