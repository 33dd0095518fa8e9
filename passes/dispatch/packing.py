"""What IREE 3.13 makes of encodings on each target.

Facts found by compiling; a test asks IREE's own resolvers for the layouts.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ...dialects.encoding import MatmulEncoding
from ...dialects.mlir import Attribute
from ..lowering.fp8_support import fp8_support

# No CPU resolver has a tile wider than this; narrower sizes shrink the tile.
_WIDEST_TILE = 64


@dataclass(frozen=True)
class Packing:
    """A target's packing of tensors.

    ``packings`` is how many different packings of one value a dispatch may
    store besides the plain value. Zero where encodings resolve to nothing:
    there a packed copy is the plain value once more, and a dispatch that
    stores one value twice does not compile.
    """

    target: str
    packings: int

    def layout_class(self, encoding: Attribute) -> Hashable:
        """Equal for encodings that the resolver gives the same layout, as far as known.

        CPU tiles follow the smaller of the loops M and N where it is
        narrower than a tile, and are turned where N is the smaller one; GPU
        tiles follow both sizes. The length of K never matters.
        """
        matmul = MatmulEncoding.parse(encoding)
        if matmul is None:
            return encoding
        if not self._by_narrow_side:
            return (matmul.rest, matmul.m, matmul.n)
        return (matmul.rest, _narrow_side(matmul.m, matmul.n))

    @property
    def _by_narrow_side(self) -> bool:
        return self.target in ("cpu", "vmvx")


def _narrow_side(m: int | None, n: int | None) -> tuple[str, int]:
    """The smaller of both loops and its size as a power of two.

    Neither, for equal or two unknown sizes, is as a wide M.
    """
    if m == n:
        return ("m", _WIDEST_TILE)
    if m is None or (n is not None and n < m):
        return ("n", _power_of_two(n or 0))
    return ("m", _power_of_two(m))


def _power_of_two(size: int) -> int:
    return min(1 << max(size - 1, 0).bit_length(), _WIDEST_TILE)


_PACKINGS = {"cpu": 1, "vmvx": 1, "gfx942": 2, "gfx950": 2}


def packing(target: str) -> Packing:
    """The packing of a target; HeadraceError with the known names if unknown."""
    name = fp8_support(target).name
    return Packing(name, _PACKINGS.get(name, 0))
