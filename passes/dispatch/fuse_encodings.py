"""The pass ``fuse-encodings``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from ...dialects.dispatch import DispatchRegion
from ...dialects.encoding import encoding_of, is_set_encoding
from ...dialects.mlir import (
    Attribute,
    Block,
    Operation,
    Value,
    address_of,
    blocks_of,
    defining_op,
    operations_of,
)
from ..base import Pass
from ..remarks import remark
from ..rewriting import Miss
from .encoding_sources import Source, body_fault, find_source
from .equal_encodings import RESHAPES, merge_encodings
from .fused_region import Fusion, fuse
from .hoisting import Hoister
from .known_sizes import resolve_dims
from .packing import Packing, packing
from .region_yields import yield_once

_OPTION = "experimental-multi-use-encoding-fusion"


@dataclass(frozen=True)
class FuseEncodings(Pass):
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
    per packed value ``launches_saved``, and ``bytes_added``, what the region
    stores more than before (less, where the plain value is stored no more;
    left out where a size is dynamic).
    """

    name: ClassVar[str] = "fuse-encodings"
    target: str = field(default="cpu", metadata={"help": "as in headrace-compile --target"})
    experimental_multi_use_encoding_fusion: bool = field(
        default=False,
        metadata={
            "help": "also fuse encodings of values with other users, which the region then "
            "yields both plain and packed; for testing, and may go away"
        },
    )

    def run(self, module: Operation) -> None:
        limits = packing(self.target)
        for block in _ordinary_blocks(module):
            _BlockFuser(block, limits, self.experimental_multi_use_encoding_fusion).run()


def _ordinary_blocks(root: Operation) -> list[Block]:
    """All blocks but those in dispatches and in structured ops."""
    found: list[Block] = []
    waiting = [root]
    while waiting:
        for block in blocks_of(waiting.pop()):
            found.append(block)
            waiting += [
                op
                for op in operations_of(block)
                if len(op.regions)
                and not op.name.startswith(("flow.dispatch.", "linalg.", "iree_linalg_ext."))
            ]
    return found


class _BlockFuser:
    """Fuses the encodings of one block into the regions of that block."""

    def __init__(self, block: Block, limits: Packing, multi_use: bool) -> None:
        self._block = block
        self._limits = limits
        self._multi_use = multi_use

    def run(self) -> None:
        ops = operations_of(self._block)
        packing_ops = [op for op in ops if is_set_encoding(op) or op.name in RESHAPES]
        regions = [r for op in ops if (r := DispatchRegion.of(op)) is not None]
        regions = [yield_once(region) for region in regions]
        candidates = self._candidates(merge_encodings(packing_ops, self._limits))
        wanted = [r for r in regions if address_of(r.op) in candidates]
        for region in wanted:
            resolve_dims(region)
        if not wanted:
            return
        hoister = Hoister(self._block)
        for region in wanted:
            chosen = self._choose(region, candidates[address_of(region.op)], hoister)
            if chosen:
                fuse(chosen, hoister)

    def _candidates(self, ops: Sequence[Operation]) -> dict[int, list[Fusion]]:
        """Encodings by the region that makes their source."""
        found: dict[int, list[Fusion]] = {}
        for op in ops:
            if not is_set_encoding(op):
                continue
            source = find_source(op)
            if isinstance(source, Miss):
                _missed(op, source)
            else:
                found.setdefault(address_of(source.region.op), []).append(Fusion(op, source))
        return found

    def _choose(
        self, region: DispatchRegion, candidates: Sequence[Fusion], hoister: Hoister
    ) -> list[Fusion]:
        """The encodings to fuse; what they need is moved before the region."""
        fault = body_fault(region)
        packings = {
            self._limits.layout_class(e) for o in region.outputs() if (e := encoding_of(o.type))
        }
        chosen: list[int] = []
        for index in _by_gain(candidates):
            fusion = candidates[index]
            layout = self._limits.layout_class(_encoding(fusion))
            miss = Miss(fault) if fault else self._miss(fusion, packings | {layout})
            needed = miss or hoister.needed(_sizes_needed(fusion), region.op)
            if isinstance(needed, Miss):
                _missed(fusion.encode, needed)
                continue
            hoister.move(needed, region.op)
            packings.add(layout)
            chosen.append(index)
        return [candidates[index] for index in sorted(chosen)]

    def _miss(self, fusion: Fusion, packings: set[Hashable]) -> Miss | None:
        """Why not to fuse, if that makes the region store these packings."""
        source, target = fusion.source, self._limits.target
        yielded = defining_op(source.region.terminator.operands[source.result])
        if yielded is None or yielded.block != source.region.body:
            return Miss("the dispatch region yields a value from outside of it")
        if not _is_sole_use(source):
            if not self._multi_use:
                return Miss(f"its source has other uses: that needs {_OPTION}")
            if self._limits.packings == 0:
                return Miss(
                    f"its source has other uses, and on {target} a packed value is the "
                    "plain one, which no dispatch can store twice"
                )
        if len(packings) > max(self._limits.packings, 1):
            return Miss(
                f"the dispatch region stores {len(packings) - 1} packed layout(s) already, "
                f"and on {target} no more compile"
            )
        return None


def _by_gain(candidates: Sequence[Fusion]) -> list[int]:
    """Indices of candidates: those first that leave no plain value, then by readers."""

    def loss(index: int) -> tuple[bool, int]:
        readers = sum(1 for _ in candidates[index].encode.results[0].uses)
        return (not _is_sole_use(candidates[index].source), -readers)

    return sorted(range(len(candidates)), key=loss)


def _is_sole_use(source: Source) -> bool:
    """Whether the plain value is not needed once the encoding is fused."""
    values = [source.output, *(step.results[0] for step in source.steps)]
    return all(sum(1 for _ in islice(value.uses, 2)) == 1 for value in values)


def _sizes_needed(fusion: Fusion) -> list[Value]:
    """What the cloned ops read besides the tensor."""
    ops = (*fusion.source.steps, fusion.encode)
    return [value for op in ops for value in list(op.operands)[1:]]


def _encoding(fusion: Fusion) -> Attribute:
    encoding = encoding_of(fusion.encode.results[0].type)
    assert encoding is not None, "the verifier demands it"
    return encoding


def _missed(op: Operation, miss: Miss) -> None:
    if not miss.silent:
        remark(op, f"not fused into its producer: {miss.reason}")
