"""headrace.matmul lowered for several targets, run on the CPU against f64."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import cpus
import numpy as np
import pytest
from cpu_programs import DTYPES, FP8, CpuProgram, decoded, lower
from headrace.dialects import ir
from headrace.dialects.ops.matmul import free_dims

D = -1


@dataclass(frozen=True)
class Case:
    """Shapes and dims of one matmul; ``dynamic`` sizes are written ``?``."""

    name: str
    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    lhs_contracting: tuple[int, ...] = (1,)
    rhs_contracting: tuple[int, ...] = (0,)
    lhs_batch: tuple[int, ...] = ()
    rhs_batch: tuple[int, ...] = ()
    dynamic: bool = False

    @property
    def lhs_free(self) -> list[int]:
        return free_dims(len(self.lhs), [*self.lhs_batch, *self.lhs_contracting])

    @property
    def rhs_free(self) -> list[int]:
        return free_dims(len(self.rhs), [*self.rhs_batch, *self.rhs_contracting])

    @property
    def result(self) -> tuple[int, ...]:
        shape = [self.lhs[d] for d in (*self.lhs_batch, *self.lhs_free)]
        return (*shape, *(self.rhs[d] for d in self.rhs_free))


CASES = (
    Case("plain", (24, 40), (40, 16)),
    Case("odd", (13, 17), (17, 31)),
    Case("row", (1, 64), (64, 48)),
    Case("column", (48, 64), (64, 1)),
    Case("matvec", (24, 40), (40,)),
    Case("vecmat", (40,), (40, 16), (0,), (0,)),
    Case("dot", (40,), (40,), (0,), (0,)),
    Case("transposed_rhs", (24, 40), (16, 40), (1,), (1,)),
    Case("transposed_lhs", (40, 24), (40, 16), (0,), (0,)),
    Case("batch", (3, 8, 16), (3, 16, 12), (2,), (1,), (0,), (0,)),
    Case("inner_batch", (8, 3, 16), (16, 12, 3), (2,), (0,), (1,), (2,)),
    Case("two_batches", (2, 3, 8, 16), (3, 16, 12, 2), (3,), (1,), (0, 1), (3, 0)),
    Case("two_rows", (4, 6, 16), (16, 12), (2,), (0,)),
    Case("two_columns", (8, 16), (16, 4, 6), (1,), (0,)),
    Case("two_contracting", (8, 4, 6), (6, 4, 12), (1, 2), (1, 0)),
    Case("dynamic", (24, 40), (40, 16), dynamic=True),
    Case("dynamic_batch", (3, 8, 16), (3, 16, 12), (2,), (1,), (0,), (0,), dynamic=True),
    Case("outer", (12, 1), (1, 9)),
    Case("outer_of_one", (1, 1), (1, 9)),
    Case("outer_batch", (3, 8, 1), (3, 1, 12), (2,), (1,), (0,), (0,)),
    Case("no_contracting", (5,), (7,), (), ()),
    Case("empty_sum", (4, 0), (0, 6)),
    Case("no_rows", (0, 8), (8, 6)),
)


def tensor(shape: Sequence[int], element: str, dynamic: bool = False) -> str:
    sizes = ["?" if dynamic else str(size) for size in shape]
    return f"tensor<{'x'.join([*sizes, element])}>"


def array_attribute(values: Sequence[int]) -> str:
    return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"


def targets(quick: str, full: str) -> list[Any]:
    """Targets as parameters; the second lot only in full runs."""
    return [*quick.split(), *(pytest.param(t, marks=pytest.mark.full) for t in full.split())]


OPTIONAL = ("lhs_scale", "rhs_scale", "bias", "result_scale")


def matmul_text(
    case: Case,
    lhs: str = "f8E4M3FN",
    rhs: str = "f8E4M3FN",
    result: str = "f32",
    epilogue: str = "none",
    **shapes: Sequence[int],
) -> str:
    """A function of lhs, rhs and the optional operands of these shapes."""
    types = {"lhs": tensor(case.lhs, lhs, case.dynamic), "rhs": tensor(case.rhs, rhs, case.dynamic)}
    types |= {name: tensor(shapes[name], "f32") for name in OPTIONAL if name in shapes}
    segments = [1, 1, *(int(name in shapes) for name in OPTIONAL)]
    arguments = [f"%{name}: {type_}" for name, type_ in types.items()]
    result_type = tensor(case.result, result, case.dynamic)
    dims = {
        "lhs_batch": case.lhs_batch,
        "rhs_batch": case.rhs_batch,
        "lhs_contracting": case.lhs_contracting,
        "rhs_contracting": case.rhs_contracting,
    }
    attributes = ", ".join(f"{name} = {array_attribute(d)}" for name, d in dims.items())
    operands = ", ".join(f"%{name}" for name in types)
    return f"""
