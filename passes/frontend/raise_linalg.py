"""raise-linalg: linalg and arith as torch-mlir writes them -> headrace ops."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ..base import Pass
from ..rewriting import apply_patterns
from .quantization.linalg_quantization import LINALG_PATTERNS


@dataclass(frozen=True)
class RaiseLinalg(Pass):
    """Raises fp8 converts of linalg programs to quantize and dequantize.

    Arithmetic may be in generics of one op each, in generics that do more, or
    in arith ops on tensors; what else a generic computes stays in it. Clamps
    are maximumf and minimumf, or select of a compare (torch-mlir's
    ``torch.clamp``, of which a NaN comes out as NaN, as in PyTorch). Scales
    are scalars, constants, or tensors that are broadcast. Contractions stay
    as they are. What is almost a quantize gets a remark with the reason.

    Before:
        %w = linalg.generic ins(%q) { arith.extf %in : f8E4M3FN to f32 }
        %v = linalg.generic ins(%w, %s : tensor<8x4xf32>, tensor<f32>) { arith.mulf }
    After:
        %v = "headrace.dequantize"(%q, %s) {scale_mode = "multiply"}
    """

    name = "raise-linalg"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, LINALG_PATTERNS)
