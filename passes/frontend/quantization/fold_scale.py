"""Takes the scale after a convert from fp8 into its dequantize."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.headrace import DequantizeOp, dequantize
from ....dialects.op_traits import RESHAPES
from ....dialects.ops.constraints import shape_of
from ....dialects.upstream.stablehlo import constant_elements, retargeted
from ...remarks import remark
from ...rewriting import Miss, Pattern, Rewriter
from .steps import MODES, Scale, element_at, scale_of

# Those that pair each element with one.
_MOVES = RESHAPES | {"stablehlo.reshape", "stablehlo.transpose"}


def unscaled(value: ir.Value) -> DequantizeOp | None:
    """The dequantize without scale that makes ``value``, else None."""
    op = ir.defining_op(value)
    if op is None or op.name != DequantizeOp.OPERATION_NAME:
        return None
    view = DequantizeOp(op)
    return view if view.scale is None else None


def moved_unscaled(
    value: ir.Value, block: ir.Block
) -> tuple[DequantizeOp, tuple[ir.Operation, ...]] | None:
    """The dequantize without scale behind reshapes and transposes, and those.

    They must be in ``block``: none shall be moved into a loop.
    """
    moves: list[ir.Operation] = []
    while (op := ir.defining_op(value)) is not None and op.name in _MOVES and op.block == block:
        moves.append(op)
        value = op.operands[0]
    converted = unscaled(value)
    return (converted, tuple(reversed(moves))) if converted else None


@dataclass(frozen=True)
class ScaledOperand:
    """An operand that comes from fp8, and what scales it.

    ``moves`` are between the convert and the scale, first to last; ``steps``
    the ops in a generic's body that scale it there.
    """

    operand: int
    converted: DequantizeOp
    moves: tuple[ir.Operation, ...]
    scale: Scale
    mode: str
    steps: tuple[ir.Operation, ...] = ()


class FoldDequantizeScale(Pattern[ScaledOperand]):
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

    def match(self, op: ir.Operation) -> ScaledOperand | Miss | None:
        mode = MODES[op.name]
        for data in (0, 1) if mode == "multiply" else (0,):
            factor = op.operands[1 - data]
            found = moved_unscaled(op.operands[data], op.block)
            if found is None:
                continue
            if scale := scale_of(element_at(factor), op, shape_of(op.results[0])):
                return ScaledOperand(data, *found, scale, mode)
            if constant_elements(factor):
                return Miss("the scale is not a broadcast")
        return None

    def rewrite(self, op: ir.Operation, match: ScaledOperand, rewriter: Rewriter) -> None:
        ip = rewriter.before(op)
        narrow = match.converted.input
        for move in match.moves:
            narrow = retargeted(move, narrow, ip)
        new = dequantize(
            narrow,
            match.scale.make(ip, op.location),
            op.operands[match.operand].type if match.steps else op.results[0].type,
            scale_mode=match.mode,
            loc=op.location,
            ip=ip,
        )
        self.take(op, match, new.result, rewriter)
        for wide in (*reversed(match.moves), match.converted):
            rewriter.erase_if_dead(wide)

    def take(
        self, op: ir.Operation, match: ScaledOperand, value: ir.Value, rewriter: Rewriter
    ) -> None:
        """Puts the scaled value in the place of what scaled it."""
        rewriter.replace(op, [value])

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, f"not taken into headrace.dequantize: {miss.reason}")