func.func @{case.name}({", ".join(arguments)}) -> {result_type} {{
  %y = "headrace.matmul"({operands}) {{
    operandSegmentSizes = array<i32: {", ".join(map(str, segments))}>, {attributes},
    epilogue = "{epilogue}"}} : ({", ".join(types.values())}) -> {result_type}
  return %y : {result_type}
}}
"""


def random_values(shape: Sequence[int], element: str, seed: int) -> np.ndarray:
    """Values of all magnitudes that do not overflow in a sum; exact in ``element``."""
    random = np.random.default_rng(seed)
    values = random.standard_normal(shape) * np.exp2(random.integers(-6, 4, shape))
    return values.astype(DTYPES[element])


def product(case: Case, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """dot_general in f64."""
    letters = iter("abcdefghijklmnop")
    left, right = [""] * lhs.ndim, [""] * rhs.ndim
    for a, b in zip(
        (*case.lhs_batch, *case.lhs_contracting),
        (*case.rhs_batch, *case.rhs_contracting),
        strict=True,
    ):
        left[a] = right[b] = next(letters)
    for labels in (left, right):
        for i, label in enumerate(labels):
            labels[i] = label or next(letters)
    out = [left[d] for d in (*case.lhs_batch, *case.lhs_free)]
    out += [right[d] for d in case.rhs_free]
    equation = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    return np.einsum(equation, decoded(lhs), decoded(rhs))


def assert_close(got: np.ndarray, want: np.ndarray, lhs: np.ndarray, rhs: np.ndarray) -> None:
    """Within f32's rounding of a sum of products as large as they come."""
    assert got.shape == want.shape
    if want.size == 0:
        return
    largest = np.abs(decoded(lhs)).max(initial=0) * np.abs(decoded(rhs)).max(initial=0)
    terms = max(lhs.size, rhs.size)
    assert np.abs(got.astype(np.float64) - want).max() <= terms * largest * 2.0**-24


@pytest.mark.each_cpu
@pytest.mark.parametrize("target", targets("cpu gfx942 sm_89", "gfx950 sm_80"))
def test_all_forms(target: str, pytestconfig: pytest.Config) -> None:
    """Every arrangement of dims, unscaled, f32 result; in quick runs a third of them for a GPU."""
    cases = CASES
    if target != "cpu" and not pytestconfig.getoption("--full"):
        cases = CASES[target == "gfx942" :: 3]
    run = CpuProgram("".join(matmul_text(case) for case in cases), target)
    for i, case in enumerate(cases):
        lhs = random_values(case.lhs, "f8E4M3FN", 2 * i)
        rhs = random_values(case.rhs, "f8E4M3FN", 2 * i + 1)
        got = run(case.name, lhs, rhs)
        assert_close(got, product(case, lhs, rhs), lhs, rhs)


PAIRS = [*itertools.product(FP8, FP8)]


def quick_pairs(target: str) -> list[tuple[str, str]]:
    """Half of the pairs: those that gfx942 has the others have not."""
    names = [*FP8]
    odd = target == "gfx942"
    return [(a, b) for a, b in PAIRS if (names.index(a) + names.index(b)) % 2 == odd]


