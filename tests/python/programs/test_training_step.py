"""A JAX training step: gradients of an FSDP layer scan, pipelined both ways."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import headrace
import numpy as np
import pytest
from headrace.compiler import pipelines
from headrace.compiler.iree.element_types import relative_error
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module_file
from model_programs import MODELS, arrays, collectives, compiled, handed_over, results

NAME = "fsdp_training_step"
LAYERS = 4


def runs(kind: str) -> Counter[tuple[str, bool]]:
    """How often collectives of a kind run, by element type and mark."""
    found: Counter[tuple[str, bool]] = Counter()
    for c in collectives(compiled(NAME)):
        if c["op"] == kind:
            found[c["element_type"], c["pipelined"]] += c["trips"]
    return found


@pytest.mark.each_cpu(by="")
def test_results_are_jaxs(tmp_path: Path) -> None:
    case = json.loads((MODELS / NAME / "case.json").read_text())
    got = results(compiled(NAME), NAME, tmp_path)
    expected = arrays(NAME, "outputs.npz")
    assert len(got) == len(expected) == len(case["results"])
    for result, reference in zip(got, expected, strict=True):
        assert relative_error(result, reference) <= case["rtol"]
    # All scales are powers of two, so only the loss, a sum of f32, can differ.
    _, gradients, weights = (np.asarray(r, np.float32) for r in got)
    np.testing.assert_array_equal(gradients, expected[1])
    np.testing.assert_array_equal(weights, expected[2])


def test_gathers_run_once_per_layer_and_scan_in_fp8() -> None:
    """In both scans every gather is a trip ahead."""
    assert runs("all_gather") == {("f8E4M3FN", True): 2 * LAYERS}


def test_gradients_are_scattered_once_per_layer() -> None:
    """A trip behind, but for the trip that the gathers peeled off."""
    assert runs("reduce_scatter") == {("bf16", True): LAYERS - 1, ("bf16", False): 1}
    reasons = {c["reason"] for c in collectives(compiled(NAME)) if c["op"] == "reduce_scatter"}
    assert reasons == {None, "it is in the peeled last trip of its loop"}


def test_the_reverse_loop_holds_both() -> None:
    """One gather and one reduce-scatter per steady trip, at once with the matmuls."""
    settings = pipelines.Settings("cpu", "devices", 4)
    module = parse_module_file(MODELS / NAME / "model.mlir", ir.make_context())
    pipelines.build_default(settings).before("lowering").run(module)
    loops = [op for op in ir.walk(module) if op.name == "scf.for"]
    held = [Counter(op.name for op in ir.walk(loop)) for loop in loops]
    assert [(h["headrace.all_gather"], h["headrace.reduce_scatter"]) for h in held] == [
        (1, 0),
        (1, 1),
    ]
    assert [h["headrace.matmul"] for h in held] == [1, 3]


@pytest.mark.parametrize("order", ["after-matmul", "before-matmul"])
def test_all_products_are_scaled(order: str) -> None:
    """Forward, again for the gradient, and by activation and by weight."""
    found: Any = handed_over(NAME, pipeline_order=order).report["matmuls"]
    assert [m["scaled"] for m in found] == [True] * 4
    assert sum("f8E5M2" in m["lhs"] for m in found) == 2


@pytest.mark.each_cpu(by="")
def test_without_pipelining_the_results_are_the_same(tmp_path: Path) -> None:
    plain = headrace.compile(MODELS / NAME / "model.mlir", pipeline_collectives="all:off")
    expected = results(plain, NAME, tmp_path)
    for got, want in zip(results(compiled(NAME), NAME, tmp_path), expected, strict=True):
        np.testing.assert_array_equal(got.view(np.uint8), want.view(np.uint8))
