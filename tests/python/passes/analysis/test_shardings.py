"""Sharding strings: read, written, and against numpy on whole grids of meshes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from headrace.passes.analysis.shardings import (
    WHOLE,
    Tiling,
    format_sharding,
    mesh_tiling,
    parse_sharding,
)

MESHES = [(4,), (2, 4), (4, 2), (1, 4), (2, 3, 4), (4, 1, 2), (2, 2, 3, 2)]


def expected_tiling(shape: tuple[int, ...], axes: tuple[int, ...]) -> Tiling:
    """By numpy: the mesh coordinates of each device, raveled over ``axes``."""
    coordinates = np.unravel_index(np.arange(math.prod(shape)), shape)
    sizes = [shape[axis] for axis in axes]
    if math.prod(sizes) == 1:
        return WHOLE
    numbers = np.ravel_multi_index([coordinates[axis] for axis in axes], sizes)
    return tuple(int(n) for n in numbers)


@pytest.mark.parametrize("shape", MESHES)
def test_every_spec_of_a_mesh(shape: tuple[int, ...]) -> None:
    devices = math.prod(shape)
    mesh = {f"a{i}": size for i, size in enumerate(shape)}
    axes = range(len(shape))
    choices = [c for n in range(len(shape) + 1) for c in itertools.permutations(axes, n)]
    for first, second in itertools.product(choices, repeat=2):
        if set(first) & set(second):
            continue
        tilings = [
            mesh_tiling(mesh, range(devices), [f"a{axis}" for axis in chosen])
            for chosen in (first, second)
        ]
        assert tilings == [expected_tiling(shape, first), expected_tiling(shape, second)]
        text = format_sharding(tilings, devices)
        # Every sharding by whole axes of an ordered mesh is a transposed iota.
        assert "<=" in text or text == "{replicated}"
        assert parse_sharding(text, 2, devices) == tilings


def test_devices_in_another_order() -> None:
    tiling = mesh_tiling({"x": 2, "y": 2}, [0, 2, 3, 1], ["x"])
    assert tiling == (0, 1, 0, 1)
    assert mesh_tiling({"x": 4}, [0, 2, 3, 1], ["x"]) == (0, 3, 1, 2)
    assert format_sharding([(0, 3, 1, 2)], 4) == "{devices=[4]0,2,3,1}"


@pytest.mark.parametrize(
    ("text", "tilings"),
    [
        ("{replicated}", [WHOLE, WHOLE]),
        ("{devices=[4,1]<=[4]}", [(0, 1, 2, 3), WHOLE]),
        ("{devices=[1,2,2]<=[4] last_tile_dim_replicate}", [WHOLE, (0, 0, 1, 1)]),
        ("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", [(0, 1, 0, 1), WHOLE]),
        ("{devices=[2,1,2,1]<=[4] last_tile_dims={replicated, replicated}}", [(0, 0, 1, 1), WHOLE]),
        ("{devices=[2,2]0,2,1,3}", [(0, 1, 0, 1), (0, 0, 1, 1)]),
    ],
)
def test_read(text: str, tilings: list[Tiling]) -> None:
    assert parse_sharding(text, 2, 4) == tilings


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{manual}",
        "{maximal device=0}",
        "{devices=[2,1,2]<=[4] last_tile_dims={manual}}",
        "{devices=[2,2]<=[2,2]T(0,0)}",
        "{devices=[2,2]<=[2,2]T(5,0)}",
        "{devices=[4,,1]<=[4]}",
        "{devices=[8,1]<=[8]}",
        "{devices=[4]<=[4]}",
        "{devices=[2,2]0,1,2,2}",
        "{devices=[2,1]0,1,2,3}",
        "{devices=[4,1]<=[4] shard_as 1}",
    ],
)
def test_not_a_full_sharding_of_a_matrix_on_four(text: str) -> None:
    assert parse_sharding(text, 2, 4) is None