@pytest.mark.each_cpu(by="target")
@pytest.mark.parametrize(
    ("target", "lhs_type", "rhs_type"),
    [
        pytest.param(
            target, *pair, marks=[] if quick and pair in quick_pairs(target) else pytest.mark.full
        )
        for target, quick in (
            *((target, True) for target in ("cpu", "gfx942", "gfx950")),
            *((target, False) for target in ("sm_80", "sm_89")),
        )
        for pair in PAIRS
    ],
)
def test_all_codes_multiply(
    all_codes_programs: Callable[[str], CpuProgram], target: str, lhs_type: str, rhs_type: str
) -> None:
    """Each code of lhs times 1 is its value; E5M2's infinities are NaN where FNUZ stands in."""
    run = all_codes_programs(target)
    codes = np.zeros((256, 32), np.uint8)
    codes[:, 5] = np.arange(256)
    codes = codes.view(FP8[lhs_type])
    ones = np.ones((32, 16), FP8[rhs_type])
    with np.errstate(all="ignore"):
        got = run(f"{lhs_type}_{rhs_type}", codes, ones).astype(np.float64)
        want = np.repeat(decoded(codes[:, 5:6]), 16, axis=1)
    if target == "gfx942" and lhs_type == "f8E5M2":
        want = np.where(np.isinf(want), np.nan, want)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    if target in ("gfx950", "sm_89") and lhs_type == "f8E4M3FN":
        # IREE's stand-in on the CPU for fp8 instructions reads 0xFF as -480.
        same[0xFF] = True
    if target in ("gfx950", "sm_89") and lhs_type == "f8E5M2" and cpus.current() == "generic":
        # It rounds to f16 on the way, and IREE's code for that where a CPU has no
        # instruction for it makes zeros of subnormals.
        same |= (np.abs(want) < 2.0**-14) & (got == 0)
    assert same.all(), [(hex(c), got[c, 0]) for c in np.flatnonzero(~same.all(axis=1))]


@pytest.fixture(scope="module")
def all_codes_programs(cpu: str, pytestconfig: pytest.Config) -> Callable[[str], CpuProgram]:
    """For each target, its pairs of types, in sizes that fp8 instructions have."""

    def program(target: str) -> CpuProgram:
        pairs = PAIRS if pytestconfig.getoption("--full") else quick_pairs(target)
        texts = (
            matmul_text(Case(f"{lhs}_{rhs}", (256, 32), (32, 16)), lhs, rhs) for lhs, rhs in pairs
        )
        return CpuProgram("".join(texts), target)

    return cache(program)


MIXED = (
    ("f8E4M3FN", "bf16"),
    ("f16", "f8E5M2"),
    ("bf16", "f16"),
    ("bf16", "bf16"),
    ("f32", "f8E4M3FNUZ"),
    ("f32", "f32"),
    ("f64", "f8E5M2FNUZ"),
    ("f64", "f32"),
)


@pytest.mark.each_cpu
@pytest.mark.parametrize("target", targets("cpu sm_80", "gfx942"))
def test_mixed_operand_types(target: str) -> None:
    cases = [Case(f"{lhs}_{rhs}", (12, 40), (40, 10)) for lhs, rhs in MIXED]
    text = ""
    for case, (lhs, rhs) in zip(cases, MIXED, strict=True):
        text += matmul_text(case, lhs, rhs, "f64" if lhs == "f64" else "f32")
    run = CpuProgram(text, target)
    for i, (case, (lhs, rhs)) in enumerate(zip(cases, MIXED, strict=True)):
        a, b = random_values(case.lhs, lhs, 2 * i), random_values(case.rhs, rhs, 2 * i + 1)
        got, want = run(case.name, a, b), product(case, a, b)
        if lhs == "f64":
            want = np.einsum("ab,bc->ac", a, b.astype(np.float64))
            assert np.abs(got - want).max() < 1e-12 * np.abs(want).max()
        else:
            assert_close(got, want, a, b)


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


EPILOGUES: dict[str, Any] = {
    "none": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu_tanh": gelu_tanh,
}

RESULTS = ("f32", "bf16", "f16", "f8E4M3FN")
# Shapes of scales and bias for lhs (3, 8, 16) x rhs (3, 16, 12).
SCALES: dict[str, dict[str, tuple[int, ...]]] = {
    "scalars": {"lhs_scale": (), "rhs_scale": ()},
    "ones": {"lhs_scale": (1,), "rhs_scale": (1, 1, 1)},
    "axes": {"lhs_scale": (1, 8, 1), "rhs_scale": (1, 1, 12), "bias": (1, 1, 12)},
    "batches": {"lhs_scale": (3, 8, 1), "rhs_scale": (3, 1, 1), "bias": (3, 8, 12)},
    "result": {"lhs_scale": (), "bias": (3, 1, 1), "result_scale": ()},
}


