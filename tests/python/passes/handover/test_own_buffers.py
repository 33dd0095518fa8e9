"""Two tensors never share a buffer because they start from equal values: JAX's numbers, exactly."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

import headrace
import numpy as np
import pytest
from headrace.compiler.iree.runtime import load_functions, run_program
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from jax_files import arrays, together, written

MODELS = Path(__file__).parents[3] / "models"
SCRIPT = Path(__file__).parent.parent.parent / "own_buffer_programs.py"
NAMES = [
    node.name
    for node in ast.parse(SCRIPT.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.decorator_list
]
# Those that were wrong without the pass, and one for each way it goes on: a
# branch, a loop's start, what a trip before sent, a scalar, booleans, a scatter.
ALWAYS = (
    *("rope", "computed", "cond_same", "swap_same", "cache_gathered_independent"),
    *("scalars", "bool_updates", "scatter_two"),
)
needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    names = NAMES if pytestconfig.getoption("--full") else ALWAYS
    return written(SCRIPT.stem, names, tmp_path_factory)


@pytest.fixture(scope="module")
def program(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them, compiled."""
    vmfb = tmp_path_factory.mktemp("own_buffers") / "program.vmfb"
    headrace.compile(together(folder), target="cpu").save(vmfb)
    return vmfb


@needs_jax
@pytest.mark.parametrize(
    "name", [n if n in ALWAYS else pytest.param(n, marks=pytest.mark.full) for n in NAMES]
)
def test_numbers_are_jaxs(folder: Path, program: Path, name: str) -> None:
    inputs, (expected,) = arrays(folder, name)
    (result,) = run_program(program, load_functions(program)[name], inputs)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", ["fsdp_scan", "llama_fsdp", "invariant_gather"])
def test_models_need_no_more(name: str) -> None:
    """Whatever native passes follow: no two tensors of what IREE is handed
    are written where one value lies, and models need no copies for that."""
    program = headrace.compile(MODELS / name / "model.mlir", target="cpu", emit="mlir").module
    module = parse_module(str(program), name, ir.make_context())
    allocations = _allocations(module)
    assert allocations
    assert "tensor.concat" not in [op.name for op in ir.walk(module)]
    Pipeline.parse("builtin.module(canonicalize,cse,own-buffers)").run(module)
    assert _allocations(module) == allocations


def _allocations(module: object) -> int:
    return str(module).count("flow.tensor.alloca")
