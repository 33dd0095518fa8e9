"""Pipelined loops give what the loops gave, bit for bit, on 4 CPU devices.

The grid: each direction, start, step, trips, static and dynamic; expected
values come from numpy, and the unpipelined program is checked against them in
the same way. Values are small integers and halves of them, so every sum is
exact. A seeded part of the grid runs on devices, all of it with --full; the
interpreter runs all of it always, and counts the collectives.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from device_programs import Argument, Case, assert_same, function_text, run_cases
from headrace.compiler.element_types import Array
from headrace.dialects.mlir import make_context, operations_of
from headrace.dialects.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from loop_interpreter import Data, Machine

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

Expected = Callable[[Sequence[int], Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Direction:
    """A loop body that moves in one direction, and what it computes.

    The body has ``%i``, the carried ``%h`` and ``%out``, the stacked weights
    ``%w``; it defines ``%h2`` and ``%out2``. All types are fixed.
    """

    name: str
    body: str
    expected: Expected
    collectives: int  # per trip
    sink_below: int = 0
    index_type: str = "i32"
    # As a ``scf.while`` that counts down to the start.
    downwards: bool = False

    def indices(self, loop: Loop) -> Sequence[int]:
        return loop.indices[::-1] if self.downwards else loop.indices

    def bound(self, loop: Loop) -> int:
        """What a dynamic loop gets as an argument: where it ends, or begins."""
        if self.downwards:
            return loop.start + (loop.trips - 1) * loop.step
        return loop.upper


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


def expect_backward(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        h = (h * np.float32(0.5) + gathered(w, i)).astype(np.float32)
        out[:, i] = h
    return h, out


def expect_reduced(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        out[:, i] = (w[:, i] + h).sum(axis=0, dtype=np.float32)
        h = (h * np.float32(0.5) + w[:, i]).astype(np.float32)
    return h, out


def expect_scattered(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        total = (w[:, i] + h).sum(axis=0, dtype=np.float32)
        out[:, i, 2:4] = total.reshape(DEVICES, 2)
        h = (h * np.float32(0.5) + w[:, i]).astype(np.float32)
    return h, out


def expect_accumulated(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        out[:, 0] += (w[:, i] + h).sum(axis=0, dtype=np.float32)
        h = (h * np.float32(0.5) + w[:, i]).astype(np.float32)
    return h, out


def expect_both(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
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


# Two gathers, one of them read in three places, a sum, and a scatter that a
# third gather follows; the sum and the gathered scatter meet before the store.
SEVERAL = (
    GATHER
    + """
%x2 = tensor.extract_slice %w[%i, 4] [1, 2] [1, 1] : tensor<27x8xf32> to tensor<2xf32>
%k = """
    + _collective("all_gather", "dim = 0 : i64").replace("%x", "%x2")
    + """ : (tensor<2xf32>) -> tensor<8xf32>
%y = arith.addf %g, %h : tensor<8xf32>
%r = """
    + _collective("all_reduce", 'reduction = "add"').replace("%x", "%y")
    + """ : (tensor<8xf32>) -> tensor<8xf32>
%z = arith.addf %k, %y : tensor<8xf32>
%p = """
    + _collective("reduce_scatter", 'dim = 0 : i64, reduction = "add"').replace("%x", "%z")
    + """ : (tensor<8xf32>) -> tensor<2xf32>
%q = """
    + _collective("all_gather", "dim = 0 : i64").replace("%x", "%p")
    + """ : (tensor<2xf32>) -> tensor<8xf32>
%t = arith.addf %r, %q : tensor<8xf32>
%u = arith.addf %t, %g : tensor<8xf32>
%out2 = tensor.insert_slice %u into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<27x8xf32>
%gk = arith.addf %g, %k : tensor<8xf32>"""
)

# An inner loop that gathers by its own index, with what the outer one gathered.
NESTED = (
    GATHER
    + """
