"""Scaled quantize and dequantize bit for bit, fp8 arithmetic, sums in f32, on the CPU."""

from __future__ import annotations

import itertools

import cpus
import ml_dtypes
import numpy as np
import pytest
from cpu_programs import FP8, WIDE, CpuProgram, same_numbers

# Data and scale shapes: per tensor, per axis, per block, and mixtures.
SHAPES = {
    "tensor": ((12, 32), ()),
    "one": ((12, 32), (1, 1, 1)),
    "row": ((12, 32), (12, 1)),
    "column": ((12, 32), (1, 32)),
    "each": ((12, 32), (12, 32)),
    "block": ((12, 32), (12, 4)),
    "tile": ((12, 32), (3, 4)),
    "middle_block": ((4, 12, 6), (1, 3, 1)),
    "blocks_and_axis": ((4, 12, 6), (2, 12, 3)),
}
WIDES = ("bf16", "f16", "f32")
MODES = ("multiply", "divide")


def tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


# All shapes both ways, in one wide type each; all types in full runs.
SOME = [
    (shapes, WIDES[(i + j) % len(WIDES)], mode)
    for i, shapes in enumerate(SHAPES)
    for j, mode in enumerate(MODES)
]
SCALES = [
    point if point in SOME else pytest.param(*point, marks=pytest.mark.full)
    for point in itertools.product(SHAPES, WIDES, MODES)
]


def functions(fp8: str, shapes: str, wide: str, mode: str) -> str:
    data, scale = SHAPES[shapes]
    x, s, q = tensor(data, wide), tensor(scale, wide), tensor(data, fp8)
    return f"""
func.func @quantize_{wide}_{shapes}_{mode}(%x: {x}, %s: {s}) -> {q} {{
  %q = "headrace.quantize"(%x, %s) {{operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "{mode}", saturate = true}} : ({x}, {s}) -> {q}
  return %q : {q}
}}
func.func @dequantize_{wide}_{shapes}_{mode}(%q: {q}, %s: {s}) -> {x} {{
  %x = "headrace.dequantize"(%q, %s) {{operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "{mode}"}} : ({q}, {s}) -> {x}
  return %x : {x}
}}
"""


