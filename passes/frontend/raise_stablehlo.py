"""raise-stablehlo: StableHLO as frontends write it -> headrace ops."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ..base import Pass
from ..rewriting import apply_patterns
from .collectives.collectives import collective_patterns
from .collectives.groups import DeviceGrid
from .collectives.sharding_calls import DropShardingCall, refuse_global_programs
from .quantization.stablehlo_quantization import QUANTIZATION_PATTERNS


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
        refuse_global_programs(module, grid.partitions or 1)
        patterns = (*QUANTIZATION_PATTERNS, *collective_patterns(grid), DropShardingCall())
        apply_patterns(module, patterns)
