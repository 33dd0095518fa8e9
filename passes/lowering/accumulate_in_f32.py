"""The pass ``accumulate-in-f32``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from ...dialects import ir
from ...dialects.op_traits import LINALG_CONTRACTIONS
from ...dialects.upstream.arith import Scalars, float_width
from ...dialects.upstream.contraction import INTEGERS_TO_FLOATS, contraction_loops
from ...dialects.upstream.linalg import TensorBuilder, tensor_type, with_element_type
from ..base import Pass
from ..rewriting import Pattern, Rewriter, apply_patterns
from ..targets.fp8_support import Fp8Support
from ..targets.lookup import parse_target
from .converts import bf16_rounding
from .matmul.contraction import same_contraction
from .matmul.operand_types import OperandTypes, Sizes, bring_operand, operand_types, product_size


@dataclass(frozen=True)
class AccumulateInF32(Pass):
    """Lets every contraction with a bf16, f16 or fp8 result accumulate in f32.

    One rounding at the end: every partial sum would be rounded else, and see
    quirks.BF16_SUMS_ON_GFX950. Operands
    that are integers are converted to floats before it. With a
    target, operands are also brought to element types that it multiplies
    well: see ``operand_types``.
    """

    name: ClassVar[str] = "accumulate-in-f32"
    target: str = field(default="", metadata={"help": "target name; empty: any"})

    def run(self, module: ir.Operation) -> None:
        support = parse_target(self.target).fp8 if self.target else None
        apply_patterns(module, [ConvertIntegerOperands()])
        apply_patterns(module, [WidenContraction(support)])


@dataclass(frozen=True)
class _Convert:
    """The convert of an integer operand in a body."""

    operand: int
    name: str
    type: ir.Type


class ConvertIntegerOperands(Pattern[list[_Convert]]):
    """A contraction of floats only; the integers are converted before it.

    %y = linalg.matmul ins(%x, %w : tensor<4x8xbf16>, tensor<8x4xi8>) outs(%o : tensor<4x4xbf16>)
    // =>
    %c = linalg.generic ins(%w) { sitofp : i8 to bf16 }
    %y = linalg.matmul ins(%x, %c : tensor<4x8xbf16>, tensor<8x4xbf16>) outs(%o)

    In the body it would not compile: quirks.INTEGER_TO_BF16.
    """

    roots = tuple(LINALG_CONTRACTIONS)

    def match(self, op: ir.Operation) -> list[_Convert] | None:
        if contraction_loops(op, integers=True) is None:
            return None
        body = op.regions[0].blocks[0]
        found = [
            _Convert(i, inner.operation.name, inner.operation.results[0].type)
            for i, argument in enumerate(list(body.arguments)[:2])
            for inner in body.operations
            if inner.operation.name in INTEGERS_TO_FLOATS
            and inner.operation.operands[0] == argument
        ]
        return found or None

    def rewrite(self, op: ir.Operation, match: list[_Convert], rewriter: Rewriter) -> None:
        b = TensorBuilder(rewriter.before(op), op.location)
        operands = [op.operands[0], op.operands[1]]
        for convert in match:
            operands[convert.operand] = _converted(b, operands[convert.operand], convert)
        lhs, rhs = operands
        rewriter.replace(op, [same_contraction(b, op, lhs, rhs, op.operands[2])])


def _converted(b: TensorBuilder, value: ir.Value, convert: _Convert) -> ir.Value:
    def body(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
        return s.op(convert.name, [arguments[0]], convert.type)

    return b.elementwise(value, [], convert.type, body)


class WidenContraction(Pattern[OperandTypes]):
    """A contraction in f32, then one rounding.

    %y = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>)
        outs(%zero : tensor<4x4xbf16>)
    // =>
    %acc = linalg.matmul ins(%a, %b) outs(%zero32 : tensor<4x4xf32>)
    %y = linalg.generic ins(%acc) { truncf }
    """

    roots = tuple(LINALG_CONTRACTIONS)

    def __init__(self, support: Fp8Support | None) -> None:
        self.support = support

    def match(self, op: ir.Operation) -> OperandTypes | None:
        loops = contraction_loops(op)
        if loops is None:
            return None
        lhs, rhs, out = (tensor_type(o).element_type for o in op.operands)
        if not all(isinstance(t, ir.FloatType) for t in (lhs, rhs, out)):
            return None
        types = OperandTypes(lhs, rhs, ir.F32Type.get(op.context))
        if self.support is not None:
            types = self._wanted_types(op, loops, self.support)
        if float_width(out) >= 32:
            types = replace(types, accumulator=out)
        if types == OperandTypes(lhs, rhs, out):
            return None
        return types

    def _wanted_types(
        self, op: ir.Operation, loops: list[list[int]], support: Fp8Support
    ) -> OperandTypes:
        lhs, rhs = (tensor_type(o).element_type for o in op.operands[:2])
        types = operand_types(lhs, rhs, _sizes(op, loops), support)
        if types.factor != 1.0 and _fill_of(op.operands[2]) is None:
            # The initial value must not be multiplied: decode instead.
            decoding = replace(support, matmuls=())
            types = operand_types(lhs, rhs, _sizes(op, loops), decoding)
        return types

    def rewrite(self, op: ir.Operation, match: OperandTypes, rewriter: Rewriter) -> None:
        b = TensorBuilder(rewriter.before(op), op.location)
        lhs, rhs, init = op.operands
        narrow = tensor_type(init).element_type
        if self.support is not None:
            lhs = bring_operand(b, lhs, match.lhs, self.support)
            rhs = bring_operand(b, rhs, match.rhs, self.support)
        value = same_contraction(b, op, lhs, rhs, _wide_init(b, init, match.accumulator))
        rewriter.replace(op, [_rounded(b, value, match.factor, narrow)])
        rewriter.erase_if_dead(_fill_of(init))


def _sizes(op: ir.Operation, loops: list[list[int]]) -> Sizes:
    """Rows, columns and depth, from which operand runs along which loop."""
    lhs, rhs, out = loops
    sizes = dict(zip(lhs, tensor_type(op.operands[0]).shape, strict=True))
    sizes |= dict(zip(rhs, tensor_type(op.operands[1]).shape, strict=True))
    return Sizes(
        product_size([sizes[d] for d in lhs if d not in rhs]),
        product_size([sizes[d] for d in rhs if d not in lhs]),
        product_size([size for d, size in sizes.items() if d not in out]),
    )


def _wide_init(b: TensorBuilder, init: ir.Value, element: ir.Type) -> ir.Value:
    """The initial value in the wide type: a zero fill stays one."""
    type_ = with_element_type(init.type, element)
    if init.type == type_:
        return init
    if _fill_of(init) is None:
        return _rounded(b, init, 1.0, element)
    return b.fill(0.0, b.empty(type_, [(init, d) for d in range(len(type_.shape))]))


def _fill_of(value: ir.Value) -> ir.Operation | None:
    """The op that fills ``value`` with zero, None where it holds something else."""
    op = ir.defining_op(value)
    if op is None or op.name != "linalg.fill":
        return None
    constant = ir.defining_op(op.operands[0])
    if constant is None or constant.name != "arith.constant":
        return None
    return op if ir.FloatAttr(constant.attributes["value"]).value == 0.0 else None


def _rounded(b: TensorBuilder, value: ir.Value, factor: float, element: ir.Type) -> ir.Value:
    """Every element times ``factor``, widened or rounded; nothing where nothing is to do."""
    if tensor_type(value).element_type == element and factor == 1.0:
        return value

    def body(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
        scaled = arguments[0] if factor == 1.0 else s.binary("mulf", arguments[0], factor)
        return bf16_rounding.convert(s, scaled, element)

    return b.elementwise(value, [], element, body)
