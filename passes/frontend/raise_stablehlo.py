"""raise-stablehlo: StableHLO as frontends write it -> headrace ops."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.mlir import Operation
from ..base import Pass
from ..rewriting import apply_patterns
from .stablehlo_collectives import collective_patterns
from .stablehlo_groups import DeviceGrid
from .stablehlo_quantization import QUANTIZATION_PATTERNS


@dataclass(frozen=True)
class RaiseStablehlo(Pass):
    """Raises fp8 converts, collectives and device ids to headrace ops."""

    name = "raise-stablehlo"

    def run(self, module: Operation) -> None:
        grid = DeviceGrid.of(module)
        apply_patterns(module, [*QUANTIZATION_PATTERNS, *collective_patterns(grid)])
