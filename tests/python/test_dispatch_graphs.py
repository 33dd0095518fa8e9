"""The dispatch stage against stock IREE without data tiling, on random graphs."""

from __future__ import annotations

import numpy as np
import pytest
from dispatch_graphs import GraphWriter, N
from dispatch_programs import Program, compiled, error, lowered
from headrace.compiler.iree_child import run_iree_compile
from headrace.compiler.targets import find_target
from headrace.dialects.mlir import make_context
from headrace.dialects.parsing import parse_module

PER_MODULE = 8


def _graphs(batch: int) -> str:
    seeds = range(batch * PER_MODULE, (batch + 1) * PER_MODULE)
    return "".join(GraphWriter(f"f{i}", seed, 6 + seed % 9).text() for i, seed in enumerate(seeds))


@pytest.mark.parametrize("multi_use", [False, True])
@pytest.mark.parametrize(
    "batch", [0, 1, *(pytest.param(b, marks=pytest.mark.full) for b in range(2, 25))]
)
def test_same_numbers_as_stock(batch: int, multi_use: bool) -> None:
    text = _graphs(batch)
    flags = find_target("cpu").flags("channel", 1)
    stock = Program(run_iree_compile(parse_module(text, "m", make_context()), flags).vmfb)
    module = lowered(text, "cpu", multi_use=multi_use, estimate=False)
    assert "set_encoding" in str(module)
    ours = Program(compiled(module, "cpu")[0])
    random = np.random.default_rng(batch)
    x, y, w = (random.standard_normal((N, N)).astype(np.float32) / 4 for _ in range(3))
    b, s = random.standard_normal(N).astype(np.float32), np.array(0.7, np.float32)
    q = random.integers(-9, 9, (N, N)).astype(np.int8)
    h = random.standard_normal((N, 3, N)).astype(np.float32) / 4
    for index in range(PER_MODULE):
        expected = stock(f"f{index}", x, y, w, b, s, q, h)
        found = ours(f"f{index}", x, y, w, b, s, q, h)
        for a, e in zip(found, expected, strict=True):
            assert error(a, e) < 1e-4, f"graph {batch * PER_MODULE + index}"
