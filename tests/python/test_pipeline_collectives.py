"""Pipelined loops give what the loops gave, bit for bit, on 4 CPU devices.

The grid: each direction, start, step, trips, static and dynamic; expected
values come from numpy, and the unpipelined program is checked against them in
the same way. Values are small integers, so every sum is exact.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from device_programs import Argument, Case, assert_same, run_cases
from headrace.compiler.element_types import Array

DEVICES = 4
ROWS = 27  # more than the largest index, 5 + 6 * 3
GROUPS = "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"
PIPELINED = "normalize-loops,hoist-collectives,pipeline-collectives{sink-below=%d}"


@dataclass(frozen=True)
class Loop:
    """``for i in range(start, upper, step)``; the upper bound may be an argument."""

    start: int
    step: int
    trips: int
    dynamic: bool

    @property
    def upper(self) -> int:
        # One short of a whole step, so that the count has to be rounded up.
        return self.start + self.trips * self.step - (self.step > 1 and self.trips > 0)

    @property
    def indices(self) -> range:
        return range(self.start, self.upper, self.step)

    def __str__(self) -> str:
        kind = "dynamic" if self.dynamic else "static"
        return f"{self.start}+{self.trips}x{self.step} {kind}"


GRID = [
    Loop(*point)
    for point in itertools.product((0, 1, 5), (1, 2, 3), (0, 1, 2, 3, 7), (False, True))
]

Expected = Callable[[Loop, Array, Array], Array]


@dataclass(frozen=True)
class Direction:
    """A loop body that moves in one direction, and what it computes.

    The body has ``%i``, the carried ``%h`` and ``%out``, the stacked weights
    ``%w``; it defines ``%h2`` and ``%out2``. All types are fixed.
    """

    name: str
    body: str
    expected: Expected
    sink_below: int = 0


def _collective(name: str, attributes: str) -> str:
    return f'"headrace.{name}"(%x) {{{attributes}, {GROUPS}, pipelined = false}}'


SLICE = """
%s = tensor.extract_slice %w[%i, 0] [1, 8] [1, 1] : tensor<27x8xf32> to tensor<8xf32>"""
GATHER = (
    """
%x = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<27x8xf32> to tensor<2xf32>
%g = """
    + _collective("all_gather", "dim = 0 : i64")
    + """ : (tensor<2xf32>) -> tensor<8xf32>"""
)
REDUCE = (
    """
%x = arith.addf %s, %h : tensor<8xf32>
%g = """
    + _collective("all_reduce", 'reduction = "add"')
    + """ : (tensor<8xf32>) -> tensor<8xf32>"""
)
SCATTER = (
    """
