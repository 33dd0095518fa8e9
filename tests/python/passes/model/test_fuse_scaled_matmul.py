"""fuse-scaled-matmul, run on the CPU: fused = unfused = numpy.

Small integers and scales that are powers of two: every intermediate of the
source program and of the fused one is exact, so all three agree to the last
bit. Random values: within what the formats explain.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from device_programs import Case, assert_same, run_cases
from dot_cases import FP8, MATMUL, WIDE, Shape, Side, dot_case, integers, tensor
from headrace.compiler.iree.element_types import Array
from movement_cases import movement_cases

LOWERING = (
    "headrace-cse,headrace-dce,iree-stablehlo-input-transformation-pipeline,"
    "accumulate-in-f32{target=cpu},lower-matmul{target=cpu},legalize-fp8{target=cpu},lower-encodings"
)
FUSED = f"fuse-scaled-matmul,{LOWERING}"

# IREE 3.13 cannot compile the source program (map_store, with data tiling).
ONLY_FUSED = ("strided slice", "strided slice rows")


def type_cases(full: bool) -> list[Case]:
    """In quick runs each type with itself and with the next one."""
    found: list[Case] = []

    def pairs(types: Iterable[str]) -> Iterator[tuple[int, str, str]]:
        names = [*types]
        for seed, (a, b) in enumerate(itertools.product(names, names)):
            if full or (names.index(b) - names.index(a)) % len(names) < 2:
                yield seed, a, b

    for seed, a, b in pairs(FP8):
        lhs = Side(integers((5, 24), seed), a, 0.5)
        rhs = Side(integers((24, 7), seed + 100), b, 4.0, divide=True)
        found.append(dot_case(f"{a} x {b}", lhs, rhs, MATMUL, "mk,kn->mn"))
    for _, wide, result in pairs(WIDE):
        lhs = Side(integers((5, 24), 1), scale=0.25)
        rhs = Side(integers((24, 7), 2), scale=None)
        name = f"{wide} to {result}"
        found.append(dot_case(name, lhs, rhs, MATMUL, "mk,kn->mn", wide=wide, result=result))
        if wide != "f32":
            found.append(
                dot_case(
                    f"f32 to {name}", lhs, rhs, MATMUL, "mk,kn->mn",
                    wide=wide, result=result, computed="f32",
                )
            )  # fmt: skip
    return found


def dims_cases() -> list[Case]:
    def sides(a: Shape, b: Shape) -> tuple[Side, Side]:
        # Odd, since a product that is not summed keeps the sign of a zero.
        left, right = 2 * integers(a, 1, 3) + 1, 2 * integers(b, 2, 3) + 1
        return Side(left, scale=2.0), Side(right, scale=0.5)

    forms: list[tuple[Shape, Shape, str, str]] = [
        ((9, 16), (9, 16), "contracting_dims = [1] x [1]", "mk,nk->mn"),
        ((16, 9), (16, 7), "contracting_dims = [0] x [0]", "km,kn->mn"),
        ((16, 9), (7, 16), "contracting_dims = [0] x [1]", "km,nk->mn"),
        ((8, 16), (16,), MATMUL, "mk,k->m"),
        ((16,), (16, 8), "contracting_dims = [0] x [0]", "k,kn->n"),
        ((16,), (16,), "contracting_dims = [0] x [0]", "k,k->"),
        ((3,), (4,), "contracting_dims = [] x []", "m,n->mn"),
        (
            (3, 8, 16),
            (3, 16, 5),
            "batching_dims = [0] x [0], contracting_dims = [2] x [1]",
            "bmk,bkn->bmn",
        ),
        (
            (2, 4, 5, 7, 6),
            (6, 3, 4, 5),
            "batching_dims = [2] x [3], contracting_dims = [4, 1] x [0, 2]",
            "akbml,lnkb->bamn",
        ),
        ((2, 3, 16), (16, 4, 5), "contracting_dims = [2] x [0]", "abk,kcd->abcd"),
    ]
    found = [dot_case(f"dims {einsum}", *sides(a, b), dims, einsum) for a, b, dims, einsum in forms]
    weight = Side(integers((7, 16), 3), move=reverse_and_transpose, moved=lambda x: x[::-1].T)
    product = dot_case("transposed", Side(integers((9, 16), 4)), weight, MATMUL, "mk,kn->mn")
    return [*found, product]


def reverse_and_transpose(value: str, name: str, wide: str) -> str:
    """A transpose that IREE propagates into the product behind it."""
    before, after = tensor((7, 16), wide), tensor((16, 7), wide)
    return f"""
        {name}r = stablehlo.reverse {value}, dims = [0] : {before}
        {name} = stablehlo.transpose {name}r, dims = [1, 0] : ({before}) -> {after}"""


def scale_cases() -> list[Case]:
    """Scales of one element, per row, per column, per batch element."""
    rows = 2.0 ** integers((6, 1), 3)
    columns = 2.0 ** integers((1, 5), 4)
    x, y = integers((6, 16), 5), integers((16, 5), 6)
    batch_rows = 2.0 ** integers((2, 6, 1), 7)
    batch = 2.0 ** integers((2, 1, 1), 8)
    found = [
        dot_case("one element", Side(x, scale=np.full(1, 4.0)), Side(y), MATMUL, "mk,kn->mn"),
        dot_case("rows", Side(x, scale=rows), Side(y, scale=columns), MATMUL, "mk,kn->mn"),
        dot_case(
            "rows divided",
            Side(x, scale=rows, divide=True),
            Side(y, scale=columns, divide=True),
            MATMUL,
            "mk,kn->mn",
        ),
        dot_case(
            "batch elements",
            Side(integers((2, 6, 16), 9), scale=batch_rows),
            Side(integers((2, 16, 5), 10), scale=batch),
            "batching_dims = [0] x [0], contracting_dims = [2] x [1]",
            "bmk,bkn->bmn",
        ),
    ]
    return found


def exact_cases(full: bool = True) -> list[Case]:
    return [*type_cases(full), *dims_cases(), *scale_cases(), *movement_cases()]


Results = dict[str, list[Array]]


@pytest.fixture(scope="module")
def fused(
    cpu: str, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Results:
    cases = exact_cases(pytestconfig.getoption("--full"))
    return run_cases(cases, 1, tmp_path_factory.mktemp("fused"), passes=FUSED)


@pytest.fixture(scope="module")
def unfused(
    cpu: str, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Results:
    full = pytestconfig.getoption("--full")
    cases = [case for case in exact_cases(full) if case.name not in ONLY_FUSED]
    cases = cases if full else cases[::2]
    return run_cases(cases, 1, tmp_path_factory.mktemp("unfused"), passes=LOWERING)


IN_QUICK_RUNS = {case.name for case in exact_cases(full=False)}


@pytest.mark.each_cpu(by="")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case, id=case.name, marks=[] if case.name in IN_QUICK_RUNS else pytest.mark.full
        )
        for case in exact_cases()
    ],
)
def test_exact(case: Case, fused: Results, unfused: Results) -> None:
    """To the last bit: fused, unfused, numpy; in quick runs every other one unfused."""
    assert_same(fused[case.name][0], case.expected[0])
    if case.name in unfused:
        assert_same(unfused[case.name][0], case.expected[0])


# Relative to the largest magnitude: rounding of the result type, and of sums
# of 256 products in f32.
TOLERANCE = {"f32": 2e-6, "bf16": 2.0**-8, "f16": 2.0**-11}


@dataclass(frozen=True)
class RandomCase:
    """Codes of all magnitudes, scales that are no powers of two, K = 256."""

    seed: int
    lhs: str
    rhs: str
    wide: str
    result: str
    divide: bool
    per_row: bool

    @property
    def computed(self) -> str:
        """The type of the dequantize: every other one is of f32, and converted."""
        return "f32" if (self.seed // 2) % 2 else self.wide

    def sides(self) -> tuple[Side, Side]:
        generator = np.random.default_rng(self.seed)

        def side(shape: Shape, fp8: str, per_axis: Shape) -> Side:
            # Up to 12: products of two such sums stay finite in f16.
            values = generator.normal(size=shape) * 2.0 ** generator.integers(-3, 2, shape)
            scale = generator.uniform(0.05, 0.2, per_axis if self.per_row else ())
            rounded = np.asarray(1 / scale if self.divide else scale).astype(WIDE[self.computed])
            return Side(values.astype(FP8[fp8]), fp8, rounded.astype(np.float64), self.divide)

        return side((24, 256), self.lhs, (24, 1)), side((256, 20), self.rhs, (1, 20))

    def case(self) -> Case:
        name = str(self)
        dot = {"wide": self.wide, "result": self.result, "computed": self.computed}
        return dot_case(name, *self.sides(), MATMUL, "mk,kn->mn", **dot)

    def source_sum(self) -> Array:
        """As the source has it: elements in the wide type, then an f64 sum."""

        def wide(side: Side) -> Array:
            scale = np.asarray(side.scale).astype(WIDE[self.computed])
            values = side.values.astype(WIDE[self.computed])
            values = values / scale if side.divide else values * scale
            return values.astype(WIDE[self.wide]).astype(np.float64)

        lhs, rhs = self.sides()
        return wide(lhs) @ wide(rhs)

    def neighbours(self) -> float:
        """What one element more or less by a unit of its type moves, of the largest result.

        Times the reciprocal is a division but for the last bit of f32, and what lies between
        two f16 or bf16 goes to the other one for that.
        """
        if not self.divide or self.computed == self.wide:
            return 0.0
        lhs, rhs = (np.abs(np.asarray(x.values, np.float64) / x.scale).max() for x in self.sides())
        unit = float(ml_dtypes.finfo(WIDE[self.wide]).eps)
        return unit * lhs * rhs / np.abs(self.source_sum()).max()


def random_grid() -> list[RandomCase]:
    grid = itertools.product(FP8, FP8, WIDE, WIDE, (False, True), (False, True))
    return [RandomCase(seed, *point) for seed, point in enumerate(grid)]


def check_random(grid: Sequence[RandomCase], folder: Path) -> None:
    """Against f64 sums, and the unfused program.

    cpu's matmul rounds scaled elements as the source does.
    """
    cases = [point.case() for point in grid]
    fused = run_cases(cases, 1, folder, passes=FUSED)
    unfused = run_cases(cases, 1, folder, passes=LOWERING)
    for point, case in zip(grid, cases, strict=True):
        (got,), (source,) = fused[case.name], unfused[case.name]
        exact, as_source = case.expected[0], point.source_sum().astype(WIDE[point.result])[None]
        tolerance = TOLERANCE[point.result] + point.neighbours()
        assert_same(got, as_source, tolerance)
        assert_same(source, as_source, tolerance)
        assert_same(got, exact, max(tolerance, 1e-2))


@pytest.mark.each_cpu
def test_random(tmp_path: Path) -> None:
    grid = random_grid()
    chosen = np.random.default_rng(7).choice(len(grid), 7, replace=False)
    check_random([grid[i] for i in sorted(chosen)], tmp_path)


@pytest.mark.each_cpu
@pytest.mark.full
@pytest.mark.parametrize(("lhs", "rhs"), list(itertools.product(FP8, FP8)))
def test_random_grid(lhs: str, rhs: str, tmp_path: Path) -> None:
    check_random([p for p in random_grid() if (p.lhs, p.rhs) == (lhs, rhs)], tmp_path)


@pytest.mark.each_cpu
def test_not_finite(tmp_path: Path) -> None:
    """NaN codes, and scales of NaN, 0 and infinity."""
    x, y = np.abs(integers((4, 16), 1)) + 1, np.abs(integers((16, 5), 2)) + 1
    holed = x.copy()
    holed[2, 3] = np.nan
    cases = [
        dot_case("nan code", Side(holed), Side(y), MATMUL, "mk,kn->mn"),
        dot_case("nan scale", Side(x, scale=np.nan), Side(y), MATMUL, "mk,kn->mn"),
        dot_case("zero scale", Side(x, scale=0.0), Side(y), MATMUL, "mk,kn->mn"),
        dot_case("divided by zero", Side(x, scale=0.0, divide=True), Side(y), MATMUL, "mk,kn->mn"),
        dot_case("infinite scale", Side(x, scale=np.inf), Side(y), MATMUL, "mk,kn->mn"),
        dot_case(
            "divided by infinity", Side(x, scale=np.inf, divide=True), Side(y), MATMUL, "mk,kn->mn"
        ),
    ]
    for passes in (FUSED, LOWERING):
        results = run_cases(cases, 1, tmp_path, passes=passes)
        for case in cases:
            # NaN has many bit patterns.
            np.testing.assert_array_equal(results[case.name][0], case.expected[0])