%n0 = arith.constant 0 : index
%n1 = arith.constant 1 : index
%n3 = arith.constant 3 : index
%hin = scf.for %m = %n0 to %n3 step %n1 iter_args(%c = %h) -> tensor<8xf32> {
%x2 = tensor.extract_slice %w[%m, 4] [1, 2] [1, 1] : tensor<27x8xf32> to tensor<2xf32>
%k = """
    + _collective("all_gather", "dim = 0 : i64").replace("%x", "%x2")
    + """ : (tensor<2xf32>) -> tensor<8xf32>
%c1 = arith.addf %c, %k : tensor<8xf32>
%c2 = arith.addf %c1, %g : tensor<8xf32>
scf.yield %c2 : tensor<8xf32>
}
%r = """
    + _collective("all_reduce", 'reduction = "add"').replace("%x", "%hin")
    + """ : (tensor<8xf32>) -> tensor<8xf32>
%out2 = tensor.insert_slice %r into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<27x8xf32>"""
)


def gathered_second(w: Array, i: int) -> Array:
    return np.tile(w[:, i, 4:6].reshape(1, 8), (DEVICES, 1))


def expect_several(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        g, k = gathered(w, i), gathered_second(w, i)
        out[:, i] = (g + h).sum(axis=0) + (k + g + h).sum(axis=0) + g
        h = h * np.float32(0.5) + g + k
    return h, out


def expect_nested(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        inner = h + sum(gathered_second(w, m) + gathered(w, i) for m in range(3))
        out[:, i] = inner.sum(axis=0)
        h = h * np.float32(0.5) + inner
    return h, out


DIRECTIONS = [
    Direction("backward", GATHER + ADVANCE.format("g") + STORE_H, expect_backward, 1),
    Direction("forward", SLICE + REDUCE + STORE + ADVANCE.format("s"), expect_reduced, 1),
    Direction("scatter", SLICE + SCATTER + STORE_PART + ADVANCE.format("s"), expect_scattered, 1),
    Direction(
        "accumulate", SLICE + REDUCE + ACCUMULATE + ADVANCE.format("s"), expect_accumulated, 1
    ),
    Direction("sink", SLICE + REDUCE + STORE + ADVANCE.format("s"), expect_reduced, 1, 1 << 20),
    Direction(
        "sink-accumulate",
        SLICE + REDUCE + ACCUMULATE + ADVANCE.format("s"),
        expect_accumulated,
        1,
        1 << 20,
    ),
    Direction("both", BOTH + ADVANCE.format("g"), expect_both, 2, index_type="i64"),
    Direction("several", SEVERAL + ADVANCE.format("gk"), expect_several, 5, index_type="index"),
    Direction("nested", NESTED + ADVANCE.format("hin"), expect_nested, 5),
    Direction(
        "downwards", BOTH + ADVANCE.format("g"), expect_both, 2, index_type="i64", downwards=True
    ),
]


def loop_text(names: Sequence[str], prefix: str, loop: Loop, direction: Direction) -> list[str]:
    """The loop as text, then the names of its results."""
    h, w, bound = names
    type_ = direction.index_type
    given = f"arith.constant {direction.bound(loop)} : {type_}"
    if loop.dynamic:
        given = f"tensor.extract {bound}[] : tensor<i32>"
        if type_ != "i32":
            cast = "arith.index_cast" if type_ == "index" else "arith.extsi"
            given += f"\n%given = {cast} %narrow : i32 to {type_}"
            given = given.replace("tensor.extract", "%narrow = tensor.extract", 1)
    given = given if "%given" in given else f"%given = {given}"
    index = "" if type_ == "index" else f"%i = arith.index_cast %j : {type_} to index"
    start = f"{given}\n%start = arith.constant {loop.start} : {type_}"
    if direction.downwards:
        text = f"""
{start}
%step = arith.constant {-loop.step} : {type_}
%zero = arith.constant dense<0.0> : tensor<27x8xf32>
%all:3 = scf.while (%j = %given, %h = %init, %out = %zero)
    : ({type_}, tensor<8xf32>, tensor<27x8xf32>) -> ({type_}, tensor<8xf32>, tensor<27x8xf32>) {{
%more = arith.cmpi sge, %j, %start : {type_}
scf.condition(%more) %j, %h, %out : {type_}, tensor<8xf32>, tensor<27x8xf32>
}} do {{
^bb0(%j: {type_}, %h: tensor<8xf32>, %out: tensor<27x8xf32>):
{index}
{direction.body}
%next = arith.addi %j, %step : {type_}
scf.yield %next, %h2, %out2 : {type_}, tensor<8xf32>, tensor<27x8xf32>
}}"""
        results = ["all#1", "all#2"]
    else:
        text = f"""
{start}
%step = arith.constant {loop.step} : {type_}
%zero = arith.constant dense<0.0> : tensor<27x8xf32>
%all:2 = scf.for {"%i" if type_ == "index" else "%j"} = %start to %given step %step
    iter_args(%h = %init, %out = %zero)
    -> (tensor<8xf32>, tensor<27x8xf32>) {"" if type_ == "index" else f": {type_}"} {{
{index}
{direction.body}
scf.yield %h2, %out2 : tensor<8xf32>, tensor<27x8xf32>
}}"""
        results = ["all#0", "all#1"]
    text = (
        text.replace("%", prefix)
        .replace(f"{prefix}init", h)
        .replace(f"{prefix}w[", f"{w}[")
        .replace(f"{prefix}{bound[1:]}", bound)
    )
    return [text, *(f"{prefix}{name}" for name in results)]


def make_case(name: str, loop: Loop, direction: Direction, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    h = rng.integers(-8, 8, (DEVICES, 8)).astype(np.float32)
    w = rng.integers(-8, 8, (DEVICES, ROWS, 8)).astype(np.float32)
    bound = np.full((DEVICES,), direction.bound(loop), np.int32)
    arguments = (
        Argument("tensor<8xf32>", h),
        Argument("tensor<27x8xf32>", w),
        Argument("tensor<i32>", bound, replicated=True),
    )

    def body(names: Sequence[str], prefix: str) -> tuple[str, list[str]]:
        text, *results = loop_text(names, prefix, loop, direction)
        return text, results

    expected = direction.expected(direction.indices(loop), h, w)
    return Case(name, arguments, body, ("tensor<8xf32>", "tensor<27x8xf32>"), expected)


def check(
    direction: Direction, loops: Sequence[Loop], folder: Path, *, moved_only: bool = False
) -> None:
    cases = [make_case(str(loop), loop, direction, seed) for seed, loop in enumerate(loops)]
    for passes in ("normalize-loops", PIPELINED % direction.sink_below)[moved_only:]:
        found = run_cases(cases, DEVICES, folder, passes=passes)
        for case in cases:
            for got, want in zip(found[case.name], case.expected, strict=True):
                assert_same(got, want)


@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name)
def test_same_results_seeded_subset(direction: Direction, tmp_path: Path) -> None:
    loops = random.Random(direction.name).sample(GRID, 4)
    check(direction, loops, tmp_path, moved_only=True)


@pytest.mark.full
@pytest.mark.parametrize("start", [0, 1, 5])
@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name)
def test_same_results_whole_grid(direction: Direction, start: int, tmp_path: Path) -> None:
    check(direction, [loop for loop in GRID if loop.start == start], tmp_path)


@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name)
def test_as_many_collectives_as_trips(direction: Direction) -> None:
    """Before and after, all of the grid: n trips, n of each; sunk, one in all."""
    for seed, loop in enumerate(GRID):
        case = make_case("case", loop, direction, seed)
        module = parse_module(function_text([case], DEVICES, DEVICES), "case.mlir", make_context())
        (main,) = operations_of(module.regions[0].blocks[0])
        arguments: list[Data] = [a.values for a in case.arguments]
        for passes in ("", "normalize-loops", PIPELINED % direction.sink_below):
            if passes:
                Pipeline.parse(f"builtin.module({passes})").run(module)
                (main,) = operations_of(module.regions[0].blocks[0])
            machine = Machine(DEVICES)
            for got, want in zip(machine.call(main, arguments), case.expected, strict=True):
                assert not isinstance(got, int)
                assert_same(got, want)
            trips = loop.trips
            if direction.sink_below and "pipeline" in passes and not loop.dynamic and trips > 1:
                trips = 1
            assert machine.collectives.total() == direction.collectives * trips, (loop, passes)
            # Each of them was moved, but for what depends on a gather in a peeled last trip.
            # (Two trips rotated are one, in which nothing goes the other way.)
            if "pipeline" in passes and loop.trips > min(direction.collectives, 2):
                assert machine.pipelined > machine.collectives.total() - direction.collectives