%x = arith.addf %s, %h : tensor<8xf32>
%g = """
    + _collective("reduce_scatter", 'dim = 0 : i64, reduction = "add"')
    + """ : (tensor<8xf32>) -> tensor<2xf32>"""
)
STORE = """
%out2 = tensor.insert_slice %g into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<27x8xf32>"""
STORE_PART = """
%out2 = tensor.insert_slice %g into %out[%i, 2] [1, 2] [1, 1] : tensor<2xf32> into tensor<27x8xf32>"""
# %h2 = %h / 2 + (what the trip made of the weights)
ADVANCE = """
%half = arith.constant dense<0.5> : tensor<8xf32>
%scaled = arith.mulf %h, %half : tensor<8xf32>
%h2 = arith.addf %scaled, %{0} : tensor<8xf32>"""


def gathered(w: Array, i: int) -> Array:
    """What every device gets: the first two columns of all shards."""
    return np.tile(w[:, i, :2].reshape(1, 8), (DEVICES, 1))


def expect_backward(loop: Loop, h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in loop.indices:
        h = (h * np.float32(0.5) + gathered(w, i)).astype(np.float32)
        out[:, i] = h
    return h, out


def expect_reduced(loop: Loop, h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in loop.indices:
        out[:, i] = (w[:, i] + h).sum(axis=0, dtype=np.float32)
        h = (h * np.float32(0.5) + w[:, i]).astype(np.float32)
    return h, out


def expect_scattered(loop: Loop, h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in loop.indices:
        total = (w[:, i] + h).sum(axis=0, dtype=np.float32)
        out[:, i, 2:4] = total.reshape(DEVICES, 2)
        h = (h * np.float32(0.5) + w[:, i]).astype(np.float32)
    return h, out


def expect_accumulated(loop: Loop, h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in loop.indices:
        out[:, 0] += (w[:, i] + h).sum(axis=0, dtype=np.float32)
        h = (h * np.float32(0.5) + w[:, i]).astype(np.float32)
    return h, out


def expect_both(loop: Loop, h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in loop.indices:
        got = gathered(w, i)
        out[:, i] = (got + h).sum(axis=0, dtype=np.float32)
        h = (h * np.float32(0.5) + got).astype(np.float32)
    return h, out


STORE_H = STORE.replace("%g into", "%h2 into")
ACCUMULATE = """
%old = tensor.extract_slice %out[0, 0] [1, 8] [1, 1] : tensor<27x8xf32> to tensor<8xf32>
%sum = arith.addf %old, %g : tensor<8xf32>
%out2 = tensor.insert_slice %sum into %out[0, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<27x8xf32>"""
BOTH = (
    GATHER
    + """
%y = arith.addf %g, %h : tensor<8xf32>
%r = """
    + _collective("all_reduce", 'reduction = "add"').replace("%x", "%y")
    + """ : (tensor<8xf32>) -> tensor<8xf32>
%out2 = tensor.insert_slice %r into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<27x8xf32>"""
)

DIRECTIONS = [
    Direction("backward", GATHER + ADVANCE.format("g") + STORE_H, expect_backward),
    Direction("forward", SLICE + REDUCE + STORE + ADVANCE.format("s"), expect_reduced),
    Direction("scatter", SLICE + SCATTER + STORE_PART + ADVANCE.format("s"), expect_scattered),
    Direction("accumulate", SLICE + REDUCE + ACCUMULATE + ADVANCE.format("s"), expect_accumulated),
    Direction("sink", SLICE + REDUCE + STORE + ADVANCE.format("s"), expect_reduced, 1 << 20),
    Direction(
        "sink-accumulate",
        SLICE + REDUCE + ACCUMULATE + ADVANCE.format("s"),
        expect_accumulated,
        1 << 20,
    ),
    Direction("both", BOTH + ADVANCE.format("g"), expect_both),
]


def loop_text(names: Sequence[str], prefix: str, loop: Loop, body: str) -> tuple[str, list[str]]:
    """The loop as text with names of its own."""
    h, w, bound = names
    upper = f"arith.constant {loop.upper} : i32"
    if loop.dynamic:
        upper = f"tensor.extract {bound}[] : tensor<i32>"
    text = f"""
%lower = arith.constant {loop.start} : i32
%upper = {upper}
%step = arith.constant {loop.step} : i32
%zero = arith.constant dense<0.0> : tensor<27x8xf32>
%r:2 = scf.for %j = %lower to %upper step %step iter_args(%h = %init, %out = %zero)
    -> (tensor<8xf32>, tensor<27x8xf32>) : i32 {{
%i = arith.index_cast %j : i32 to index
{body}
scf.yield %h2, %out2 : tensor<8xf32>, tensor<27x8xf32>
}}"""
    text = text.replace("%", prefix)
    return (
        text.replace(f"{prefix}init", h)
        .replace(f"{prefix}w[", f"{w}[")
        .replace(f"{prefix}{bound[1:]}", bound),
        [f"{prefix}r#0", f"{prefix}r#1"],
    )


def make_case(name: str, loop: Loop, direction: Direction, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    h = rng.integers(-8, 8, (DEVICES, 8)).astype(np.float32)
    w = rng.integers(-8, 8, (DEVICES, ROWS, 8)).astype(np.float32)
    bound = np.full((DEVICES,), loop.upper, np.int32)
    arguments = (
        Argument("tensor<8xf32>", h),
        Argument("tensor<27x8xf32>", w),
        Argument("tensor<i32>", bound, replicated=True),
    )

    def body(names: Sequence[str], prefix: str) -> tuple[str, list[str]]:
        return loop_text(names, prefix, loop, direction.body)

    expected = direction.expected(loop, h, w)
    return Case(name, arguments, body, ("tensor<8xf32>", "tensor<27x8xf32>"), expected)


def check(direction: Direction, loops: Sequence[Loop], folder: Path) -> None:
    cases = [make_case(str(loop), loop, direction, seed) for seed, loop in enumerate(loops)]
    plain = run_cases(cases, DEVICES, folder)
    moved = run_cases(cases, DEVICES, folder, passes=PIPELINED % direction.sink_below)
    for case in cases:
        for got_plain, got_moved, want in zip(
            plain[case.name], moved[case.name], case.expected, strict=True
        ):
            assert_same(got_plain, want)
            assert_same(got_moved, want)


@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name)
def test_same_results_seeded_subset(direction: Direction, tmp_path: Path) -> None:
    loops = random.Random(direction.name).sample(GRID, 6)
    check(direction, loops, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("start", [0, 1, 5])
@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name)
def test_same_results_whole_grid(direction: Direction, start: int, tmp_path: Path) -> None:
    check(direction, [loop for loop in GRID if loop.start == start], tmp_path)
