"""Programs that JAX's partitioner splits: JAX's numbers, and what headrace makes of them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import headrace
import numpy as np
import pytest
from headrace.compiler.inputs.partitioned_module import split_shardings
from headrace.compiler.iree.runtime import load_functions, run_program
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from jax_files import arrays, written

if find_spec("jax") is None:
    pytest.skip("JAX is not installed: pip install 'headrace[jax]'", allow_module_level=True)

NAMES = (
    "tensor_parallel",
    "fsdp",
    "llama_both",
    "llama_scan",
    "experts",
    "convolution",
    "vocabulary",
    "microbatches",
    "eight_devices",
    "fp8_weights",
    "fp8_scaled",
    pytest.param("training_step", marks=pytest.mark.full),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [name if isinstance(name, str) else str(name.values[0]) for name in NAMES]
    return written("sharded_programs", names, tmp_path_factory)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_jaxs(folder: Path, name: str, tmp_path: Path) -> None:
    vmfb = tmp_path / "program.vmfb"
    headrace.compile(folder / f"{name}.mlir").save(vmfb)
    inputs, expected = arrays(folder, name)
    results = run_program(vmfb, load_functions(vmfb)["main"], inputs)
    for got, want in zip(results, expected, strict=True):
        wide = want.view("bfloat16") if want.dtype.kind == "V" else want
        error = np.abs(got.astype(np.float64) - wide.astype(np.float64)).max()
        assert error <= (0.02 if name.startswith("fp8") else 1e-5) * max(np.abs(wide).max(), 1e-30)


def _wire(text: str) -> int:
    """Bytes that a device receives, as JAX's partitioner would have it."""
    module = parse_module(text, "program", ir.make_context())
    Pipeline.parse("builtin.module(record-shardings,inline,raise-stablehlo)").run(module)
    total = 0
    for op in ir.walk(module):
        if op.name == "headrace.all_gather":
            operand, result = (ir.RankedTensorType(v.type) for v in (op.operands[0], op.results[0]))
            sizes = [int(np.prod(t.shape)) for t in (operand, result)]
            width = {"bf16": 2, "f32": 4, "f8E4M3FN": 1}[str(operand.element_type)]
            total += (sizes[1] - sizes[0]) * width
    return total


@pytest.mark.parametrize("name", ["fp8_weights", "fp8_scaled"])
def test_the_wire_carries_fp8(folder: Path, name: str) -> None:
    """At most half of what JAX's partitioner sends; all dots are scaled."""
    text = (folder / f"{name}.mlir").read_text()
    report = headrace.compile(text, emit="mlir").report
    gathers = [c for c in report["collectives"] if c["op"] == "all_gather"]
    assert {c["element_type"] for c in gathers} == {"f8E4M3FN"}
    # But for the amax, of one number.
    assert report["wire_bytes"] <= _wire(text) / 2 + 16
    if name == "fp8_scaled":
        assert [m["scaled"] for m in report["matmuls"]] == [True]


def test_tuple_shardings() -> None:
    pair = ["{replicated}", "{devices=[2,1,2]<=[4] last_tile_dims={replicated}}"]
    assert split_shardings("{" + ", ".join(pair) + "}") == pair
    assert split_shardings("{}") == []
