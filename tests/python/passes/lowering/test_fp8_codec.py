"""fp8 conversions on every target's path: all codes, golden values, a sweep of floats."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import cpus
import ml_dtypes
import numpy as np
import pytest
from cpu_kinds import has_f16c
from cpu_programs import DTYPES, FP8, WIDE, CpuProgram, same_numbers
from headrace.passes.targets.lookup import find_target, target_names

COUNT = 8192

# One target for each different set of native conversions.
PATHS = ("cpu", "gfx942", "gfx950")
PAIRS = [(fp8, wide) for fp8 in FP8 for wide in WIDE]
EVEN = [(fp8, wide) for i, fp8 in enumerate(FP8) for j, wide in enumerate(WIDE) if (i + j) % 2 == 0]


def is_native(target: str, fp8: str) -> bool:
    return fp8 in [f.name for f in find_target(target).fp8.converted]


def quick_pairs(target: str) -> list[tuple[str, str]]:
    """For cpu half of the pairs of types; for GPUs, of what they have no instructions for, the
    other half, as that is converted alike for all targets; of what they have, f32 and f64."""
    if target == "cpu":
        return EVEN
    return [
        (fp8, wide)
        for fp8, wide in PAIRS
        if (wide in ("f32", "f64") if is_native(target, fp8) else (fp8, wide) not in EVEN)
    ]


def decode_text(fp8: str, wide: str) -> str:
    return f"""
func.func @decode_{fp8}_{wide}(%bits: tensor<256xi8>) -> tensor<256x{wide}> {{
  %q = tensor.bitcast %bits : tensor<256xi8> to tensor<256x{fp8}>
  %x = "headrace.dequantize"(%q) {{operandSegmentSizes = array<i32: 1, 0>,
      scale_mode = "multiply"}} : (tensor<256x{fp8}>) -> tensor<256x{wide}>
  return %x : tensor<256x{wide}>
}}
"""


def extf_text(fp8: str, wide: str) -> str:
    return f"""
func.func @extf_{fp8}_{wide}(%bits: tensor<256xi8>) -> tensor<256x{wide}> {{
  %q = tensor.bitcast %bits : tensor<256xi8> to tensor<256x{fp8}>
  %x = arith.extf %q : tensor<256x{fp8}> to tensor<256x{wide}>
  return %x : tensor<256x{wide}>
}}
"""


def encode_text(fp8: str, wide: str, count: int) -> str:
    text = ""
    for mode in ("true", "false"):
        text += f"""
