"""What is computed of a tensor and inserted into it: exact numbers, on one device."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import headrace
import numpy as np
import pytest
from dispatch_programs import Program
from headrace.dialects.mlir import make_context
from headrace.dialects.parsing import parse_module
from headrace.passes.pipeline import Pipeline

SCRIPT = Path(__file__).with_name("update_programs.py")
NAMES = [
    node.name
    for node in ast.parse(SCRIPT.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.decorator_list
]
# Those that IREE 3.13 computes wrong; one for each way to cut what is inserted; one in place.
ALWAYS = (
    *("shift", "read_between", "two_updates", "reverse", "slice_shift_dyn", "softmax_rows"),
    *("half_types", "int8_types", "fp8_types", "scan_single", "rank_reduced", "elementwise_ok"),
)
needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    made = tmp_path_factory.mktemp("updates")
    names = NAMES if request.config.getoption("--full") else ALWAYS
    subprocess.run([sys.executable, SCRIPT, made, *names], check=True)
    return made


@needs_jax
@pytest.mark.each_cpu
@pytest.mark.parametrize(
    "name", [n if n in ALWAYS else pytest.param(n, marks=pytest.mark.full) for n in NAMES]
)
def test_numbers_are_jaxs(folder: Path, name: str) -> None:
    compiled = headrace.compile(folder / f"{name}.mlir", target="cpu", collectives="channel")
    assert compiled.vmfb is not None
    arrays = np.load(folder / f"{name}.npz")
    (result,) = Program(compiled.vmfb)("main", arrays["a"], arrays["b"])
    np.testing.assert_array_equal(result, arrays["result"])


# A cache of which one row is written, with what is not computed of it; and one
# whose row is computed of that row.
IN_PLACE = """
func.func @cache(%c: tensor<64x16xf32>, %x: tensor<1x16xf32>) -> tensor<64x16xf32> {
  %s = stablehlo.add %c, %c : tensor<64x16xf32>
  %r = stablehlo.exponential %x : tensor<1x16xf32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %k = stablehlo.constant dense<40> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %s, %r, %k, %z
    : (tensor<64x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}
func.func @row(%c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %s = stablehlo.add %c, %c : tensor<64x16xf32>
  %w = stablehlo.slice %s [3:5, 0:16] : (tensor<64x16xf32>) -> tensor<2x16xf32>
  %r = stablehlo.exponential %w : tensor<2x16xf32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %k = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %s, %r, %k, %z
    : (tensor<64x16xf32>, tensor<2x16xf32>, tensor<i32>, tensor<i32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}
"""


@pytest.mark.parametrize("name", ["cache", "row"])
def test_safe_updates_stay_in_place(name: str) -> None:
    """Two launches, and no copy: what is inserted is computed where it goes."""
    flags = ["--compile-to=stream"]
    compiled = headrace.compile(
        IN_PLACE, target="cpu", collectives="channel", function=name, iree_flags=flags
    )
    assert compiled.vmfb is not None
    text = compiled.vmfb.decode()
    assert text.count("stream.cmd.dispatch @") == 2
    assert "stream.cmd.copy" not in text


def test_runs_once() -> None:
    text = """
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %z = math.exp %x : tensor<8xf32>
  %s = tensor.extract_slice %z[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %d = math.sin %s : tensor<4xf32>
  %y = tensor.insert_slice %d into %z[1] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %y : tensor<8xf32>
}
"""
    module = parse_module(text, "test", make_context())
    Pipeline.parse("builtin.module(separate-updates)").run(module)
    once = str(module)
    assert once.count("tensor.insert_slice") == 2
    Pipeline.parse("builtin.module(canonicalize,cse,separate-updates)").run(module)
    assert str(module).count("tensor.insert_slice") == 2
