"""What IREE makes of encodings on each target.

Facts found by compiling; a test asks IREE's own resolvers for the layouts.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ...dialects import ir
from ...dialects.iree.encoding_ops import OperandEncoding
from ...dialects.upstream.linalg import DYNAMIC
from .fp8_support import CPU_WITH_BF16, fp8_support

# No CPU resolver has a tile wider than this; narrower sizes shrink the tile.
_WIDEST_TILE = 64


@dataclass(frozen=True)
class Packing:
    """How a target packs tensors, and what its code generator can store.

    ``packings``: how many different packings one dispatch may store besides
    plain values. Zero where encodings resolve to nothing: there a packed copy
    is the plain value once more (quirks.STORED_TWICE). ``packs_before_reductions``:
    whether a value can be packed in a dispatch that goes on to reduce it
    (quirks.PACKED_BEFORE_REDUCTION). ``packs_after_dynamic_rows``: whether a value
    of two dynamic dimensions can be packed in a dispatch that has reduced its rows,
    of dynamic length, before ("no basis element may be statically non-positive").
    ``packs_sums_as_results``: whether a sum can be stored both plain and packed as
    the result of a matmul.
    """

    target: str
    packings: int
    packs_before_reductions: bool = True
    packs_after_dynamic_rows: bool = True
    packs_sums_as_results: bool = True

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
        return (rest, _narrow_side(m, n) if self.target in ("cpu", "vmvx") else (m, n))

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
        return matmul is not None and _has_tiles(self.target, matmul.element_types)


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


_PACKINGS = {
    # More than one fails on CPUs whose tiles differ by operand, and not each time.
    "cpu": Packing(
        "cpu",
        1,
        packs_before_reductions=False,
        packs_after_dynamic_rows=False,
        packs_sums_as_results=False,
    ),
    "vmvx": Packing("vmvx", 2),
    "gfx942": Packing("gfx942", 3),
    "gfx950": Packing("gfx950", 3),
}
_PACKINGS[CPU_WITH_BF16] = _PACKINGS["cpu"]
# The instructions take operands of two types, IREE only those of one.
SCALED_MFMA = tuple(
    (t, t, "f8E8M0FNU", "f8E8M0FNU", "f32") for t in ("f4E2M1FN", "f8E4M3FN", "f8E5M2")
)
_OCP = ("f8E4M3FN", "f8E5M2")
_FNUZ = ("f8E4M3FNUZ", "f8E5M2FNUZ")
_MFMA = {
    *(("f64", "f64", "f64"), ("f32", "f32", "f32"), ("i8", "i8", "i32")),
    *(("f16", "f16", "f32"), ("bf16", "bf16", "f32")),
}
_TILES = {
    "gfx942": _MFMA | {(a, b, "f32") for a in _FNUZ for b in _FNUZ},
    "gfx950": _MFMA | {(a, b, "f32") for a in _OCP for b in _OCP} | set(SCALED_MFMA),
}


def _has_tiles(target: str, types: tuple[str, ...]) -> bool:
    if target in _TILES:
        return types in _TILES[target]
    if len(types) != 3:  # scaled in blocks
        return False
    return target == "vmvx" or types[2] in ("f32", "f16", "bf16") or types == ("i8", "i8", "i32")


def packing(target: str) -> Packing:
    """The packing of a target; HeadraceError with the known names if unknown."""
    name = fp8_support(target).name
    return _PACKINGS.get(name, Packing(name, 0))
