"""Where data tiling pays: what a target's resolver does, and an estimate.

An encoding names a matmul's operand; IREE's resolver for the target picks
the tiles. Where it has none for the element types the encoding would vanish,
after having cost a launch and a buffer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ...dialects import ir
from ...dialects.iree.encoding_ops import LHS, OperandEncoding
from ...dialects.upstream.linalg import DYNAMIC
from ..analysis.matmul_loops import MatmulLoops
from .fp8_support import CPU_WITH_BF16, fp8_support
from .packing import SCALED_MFMA

Types = tuple[str, ...]

# What dynamic sizes are taken for: so large that only the others decide.
_LARGE = 1 << 16


def assumed(size: int) -> int:
    """A size for estimates, if it is dynamic."""
    return _LARGE if size == DYNAMIC else size


@dataclass(frozen=True)
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
    unpacking in one dispatch, None for any: see ``groups``.
    """

    types: tuple[Types, ...] = ()
    reason: str = ""
    worth: int = 0
    worth_unaligned: int = 0
    worth_bf16: int | None = None
    vector: int = 1
    narrowest: int = 1
    widest: int | None = None
    panel: int | None = None
    read_beside: int | None = None

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
        if types == _BF16 and self.worth_bf16 is not None:
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

_F32 = ("f32", "f32", "f32")
_BF16 = ("bf16", "bf16", "f32")


def _into_f32(*elements: str) -> tuple[Types, ...]:
    return tuple((a, b, "f32") for a in elements for b in elements)


# Seen on Zen 4 with iree-compile, CPU time: 33 untiled multiply-adds per ns
# (14 where the columns are no multiple of 16), 55 tiled, 0.9 ns per packed element.
_CPU = Tiling(
    (_F32, ("i8", "i8", "i32")),
    worth=128,
    worth_unaligned=20,
    vector=16,
    # No resolver for CPUs has a wider tile.
    widest=64,
    # IREE limits a kernel's stack to 32 KiB, and puts decoded panels there.
    panel=15 << 10,
    read_beside=2,
)


def _cdna(fp8: tuple[str, ...], scaled: tuple[Types, ...] = ()) -> Tiling:
    """Of the MFMA instructions that multiply these types.

    No such device was at hand to measure on: an element read and written at 4
    TB/s costs 1e-12 s, a multiply-add at 300 per ns 3e-15 s, and tiling saves a
    fifth of those (IREE issue 21195: 243 ms to 242 with twice the memory, 353
    to 242 with kernels for tiles).
    """
    types = (_F32, ("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("i8", "i8", "i32"))
    return Tiling(
        (*types, *_into_f32(*fp8), *scaled), worth=1500, worth_unaligned=1500, narrowest=16
    )


_TILINGS = {
    "cpu": _CPU,
    # 29 untiled multiply-adds per ns, 89 tiled; without bf16 instructions 0.5.
    # 32 x 512 x 512, which is 30 per packed element, takes 0.12 ms for 0.28, and
    # 16 x 512 x 512 0.23 for 0.17.
    CPU_WITH_BF16: replace(_CPU, types=(*_CPU.types, _BF16), worth_bf16=24),
    "gfx942": _cdna(("f8E4M3FNUZ", "f8E5M2FNUZ")),
    "gfx950": _cdna(("f8E4M3FN", "f8E5M2"), SCALED_MFMA),
    # quirks.RDNA_ENCODINGS
    "gfx1201": Tiling(reason="IREE fails to compile encoded matmuls for RDNA"),
    "vmvx": Tiling(reason="VMVX runs packed matmuls no faster (128 x 128 x 128: 42 ms for 42)"),
}


def tiling_of(target: str) -> Tiling:
    """Of a target; HeadraceError with the known names if unknown."""
    name = fp8_support(target).name
    if name in _TILINGS:
        return _TILINGS[name]
    if not name.startswith(("sm_", "vulkan-")):
        raise ir.HeadraceError(f"nobody said whether target '{name}' tiles data")
    return Tiling(reason=f"the encoding resolver of '{name}' is the identity")
