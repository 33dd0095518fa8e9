"""GSPMD sharding strings: which tile of each dimension a device holds.

A dimension's ``Tiling`` is one tile number per device, in device order; the
empty tuple for a dimension that is whole on every device. Two shardings are
the same exactly when their tilings are equal, whatever mesh they came from.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

Tiling = tuple[int, ...]
WHOLE: Tiling = ()

_TILED = re.compile(
    r"\{devices=\[(?P<tiles>N)\](?:<=\[(?P<iota>N)\](?:T\((?P<perm>N)\))?"
    r"|(?P<list>N))(?P<rest>[^}]*(?:\{[^}]*\})?)\}".replace("N", r"\d{1,9}(?:,\d{1,9})*")
)


def tile_count(tiling: Tiling) -> int:
    return max(tiling) + 1 if tiling else 1


def parse_sharding(text: str, rank: int, devices: int) -> list[Tiling] | None:
    """The tilings of a tensor of ``rank`` dimensions under ``text``.

    Format: HloSharding::ToString in XLA. None for what is no full set of
    tiles of the whole tensor: ``{manual}``, subgroups with manual devices,
    ``{maximal device=0}`` of more than one device, other device counts.
    """
    text = text.strip()
    if text == "{replicated}" or (devices == 1 and text.startswith("{maximal")):
        return [WHOLE] * rank
    found = _TILED.fullmatch(text)
    if found is None:
        return None
    tiles = _ints(found["tiles"])
    rest = found["rest"].strip()
    subgroups = re.fullmatch(r"last_tile_dims=\{(replicated(?:, *replicated)*)\}", rest)
    if rest not in ("", "last_tile_dim_replicate") and subgroups is None:
        return None
    extra = len(subgroups[1].split(",")) if subgroups is not None else int(bool(rest))
    if found["iota"] and math.prod(_ints(found["iota"])) != devices:
        return None
    order = _ints(found["list"]) if found["list"] else _iota(found["iota"], found["perm"])
    if sorted(order) != list(range(devices)):
        return None
    if len(tiles) - extra != rank or math.prod(tiles) != devices:
        return None
    return _tilings_of(tiles, order)[:rank]


def mesh_tiling(mesh: Mapping[str, int], order: Sequence[int], axes: Sequence[str]) -> Tiling:
    """The tiling of a dimension over ``axes`` of a mesh, first axis slowest.

    ``order`` lists the device at each place of the mesh, row-major.
    """
    places = dict(zip(mesh, _tilings_of(list(mesh.values()), order), strict=True))
    numbers = [0] * len(order)
    for axis in axes:
        steps = places[axis] or (0,) * len(order)
        numbers = [n * mesh[axis] + step for n, step in zip(numbers, steps, strict=True)]
    return tuple(numbers) if any(numbers) else WHOLE


def format_sharding(tilings: Sequence[Tiling], devices: int) -> str:
    """``{devices=[4,1]<=[4]}`` and the like; inverse of ``parse_sharding``."""
    if not any(tilings):
        return "{replicated}"
    counts = [tile_count(tiling) for tiling in tilings]
    order = sorted(range(devices), key=lambda d: [t[d] if t else 0 for t in tilings])
    copies = devices // math.prod(counts)
    tiles = ",".join(map(str, [*counts, copies] if copies > 1 else counts))
    rest = " last_tile_dim_replicate" if copies > 1 else ""
    return f"{{devices=[{tiles}]{_format_order(order)}{rest}}}"


def _format_order(order: Sequence[int]) -> str:
    """``<=[2,4]T(1,0)`` for a transposed iota, else the plain list."""
    strides = _strides(order)
    if strides is None:
        return ",".join(map(str, order))
    by_stride = sorted(range(len(strides)), key=lambda d: -strides[d][1])
    shape = ",".join(str(strides[d][0]) for d in by_stride)
    if by_stride == list(range(len(strides))):
        return f"<=[{len(order)}]"
    return f"<=[{shape}]T({','.join(str(by_stride.index(d)) for d in range(len(strides)))})"


def _strides(order: Sequence[int]) -> list[tuple[int, int]] | None:
    """(size, stride) of each dimension, outermost first, if there are such."""
    found: list[tuple[int, int]] = []
    inner = 1
    while inner < len(order):
        stride = order[inner] - order[0]
        size = 1
        while size * inner < len(order) and order[size * inner] == order[0] + size * stride:
            size += 1
        found.insert(0, (size, stride))
        inner *= size
    expected = 1
    for size, stride in sorted(found, key=lambda dim: dim[1]):
        if stride != expected:
            return None
        expected *= size
    shape = ",".join(str(size) for size, _ in sorted(found, key=lambda dim: -dim[1]))
    ranks = sorted(range(len(found)), key=lambda d: -found[d][1])
    perm = ",".join(str(ranks.index(d)) for d in range(len(found)))
    same = expected == len(order) and _iota(shape or "1", perm or "0") == list(order)
    return found if same else None


def _tilings_of(tiles: Sequence[int], order: Sequence[int]) -> list[Tiling]:
    """Of each dimension of the tile array, the coordinate of each device."""
    found: list[Tiling] = []
    inner = math.prod(tiles)
    for count in tiles:
        inner //= count
        numbers = [0] * len(order)
        for position, device in enumerate(order):
            numbers[device] = position // inner % count
        found.append(tuple(numbers) if count > 1 else WHOLE)
    return found


def _iota(shape: str, perm: str | None) -> list[int]:
    """The numbers 0..n-1 in ``shape``, transposed by ``perm``, flattened.

    Empty if ``perm`` is no permutation of the dimensions.
    """
    sizes = _ints(shape)
    dims = _ints(perm) if perm else list(range(len(sizes)))
    if sorted(dims) != list(range(len(sizes))):
        return []
    flat = [0]
    for dim in dims:
        stride = math.prod(sizes[dim + 1 :])
        flat = [base + step * stride for base in flat for step in range(sizes[dim])]
    return flat


def _ints(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]
