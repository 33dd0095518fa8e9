"""Torch ops give PyTorch's numbers: the functions of tests/models/torch/ops.mlir, run."""

from __future__ import annotations

import re
from pathlib import Path

import headrace
import ml_dtypes
import numpy as np
import pytest
from cpu_programs import Program
from headrace.compiler.iree.element_types import Array

FOLDER = Path(__file__).parent.parent.parent.parent / "models" / "torch"
# What IREE's pipeline lowers and a shorter one does not, or to other numbers.
SOME = (
    "attention",
    "attention_causal",
    "attention_mask",
    "attention_grouped",
    "attention_scale",
    "attention_dynamic",
    "softmax_dynamic",
    "int_mm",
    "chunk",
    "split",
    "split_with_sizes",
    "argmax",
    "rfft",
    "topk",
)
# Of the largest value: 2 ulp where results are rounded once, sums in another order.
TOLERANCES = {"f16": 2.0**-9, "bf16": 2.0**-7, "f32": 2.0**-17}
# IREE's f32 tanh is an approximation.
LOOSE = {"gelu_tanh": 2.0**-14}
NARROW = {"bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn}


def functions() -> dict[str, str]:
    """The text of each function by name."""
    text = (FOLDER / "ops.mlir").read_text()
    parts = re.split(r"(?=^  func\.func @)", text.removesuffix("}\n"), flags=re.MULTILINE)[1:]
    return {re.findall(r"@(\w+)", part)[0]: part for part in parts}


def check(names: tuple[str, ...], cpu: str) -> None:
    texts = functions()
    module = "".join(texts[name] for name in names)
    vmfb = headrace.compile(f"module {{\n{module}}}", target="cpu", cpu=cpu).vmfb
    assert vmfb is not None
    program = Program(vmfb)
    with np.load(FOLDER / "ops.npz") as arrays:
        for name in names:
            head = texts[name].split("\n", 1)[0]
            elements = re.findall(r"vtensor<\[[^\]]*\],(\w+)>", head.split("->")[0])
            inputs = [
                arrays[f"{name}.in{i}"].astype(NARROW.get(element, arrays[f"{name}.in{i}"].dtype))
                for i, element in enumerate(elements)
            ]
            results = program.results(name, *inputs)
            for i, result in enumerate(results):
                compare(name, result, arrays[f"{name}.out{i}"], head)


def compare(name: str, result: Array, expected: Array, head: str) -> None:
    element = re.findall(r"vtensor<\[[^\]]*\],([\w<>]+)>", head.split("->")[1])[0]
    if result.dtype.kind in "iub":
        assert np.array_equal(result, expected), name
        return
    wide = np.complex128 if result.dtype.kind == "c" else np.float64
    ours, theirs = result.astype(wide), expected.astype(wide)
    tolerance = LOOSE.get(name, TOLERANCES.get(element, 2.0**-17))
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    assert error <= tolerance, (name, error)


def test_some_ops() -> None:
    check(SOME, "host")


@pytest.mark.full
@pytest.mark.parametrize("cpu", ["host", "x86-64-v3", "generic"])
def test_all_ops(cpu: str) -> None:
    check(tuple(functions()), cpu)
