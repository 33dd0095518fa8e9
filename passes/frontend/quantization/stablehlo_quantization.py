"""Raises StableHLO's converts to and from fp8 to quantize and dequantize."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.fp8 import fp8_format
from ....dialects.headrace import DequantizeOp, dequantize
from ....dialects.upstream.linalg import element_of
from ...remarks import remark
from ...rewriting import Miss, Pattern, Rewriter
from .fold_scale import FoldDequantizeScale, unscaled
from .quantize import RaiseQuantize
from .steps import is_wide

_CONVERT = "stablehlo.convert"


class RaiseDequantize(Pattern[ir.Type]):
    """A convert from fp8: a dequantize without scale, which is exact.

    Before: %w = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
    After:  %w = "headrace.dequantize"(%q) {scale_mode = "multiply"}
    """

    roots = (_CONVERT,)

    def match(self, op: ir.Operation) -> ir.Type | Miss | None:
        source, result = op.operands[0].type, op.results[0].type
        format_ = fp8_format(source)
        if format_ is None or fp8_format(result) is not None:
            return None
        if not is_wide(result):
            return Miss(f"{format_.name} is converted to {element_of(result)}")
        return result

    def rewrite(self, op: ir.Operation, match: ir.Type, rewriter: Rewriter) -> None:
        new = dequantize(op.operands[0], None, match, loc=op.location, ip=rewriter.before(op))
        rewriter.replace(op, [new.result])

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, f"not raised to headrace.dequantize: {miss.reason}")


class WidenDequantize(Pattern[DequantizeOp]):
    """A second convert after a dequantize without scale.

    Every fp8 value is exact in bf16, f16, f32 and f64, so that one convert
    gives the same bits as two.

    Before:
        %w = "headrace.dequantize"(%q) : (tensor<8xf8E5M2>) -> tensor<8xbf16>
        %v = stablehlo.convert %w : (tensor<8xbf16>) -> tensor<8xf32>
    After:
        %v = "headrace.dequantize"(%q) : (tensor<8xf8E5M2>) -> tensor<8xf32>
    """

    roots = (_CONVERT,)

    def match(self, op: ir.Operation) -> DequantizeOp | None:
        return unscaled(op.operands[0]) if is_wide(op.results[0].type) else None

    def rewrite(self, op: ir.Operation, match: DequantizeOp, rewriter: Rewriter) -> None:
        new = dequantize(
            match.input, None, op.results[0].type, loc=op.location, ip=rewriter.before(op)
        )
        rewriter.replace(op, [new.result])
        rewriter.erase_if_dead(match)


class ExplainBitcast(Pattern[None]):
    """Matches nothing: says why a bitcast_convert of fp8 is not raised."""

    roots = ("stablehlo.bitcast_convert",)

    def match(self, op: ir.Operation) -> Miss | None:
        source, result = op.operands[0].type, op.results[0].type
        if fp8_format(source) is None and fp8_format(result) is None:
            return None
        names = f"{element_of(source)} to {element_of(result)}"
        return Miss(
            f"bitcast_convert from {names} keeps the bits; stablehlo.convert keeps the value"
        )

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, f"not raised: {miss.reason}")


QUANTIZATION_PATTERNS = (
    RaiseQuantize(_CONVERT),
    RaiseDequantize(),
    WidenDequantize(),
    FoldDequantizeScale(),
    ExplainBitcast(),
)
