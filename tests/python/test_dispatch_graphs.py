"""The dispatch stage against stock IREE without data tiling, on random graphs."""

from __future__ import annotations

import pytest
from dispatch_graphs import N
from graph_comparison import check_graphs

PER_MODULE = 8


@pytest.mark.each_cpu(by="batch")
@pytest.mark.parametrize("multi_use", [False, True])
@pytest.mark.parametrize(
    "batch", [0, 1, *(pytest.param(b, marks=pytest.mark.full) for b in range(2, 25))]
)
def test_same_numbers_as_stock(batch: int, multi_use: bool) -> None:
    seeds = range(batch * PER_MODULE, (batch + 1) * PER_MODULE)
    module = check_graphs(seeds, "cpu", N, multi_use=multi_use)
    assert "set_encoding" in str(module)
