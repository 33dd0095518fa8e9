"""Programs that quantize beside a collective, as JAX wrote them: what they send, and JAX's numbers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import headrace
import numpy as np
import pytest
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program

FORMS = Path(__file__).parent.parent.parent / "forms"
NAMES = sorted(path.parent.name for path in FORMS.glob("*/case.json"))
# Blocks along the contraction cannot leave the sum: their dots are not scaled yet.
BLOCKS = ("block_dq_gather", "block_matmul", "gather_block")
QUICK = ("gather_block", "gather_token", "int8_dq_gather")
# What is sent, with scales, in parts of the payload.
MOST = 1.04


@cache
def case(name: str) -> dict[str, Any]:
    return json.loads((FORMS / name / "case.json").read_text())


@cache
def report(name: str, target: str) -> dict[str, Any]:
    return headrace.compile(FORMS / name / "model.mlir", target=target, emit="mlir").report


@pytest.mark.parametrize("target", ["cpu", "gfx942", "gfx950", "sm_89", "sm_120"])
@pytest.mark.parametrize("name", NAMES)
def test_wire(name: str, target: str) -> None:
    sent = report(name, target)["collectives"]
    assert sorted({entry["element_type"] for entry in sent}) == sorted(case(name)["wire"])
    assert all(entry["wide_reason"] is None for entry in sent)
    payload, *scales = (
        sum(entry["bytes"] for entry in sent if entry["element_type"] == element)
        for element in case(name)["wire"]
    )
    assert payload + sum(scales) <= MOST * payload


@pytest.mark.parametrize("name", NAMES)
def test_scaled_matmuls(name: str) -> None:
    dots = report(name, "cpu")["matmuls"]
    scaled = sum(dot["scaled"] for dot in dots)
    assert scaled == (0 if name in BLOCKS else case(name)["scaled"])
    assert all(dot["reason"] for dot in dots if case(name)["scaled"] and not dot["scaled"])


@pytest.mark.each_cpu
@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.full) for n in NAMES]
)
def test_numbers_are_jaxs(name: str, tmp_path: Path) -> None:
    """To the last bit, but for the scan, whose products are of inexact sums."""
    program = tmp_path / "program.vmfb"
    headrace.compile(FORMS / name / "model.mlir").save(program)
    with np.load(FORMS / name / "inputs.npz") as archive:
        inputs = [archive[key] for key in archive.files]
    results = run_program(program, choose_function(load_functions(program), None), inputs)
    with np.load(FORMS / name / "outputs.npz") as archive:
        expected = [archive[key].astype(np.float64) for key in archive.files]
    tolerance = case(name)["rtol"] if name.startswith("scan") else 0.0
    for result, reference in zip(results, expected, strict=True):
        error = np.abs(result.astype(np.float64) - reference).max() / np.abs(reference).max()
        assert error <= tolerance


@pytest.mark.full
@pytest.mark.parametrize("target", ["gfx942", "gfx950", "sm_89", "sm_120"])
@pytest.mark.parametrize("name", NAMES)
def test_compiles_for_gpus(name: str, target: str) -> None:
    assert headrace.compile(FORMS / name / "model.mlir", target=target).vmfb
