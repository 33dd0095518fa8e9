"""The pass ``keep-integer-converts``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.op_traits import STABLEHLO_PRODUCTS
from ...dialects.upstream.arith import Scalars
from ...dialects.upstream.linalg import TensorBuilder, with_element_type
from ..base import Pass
from ..rewriting import Pattern, Rewriter, apply_patterns


@dataclass(frozen=True)
class KeepIntegerConverts(Pass):
    """Keeps the converts of integers before products from being folded into them.

    IREE makes ``dot(x, convert(w))`` a product of mixed element types
    (quirks.UNSIGNED_OPERAND_FOLDED): 200 of type ui8 is multiplied as -56, and true
    as -1, and sums may be in bf16.
    """

    name: ClassVar[str] = "keep-integer-converts"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [KeepIntegerConvert()])


@dataclass(frozen=True)
class _Convert:
    """An ``arith`` convert of signless integers."""

    name: str
    source: ir.Type
    result: ir.Type


class KeepIntegerConvert(Pattern[_Convert]):
    """A convert that StableHLO's patterns do not see; without a sign where there was none.

    %c = stablehlo.convert %w : (tensor<8x4xui8>) -> tensor<8x4xbf16>
    %y = stablehlo.dot_general %x, %c
    // =>
    %b = stablehlo.bitcast_convert %w : (tensor<8x4xui8>) -> tensor<8x4xi8>
    %c = linalg.generic ins(%b : tensor<8x4xi8>) { arith.uitofp } -> tensor<8x4xbf16>
    %y = stablehlo.dot_general %x, %c
    """

    roots = ("stablehlo.convert",)

    def match(self, op: ir.Operation) -> _Convert | None:
        source, result = (
            ir.RankedTensorType(v.type).element_type for v in (*op.operands, *op.results)
        )
        if not isinstance(source, ir.IntegerType):
            return None
        # IREE folds converts of their operands into these.
        if not any(use.owner.operation.name in STABLEHLO_PRODUCTS for use in op.results[0].uses):
            return None
        unsigned = source.is_unsigned or source.width == 1
        signless = ir.IntegerType.get_signless(source.width, op.context)
        if isinstance(result, ir.FloatType):
            return _Convert("uitofp" if unsigned else "sitofp", signless, result)
        if not isinstance(result, ir.IntegerType) or not unsigned or result.width <= source.width:
            return None  # the product keeps the sign
        return _Convert("extui", signless, ir.IntegerType.get_signless(result.width, op.context))

    def rewrite(self, op: ir.Operation, match: _Convert, rewriter: Rewriter) -> None:
        b = TensorBuilder(rewriter.before(op), op.location)
        result = ir.RankedTensorType(op.results[0].type).element_type

        def body(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
            return s.convert(match.name, arguments[0], match.result)

        value = _bitcast(b, op.operands[0], match.source)
        value = b.elementwise(value, [], match.result, body)
        rewriter.replace(op, [_bitcast(b, value, result)])


def _bitcast(b: TensorBuilder, value: ir.Value, element: ir.Type) -> ir.Value:
    """The same integers with or without a sign; nothing where they are that already."""
    type_ = with_element_type(value.type, element)
    return value if value.type == type_ else b.op("stablehlo.bitcast_convert", [value], type_)
