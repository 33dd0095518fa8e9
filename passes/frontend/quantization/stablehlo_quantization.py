"""Raises StableHLO's converts to and from fp8 to quantize and dequantize."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.fp8 import fp8_format
from ....dialects.headrace import DequantizeOp, dequantize
from ....dialects.upstream.linalg import element_of
from ....dialects.upstream.stablehlo import constant_elements, retargeted
from ...remarks import remark
from ...rewriting import Miss, Pattern, Rewriter
from .quantize import RaiseQuantize
from .stablehlo_scales import Scale, find_scale
from .steps import MODES, is_wide

_CONVERT = "stablehlo.convert"
# Those that pair each element with one.
_MOVES = ("stablehlo.reshape", "stablehlo.transpose")


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


def _unscaled(value: ir.Value) -> DequantizeOp | None:
    """The dequantize without scale that makes ``value``, else None."""
    op = ir.defining_op(value)
    if op is None or op.name != DequantizeOp.OPERATION_NAME:
        return None
    view = DequantizeOp(op)
    return view if view.scale is None else None


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
        return _unscaled(op.operands[0]) if is_wide(op.results[0].type) else None

    def rewrite(self, op: ir.Operation, match: DequantizeOp, rewriter: Rewriter) -> None:
        new = dequantize(
            match.input, None, op.results[0].type, loc=op.location, ip=rewriter.before(op)
        )
        rewriter.replace(op, [new.result])
        rewriter.erase_if_dead(match)


@dataclass(frozen=True)
class _Dequantization:
    converted: DequantizeOp
    moves: tuple[ir.Operation, ...]  # between the convert and the scale, first one first
    scale: Scale
    mode: str


def _moved_unscaled(
    value: ir.Value, block: ir.Block
) -> tuple[DequantizeOp, tuple[ir.Operation, ...]] | None:
    """The dequantize without scale behind reshapes and transposes, and those.

    They must be in ``block``: none shall be moved into a loop.
    """
    moves: list[ir.Operation] = []
    while (op := ir.defining_op(value)) is not None and op.name in _MOVES and op.block == block:
        moves.append(op)
        value = op.operands[0]
    converted = _unscaled(value)
    return (converted, tuple(reversed(moves))) if converted else None


class FoldDequantizeScale(Pattern[_Dequantization]):
    """The first scaling of a converted value joins its dequantize.

    A reshape or transpose in between, as frontends write for scales of
    blocks, is done on the fp8 value.

    Before:
        %w = "headrace.dequantize"(%q) : (tensor<8x4xf8E5M2>) -> tensor<8x4xbf16>
        %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xbf16>) -> ...
        %v = stablehlo.multiply %w, %b : tensor<8x4xbf16>
    After:
        %r = stablehlo.reshape %s : (tensor<8xbf16>) -> tensor<8x1xbf16>
        %v = "headrace.dequantize"(%q, %r) {scale_mode = "multiply"}
    """

    roots = ("stablehlo.multiply", "stablehlo.divide")

    def match(self, op: ir.Operation) -> _Dequantization | Miss | None:
        orders = ((0, 1), (1, 0)) if op.name == "stablehlo.multiply" else ((0, 1),)
        for data, factor in orders:
            found = _moved_unscaled(op.operands[data], op.block)
            if found is None:
                continue
            if scale := find_scale(op.operands[factor]):
                return _Dequantization(*found, scale, MODES[op.name])
            if constant_elements(op.operands[factor]):
                return Miss("the scale is not a broadcast")
        return None

    def rewrite(self, op: ir.Operation, match: _Dequantization, rewriter: Rewriter) -> None:
        ip = rewriter.before(op)
        narrow = match.converted.input
        for move in match.moves:
            narrow = retargeted(move, narrow, ip)
        new = dequantize(
            narrow,
            match.scale.make(ip, op.location),
            op.results[0].type,
            scale_mode=match.mode,
            loc=op.location,
            ip=ip,
        )
        rewriter.replace(op, [new.result])
        for wide in (*reversed(match.moves), match.converted):
            rewriter.erase_if_dead(wide)

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, f"not taken into headrace.dequantize: {miss.reason}")


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
