"""The pass ``hold-gathered-slices``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.barriers import hold
from ...dialects.upstream.generic import GENERIC
from ...dialects.upstream.linalg import TensorBuilder
from ...dialects.upstream.tensor import dynamic_sizes, is_slice
from ..base import Pass


@dataclass(frozen=True)
class HoldGatheredSlices(Pass):
    """Has a slice made before its elements are read at computed places.

    IREE reads the larger tensor there, at steps that its gathers of vectors do
    not know (quirks.GATHER_OF_SLICE).

    Before::

        %s = tensor.extract_slice %x[0, 2] [8, 1] [1, 1] : tensor<8x3xf32> to tensor<8xf32>
        %y = linalg.generic ins(%i) { tensor.extract %s[%in] }

    After::

        %s = tensor.extract_slice %x[0, 2] [8, 1] [1, 1] : tensor<8x3xf32> to tensor<8xf32>
        %h = util.optimization_barrier %s : tensor<8xf32>
        %y = linalg.generic ins(%i) { tensor.extract %h[%in] }
    """

    name: ClassVar[str] = "hold-gathered-slices"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module):
            if op.name == GENERIC:
                _hold_slices(op)


def _hold_slices(generic: ir.Operation) -> None:
    b = TensorBuilder(ir.InsertionPoint(generic), generic.location)
    held: ir.ValueMap = {}
    for op in ir.walk(generic):
        if op.name != "tensor.extract":
            continue
        source = op.operands[0]
        if source not in held and is_slice(source):
            held[source], _ = hold(b, source, dynamic_sizes(b, source))
        op.operands[0] = held.get(source, source)
