"""Pipelined loops give what the loops gave, bit for bit, on 4 CPU devices.

The grid: each direction, start, step, trips, static and dynamic; expected
values come from numpy, and the unpipelined program is checked against them in
the same way. Values are small integers and halves of them, so every sum is
exact. One loop of the grid runs on devices for each direction, all of it with --full; the
interpreter runs half of it, all of it with --full, and counts the collectives.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from device_programs import Argument, Case, assert_same, function_text, run_cases
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from loop_interpreter import Data, Machine
from pipeline_directions import DEVICES, DIRECTIONS, GRID, Direction, Loop

ROWS = 27  # more than the largest index, 5 + 6 * 3
PIPELINED = "normalize-loops,hoist-collectives,pipeline-collectives{sink-below=%d}"


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


@pytest.mark.each_cpu
@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name)
def test_same_results_seeded_subset(direction: Direction, tmp_path: Path) -> None:
    """A loop whose trips are known, or for every other direction one whose trips are not."""
    dynamic = DIRECTIONS.index(direction) % 2 == 1
    loops = [loop for loop in GRID if loop.dynamic == dynamic and loop.trips > 1]
    loop = random.Random(direction.name).choice(loops)
    check(direction, [loop], tmp_path, moved_only=True)


@pytest.mark.each_cpu
@pytest.mark.full
@pytest.mark.parametrize("start", [0, 1, 5])
@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name)
def test_same_results_whole_grid(direction: Direction, start: int, tmp_path: Path) -> None:
    check(direction, [loop for loop in GRID if loop.start == start], tmp_path)


@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name)
def test_as_many_collectives_as_trips(direction: Direction, pytestconfig: pytest.Config) -> None:
    """Before and after: n trips, n of each; sunk, one in all."""
    context = ir.make_context()  # takes longer than the passes
    loops = GRID
    if not pytestconfig.getoption("--full"):
        loops = random.Random(direction.name).sample(GRID, len(GRID) // 2)
    for seed, loop in enumerate(loops):
        case = make_case("case", loop, direction, seed)
        module = parse_module(function_text([case], DEVICES, DEVICES), "case.mlir", context)
        (main,) = ir.operations_of(module.regions[0].blocks[0])
        arguments: list[Data] = [a.values for a in case.arguments]
        for passes in ("", "normalize-loops", PIPELINED % direction.sink_below):
            if passes:
                Pipeline.parse(f"builtin.module({passes})").run(module)
                (main,) = ir.operations_of(module.regions[0].blocks[0])
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
