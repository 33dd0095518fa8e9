"""The pass ``widen-convolutions``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.ops.constraints import element_type_of
from ...dialects.upstream.stablehlo import build, convert, integer
from ..base import Pass
from ..rewriting import Pattern, Rewriter, apply_patterns


@dataclass(frozen=True)
class WidenConvolutions(Pass):
    """Convolve groups of features in the element type of the result.

    IREE's conversion of depthwise convolutions wants them of one type
    (quirks.DEPTHWISE_ELEMENT_TYPES), which JAX's ``preferred_element_type`` does not
    give. The barrier keeps IREE from taking the
    convert back into the convolution before that.
    """

    name: ClassVar[str] = "widen-convolutions"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [WidenGroupedConvolution()])


class WidenGroupedConvolution(Pattern[ir.Type]):
    """Operands of a grouped convolution, converted.

    %y = stablehlo.convolution(%x, %w) {feature_group_count = 3} : (bf16, bf16) -> f32
    // =>
    %a = stablehlo.optimization_barrier (stablehlo.convert %x : f32)
    %b = stablehlo.optimization_barrier (stablehlo.convert %w : f32)
    %y = stablehlo.convolution(%a, %b) {feature_group_count = 3} : (f32, f32) -> f32
    """

    roots = ("stablehlo.convolution",)

    def match(self, op: ir.Operation) -> ir.Type | None:
        """The element type to convert to."""
        if integer(op, "feature_group_count") == 1:
            return None
        wide = element_type_of(op.results[0])
        if all(element_type_of(operand) == wide for operand in op.operands):
            return None
        return wide

    def rewrite(self, op: ir.Operation, match: ir.Type, rewriter: Rewriter) -> None:
        for index, operand in enumerate(op.operands):
            if element_type_of(operand) != match:
                ip = rewriter.before(op)
                wide = convert(operand, match, loc=op.location, ip=ip)
                kept = build("optimization_barrier", [wide], wide.type, loc=op.location, ip=ip)
                rewriter.set_operand(op, index, kept)
