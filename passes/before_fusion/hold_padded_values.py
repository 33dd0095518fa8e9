"""The pass ``hold-padded-values``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.barriers import hold
from ...dialects.op_traits import VIEWS
from ...dialects.upstream.linalg import TensorBuilder
from ...dialects.upstream.tensor import dynamic_sizes
from ..base import Pass

_IN_PLACE = ("iree_linalg_ext.scan", "iree_linalg_ext.sort")


@dataclass(frozen=True)
class HoldPaddedValues(Pass):
    """Has a scan or a sort made before it is padded.

    IREE stores it to its place in the padded tensor from its own dispatch, which copies
    what it updates outside of the loop over workgroups (quirks.PADDED_IN_PLACE).

    Before: %s:2 = iree_linalg_ext.scan ...
            %y = tensor.pad %s#0 low[0, 2] high[1, 0]
    After:  %h = util.optimization_barrier %s#0 : tensor<1x2xf32>
            %y = tensor.pad %h low[0, 2] high[1, 0]
    """

    name: ClassVar[str] = "hold-padded-values"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module):
            if op.name == "tensor.pad" and _is_made_in_place(op.operands[0]):
                value = op.operands[0]
                b = TensorBuilder(ir.InsertionPoint(op), op.location)
                op.operands[0], _ = hold(b, value, dynamic_sizes(b, value))


def _is_made_in_place(value: ir.Value) -> bool:
    op = ir.producer_behind(value, VIEWS)
    return op is not None and op.name in _IN_PLACE
