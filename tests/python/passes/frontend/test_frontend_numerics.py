"""Raised quantize and dequantize on the CPU, bit for bit against ml_dtypes.

The program is what frontends write; the reference does the same arithmetic in
numpy, one rounding per op. One program holds all cases: compiling is slow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest
from headrace.compiler.driver import compile_program
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program

BF16 = np.dtype(ml_dtypes.bfloat16)
F32 = np.dtype(np.float32)
WIDE = {"f32": F32, "bf16": BF16, "f16": np.dtype(np.float16)}
FP8 = {
    "f8E4M3FN": (np.dtype(ml_dtypes.float8_e4m3fn), 448.0),
    "f8E5M2": (np.dtype(ml_dtypes.float8_e5m2), 57344.0),
    "f8E4M3FNUZ": (np.dtype(ml_dtypes.float8_e4m3fnuz), 240.0),
    "f8E5M2FNUZ": (np.dtype(ml_dtypes.float8_e5m2fnuz), 57344.0),
}
ROWS, COLUMNS = 8, 64


@dataclass(frozen=True)
class Case:
    """One result: its text from ``%x`` (f32) and ``%b`` (bf16), and its value."""

    type: str
    text: str  # defines %r, names with a prefix P
    expected: Callable[[np.ndarray, np.ndarray], np.ndarray]


def _inputs() -> tuple[np.ndarray, np.ndarray]:
    """Golden values of all formats' edges, ties and specials, then random ones."""
    golden = [0.0, -0.0, 2.0**-10, 2.0**-10 * (1 + 1e-4), 3 * 2.0**-10, 1.0625, 1.1875]
    golden += [240.0, 247.9, 248.0, 448.0, 464.0, 464.01, 480.0, 57344.0, 61439.0, 61440.0]
    golden += [np.inf, np.nan, 1e30, 2.0**-17, 2.0**-18, 2.0**-30]
    random = np.random.default_rng(3)
    count = ROWS * COLUMNS - 2 * len(golden)
    rest = random.standard_normal(count) * np.exp2(random.integers(-12, 17, count))
    x = np.array([*golden, *(-g for g in golden), *rest], np.float32).reshape(ROWS, COLUMNS)
    return x, x.astype(BF16)


def _tensor(element: str) -> str:
    return f"tensor<{ROWS}x{COLUMNS}x{element}>"


def _quantize(fp8: str, wide: str, scale: float | None, clamp: str, mode: str = "divide") -> Case:
    """``wide`` arithmetic: scale, one of the clamp forms, convert."""
    narrow, limit = FP8[fp8]
    source = "%x" if wide == "f32" else "%b"
    t = _tensor(wide)
    lines: list[str] = []
    if scale is not None:
        lines.append(f"%Ps = stablehlo.constant dense<{scale}> : tensor<{wide}>")
        lines.append(f"%Pb = stablehlo.broadcast_in_dim %Ps, dims = [] : (tensor<{wide}>) -> {t}")
        lines.append(f"%Pd = stablehlo.{mode} {source}, %Pb : {t}")
        source = "%Pd"
    if clamp == "clamp":
        lines.append(f"%Pl = stablehlo.constant dense<-{limit}> : tensor<{wide}>")
        lines.append(f"%Ph = stablehlo.constant dense<{limit}> : tensor<{wide}>")
        types = f"(tensor<{wide}>, {t}, tensor<{wide}>) -> {t}"
        lines.append(f"%Pc = stablehlo.clamp %Pl, {source}, %Ph : {types}")
        source = "%Pc"
    elif clamp == "min-max":
        lines.append(f"%Pl = stablehlo.constant dense<-{limit}> : {t}")
        lines.append(f"%Ph = stablehlo.constant dense<{limit}> : {t}")
        lines.append(f"%Pm = stablehlo.maximum %Pl, {source} : {t}")
        lines.append(f"%Pc = stablehlo.minimum %Ph, %Pm : {t}")
        source = "%Pc"
    lines.append(f"%Pr = stablehlo.convert {source} : ({t}) -> {_tensor(fp8)}")

    def expected(x: np.ndarray, b: np.ndarray) -> np.ndarray:
        value = x if wide == "f32" else b
        if scale is not None:
            factor = WIDE[wide].type(scale)
            value = value / factor if mode == "divide" else value * factor
        if clamp:
            bound = WIDE[wide].type(limit)
            value = np.minimum(np.maximum(value, -bound), bound)
        return value.astype(narrow)

    return Case(_tensor(fp8), "\n".join(lines), expected)


def _rounded_twice(between: str) -> Case:
    text = f"""%Pw = stablehlo.convert %x : ({_tensor("f32")}) -> {_tensor(between)}
%Pr = stablehlo.convert %Pw : ({_tensor(between)}) -> {_tensor("f8E4M3FN")}"""
    return Case(
        _tensor("f8E4M3FN"), text, lambda x, b: x.astype(WIDE[between]).astype(FP8["f8E4M3FN"][0])
    )