func.func @encode_{fp8}_{wide}_{mode}(%x: tensor<{count}x{wide}>) -> tensor<{count}xi8> {{
  %q = "headrace.quantize"(%x) {{operandSegmentSizes = array<i32: 1, 0>, scale_mode = "divide",
      saturate = {mode}}} : (tensor<{count}x{wide}>) -> tensor<{count}x{fp8}>
  %b = tensor.bitcast %q : tensor<{count}x{fp8}> to tensor<{count}xi8>
  return %b : tensor<{count}xi8>
}}
"""
    return text


def sweep(fp8: str, wide: str) -> np.ndarray:
    """Codes, their neighbours, the middles between them, specials, and a random rest."""
    with np.errstate(all="ignore"):
        codes = np.arange(256, dtype=np.uint8).view(FP8[fp8]).astype(np.float64)
        finite = np.sort(codes[np.isfinite(codes)])
        middles = (finite[1:] + finite[:-1]) / 2
        steps = [1 - 2**-7, 1 + 2**-7, 1 - 2**-20, 1 + 2**-20]
        near = np.concatenate([middles, codes, *(m * s for s in steps for m in (middles, codes))])
        special = [
            0.0,
            -0.0,
            np.inf,
            -np.inf,
            np.nan,
            1e-42,
            -1e-42,
            464,
            464.01,
            61439,
            61440,
            1e5,
        ]
        random = np.random.default_rng(7)
        rest = random.standard_normal(COUNT) * np.exp2(random.integers(-22, 18, COUNT))
        return np.concatenate([near, special, rest])[:COUNT].astype(WIDE[wide])


def expected_codes(values: np.ndarray, fp8: str, saturate: bool) -> np.ndarray:
    """ml_dtypes rounds f32 (and f64) once, to nearest even, without saturation."""
    with np.errstate(all="ignore"):
        if saturate:
            limit = float(ml_dtypes.finfo(FP8[fp8]).max)
            values = np.clip(values.astype(np.float64), -limit, limit).astype(values.dtype)
        exact = values if values.dtype == np.float64 else values.astype(np.float32)
        return exact.astype(FP8[fp8])


@pytest.fixture(scope="module")
def programs(cpu: str, pytestconfig: pytest.Config) -> Callable[[str], CpuProgram]:
    def program(target: str) -> CpuProgram:
        text = ""
        for fp8, wide in PAIRS if pytestconfig.getoption("--full") else quick_pairs(target):
            text += decode_text(fp8, wide) + encode_text(fp8, wide, COUNT)
            if not is_native(target, fp8):
                text += extf_text(fp8, wide)
        return CpuProgram(text, target)

    return cache(program)


def grid(last: Sequence[str], has: Callable[[str, str, str, str], bool]) -> list[Any]:
    """Target, types and what else, where a test ``has`` something to say."""
    return [
        pytest.param(*point, marks=[] if point[1:3] in quick_pairs(point[0]) else pytest.mark.full)
        for point in itertools.product(PATHS, FP8, WIDE, last)
        if has(*point)
    ]


# What has an instruction stays as it is.
FORMS = grid(("decode", "extf"), lambda t, fp8, _, form: form == "decode" or not is_native(t, fp8))
# IREE's stand-in on the CPU for the chip's own instructions rounds wrongly.
MODES = grid(("true", "false"), lambda t, fp8, wide, _: wide == "f64" or not is_native(t, fp8))


@pytest.mark.each_cpu(by="target")
@pytest.mark.parametrize(("target", "fp8", "wide", "form"), FORMS)
def test_all_codes_decode(
    programs: Callable[[str], CpuProgram],
    target: str,
    fp8: str,
    wide: str,
    form: str,
    cpu: str,
) -> None:
    run = programs(target)
    codes = np.arange(256, dtype=np.uint8)
    with np.errstate(all="ignore"):
        got = run(f"{form}_{fp8}_{wide}", codes).astype(np.float64)
        want = codes.view(FP8[fp8]).astype(np.float64)
        same = same_numbers(got, want)
    if is_native(target, fp8):
        # The chip's own instruction is out of reach here, and IREE's stand-in
        # for it on the CPU reads f8E4M3FN's negative NaN as -480.
        same[0xFF] = True
        if wide == "f16" and not has_f16c(cpu):
            # Nor is IREE's function for f16, where a CPU has no instruction.
            same |= (np.abs(want) < 2.0**-14) & (got == 0)
    assert same.all(), [(hex(c), got[c]) for c in np.flatnonzero(~same)]


@pytest.mark.each_cpu(by="target")
@pytest.mark.parametrize(("target", "fp8", "wide", "saturate"), MODES)
def test_encode_rounds_once_to_nearest_even(
    programs: Callable[[str], CpuProgram], target: str, fp8: str, wide: str, saturate: str
) -> None:
    run = programs(target)
    values = sweep(fp8, wide)
    got = run(f"encode_{fp8}_{wide}_{saturate}", values).view(np.uint8)
    want = expected_codes(values, fp8, saturate == "true")
    same = (got == want.view(np.uint8)) | (
        np.isnan(got.view(FP8[fp8]).astype(np.float32)) & np.isnan(want.astype(np.float32))
    )
    assert same.all(), [(values[i], hex(got[i])) for i in np.flatnonzero(~same)[:5]]


# Inputs and codes of f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ: f32, nearest
# even, no saturation. Worked out from the formats' definitions.
GOLDEN = (
    (-0.0, 0x80, 0x00, 0x80, 0x00),
    (2.0**-10, 0x00, 0x01, 0x14, 0x18),
    (2.0**-10 * (1 + 1e-4), 0x01, 0x01, 0x14, 0x18),
    (3 * 2.0**-10, 0x02, 0x03, 0x1A, 0x1E),
    (1.0625, 0x38, 0x40, 0x3C, 0x40),
    (1.1875, 0x3A, 0x42, 0x3D, 0x41),
    (240.0, 0x77, 0x7F, 0x5C, 0x60),
    (247.9, 0x77, 0x7F, 0x5C, 0x60),
    (248.0, 0x78, 0x80, 0x5C, 0x60),
    (448.0, 0x7E, 0x80, 0x5F, 0x63),
    (464.0, 0x7E, 0x80, 0x5F, 0x63),
    (464.01, 0x7F, 0x80, 0x5F, 0x63),
    (480.0, 0x7F, 0x80, 0x60, 0x64),
    (57344.0, 0x7F, 0x80, 0x7B, 0x7F),
    (61439.0, 0x7F, 0x80, 0x7B, 0x7F),
    (61440.0, 0x7F, 0x80, 0x7C, 0x80),
    (np.inf, 0x7F, 0x80, 0x7C, 0x80),
    (-np.inf, 0xFF, 0x80, 0xFC, 0x80),
)


NANS = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)


@cpus.cache
def _few_values() -> CpuProgram:
    """Encodes as many values as the two tests below have."""
    count = len(GOLDEN) + len(NANS)
    return CpuProgram("".join(encode_text(fp8, "f32", count) for fp8 in FP8), "cpu")


def _encoded(fp8: str, saturate: str) -> tuple[np.ndarray, np.ndarray]:
    """The codes of the golden values and of the NaNs."""
    values = np.array([row[0] for row in GOLDEN], np.float32)
    codes = _few_values()(f"encode_{fp8}_f32_{saturate}", np.concatenate([values, NANS]))
    return np.split(codes.view(np.uint8), [len(GOLDEN)])


@pytest.mark.each_cpu(by="")
def test_golden_codes() -> None:
    for column, fp8 in enumerate(("f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ"), 1):
        got, _ = _encoded(fp8, "false")
        assert [hex(c) for c in got] == [hex(row[column]) for row in GOLDEN], fp8


@pytest.mark.each_cpu(by="")
def test_nan_encodes_as_nan() -> None:
    for fp8, dtype in FP8.items():
        for saturate in ("true", "false"):
            _, got = _encoded(fp8, saturate)
            assert np.isnan(got.view(dtype).astype(np.float32)).all(), fp8


def test_every_target_takes_a_known_path() -> None:
    """The targets above stand for all others."""
    paths = {find_target(t).fp8.converted for t in PATHS}
    assert {find_target(t).fp8.converted for t in target_names()} <= paths


@pytest.mark.each_cpu
@pytest.mark.full
@pytest.mark.parametrize("fp8", FP8)
def test_encode_every_256th_float(fp8: str) -> None:
    """All exponents and the upper bits of all mantissas, with an odd rest below."""
    count = 1 << 24
    run = CpuProgram(encode_text(fp8, "f32", count), "cpu")
    for low in (0x00, 0x01, 0x80):
        bits = (np.arange(count, dtype=np.uint32) << 8) | np.uint32(low)
        values = bits.view(DTYPES["f32"])
        got = run(f"encode_{fp8}_f32_false", values).view(np.uint8)
        want = expected_codes(values, fp8, False)
        with np.errstate(all="ignore"):
            nan = np.isnan(want.astype(np.float32))
            assert np.isnan(got.view(FP8[fp8]).astype(np.float32))[nan].all()
        assert (got == want.view(np.uint8))[~nan].all()
