"""Which devices agree: equivalence classes of device ids.

A class list says for each device id which class it is in; devices in one
class hold the same bits. The order is refinement: ``meet`` of two lists puts
devices together that are together in both.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from .shardings import parse_sharding

Classes = tuple[int, ...]


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


def sharding_classes(sharding: str, rank: int, partitions: int) -> Classes:
    """Which partitions hold the same part of a tensor of that rank.

    A sharding that says nothing about equality (``{manual}``,
    ``{maximal device=..}``), and text that is not understood, make all
    partitions differ.
    """
    tilings = parse_sharding(sharding, rank, partitions)
    if tilings is None:
        return all_different(partitions)
    split = [tiling for tiling in tilings if tiling]
    return classes_of_keys(zip(*split, strict=True)) if split else all_equal(partitions)
