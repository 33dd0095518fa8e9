"""raise-stablehlo: StableHLO as frontends write it -> headrace ops."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import DequantizeOp, dequantize
from ...dialects.upstream.linalg import element_of
from ...dialects.upstream.stablehlo import call_target
from ..base import Pass
from ..remarks import remark
from ..rewriting import Miss, Pattern, Rewriter, apply_patterns
from .collectives.collectives import ExplainBroadcast, RaiseCollective, RaiseDeviceId
from .collectives.groups import DeviceGrid
from .per_device.dimension_tilings import ANNOTATION, TO_GLOBAL, TO_LOCAL
from .quantization.fold_scale import FoldDequantizeScale, unscaled
from .quantization.quantize import RaiseQuantize
from .quantization.steps import is_wide


@dataclass(frozen=True)
class RaiseStablehlo(Pass):
    """Raises fp8 converts, collectives and device ids to headrace ops.

    Runs after ``inline``: frontends put clamps into private functions. What
    is almost a quantize, a dequantize or a collective of ours stays as it is
    and gets a remark with the reason. ``dot_general`` stays StableHLO.

    A collective with ``headrace_pipeline = "true"`` in its
    ``mhlo.frontend_attributes``, or with ``headrace.pipeline``, gets the
    attribute ``headrace.pipeline``.

    Raises HeadraceError for a program that is not one device's (Shardy ops,
    sharding calls), and for replica groups that name devices which the
    module does not have or that do not fit the shapes.

    Before:
        %d = stablehlo.divide %x, %bcast : tensor<64xbf16>
        %c = stablehlo.clamp %lo, %d, %hi : tensor<64xbf16>
        %q = stablehlo.convert %c : (tensor<64xbf16>) -> tensor<64xf8E4M3FN>
    After:
        %q = "headrace.quantize"(%x, %s) {saturate = true, scale_mode = "divide"}
    """

    name = "raise-stablehlo"

    def run(self, module: ir.Operation) -> None:
        grid = DeviceGrid.of(module, "headrace", "mhlo")
        _refuse_global_programs(module, grid.partitions or 1)
        collectives = (RaiseCollective(grid), ExplainBroadcast(), RaiseDeviceId())
        apply_patterns(module, [*_QUANTIZATION, *collectives, DropShardingCall()])


# Shardings that ask nothing of a partitioner.
_HARMLESS = ("", "{manual}", "{replicated}", "{maximal device=0}")
_HINT = (
    "headrace takes one device's program: write it with shard_map and export it by "
    "headrace.jax.to_stablehlo(fn, *args)"
)


def _refuse_global_programs(module: ir.Operation, partitions: int) -> None:
    """Raises HeadraceError for a program that a partitioner has still to split.

    That is one with ops of Shardy's ``sdy`` dialect, with the boundaries of
    manual parts (the pass to-per-device removes them), or with a ``@Sharding``
    call that tiles a value over more than one partition.
    """
    for op in ir.walk(module):
        if op.name.startswith("sdy."):
            raise ir.error_at(op, f"'{op.name}' is an op of a global program; {_HINT}")
        target = call_target(op)
        if target in (TO_LOCAL, TO_GLOBAL):
            raise ir.error_at(
                op,
                f"'@{target}' is the boundary of a global program's manual part; "
                "run to-per-device first",
            )
        if target == ANNOTATION and partitions > 1 and _sharding(op) not in _HARMLESS:
            raise ir.error_at(op, f"'@{ANNOTATION}' asks for sharding {_sharding(op)}; {_HINT}")


def _sharding(op: ir.Operation) -> str:
    if "mhlo.sharding" not in op.attributes:
        return ""
    return ir.StringAttr(op.attributes["mhlo.sharding"]).value.strip()


class DropShardingCall(Pattern[list[ir.Value]]):
    """A sharding annotation is the identity in one device's program.

    Before: %y = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{manual}"}
    After:  %x
    """

    roots = ("stablehlo.custom_call",)

    def match(self, op: ir.Operation) -> list[ir.Value] | None:
        same_types = [v.type for v in op.operands] == [v.type for v in op.results]
        return list(op.operands) if call_target(op) == ANNOTATION and same_types else None

    def rewrite(self, op: ir.Operation, match: list[ir.Value], rewriter: Rewriter) -> None:
        rewriter.replace(op, match)


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


_QUANTIZATION = (
    RaiseQuantize(_CONVERT),
    RaiseDequantize(),
    WidenDequantize(),
    FoldDequantizeScale(),
    ExplainBitcast(),
)
