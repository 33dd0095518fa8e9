"""The pass ``fuse-encodings``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.dispatch import DispatchRegion
from ...dialects.iree.encoding import is_set_encoding
from ...dialects.op_traits import VIEWS
from ..rewriting import Miss
from ..targets.lookup import TargetPass
from ..targets.target import Target
from .fusion.choice import choose, missed
from .fusion.encoding_sources import find_source
from .fusion.equal_encodings import merge_encodings
from .fusion.hoisting import Hoister
from .fusion.known_sizes import resolve_dims
from .fusion.region import Fusion, fuse
from .fusion.region_yields import yield_once


@dataclass(frozen=True)
class FuseEncodings(TargetPass):
    """Fuses data-tiling encodings into the dispatch regions that make what they pack.

    The region then stores the packed tensor itself, which saves the launch
    that would read the plain one and pack it.

    Before:
        %r = flow.dispatch.region -> (tensor<64x32xf32>) {...}
        %e = iree_encoding.set_encoding %r : tensor<64x32xf32> -> tensor<64x32xf32, #lhs>
    After:
        %e = flow.dispatch.region -> (tensor<64x32xf32, #lhs>) {...}
    And, with the option, where %r has other users:
        %r, %e = flow.dispatch.region -> (tensor<64x32xf32>, tensor<64x32xf32, #lhs>) {...}

    Equal encodings of a value are merged first, with those that the target
    packs alike. Reshapes between region and encoding go along. What is not
    fused is left as it is, with a remark that says why.

    A region that was changed gets the attribute ``headrace.fused_encodings``:
    per packed value its type, ``launches_saved``, and ``bytes_added``, what the
    region stores more than before (less, where the plain value is stored no
    more; left out where a size is dynamic).
    """

    name: ClassVar[str] = "fuse-encodings"
    experimental_multi_use_encoding_fusion: bool = field(
        default=False,
        metadata={
            "help": "also fuse encodings of values with other users, which the region then "
            "yields both plain and packed; for testing, and may go away"
        },
    )

    def run(self, module: ir.Operation) -> None:
        target = self.facts
        for block in _ordinary_blocks(module):
            _fuse_in(block, target, self.experimental_multi_use_encoding_fusion)


def _ordinary_blocks(root: ir.Operation) -> list[ir.Block]:
    """All blocks but those in dispatches and in structured ops."""
    found: list[ir.Block] = []
    waiting = [root]
    while waiting:
        for block in ir.blocks_of(waiting.pop()):
            found.append(block)
            waiting += [
                op
                for op in ir.operations_of(block)
                if len(op.regions)
                and not op.name.startswith(("flow.dispatch.", "linalg.", "iree_linalg_ext."))
            ]
    return found


def _fuse_in(block: ir.Block, target: Target, multi_use: bool) -> None:
    """Fuses the encodings of one block into the regions of that block."""
    ops = ir.operations_of(block)
    packing_ops = [op for op in ops if is_set_encoding(op) or op.name in VIEWS]
    regions = [r for op in ops if (r := DispatchRegion.of(op)) is not None]
    regions = [yield_once(region) for region in regions]
    candidates = _candidates(merge_encodings(packing_ops, target.packing))
    wanted = [r for r in regions if ir.address_of(r.op) in candidates]
    for region in wanted:
        resolve_dims(region)
    if not wanted:
        return
    hoister = Hoister(block)
    for region in wanted:
        found = candidates[ir.address_of(region.op)]
        chosen = choose(region, found, hoister, target, multi_use=multi_use)
        if chosen:
            fuse(chosen, hoister)


def _candidates(ops: Sequence[ir.Operation]) -> dict[int, list[Fusion]]:
    """Encodings by the region that makes their source."""
    found: dict[int, list[Fusion]] = {}
    for op in ops:
        if not is_set_encoding(op):
            continue
        source = find_source(op)
        if isinstance(source, Miss):
            missed(op, source)
        elif source is not None:
            found.setdefault(ir.address_of(source.region.op), []).append(Fusion(op, source))
    return found
