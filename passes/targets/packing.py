"""How a target packs tensors that have encodings.

Facts found by compiling ; a test asks IREE's own resolvers for the layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from ...dialects import ir
from ...dialects.iree.encoding_ops import OperandEncoding
from ...dialects.upstream.linalg import DYNAMIC

Types = tuple[str, ...]

# No CPU resolver has a tile wider than this; narrower sizes shrink the tile.
_WIDEST_TILE = 64


@dataclass(frozen=True, kw_only=True)
class Packing:
    """How a target packs tensors, and what its code generator can store.

    ``packings``: how many different packings one dispatch may store besides
    plain values. Zero where encodings resolve to nothing: there a packed copy
    is the plain value once more (quirks.STORED_TWICE). ``has_tiles``: whether the
    resolver packs operands of a matmul of these element types (lhs, rhs, their
    scales if any, result).
    ``follows_narrow_side``: whether tiles depend on nothing but the smaller one of
    rows and columns. ``packs_before_reductions``: whether a value can be
    packed in a dispatch that goes on to reduce it (quirks.PACKED_BEFORE_REDUCTION).
    ``packs_after_dynamic_rows``: whether a value of two dynamic dimensions can
    be packed in a dispatch that has reduced its rows, of dynamic length, before
    ("no basis element may be statically non-positive").
    ``packs_sums_as_results``: whether a sum can be stored both plain and
    packed as the result of a matmul.
    """

    packings: int
    has_tiles: Callable[[Types], bool]
    follows_narrow_side: bool
    packs_before_reductions: bool
    packs_after_dynamic_rows: bool
    packs_sums_as_results: bool

    def layout_class(self, encoding: ir.Attribute) -> Hashable:
        """Equal for encodings that the resolver gives one layout, as far as known.

        CPU tiles follow the smaller of the loops M and N where it is
        narrower than a tile, and are turned where N is the smaller one; GPU
        tiles follow both sizes. The length of K never matters.
        """
        matmul = OperandEncoding.parse(encoding)
        sizes = matmul.matmul_sizes() if matmul else None
        if matmul is None or (sizes is None and matmul.sizes is not None):
            return encoding
        m, n, _ = sizes or (DYNAMIC, DYNAMIC, DYNAMIC)
        rest = (matmul.operand_index, matmul.element_types, matmul.maps)
        return (rest, _narrow_side(m, n) if self.follows_narrow_side else (m, n))

    def role(self, encoding: ir.Attribute) -> Hashable:
        """Which operand of a matmul is packed; others stand for themselves.

        Packings of one value for one role may come out the same, whatever
        their encodings say.
        """
        matmul = OperandEncoding.parse(encoding)
        return encoding if matmul is None else matmul.operand_index

    def is_result(self, encoding: ir.Attribute) -> bool:
        """Whether a matmul's result is packed."""
        matmul = OperandEncoding.parse(encoding)
        return matmul is not None and matmul.is_result

    def resolves(self, encoding: ir.Attribute) -> bool:
        """Whether a packed value differs from the plain one.

        Encodings that are of no op, such as layouts, are taken to do so.
        """
        if self.packings == 0:
            return False
        if not str(encoding).startswith("#iree_encoding.encoding<"):
            return True
        matmul = OperandEncoding.parse(encoding)
        return matmul is not None and self.has_tiles(matmul.element_types)


def _narrow_side(m: int, n: int) -> tuple[str, int]:
    """The smaller of both loops and its size as a power of two.

    Neither, for equal or two unknown sizes, is as a wide M.
    """
    if m == n:
        return ("m", _WIDEST_TILE)
    if m == DYNAMIC or (n != DYNAMIC and n < m):
        return ("n", _power_of_two(n))
    return ("m", _power_of_two(m))


def _power_of_two(size: int) -> int:
    return min(1 << max(size - 1, 0).bit_length(), _WIDEST_TILE)


# Of a target whose resolver packs nothing.
NO_PACKING = Packing(
    packings=0,
    has_tiles=lambda types: False,
    follows_narrow_side=False,
    packs_before_reductions=True,
    packs_after_dynamic_rows=True,
    packs_sums_as_results=True,
)
