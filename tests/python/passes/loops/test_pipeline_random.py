"""Random loops compute the same before and after, with as many collectives.

The interpreter counts what runs: n trips execute n collectives, effects keep
their order, and no slice is read where the loop would not have read it.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import cache
from typing import Literal

import numpy as np
import pytest
from headrace.compiler.iree.element_types import Array
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from loop_interpreter import Data, Machine
from random_loops import ROWS, Bounds, LoopWriter

DEVICES = 4


def arguments_of(bounds: Bounds, seed: int) -> list[Data]:
    rng = np.random.default_rng(seed)

    def values(*shape: int) -> Array:
        return rng.integers(-100, 100, (DEVICES, *shape)).astype(np.int32)

    return [bounds.lower, bounds.upper, bounds.step, values(8), values(8), values(ROWS, 8)]


def execute(module: ir.Operation, arguments: list[Data]) -> tuple[list[Data], Machine]:
    (function,) = ir.operations_of(module.regions[0].blocks[0])
    machine = Machine(DEVICES)
    return machine.call(function, arguments), machine


def options_of(seed: int) -> str:
    """Mostly the defaults; now and then limits that leave some where they are."""
    rng = random.Random(seed)
    options: list[str] = [f"sink-below={rng.choice([0, 100000])}"]
    if rng.random() < 0.2:
        options.append(f"budget={rng.choice([0, 32, 100])}")
    if rng.random() < 0.2:
        options.append(f"max-in-flight={rng.randrange(3)}")
    if rng.random() < 0.2:
        kind = rng.choice(["all", "all-gather", "all-reduce"])
        options.append(f"modes={kind}:{rng.choice(['off', 'explicit'])}")
    return " ".join(options)


def without_reasons(module: ir.Operation) -> str:
    """The text; a second run may see other reasons in a loop that it finds rotated."""
    return re.sub(r'headrace\.pipeline_reason = "[^"]*", ', "", str(module))


Counts = Literal["same", "fewer", "any"]


@cache
def context() -> ir.Context:
    """One for all: making one takes longer than the passes."""
    return ir.make_context()


def check(seed: int, passes: str, counts: Counts) -> Counter[str]:
    """Compares a random loop before and after; returns what the marks say."""
    text, bounds = LoopWriter(seed).module()
    module = parse_module(text, f"seed{seed}.mlir", context())
    arguments = arguments_of(bounds, seed)
    expected, before = execute(module, arguments)
    pipeline = Pipeline.parse(f"builtin.module({passes})")
    pipeline.run(module)
    actual, after = execute(module, arguments)
    for got, want in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(got, want)
    assert after.effects == before.effects
    if counts == "same":
        assert after.collectives == before.collectives
    elif counts == "fewer":
        assert all(after.collectives[k] <= before.collectives[k] for k in after.collectives)
    if counts != "any" and "budget" not in passes:
        # Hoisting may find more in a rotated loop. Of what the first run left carried, a
        # budget counts the collectives' own values only, not what else is read with them.
        once = without_reasons(module)
        pipeline.run(module)
        assert without_reasons(module) == once
    marks: Counter[str] = Counter()
    for op in ir.walk(module):
        if "pipelined" in op.attributes:
            marks[str(op.attributes["pipelined"])] += 1
            # Only one that left its loop has all trips' vectors.
            marks["sunk"] += ir.RankedTensorType(op.results[0].type).rank > 1
    return marks


def check_seed(seed: int) -> Counter[str]:
    options = options_of(seed)
    counts = "same" if "sink-below=0" in options else "fewer"
    marks = check(seed, f"pipeline-collectives{{{options}}}", counts)
    check(seed, f"normalize-loops,pipeline-collectives{{{options}}}", counts)
    # A hoisted collective runs once even where the loop has no trip.
    check(seed, f"hoist-collectives,pipeline-collectives{{{options}}}", "any")
    return marks


def test_random_loops() -> None:
    marks: Counter[str] = Counter()
    for seed in range(60):
        marks += check_seed(seed)
    # The loops are worth something: many collectives move or leave, and many cannot.
    assert marks["true"] > 60
    assert marks["false"] > 60
    assert marks["sunk"] > 6


@pytest.mark.full
@pytest.mark.parametrize("block", range(10))
def test_many_random_loops(block: int) -> None:
    for seed in range(1000 + 1000 * block, 2000 + 1000 * block):
        check_seed(seed)
