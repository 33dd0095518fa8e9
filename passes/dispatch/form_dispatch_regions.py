"""The pass ``form-dispatch-regions``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ..targets.lookup import TargetPass
from ..targets.tiling import Tiling
from .regions.block_graph import OPAQUE, BlockGraph
from .regions.building import build_region, erase_unused
from .regions.groups import find_groups


@dataclass(frozen=True)
class FormDispatchRegions(TargetPass):
    """Groups packed matmuls, and what makes the tensors to be packed, in dispatch regions.

    A matmul goes with the decoding of its packed operands, the unpacking of
    its result and the elementwise ops that read only that. What is packed
    goes with the elementwise ops and reductions that it is computed from.
    Ops that extend bits (decodes), fills and empty tensors are copied into
    each region that reads them. Other ops that read what a region makes move to
    below it, where they can. All else is left to IREE's own pass.

    Before:
        %s = linalg.generic ins(%x) { tanh }
        %p = iree_encoding.set_encoding %s
        %m = linalg.matmul ins(%p, %w) outs(%zero)
        %u = iree_encoding.unset_encoding %m
    After:
        %s = flow.dispatch.region { linalg.generic ins(%x) { tanh } }
        %p = iree_encoding.set_encoding %s
        %u = flow.dispatch.region { fill; linalg.matmul; iree_encoding.unset_encoding }
    """

    name: ClassVar[str] = "form-dispatch-regions"

    def run(self, module: ir.Operation) -> None:
        for block in ir.blocks_of(module):
            _form(block, self.facts.tiling)


def _form(block: ir.Block, tiling: Tiling) -> None:
    """The regions of a block and of the blocks in it."""
    graph = BlockGraph(block)
    for group in find_groups(graph, tiling):
        build_region(graph, group)
    erase_unused(graph)
    for op in ir.operations_of(block):
        if op.name in OPAQUE or op.name.startswith("linalg."):
            continue
        for inner in ir.blocks_of(op):
            _form(inner, tiling)
