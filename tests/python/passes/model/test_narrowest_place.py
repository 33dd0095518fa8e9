"""Collectives at the narrowest place change no bit: random programs run with and without.

Real runs on 2, 4 and 8 CPU devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import headrace
import ml_dtypes
import numpy as np
import pytest
from device_programs import Case, function_text, run_cases
from headrace.compiler import pipelines
from headrace.compiler.iree.element_types import Array
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program
from headrace.dialects import ir
from headrace.dialects.headrace import as_collective, is_collective
from headrace.dialects.ir.parsing import parse_module
from headrace.dialects.verifier import verify
from headrace.passes.pipeline import Pipeline
from narrowest_programs import random_case

COMMUTE = "commute-collectives"
_STAGES = pipelines.build(("stablehlo-input", "loops", "lowering"), pipelines.Settings("cpu"))
TO_CPU = str(_STAGES).removeprefix("builtin.module(").removesuffix(")")
COLLECTIVE_OPS = tuple(
    f"headrace.{name}" for name in ("all_gather", "all_to_all", "collective_permute", "all_reduce")
)


def sent(case: Case, devices: int, passes: str) -> list[str]:
    """The collectives that the program has after the passes, with their types."""
    module = parse_module(function_text([case], devices, devices), "case.mlir", ir.make_context())
    if passes:
        Pipeline.parse(f"builtin.module({passes})").run(module)
        verify(module)
    return sorted(
        f"{op.name} {op.operands[0].type}" for op in ir.walk(module) if op.name in COLLECTIVE_OPS
    )


@cache
def case_of(seed: int, devices: int) -> tuple[Case, bool]:
    """The program, and whether its collectives move."""
    case = random_case(seed, devices)
    return case, sent(case, devices, "") != sent(case, devices, COMMUTE)


def run(cases: Sequence[Case], devices: int, folder: Path, passes: str) -> dict[str, list[Array]]:
    """What the programs give that IREE compiles as they are written."""
    try:
        return run_cases(cases, devices, folder, passes=passes)
    except ir.HeadraceError as error:
        # As in test_commute_collectives.wide_values.
        if "is not compatible with the partition affinity" not in str(error):
            raise
    if len(cases) == 1:
        return {}
    half = len(cases) // 2
    return run(cases[:half], devices, folder, passes) | run(cases[half:], devices, folder, passes)


def assert_no_bit_changes(cases: Sequence[Case], devices: int, folder: Path) -> None:
    before = run(cases, devices, folder, TO_CPU)
    compiled = [case for case in cases if case.name in before]
    assert len(compiled) >= len(cases) / 2
    after = run_cases(compiled, devices, folder, passes=f"{COMMUTE},{TO_CPU}")
    for case in compiled:
        for old, new in zip(before[case.name], after[case.name], strict=True):
            assert (old.dtype, old.shape) == (new.dtype, new.shape), case.name
            bits = f"u{old.dtype.itemsize}"
            same = old.view(bits) == new.view(bits)
            if old.dtype.kind != "i":
                same |= np.isnan(old) & np.isnan(new)
            assert same.all(), (case.name, old[~same][:4], new[~same][:4])


# In quick runs 40, else 1,008 more: the number of devices, the first seed, how many.
QUICK = [(2, 0, 36), (4, 0, 3), (8, 0, 1)]
FULL = [(devices, first, 8) for first in range(100, 436, 8) for devices in (2, 4, 8)]


@pytest.mark.parametrize(
    ("devices", "first", "count"),
    [*QUICK, *(pytest.param(*batch, marks=pytest.mark.full) for batch in FULL)],
)
def test_no_bit_changes(devices: int, first: int, count: int, tmp_path: Path) -> None:
    """The others are the same programs with and without."""
    cases = [case_of(seed, devices) for seed in range(first, first + count)]
    moved = [case for case, moves in cases if moves]
    if moved:
        assert_no_bit_changes(moved, devices, tmp_path)


@pytest.mark.parametrize("batches", [QUICK, pytest.param(FULL, marks=pytest.mark.full)], ids=len)
def test_at_least_half_of_the_programs_move(batches: Sequence[tuple[int, int, int]]) -> None:
    found = [
        case_of(seed, devices)[1]
        for devices, first, count in batches
        for seed in range(first, first + count)
    ]
    assert sum(found) >= len(found) / 2


def received(module: ir.Operation) -> int:
    """The bytes that a device receives."""
    return sum(
        as_collective(op).received_bytes() or 0 for op in ir.walk(module) if is_collective(op)
    )


# In the first ones a collective moves, and one before it can move after that.
TWICE = [(2, 1017), (2, 1213), (4, 1004), (4, 1157), (8, 1321)]


@pytest.mark.parametrize(
    ("devices", "seed"),
    [
        *TWICE,
        *(pytest.param(n, seed, marks=pytest.mark.full) for seed in range(300) for n in (2, 8)),
    ],
)
def test_once_is_enough(devices: int, seed: int) -> None:
    text = function_text([random_case(seed, devices)], devices, devices)
    module = parse_module(text, "case.mlir", ir.make_context())
    Pipeline.parse("builtin.module(canonicalize,cse)").run(module)
    before = received(module)
    Pipeline.parse(f"builtin.module({COMMUTE})").run(module)
    once = str(module)
    assert received(module) <= before
    Pipeline.parse(f"builtin.module({COMMUTE})").run(module)
    assert str(module) == once


GATHER = (
    '"headrace.all_gather"({}) {{dim = 0 : i64, pipelined = false, '
    "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<4x{}>) -> tensor<8x{}>"
)
ROUNDED = {
    # Sent as i8, and added up after: 100.8 is 101 in bf16, whose floor is no 100.
    "lifted": f"""func.func @main(%x: tensor<4xi8>) -> tensor<8xbf16> {{
  %c = stablehlo.constant dense<0.8> : tensor<4xbf16>
  %w = stablehlo.convert %x : (tensor<4xi8>) -> tensor<4xbf16>
  %s = stablehlo.add %w, %c : tensor<4xbf16>
  %g = {GATHER.format("%s", "bf16", "bf16")}
  %f = stablehlo.floor %g : tensor<8xbf16>
  return %f : tensor<8xbf16>
}}""",
    # Sent as i8 after the floor.
    "sunk": f"""func.func @main(%y: tensor<4xbf16>) -> tensor<8xi8> {{
  %c = stablehlo.constant dense<0.8> : tensor<4xbf16>
  %s = stablehlo.add %y, %c : tensor<4xbf16>
  %g = {GATHER.format("%s", "bf16", "bf16")}
  %f = stablehlo.floor %g : tensor<8xbf16>
  %q = stablehlo.convert %f : (tensor<8xbf16>) -> tensor<8xi8>
  return %q : tensor<8xi8>
}}""",
}


@pytest.mark.each_cpu
@pytest.mark.parametrize("name", ROUNDED)
def test_what_was_sent_as_bf16_is_rounded(name: str, tmp_path: Path) -> None:
    text = f"module attributes {{mhlo.num_partitions = 2 : i32}} {{ {ROUNDED[name]} }}"
    made = headrace.compile(text)
    assert [entry["element_type"] for entry in made.report["collectives"]] == ["i8"]
    program = tmp_path / "program.vmfb"
    made.save(program)
    x = np.array([[100, 3, -100, 64], [101, -7, 120, 0]], np.int8)
    given = x if name == "lifted" else x.astype(ml_dtypes.bfloat16)
    (result,) = run_program(program, choose_function(load_functions(program), None), [given])
    total = x.astype(np.float32) + np.float32(ml_dtypes.bfloat16(0.8))
    expected = np.floor(total.astype(ml_dtypes.bfloat16).astype(np.float32)).reshape(-1)
    assert np.array_equal(result.astype(np.float32), np.stack([expected, expected]))
