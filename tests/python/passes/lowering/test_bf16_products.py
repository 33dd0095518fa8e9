"""CPUs with bf16 instructions multiply fp8 and bf16 operands in bf16: who, when, what."""

from __future__ import annotations

from itertools import product

import headrace
import ml_dtypes
import numpy as np
import pytest
from cpu_programs import DTYPES, FP8, Program, decoded
from dispatch_programs import compiled, lowered
from headrace.compiler.iree.element_types import Array
from headrace.dialects import ir

N = 96  # packing pays
TYPES = (*FP8, "bf16")
# Each type on both sides, with itself and with another; all pairs in full runs.
SOME = [(lhs, TYPES[(i + j) % len(TYPES)]) for i, lhs in enumerate(TYPES) for j in (0, 1)]
SOME += [(lhs, "bf16") for lhs in ("f8E4M3FN", "f8E5M2") if (lhs, "bf16") not in SOME]


def _program(lhs: str, rhs: str, n: int = N, name: str = "main") -> str:
    a, b, c = f"tensor<{n}x{n}x{lhs}>", f"tensor<{n}x{n}x{rhs}>", f"tensor<{n}x{n}xf32>"
    return f"""func.func @{name}(%a: {a}, %b: {b}) -> {c} {{
  %0 = "headrace.matmul"(%a, %b) {{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>,
    lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>,
    rhs_contracting = array<i64: 0>, epilogue = "none"}} : ({a}, {b}) -> {c}
  return %0 : {c}
}}
"""


@pytest.mark.parametrize(("cpu", "element"), [("znver4", "bf16"), ("znver3", "f32")])
def test_the_cpu_decides(cpu: str, element: str) -> None:
    text = str(headrace.compile(_program("f8E4M3FN", "bf16"), cpu=cpu, emit="mlir").module)
    (line,) = (line for line in text.splitlines() if "linalg.matmul" in line)
    types = line.partition("ins(")[2].partition(")")[0]
    assert types.count(f"{N}x{element}") == 2


def _values(name: str, seed: int) -> Array:
    """Every finite code where there are few, else normal numbers."""
    random = np.random.default_rng(seed)
    if name in FP8:
        codes = random.integers(0, 256, (N, N)).astype(np.uint8).view(FP8[name])
        return np.where(np.isfinite(codes.astype(np.float32)), codes, FP8[name](1))
    return random.standard_normal((N, N)).astype(DTYPES[name])


@pytest.fixture(scope="module")
def program(pytestconfig: pytest.Config) -> Program:
    """A function for each pair of types."""
    pairs = [*product(TYPES, TYPES)] if pytestconfig.getoption("--full") else SOME
    module = lowered("".join(_program(*pair, name="_".join(pair)) for pair in pairs), "cpu+bf16")
    functions = [op for op in ir.walk(module) if op.name == "func.func"]
    assert len(functions) == len(pairs)
    assert all("bf16, bf16, f32" in str(function) for function in functions)
    return Program(compiled(module, "cpu")[0])


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [
        pair if pair in SOME else pytest.param(*pair, marks=pytest.mark.full)
        for pair in product(TYPES, TYPES)
    ],
)
def test_numbers(lhs: str, rhs: str, program: Program) -> None:
    """Operands are exact, and what is left is the rounding of sums in f32."""
    a, b = _values(lhs, 1), _values(rhs, 2)
    wide_a, wide_b = decoded(a), decoded(b)
    found = program(f"{lhs}_{rhs}", a, b)
    size = np.abs(wide_a) @ np.abs(wide_b)
    assert (np.abs(found - wide_a @ wide_b) / size).max() < N * 2.0**-24


def test_sums_that_f32_holds_are_exact(program: Program) -> None:
    random = np.random.default_rng(3)
    a = random.integers(-8, 9, (N, N)).astype(ml_dtypes.float8_e4m3fn)
    b = random.integers(-128, 129, (N, N)).astype(ml_dtypes.bfloat16)
    found = program("f8E4M3FN_bf16", a, b)
    np.testing.assert_array_equal(found, decoded(a) @ decoded(b))


def test_what_is_not_finite_stays_so(program: Program) -> None:
    a = np.ones((N, N), ml_dtypes.float8_e5m2)
    b = np.ones((N, N), ml_dtypes.bfloat16)
    a[3, 4], a[5, 6], b[7, 8] = np.inf, np.nan, -np.inf
    with np.errstate(invalid="ignore"):
        expected = decoded(a) @ decoded(b)
    np.testing.assert_array_equal(program("f8E5M2_bf16", a, b), expected)
