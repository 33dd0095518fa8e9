"""Classes of devices that hold the same bits: from shardings, met, and asked about groups."""

from __future__ import annotations

import pytest
from headrace.passes.analysis.device_classes import agree, meet, sharding_classes
from replication_programs import DIFFERENT, EQUAL, PAIRS, STRIDES


@pytest.mark.parametrize(
    ("sharding", "rank", "partitions", "expected"),
    [
        ("{replicated}", 2, 4, EQUAL),
        ("{replicated}", 0, 1, (0,)),
        ("{devices=[4,1]<=[4]}", 2, 4, DIFFERENT),
        ("{devices=[1,1,4]<=[4] last_tile_dim_replicate}", 2, 4, EQUAL),
        ("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 2, 4, PAIRS),
        ("{devices=[2,1,2]<=[4] last_tile_dims={replicated}}", 2, 4, PAIRS),
        ("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 2, 4, STRIDES),
        ("{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", 2, 4, STRIDES),
        ("{devices=[2,1,2]3,0,2,1 last_tile_dim_replicate}", 2, 4, (0, 1, 1, 0)),
        ("{devices=[2,2]<=[2,2]T(1,0)}", 2, 4, DIFFERENT),
        ("{devices=[2,2,2]<=[8] last_tile_dims={replicated}}", 2, 8, (0, 0, 1, 1, 2, 2, 3, 3)),
        (
            "{devices=[2,1,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}",
            2,
            8,
            (0, 0, 1, 1, 0, 0, 1, 1),
        ),
        # These say nothing about equality, or are not understood.
        ("{maximal device=0}", 2, 4, DIFFERENT),
        ("{manual}", 2, 4, DIFFERENT),
        ("{unknown}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]<=[4] last_tile_dims={manual}}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]<=[4]}", 2, 4, DIFFERENT),
        ("{devices=[2,1]<=[2]}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]<=[8] last_tile_dim_replicate}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]<=[2,2]T(1,1) last_tile_dim_replicate}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]0,0,1,1 last_tile_dim_replicate}", 2, 4, DIFFERENT),
        ("{devices=[4]<=[99999999999999]}", 1, 4, DIFFERENT),
        ("{{replicated}, {replicated}}", 1, 4, DIFFERENT),
        ("{devices=[2,0]<=[0]}", 2, 4, DIFFERENT),
        ("replicated", 2, 4, DIFFERENT),
        ("", 2, 4, DIFFERENT),
        ("{", 2, 4, DIFFERENT),
    ],
)
def test_sharding(sharding: str, rank: int, partitions: int, expected: tuple[int, ...]) -> None:
    assert sharding_classes(sharding, rank, partitions) == expected


def test_meet_is_the_common_refinement() -> None:
    assert meet(PAIRS, STRIDES) == DIFFERENT
    assert meet(PAIRS, EQUAL) == PAIRS
    assert meet((0, 0, 1, 1, 1, 1), (0, 0, 0, 0, 1, 1)) == (0, 0, 1, 1, 2, 2)


def test_agree() -> None:
    assert agree(PAIRS, [[0, 1], [3, 2]])
    assert not agree(PAIRS, [[0, 1], [1, 2]])
    assert agree(DIFFERENT, [[2]])
    assert not agree(EQUAL, [[0, 4]])  # no such device