@pytest.mark.each_cpu
@pytest.mark.parametrize("target", targets("cpu", "gfx942 sm_89"))
@pytest.mark.parametrize("result", RESULTS)
def test_scales_bias_epilogue_rounding(
    target: str, result: str, pytestconfig: pytest.Config
) -> None:
    """In the order of the op's definition, one rounding, saturating into fp8.

    In quick runs each scale and epilogue go together once, for one of the result types.
    """
    base = Case("m", (3, 8, 16), (3, 16, 12), (2,), (1,), (0,), (0,))
    names = [(scales, epilogue) for scales in SCALES for epilogue in EPILOGUES]
    if not pytestconfig.getoption("--full"):
        names = names[RESULTS.index(result) :: len(RESULTS)]
    cases = [Case(f"{s}_{e}", base.lhs, base.rhs, (2,), (1,), (0,), (0,)) for s, e in names]
    text = ""
    for case, (scales, epilogue) in zip(cases, names, strict=True):
        text += matmul_text(case, result=result, epilogue=epilogue, **SCALES[scales])
    run = CpuProgram(text, target)
    for i, (case, (scales, epilogue)) in enumerate(zip(cases, names, strict=True)):
        lhs, rhs = (
            random_values(base.lhs, "f8E4M3FN", i),
            random_values(base.rhs, "f8E4M3FN", i + 99),
        )
        random = np.random.default_rng(i)
        extra = {
            name: (random.standard_normal(shape) * 3).astype(np.float32)
            for name, shape in SCALES[scales].items()
        }
        value = product(base, lhs, rhs) * spread(extra, "lhs_scale") * spread(extra, "rhs_scale")
        if "bias" in extra:
            value = value + extra["bias"]
        value = EPILOGUES[epilogue](value) * spread(extra, "result_scale")
        got = run(case.name, lhs, rhs, *extra.values())
        if result in FP8:
            want = np.clip(value, -448, 448).astype(np.float32).astype(FP8[result])
            steps = np.abs(got.view(np.uint8).astype(int) - want.view(np.uint8).astype(int))
            # A sum next to the middle of two codes may fall on either side.
            assert (steps <= 1).all()
            assert (steps > 0).mean() < 0.02
        else:
            bits = {"f32": 20, "f16": 10, "bf16": 7}[result]
            error = np.abs(got.astype(np.float64) - value)
            assert (error <= np.abs(value) * 2.0**-bits + np.abs(value).max() * 2.0**-18).all()


def spread(extra: dict[str, np.ndarray], name: str) -> np.ndarray:
    """A scale over the result's dims; 1 where there is none."""
    scale = extra.get(name, np.ones((), np.float32)).astype(np.float64)
    return scale.reshape(()) if scale.size == 1 else scale


@pytest.mark.each_cpu("all")
def test_result_saturates() -> None:
    case = Case("m", (1, 4), (4, 2))
    run = CpuProgram(matmul_text(case, result="f8E5M2", lhs_scale=()), "cpu")
    lhs = np.array([[448, 448, 448, 448]], FP8["f8E4M3FN"])
    rhs = np.array([[448, -448]] * 4, FP8["f8E4M3FN"])
    got = run("m", lhs, rhs, np.float32(10))
    assert got.astype(np.float32).tolist() == [[57344.0, -57344.0]]


@pytest.mark.each_cpu
def test_scales_multiply_one_after_the_other() -> None:
    """Their product, 2^140, is not an f32; the scaled sum is."""
    case = Case("m", (1, 1), (1, 1))
    run = CpuProgram(matmul_text(case, lhs_scale=(), rhs_scale=()), "cpu")
    lhs, rhs = (np.full((1, 1), 2.0**-9, FP8["f8E4M3FN"]) for _ in range(2))
    got = run("m", lhs, rhs, np.float32(2.0**70), np.float32(2.0**70))
    assert got == 2.0**122


@pytest.mark.each_cpu
def test_no_half_precision_in_accumulation() -> None:
    """4096 products of 1 sum exactly, which bf16 and f16 accumulators cannot."""
    case = Case("m", (8, 4096), (4096, 8))
    for target in ("cpu", "gfx950", "sm_80"):
        run = CpuProgram(matmul_text(case, result="bf16"), target)
        lhs, rhs = np.ones(case.lhs, FP8["f8E4M3FN"]), np.ones(case.rhs, FP8["f8E4M3FN"])
        assert (run("m", lhs, rhs).astype(np.float32) == 4096).all()


def test_no_headrace_op_is_left() -> None:
    text = matmul_text(CASES[0], result="f8E5M2", epilogue="gelu_tanh", lhs_scale=())
    for target in ("cpu", "gfx942", "sm_80"):
        names = [op.name for op in ir.walk(lower(text, target))]
        assert not [name for name in names if name.startswith("headrace.")]