def spread(scale: np.ndarray, data: tuple[int, ...]) -> np.ndarray:
    """The scale over the data: each of its sizes repeated to a block."""
    if scale.size == 1:
        return np.full(data, scale.reshape(()))
    for axis, size in enumerate(data):
        scale = np.repeat(scale, size // scale.shape[axis], axis=axis)
    return scale


@pytest.fixture(scope="module")
def scaled(cpu: str, pytestconfig: pytest.Config) -> CpuProgram:
    full = pytestconfig.getoption("--full")
    points = itertools.product(SHAPES, WIDES, MODES) if full else SOME
    return CpuProgram("".join(functions("f8E4M3FN", *point) for point in points), "cpu")


@pytest.mark.each_cpu(by="")
@pytest.mark.parametrize(("shapes", "wide", "mode"), SCALES)
def test_scales(scaled: CpuProgram, shapes: str, wide: str, mode: str) -> None:
    """Arithmetic in the wide type, rounded to it, then one rounding to fp8."""
    data, scale_shape = SHAPES[shapes]
    random = np.random.default_rng(len(shapes))
    dtype = WIDE[wide]
    values = (random.standard_normal(data) * 20).astype(dtype)
    scale = (random.random(scale_shape) * 0.3 + 0.05).astype(dtype)
    over = spread(np.asarray(scale), data)
    apply = np.multiply if mode == "multiply" else np.divide
    scaled_values = np.clip(apply(values, over).astype(np.float32), -448, 448)
    want = scaled_values.astype(FP8["f8E4M3FN"])
    got = scaled(f"quantize_{wide}_{shapes}_{mode}", values, scale)
    assert (got.view(np.uint8) == want.view(np.uint8)).all()
    back = scaled(f"dequantize_{wide}_{shapes}_{mode}", want, scale)
    expected = apply(want.astype(dtype), over)
    assert same_numbers(back.astype(np.float64), expected.astype(np.float64)).all()


@pytest.mark.each_cpu
def test_bf16_quotients_next_to_a_tie() -> None:
    """Values whose bf16-rounded quotient goes to another code than the exact one."""
    count = 1 << 15
    text = f"""
func.func @q(%x: tensor<{count}xbf16>, %s: tensor<bf16>) -> tensor<{count}xf8E4M3FN> {{
  %q = "headrace.quantize"(%x, %s) {{operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "divide", saturate = true}}
    : (tensor<{count}xbf16>, tensor<bf16>) -> tensor<{count}xf8E4M3FN>
  return %q : tensor<{count}xf8E4M3FN>
}}
"""
    bfloat16 = WIDE["bf16"]
    values = np.arange(0x3000, 0x3000 + count, dtype=np.uint16).view(bfloat16)
    values = values[np.argsort(values.astype(np.float32))].copy()
    scale = np.array(0.0347, bfloat16)
    with np.errstate(all="ignore"):
        rounded = np.clip((values / scale).astype(np.float32), -448, 448)
        exact = np.clip(values.astype(np.float32) / np.float32(scale), -448, 448)
        want, other = rounded.astype(FP8["f8E4M3FN"]), exact.astype(FP8["f8E4M3FN"])
    got = CpuProgram(text, "cpu")("q", values, scale)
    assert (want.view(np.uint8) != other.view(np.uint8)).sum() > 20
    numbers = ~np.isnan(want.astype(np.float32))
    assert (got.view(np.uint8) == want.view(np.uint8))[numbers].all()


@cpus.cache
def _arithmetic() -> CpuProgram:
    """A function for each operation on each type, named ``add_f8E5M2``."""
    text = ""
    for fp8 in FP8:
        grid = tensor((256, 256), fp8)
        operations = {
            "add": (f"arith.addf %a, %b : {grid}", fp8),
            "mul": (f"arith.mulf %a, %b : {grid}", fp8),
            "max": (f"arith.maximumf %a, %b : {grid}", fp8),
            "neg": (f"arith.negf %a : {grid}", fp8),
            "less": (f"arith.cmpf olt, %a, %b : {grid}", "i1"),
        }
        for name, (operation, element) in operations.items():
            result = tensor((256, 256), element)
            text += f"""
func.func @{name}_{fp8}(%a: {grid}, %b: {grid}) -> {result} {{
  %y = {operation}
  return %y : {result}
}}
"""
    return CpuProgram(text, "sm_80")


@pytest.mark.each_cpu(by="")
@pytest.mark.parametrize("fp8", FP8)
def test_arithmetic_on_all_pairs(fp8: str) -> None:
    """add, mul, max, compare, negate of every two codes, as fp8 arithmetic has them."""
    run = _arithmetic()
    codes = np.arange(256, dtype=np.uint8).view(FP8[fp8])
    a, b = (np.ascontiguousarray(x) for x in np.meshgrid(codes, codes, indexing="ij"))
    wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)
    with np.errstate(all="ignore"):
        wants = {
            "add": (wide_a + wide_b).astype(FP8[fp8]),
            "mul": (wide_a * wide_b).astype(FP8[fp8]),
            "max": np.maximum(wide_a, wide_b).astype(FP8[fp8]),
            "neg": (-wide_a).astype(FP8[fp8]),
        }
        for name, want in wants.items():
            got = run(f"{name}_{fp8}", a, b).astype(np.float32)
            same = (got == want.astype(np.float32)) | (np.isnan(got) & np.isnan(want))
            assert same.all(), name
        assert (run(f"less_{fp8}", a, b).astype(bool) == (wide_a < wide_b)).all()


@pytest.mark.each_cpu
def test_native_matmul_sums_in_f32() -> None:
    """4096 ones and an initial 1.5: neither a bf16 nor an f16 accumulator gets there."""
    text = ""
    for element in ("bf16", "f16"):
        lhs, rhs, out = (tensor(s, element) for s in ((4, 4096), (4096, 8), (4, 8)))
        text += f"""
func.func @{element}(%a: {lhs}, %b: {rhs}, %init: {out}) -> {out} {{
  %y = linalg.matmul ins(%a, %b : {lhs}, {rhs}) outs(%init : {out}) -> {out}
  return %y : {out}
}}
"""
    for target in ("cpu", "gfx950"):
        run = CpuProgram(text, target)
        for element in ("bf16", "f16"):
            dtype = WIDE[element]
            ones = (np.ones(s, dtype) for s in ((4, 4096), (4096, 8)))
            got = run(element, *ones, np.full((4, 8), 1.5, dtype))
            assert (got == np.array(4097.5, np.float32).astype(dtype)).all()


def test_fp8_result_of_a_native_matmul_does_not_saturate() -> None:
    """linalg's own conversion: overflow is NaN."""
    lhs, rhs, out = (tensor(s, "f8E4M3FN") for s in ((8, 4), (4, 8), (8, 8)))
    text = f"""
func.func @m(%a: {lhs}, %b: {rhs}) -> {out} {{
  %c = arith.constant 0.0 : f8E4M3FN
  %e = tensor.empty() : {out}
  %z = linalg.fill ins(%c : f8E4M3FN) outs(%e : {out}) -> {out}
  %y = linalg.matmul ins(%a, %b : {lhs}, {rhs}) outs(%z : {out}) -> {out}
  return %y : {out}
}}
"""
    run = CpuProgram(text, "cpu")
    a = np.full((8, 4), 8, ml_dtypes.float8_e4m3fn)
    b = np.full((4, 8), 8, ml_dtypes.float8_e4m3fn)
    b[:, 0] = 32
    got = run("m", a, b).astype(np.float32)
    assert np.isnan(got[:, 0]).all()
    assert (got[:, 1:] == 256).all()
