"""The model programs run on their devices with JAX's numbers, in fp8.

Stock's wire bytes are counted on the same program with nothing moved.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from headrace.compiler import pipelines
from headrace.compiler.iree.element_types import parse_tensor_type, relative_error
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program
from headrace.compiler.report.reader import read_collectives, wire_bytes
from headrace.compiler.report.roundings import Roundings
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module_file
from model_programs import DOTS, GATHERS, MODELS, NAMES, arrays, compiled


@pytest.mark.each_cpu(by="name")
@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_jaxs(name: str, tmp_path: Path) -> None:
    case = json.loads((MODELS / name / "case.json").read_text())
    program = tmp_path / "program.vmfb"
    compiled(name).save(program)
    function = choose_function(load_functions(program), None)
    assert function.devices == case["devices"]
    results = run_program(program, function, arrays(name, "inputs.npz"))
    expected = arrays(name, "outputs.npz")
    assert len(results) == len(expected)
    assert function.roundings is not None
    for counts, info, result, reference in zip(
        function.roundings, function.results, results, expected, strict=True
    ):
        error = relative_error(result, reference)
        assert error <= case["rtol"]
        # What headrace-run calls rounding: these errors, but no numbers in wrong places.
        bound = Roundings(counts).bound(parse_tensor_type(info.type), reference)
        assert error <= bound < relative_error(np.roll(result, 1, axis=-1), reference)


@pytest.mark.each_cpu("all")
@pytest.mark.parametrize("name", ["fsdp_scan", "invariant_gather"])
def test_numbers_are_jaxs_bit_for_bit(name: str, tmp_path: Path) -> None:
    """Only bf16 and fp8 arithmetic in these two, and sums that f32 holds."""
    program = tmp_path / "program.vmfb"
    compiled(name).save(program)
    function = choose_function(load_functions(program), None)
    (result,) = run_program(program, function, arrays(name, "inputs.npz"))
    np.testing.assert_array_equal(result.astype(np.float32), arrays(name, "outputs.npz")[0])


def run_once(collectives: list[Any]) -> Counter[str]:
    """How often each kind of collective runs, by its element type."""
    found: Counter[str] = Counter()
    for c in collectives:
        found[f"{c['op']} {c['element_type']}"] += c["trips"]
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fsdp_scan", {"all_gather f8E4M3FN": 6}),
        ("llama_fsdp", {"all_gather f8E4M3FN": 3 * 7}),
        ("tp_mlp", {"all_reduce f32": 3}),
        ("multi_use_block", {}),
    ],
)
def test_what_travels(name: str, expected: dict[str, int]) -> None:
    collectives: Any = compiled(name).report["collectives"]
    assert run_once(collectives) == Counter(expected)


@pytest.mark.parametrize("name", GATHERS)
def test_every_gather_is_fp8(name: str) -> None:
    collectives: Any = compiled(name).report["collectives"]
    assert collectives
    assert {c["element_type"] for c in collectives} == {"f8E4M3FN"}
    assert {c["wide_reason"] for c in collectives} == {None}


@pytest.mark.parametrize("name", ["fsdp_scan", "llama_fsdp"])
def test_wire_bytes_are_half_of_stocks(name: str) -> None:
    module = parse_module_file(MODELS / name / "model.mlir", ir.make_context())
    stages = ("frontend", "stablehlo-input")
    pipelines.build(stages, pipelines.Settings()).run(module)
    stock = read_collectives(module)
    assert {c.element_type for c in stock} == {"bf16"}
    whole = wire_bytes(stock)
    assert whole is not None
    assert compiled(name).report["wire_bytes"] == whole // 2


def test_fsdp_scan_wire_bytes() -> None:
    """6 layers; from 3 neighbours each a 64 x 256 shard of one byte."""
    assert compiled("fsdp_scan").report["wire_bytes"] == 6 * 3 * 64 * 256


@pytest.mark.parametrize("name", NAMES)
def test_every_fp8_dot_is_a_scaled_matmul(name: str) -> None:
    matmuls: Any = compiled(name).report["matmuls"]
    total, narrow = DOTS[name]
    assert len(matmuls) == total
    scaled = [m for m in matmuls if m["scaled"]]
    assert len(scaled) == narrow
    for m in scaled:
        assert m["lhs"].endswith("xf8E4M3FN>")
        assert m["rhs"].endswith("xf8E4M3FN>")
        assert m["reason"] is None


def test_the_sum_stays_wide_and_says_why() -> None:
    collectives: Any = compiled("tp_mlp").report["collectives"]
    for c in collectives:
        assert c["element_type"] == "f32"
        assert "never narrowed" in c["wide_reason"]


@pytest.mark.parametrize("name", NAMES)
def test_costs_are_reported(name: str) -> None:
    report: Any = compiled(name).report
    assert report["launches"] == report["dispatches"] + report["encodes"] > 0
    assert report["launches_per_run"] >= report["launches"]
    assert report["bytes_written_per_run"] >= report["bytes_written"] > 0
    assert report["transient_bytes"] > 0
    assert report["iree_seconds"] > 0
    # What runs after the hand-over is in IREE's time.
    before = [p["seconds"] for p in report["passes"] if p["name"] != "separate-forwarded-refs"]
    assert 0 < sum(before) < report["headrace_seconds"]
