"""Programs of users that did not compile for want of a convert, with JAX's numbers."""

from __future__ import annotations

from pathlib import Path

import headrace
import ml_dtypes
import numpy as np
import pytest
from cpu_kinds import runs_here
from cpu_programs import Program
from headrace.compiler.iree.element_types import relative_error
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program
from headrace.passes.targets.lookup import target_names

CASES = Path(__file__).parent.parent.parent.parent / "cases"

SCALED = """
func.func public @main(%q: tensor<16x16xf8E4M3FN>, %s: tensor<f8E8M0FNU>) -> tensor<16x16xbf16> {
  %c = stablehlo.convert %q : (tensor<16x16xf8E4M3FN>) -> tensor<16x16xbf16>
  %f = stablehlo.convert %s : (tensor<f8E8M0FNU>) -> tensor<bf16>
  %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<bf16>) -> tensor<16x16xbf16>
  %d = stablehlo.multiply %c, %b : tensor<16x16xbf16>
  return %d : tensor<16x16xbf16>
}"""


@pytest.mark.one_of("cpu")
@pytest.mark.parametrize("name", ["int8_weight_dot", "one_hot"])
@pytest.mark.parametrize(
    "cpu", ["x86-64-v3", "generic", pytest.param("host", marks=pytest.mark.full)]
)
def test_integers_as_bf16_beside_a_dot(name: str, cpu: str, tmp_path: Path) -> None:
    vmfb = tmp_path / "model.vmfb"
    headrace.compile(CASES / name / "model.mlir", "cpu", cpu=cpu).save(vmfb)
    if not runs_here(cpu):
        return
    with np.load(CASES / name / "inputs.npz") as file:
        inputs = [file[key] for key in file.files]
    with np.load(CASES / name / "outputs.npz") as file:
        (right,) = (file[key] for key in file.files)
    (result,) = run_program(vmfb, choose_function(load_functions(vmfb), None), inputs)
    if right.dtype.kind == "V":
        right = right.view(ml_dtypes.bfloat16)
    assert relative_error(result, right) <= 2.0**-8


@pytest.mark.parametrize("exponent", [-126, -3, 0, 100])
def test_an_e8m0_scale_gives_its_numbers(exponent: int) -> None:
    vmfb = headrace.compile(SCALED, "cpu", collectives="channel").data()
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16).view(ml_dtypes.float8_e4m3fn)
    scale = np.array(2.0**exponent, np.float32).astype(ml_dtypes.float8_e8m0fnu)
    result = Program(vmfb)("main", codes, scale).astype(np.float64)
    right = codes.astype(np.float64) * 2.0**exponent
    right[np.abs(right) < 2.0**-126] = 0  # IREE's workers flush subnormals, as JAX does
    assert ((result == right) | (np.isnan(result) & np.isnan(right))).all()


@pytest.mark.parametrize(
    "target",
    [
        t if t in ("gfx950", "sm_89") else pytest.param(t, marks=pytest.mark.full)
        for t in target_names()
        if t not in ("cpu", "vmvx")
    ],
)
def test_an_e8m0_scale_compiles_for(target: str) -> None:
    assert headrace.compile(SCALED, target).data()
