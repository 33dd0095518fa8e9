"""Raises StableHLO's converts to and from fp8 to quantize and dequantize."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.fp8 import Fp8Format, fp8_format
from ....dialects.headrace import DequantizeOp, dequantize, quantize
from ....dialects.ops.constraints import element_type_of, is_wide_float
from ....dialects.upstream.stablehlo import constant_elements, retargeted
from ...remarks import remark
from ...rewriting import Miss, Pattern, Rewriter
from .clamps import Clamp, bounds_miss
from .stablehlo_clamps import find_clamp
from .stablehlo_scales import Scale, find_scale

CONVERT = "stablehlo.convert"
MULTIPLY = "stablehlo.multiply"
DIVIDE = "stablehlo.divide"
# Those that pair each element with one.
_MOVES = ("stablehlo.reshape", "stablehlo.transpose")
_MODES = {MULTIPLY: "multiply", DIVIDE: "divide"}


@dataclass(frozen=True)
class _Scaled:
    """A value times or over a scale."""

    input: ir.Value
    scale: Scale
    mode: str


def _find_scaling(value: ir.Value) -> _Scaled | None:
    """``value`` as ``input / scale``, ``input * scale`` or ``scale * input``."""
    op = ir.defining_op(value)
    if op is None or op.name not in _MODES:
        return None
    left, right = op.operands
    if scale := find_scale(right):
        return _Scaled(left, scale, _MODES[op.name])
    if op.name == MULTIPLY and (scale := find_scale(left)):
        return _Scaled(right, scale, _MODES[op.name])
    return None


def _wide_element(type_: ir.Type) -> ir.Type | None:
    """The element type of a plain tensor of bf16, f16, f32 or f64, else None."""
    if not isinstance(type_, ir.RankedTensorType) or type_.encoding is not None:
        return None
    return type_.element_type if is_wide_float(type_.element_type) else None


@dataclass(frozen=True)
class _Quantization:
    input: ir.Value
    scaling: _Scaled | None
    saturate: bool
    note: str


class RaiseQuantize(Pattern[_Quantization]):
    """A convert to fp8, with the clamp and the scale before it.

    The clamp's bounds must be the format's largest finite values; without a
    clamp the quantize does not saturate. Scale, clamp and convert must be in
    one element type: arithmetic is taken as the graph has it.

    Before:
        %d = stablehlo.divide %x, %bcast : tensor<64xbf16>
        %c = stablehlo.clamp %lo, %d, %hi : tensor<64xbf16>
        %q = stablehlo.convert %c : (tensor<64xbf16>) -> tensor<64xf8E4M3FN>
    After:
        %q = "headrace.quantize"(%x, %s) {saturate = true, scale_mode = "divide"}
    """

    roots = (CONVERT,)

    def match(self, op: ir.Operation) -> _Quantization | Miss | None:
        source, format_ = op.operands[0], fp8_format(op.results[0].type)
        if format_ is None:
            return None
        if _wide_element(source.type) is None:
            return Miss(f"{_source_kind(source.type)} is converted to {format_.name}")
        clamp = find_clamp(source)
        if isinstance(clamp, Clamp):
            clamp = bounds_miss(clamp, format_) or clamp
        elif clamp is None:
            clamp = _earlier_clamp_miss(source, format_)
        if isinstance(clamp, Miss):
            return clamp
        value = source if clamp is None else clamp.input
        scaling = _find_scaling(value)
        note = "" if scaling else _unscaled_note(value)
        if scaling:
            value = scaling.input
        return _Quantization(value, scaling, clamp is not None, note)

    def rewrite(self, op: ir.Operation, match: _Quantization, rewriter: Rewriter) -> None:
        ip, loc = rewriter.before(op), op.location
        if match.note:
            remark(op, match.note)
        new = quantize(
            match.input,
            match.scaling.scale.make(ip, loc) if match.scaling else None,
            op.results[0].type,
            scale_mode=match.scaling.mode if match.scaling else "divide",
            saturate=match.saturate,
            loc=loc,
            ip=ip,
        )
        rewriter.replace(op, [new.result])

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, f"not raised to headrace.quantize: {miss.reason}")


def _source_kind(type_: ir.Type) -> str:
    if fp8_format(type_):
        return f"a value that is {element_name(type_)} already"
    return f"a value of {element_name(type_)}, not of bf16, f16, f32 or f64,"


def element_name(type_: ir.Type) -> str:
    return str(type_.element_type if isinstance(type_, ir.RankedTensorType) else type_)


def _earlier_clamp_miss(source: ir.Value, format_: Fp8Format) -> Miss | None:
    """A clamp to the format's range in another type than the convert's."""
    op = ir.defining_op(source)
    if op is None or op.name != CONVERT or _wide_element(op.operands[0].type) is None:
        return None
    clamp = find_clamp(op.operands[0])
    if not isinstance(clamp, Clamp) or bounds_miss(clamp, format_):
        return None
    return Miss(
        f"the clamp is in {element_type_of(op.operands[0])}, "
        f"but {element_type_of(source)} is converted to {format_.name}"
    )


def _unscaled_note(value: ir.Value) -> str:
    """Why what looks like a scale is not taken into the quantize."""
    op = ir.defining_op(value)
    if op is None:
        return ""
    if op.name in _MODES:
        if any(constant_elements(operand) for operand in op.operands):
            return "the scale stays outside headrace.quantize: it is not a broadcast"
        return ""
    if op.name != CONVERT or _wide_element(op.operands[0].type) is None:
        return ""
    if _find_scaling(op.operands[0]) is None:
        return ""
    return (
        f"the scale stays outside headrace.quantize: it is applied in "
        f"{element_type_of(op.operands[0])}, the rest is in {element_type_of(value)}"
    )


class RaiseDequantize(Pattern[ir.Type]):
    """A convert from fp8: a dequantize without scale, which is exact.

    Before: %w = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
    After:  %w = "headrace.dequantize"(%q) {scale_mode = "multiply"}
    """

    roots = (CONVERT,)

    def match(self, op: ir.Operation) -> ir.Type | Miss | None:
        source, result = op.operands[0].type, op.results[0].type
        format_ = fp8_format(source)
        if format_ is None or fp8_format(result) is not None:
            return None
        if _wide_element(result) is None:
            return Miss(f"{format_.name} is converted to {element_name(result)}")
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

    roots = (CONVERT,)

    def match(self, op: ir.Operation) -> DequantizeOp | None:
        first = _unscaled(op.operands[0])
        if first is None or _wide_element(op.results[0].type) is None:
            return None
        return first

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

    roots = (MULTIPLY, DIVIDE)

    def match(self, op: ir.Operation) -> _Dequantization | Miss | None:
        orders = ((0, 1), (1, 0)) if op.name == MULTIPLY else ((0, 1),)
        for data, factor in orders:
            found = _moved_unscaled(op.operands[data], op.block)
            if found is None:
                continue
            if scale := find_scale(op.operands[factor]):
                return _Dequantization(*found, scale, _MODES[op.name])
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
        names = f"{element_name(source)} to {element_name(result)}"
        return Miss(
            f"bitcast_convert from {names} keeps the bits; stablehlo.convert keeps the value"
        )

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, f"not raised: {miss.reason}")


QUANTIZATION_PATTERNS = (
    RaiseQuantize(),
    RaiseDequantize(),
    WidenDequantize(),
    FoldDequantizeScale(),
    ExplainBitcast(),
)
