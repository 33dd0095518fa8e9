"""Where data tiling pays: what a target's resolver does, and an estimate.

An encoding names a matmul's operand; IREE's resolver for the target picks
the tiles. Where it has none for the element types the encoding would vanish,
after having cost a launch and a buffer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from ...dialects.iree.encoding_ops import LHS, OperandEncoding
from ...dialects.upstream.linalg import DYNAMIC
from ..analysis.matmul_loops import MatmulLoops
from .packing import Types

F32_PRODUCT = ("f32", "f32", "f32")
BF16_PRODUCT = ("bf16", "bf16", "f32")
I8_PRODUCT = ("i8", "i8", "i32")

# What dynamic sizes are taken for: so large that only the others decide.
_LARGE = 1 << 16


def assumed(size: int) -> int:
    """A size for estimates, if it is dynamic."""
    return _LARGE if size == DYNAMIC else size


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """What a target makes of encodings.

    ``types``: the element types of lhs, rhs, their scales if any, and result that
    its resolver has tiles for. ``reason`` says why it has none at all. ``worth``: how many
    multiply-adds pay for one element that is written only to be packed, and
    ``worth_unaligned`` the same where the columns do not fill vectors of
    ``vector`` elements, which untiled code is slow at; ``worth_bf16`` is that
    of bf16 products, None where it is no other. ``narrowest``: the
    fewest rows and columns. ``widest``: rows and columns from which on the
    tiles no longer depend on them, None if they always do. ``panel``: how many
    bytes of decoded operand one step of its kernel may hold, None for any: a
    decode that is fused into the matmul makes whole panels of depth x 16.
    ``read_beside``: how many other tensors the ops may read that follow the
    unpacking in one dispatch, None for any: see ``groups``. ``stores_unpacked``: whether
    what is unpacked can be stored beside what the dispatch computes from it
    (quirks.UNPACKED_AND_USED).
    """

    types: tuple[Types, ...]
    reason: str
    worth: int
    worth_unaligned: int
    worth_bf16: int | None
    vector: int
    narrowest: int
    widest: int | None
    panel: int | None
    read_beside: int | None
    stores_unpacked: bool

    @classmethod
    def none(cls, reason: str) -> Self:
        """Of a target on which nothing is encoded."""
        return cls(
            types=(),
            reason=reason,
            worth=0,
            worth_unaligned=0,
            worth_bf16=None,
            vector=1,
            narrowest=1,
            widest=None,
            panel=None,
            read_beside=None,
            stores_unpacked=True,
        )

    def no_tiles(self, loops: MatmulLoops, types: Types) -> str | None:
        """Why the target's resolver makes nothing of a matmul's encodings."""
        if not self.types:
            return f"not encoded: {self.reason}"
        if types not in self.types:
            lhs, rhs, *scales, result = types
            scaled = f", scales {' and '.join(scales)}" if scales else ""
            return f"not encoded: the target has no tiles for {lhs} x {rhs} to {result}{scaled}"
        if loops.block is not None and loops.sizes[loops.block] % _SCALED_TOGETHER:
            return (
                f"not encoded: the target's instructions scale {_SCALED_TOGETHER} elements at once"
            )
        sizes = [loops.size(loops.m), loops.size(loops.n)]
        narrow = min((s for s in sizes if s != DYNAMIC), default=self.narrowest)
        if narrow < self.narrowest:
            return f"not encoded: {narrow} rows or columns do not fill a tile of {self.narrowest}"
        return None

    def _worth(self, types: Types, columns: int) -> int:
        if types == BF16_PRODUCT and self.worth_bf16 is not None:
            return self.worth_bf16
        return self.worth if columns % self.vector == 0 else self.worth_unaligned

    def no_gain(self, loops: MatmulLoops, types: Types, packed: int) -> str | None:
        """Why packing does not pay by the estimate.

        ``packed`` is how many elements would be written only for that.
        """
        work = math.prod(assumed(size) for size in loops.sizes)
        worth = self._worth(types, assumed(loops.size(loops.n)))
        if work >= worth * packed:
            return None
        dynamic = f", dynamic sizes taken for {_LARGE}" if DYNAMIC in loops.sizes else ""
        return (
            f"not encoded: tiling pays from {worth} multiply-adds per element that is "
            f"written for it, here are {work // packed} ({work} for {packed}{dynamic})"
        )

    def sizes(self, loops: MatmulLoops) -> tuple[int, ...] | None:
        """The loop lengths that the encodings shall state; None where none
        matters: one packed tensor then serves matmuls of any width."""
        smallest = min(loops.size(loops.m), loops.size(loops.n))
        return None if self.widest is not None and smallest >= self.widest else loops.sizes

    def fuses(self, encoding: OperandEncoding, bits: int) -> bool:
        """Whether the elementwise op that makes an operand, of elements with so
        many bits, is better part of the matmul.

        It is then repeated for each tile of the other operand.
        """
        if self.panel is None:
            return True
        sizes = encoding.matmul_sizes()
        if sizes is None:
            return False
        m, n, k = sizes
        other = n if encoding.operand_index == LHS else m
        return 0 < other <= 16 and 0 < k * 16 * bits // 8 <= self.panel


# Elements that share a scale in instructions for OCP microscaling formats.
_SCALED_TOGETHER = 32
