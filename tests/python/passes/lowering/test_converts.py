"""Every convert between element types, for each kind of CPU, run; for other targets, compiled."""

from __future__ import annotations

import random

import headrace
import numpy as np
import pytest
from conversions import (
    DTYPES,
    INTEGERS,
    PAIRS,
    arguments,
    expected,
    flushed,
    function_text,
    pass_in,
)
from cpu_kinds import CPUS, runs_here
from cpu_programs import Program, same_numbers
from headrace.compiler.iree.element_types import Array
from headrace.passes.targets.lookup import target_names

SIZE = 4096
Pairs = list[tuple[str, str]]

# One of each source and of each result type, and those that once did not link.
TO_BF16 = [(a, "bf16") for a in DTYPES if a != "bf16"]
SAMPLE = random.Random(9).sample([p for p in PAIRS if p[1] != "bf16"], 24)
# Floats with the subnormals of f32.
_FLUSHED = ("bf16", "f32", "f64")
FOUR_BITS = frozenset(("i4", "ui4", "f4E2M1FN"))
ACCELERATORS = [t for t in target_names() if t not in ("cpu", "vmvx")]


def check(pairs: Pairs, cpu: str) -> None:
    """Compiles one function for all pairs, runs it if the host can, and compares."""
    text = function_text("main", pairs, SIZE)
    vmfb = headrace.compile(text, "cpu", cpu=cpu, collectives="channel").data()
    if not runs_here(cpu):
        return
    values = arguments(pairs, SIZE)
    results = Program(vmfb).results("main", *(pass_in(v, a) for a, v in values.items()))
    wrong = [
        f"{a} to {b}: {found}"
        for (a, b), result in zip(pairs, results, strict=True)
        if (found := mismatches(result, values[a], a, b))
    ]
    assert not wrong, "\n".join(wrong)


def mismatches(result: Array, values: Array, source: str, target: str) -> str:
    """The first wrong elements as text; subnormals of f32 may count as zero, as in JAX on CPU."""
    right = pass_in(expected(values, source, target), target)
    flush = right
    if source in _FLUSHED:
        flush = pass_in(expected(flushed(values), source, target), target)
    if target in INTEGERS:
        same = (result == right) | (result == flush)
    else:
        found = result.astype(np.float64)
        allowed = (a.astype(np.float64) for a in (right, flush, flushed(flush)))
        same = np.logical_or.reduce([same_numbers(found, a) for a in allowed])
    if (source, target) == ("f8E8M0FNU", "i1"):
        same |= values.view(np.uint8) == 0  # 2^-127: compared in f32
    bad = np.flatnonzero(~same)
    first = [f"{values[i]} gave {result[i]}, not {right[i]}" for i in bad[:3]]
    return f"{len(bad)} wrong: {', '.join(first)}" if first else ""


@pytest.mark.parametrize(("number", "cpu"), enumerate(["host", "x86-64-v3", "generic"]))
def test_converts_on_a_cpu(number: int, cpu: str) -> None:
    """A third on each; full runs have all converts on all CPUs."""
    check([*TO_BF16, *SAMPLE][number::3], cpu)


@pytest.mark.full
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("source", DTYPES)
def test_all_converts_on_a_cpu(source: str, cpu: str) -> None:
    check([p for p in PAIRS if p[0] == source], cpu)


@pytest.mark.full
@pytest.mark.parametrize("target", ACCELERATORS)
@pytest.mark.parametrize("source", DTYPES)
def test_all_converts_compile(source: str, target: str) -> None:
    pairs = [p for p in PAIRS if p[0] == source]
    if target.startswith("vulkan"):  # which stores no elements of 4 bits
        pairs = [p for p in pairs if not FOUR_BITS.intersection(p)]
    assert not pairs or headrace.compile(function_text("main", pairs, 64), target).data()


def test_converts_compile_for_vmvx() -> None:
    """vmvx computes in f32 and has no f64; bf16 is converted only."""
    types = [t for t in DTYPES if t not in ("f16", "f64")]
    pairs = [p for p in PAIRS if set(p) <= set(types) and p != ("bf16", "i1")]
    pairs = random.Random(4).sample(pairs, 12)
    assert headrace.compile(function_text("main", pairs, 64), "vmvx").data()
