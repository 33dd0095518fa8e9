"""Random graphs through the dispatch stage, against IREE without any packing."""

from __future__ import annotations

from collections.abc import Sequence

import cpus
import numpy as np
from dispatch_graphs import GraphWriter
from dispatch_programs import Program, error, lowered
from headrace.compiler.iree_child import run_iree_compile
from headrace.compiler.targets import find_target
from headrace.dialects.mlir import Operation, make_context
from headrace.dialects.parsing import parse_module


@cpus.cache
def _stock(text: str) -> Program:
    flags = find_target("cpu").flags("channel", 1)
    return Program(run_iree_compile(parse_module(text, "m", make_context()), flags).vmfb)


def check_graphs(seeds: Sequence[int], target: str, size: int, *, multi_use: bool) -> Operation:
    """Runs the graphs of these seeds, of matrices of ``size``, both ways on the
    CPU; returns the module as IREE was handed it. ``target``: as passes name it."""
    text = "".join(GraphWriter(f"f{i}", s, 6 + s % 9, size).text() for i, s in enumerate(seeds))
    flags = find_target("cpu").flags("channel", 1)
    stock = _stock(text)
    module = lowered(text, target, multi_use=multi_use, estimate=False)
    ours = Program(run_iree_compile(module, flags).vmfb)
    random = np.random.default_rng(seeds[0])
    x, y, w = (6 * random.standard_normal((size, size)) / size for _ in range(3))
    h = random.standard_normal((size, 3, size)) / 4
    b, s = random.standard_normal(size), np.array(0.7)
    floats = [value.astype(np.float32) for value in (x, y, w, b, s)]
    q = random.integers(-9, 9, (size, size)).astype(np.int8)
    arguments = (*floats, q, h.astype(np.float32))
    for index, seed in enumerate(seeds):
        expected = stock(f"f{index}", *arguments)
        for a, e in zip(ours(f"f{index}", *arguments), expected, strict=True):
            assert error(a, e) < 1e-4, f"graph {seed}"
    return module
