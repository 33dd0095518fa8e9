"""Which devices agree: equivalence classes of device ids, and GSPMD shardings.

A class list says for each device id which class it is in; devices in one
class hold the same bits. The order is refinement: ``meet`` of two lists puts
devices together that are together in both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Sequence

Classes = tuple[int, ...]

_TILED = re.compile(
    r"devices=\[(?P<tiles>\d+(?:,\d+)*)\]"
    r"(?:<=\[(?P<iota>\d+(?:,\d+)*)\](?:T\((?P<perm>\d+(?:,\d+)*)\))?|(?P<list>\d+(?:,\d+)*))"
    r"(?P<rest>.*)"
)
_SUBGROUPS = re.compile(r"last_tile_dims=\{(?P<types>[a-z, ]*)\}")
# Says where the sharding came from or is to go, not what a device holds.
_NO_MEANING = re.compile(r"(metadata=\{[^{}]*\}|shard_as \d+|shard_like \d+)")


def classes_of_keys(keys: Iterable[Hashable]) -> Classes:
    """Devices with equal keys are in one class; numbered by first device."""
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(key, len(numbers)) for key in keys)


def meet(a: Classes, b: Classes) -> Classes:
    """The coarsest classes that refine both."""
    if a == b:
        return a
    return classes_of_keys(zip(a, b, strict=True))


def all_equal(devices: int) -> Classes:
    return (0,) * devices


def all_different(devices: int) -> Classes:
    return tuple(range(devices))


def agree(classes: Classes, groups: Sequence[Sequence[int]]) -> bool:
    """Whether the devices of each group are in one class.

    An id that is no device of the program makes it False.
    """
    return all(
        0 <= device < len(classes) and classes[device] == classes[group[0]]
        for group in groups
        for device in group
    )


def sharding_classes(sharding: str, partitions: int) -> Classes:
    """Which partitions hold the same part under an HLO V1 sharding string.

    Format: HloSharding::ToString in XLA (``{replicated}``,
    ``{devices=[2,1,2]<=[4] last_tile_dim_replicate}``, ``<=[2,2]T(1,0)``,
    explicit device lists, ``last_tile_dims={manual, replicated}``).
    ``{maximal device=..}`` and ``{manual}`` say nothing about equality, nor
    does any text that is not understood: then all partitions differ.
    """
    text = _NO_MEANING.sub("", sharding.strip())
    if not (text.startswith("{") and text.endswith("}")):
        return all_different(partitions)
    text = text[1:-1].strip()
    if text == "replicated":
        return all_equal(partitions)
    found = _TILED.fullmatch(text)
    if found is None:
        return all_different(partitions)
    tiles = _ints(found["tiles"])
    keyed = _keyed_dims(len(tiles), found["rest"].strip())
    devices = _device_order(found, partitions)
    if keyed is None or devices is None or math.prod(tiles) != partitions:
        return all_different(partitions)
    keys: list[Hashable] = [None] * partitions
    for position, device in enumerate(devices):
        coordinates = _unravel(position, tiles)
        keys[device] = tuple(coordinates[d] for d in keyed)
    return classes_of_keys(keys)


def _keyed_dims(rank: int, rest: str) -> list[int] | None:
    """The tile dims along which parts differ; None if ``rest`` is unknown."""
    if not rest:
        return list(range(rank))
    if rest == "last_tile_dim_replicate":
        return list(range(rank - 1))
    found = _SUBGROUPS.fullmatch(rest)
    if found is None:
        return None
    types = [t.strip() for t in found["types"].split(",")]
    first = rank - len(types)
    if first < 0:
        return None
    return [d for d in range(rank) if d < first or types[d - first] != "replicated"]


def _device_order(found: re.Match[str], partitions: int) -> list[int] | None:
    """The device of each tile in row-major order; None if it is no permutation."""
    if found["list"] is not None:
        devices = _ints(found["list"])
        return devices if sorted(devices) == list(range(partitions)) else None
    reshape = _ints(found["iota"])
    perm = _ints(found["perm"]) if found["perm"] else list(range(len(reshape)))
    if sorted(perm) != list(range(len(reshape))) or math.prod(reshape) != partitions:
        return None
    strides = [math.prod(reshape[d + 1 :]) for d in range(len(reshape))]
    turned = [reshape[d] for d in perm]
    return [
        sum(c * strides[d] for c, d in zip(_unravel(i, turned), perm, strict=True))
        for i in range(math.prod(reshape))
    ]


def _unravel(position: int, shape: Sequence[int]) -> list[int]:
    coordinates: list[int] = []
    for size in reversed(shape):
        coordinates.append(position % size)
        position //= size
    return coordinates[::-1]


def _ints(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]
