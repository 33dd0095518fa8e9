"""PyTorch models, as torch-mlir imports them, give PyTorch's numbers in fp8.

tests/models/torch/write.py makes them.
"""

from __future__ import annotations

from pathlib import Path

import headrace
import numpy as np
import pytest
from headrace.compiler.runtime import choose_function, load_functions, run_program

MODELS = Path(__file__).parent.parent / "models" / "torch"
# Dots, and how many of them multiply fp8 values in the source.
DOTS = {"mlp": (3, 3), "mlp_channels": (3, 3), "mlp_bf16": (3, 3), "attention": (4, 2)}
# Of the largest value: f32 sums in another order; bf16 rounds to 2**-8, and a
# value so rounded may be one fp8 step, 2**-4, away.
TOLERANCE = {"mlp_bf16": 2.0**-4}


@pytest.mark.each_cpu
@pytest.mark.parametrize("name", DOTS)
def test_numbers_are_torchs(name: str, tmp_path: Path) -> None:
    program = headrace.compile(MODELS / f"{name}.mlir", target="cpu")
    assert (
        len(program.report["matmuls"]),
        sum(m["scaled"] for m in program.report["matmuls"]),
    ) == DOTS[name]
    vmfb = tmp_path / "program.vmfb"
    program.save(vmfb)
    function = choose_function(load_functions(vmfb), "main")
    with np.load(MODELS / f"{name}.npz") as arrays:
        x, y = arrays["x"], arrays["y"]
    (result,) = run_program(vmfb, function, [x[None]])
    error = np.abs(result[0].astype(np.float64) - y).max() / np.abs(y).max()
    assert error <= TOLERANCE.get(name, 1e-6)


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "sm_80", "sm_89"])
def test_compiles_for_gpus(target: str) -> None:
    assert headrace.compile(MODELS / "mlp_bf16.mlir", target=target).vmfb


def test_f64_of_the_program_stays() -> None:
    """Only what torch-mlir adds is narrowed."""
    text = """
    func.func @main(%x: !torch.vtensor<[4],f64>) -> !torch.vtensor<[4],f64> {
      %0 = torch.aten.exp %x : !torch.vtensor<[4],f64> -> !torch.vtensor<[4],f64>
      return %0 : !torch.vtensor<[4],f64>
    }
    """
    module = str(headrace.compile(text, target="cpu", emit="mlir").module)
    assert "math.exp" in module
    assert "f32" not in module