def _scaled_before_rounding() -> Case:
    """The scale is in f32, the clamp in bf16: the scale stays outside."""
    f32, bf16 = _tensor("f32"), _tensor("bf16")
    text = f"""%Ps = stablehlo.constant dense<0.37> : {f32}
%Pd = stablehlo.divide %x, %Ps : {f32}
%Pw = stablehlo.convert %Pd : ({f32}) -> {bf16}
%Pl = stablehlo.constant dense<-448.0> : {bf16}
%Ph = stablehlo.constant dense<448.0> : {bf16}
%Pc = stablehlo.clamp %Pl, %Pw, %Ph : {bf16}
%Pr = stablehlo.convert %Pc : ({bf16}) -> {_tensor("f8E4M3FN")}"""

    def expected(x: np.ndarray, b: np.ndarray) -> np.ndarray:
        rounded = (x / np.float32(0.37)).astype(BF16)
        limit = BF16.type(448.0)
        return np.minimum(np.maximum(rounded, -limit), limit).astype(FP8["f8E4M3FN"][0])

    return Case(_tensor("f8E4M3FN"), text, expected)


def _round_trip(fp8: str, wide: str, mode: str, axis: str) -> Case:
    """Quantize, then dequantize with a scale per tensor, row, column or block."""
    narrow, _ = FP8[fp8]
    shapes = {"tensor": (1, 1), "row": (ROWS, 1), "column": (1, COLUMNS), "block": (2, 4)}
    grid = shapes[axis]
    numbers = (np.arange(grid[0] * grid[1]) % 7 + 1.3).astype(WIDE[wide]).reshape(grid)
    blocks = (grid[0], ROWS // grid[0], grid[1], COLUMNS // grid[1])
    values = np.array2string(
        numbers.astype(np.float64), separator=",", threshold=10000, max_line_width=10**6
    ).replace("\n", "")
    t, small = _tensor(wide), f"tensor<{grid[0]}x{grid[1]}x{wide}>"
    blocked = f"tensor<{'x'.join(map(str, blocks))}x{wide}>"
    source = "%x" if wide == "f32" else "%b"
    text = f"""%Pq = stablehlo.convert {source} : ({t}) -> {_tensor(fp8)}
%Pw = stablehlo.convert %Pq : ({_tensor(fp8)}) -> {t}
%Ps = stablehlo.constant dense<{values}> : {small}
%Pb = stablehlo.broadcast_in_dim %Ps, dims = [0, 2] : ({small}) -> {blocked}
%Pf = stablehlo.reshape %Pb : ({blocked}) -> {t}
%Pr = stablehlo.{mode} %Pw, %Pf : {t}"""

    def expected(x: np.ndarray, b: np.ndarray) -> np.ndarray:
        value = (x if wide == "f32" else b).astype(narrow).astype(WIDE[wide])
        spread = numbers.repeat(blocks[1], 0).repeat(blocks[3], 1)
        return value * spread if mode == "multiply" else value / spread

    return Case(t, text, expected)


def _cases() -> list[Case]:
    found = [_rounded_twice("bf16"), _rounded_twice("f16"), _scaled_before_rounding()]
    for fp8 in FP8:
        found.append(_quantize(fp8, "f32", None, ""))
        found.append(_quantize(fp8, "f32", None, "clamp"))
        found.append(_quantize(fp8, "f32", 0.37, "min-max"))
        found.append(_quantize(fp8, "bf16", 0.37, "clamp"))
        found.append(_quantize(fp8, "bf16", 2.7, "min-max", "multiply"))
        found.append(_round_trip(fp8, "f32", "multiply", "tensor"))
        found.append(_round_trip(fp8, "bf16", "multiply", "column"))
        found.append(_round_trip(fp8, "bf16", "divide", "block"))
    found.append(_round_trip("f8E4M3FN", "f32", "divide", "row"))
    return found


def _program(cases: list[Case]) -> str:
    body = [case.text.replace("%P", f"%c{i}_") for i, case in enumerate(cases)]
    names = ", ".join(f"%c{i}_r" for i in range(len(cases)))
    types = ", ".join(case.type for case in cases)
    return f"""func.func @main(%x: {_tensor("f32")}, %b: {_tensor("bf16")}) -> ({types}) {{
{chr(10).join(body)}
return {names} : {types}
}}"""


@pytest.fixture(scope="module")
def results(cpu: str, tmp_path_factory: pytest.TempPathFactory) -> list[np.ndarray]:
    compiled = compile_program(_program(_cases()), target="cpu")
    path = tmp_path_factory.mktemp("frontend") / "program.vmfb"
    compiled.save(path)
    function = choose_function(load_functions(path), "main")
    return [r[0] for r in run_program(path, function, [v[None] for v in _inputs()])]


@pytest.mark.each_cpu(by="")
@pytest.mark.parametrize("number", range(len(_cases())))
def test_same_bits(number: int, results: list[np.ndarray]) -> None:
    case = _cases()[number]
    with np.errstate(all="ignore"):
        expected = case.expected(*_inputs())
    actual = results[number]
    assert actual.dtype == expected.dtype
    numbers = ~np.isnan(expected.astype(np.float32))
    bits = f"u{expected.dtype.itemsize}"
    np.testing.assert_array_equal(actual.view(bits)[numbers], expected.view(bits)[numbers])
    assert np.isnan(actual.astype(np.float32)[~numbers]).all()
