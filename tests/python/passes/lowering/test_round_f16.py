"""``round-f16``: f16 on CPUs without an instruction that rounds to it, in real runs against NumPy."""

from __future__ import annotations

import headrace
import numpy as np
import pytest
from cpu_programs import Program

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
# Ones as JAX's norms add to a mean, and what has subnormals for results.
SMALL = np.array([0.0, 1e-5, -1e-5, 6e-8, -6e-8, 3e-5, 6.1e-5, 1.0, -2.0, 60000.0], np.float16)
V = "tensor<10xf16>"

OPS = f"""
func.func @main(%x: {V}, %i: tensor<10xi32>, %d: tensor<10xf64>)
    -> ({", ".join([V] * 12)}) {{
  %c = stablehlo.constant dense<1.001360e-05> : {V}
  %sum = stablehlo.add %x, %c : {V}
  %product = stablehlo.multiply %x, %c : {V}
  %most = stablehlo.maximum %x, %c : {V}
  %less = stablehlo.negate %x : {V}
  %size = stablehlo.abs %x : {V}
  %root = stablehlo.sqrt %size : {V}
  %quotient = stablehlo.divide %c, %x : {V}
  %integer = stablehlo.convert %i : (tensor<10xi32>) -> {V}
  %double = stablehlo.convert %d : (tensor<10xf64>) -> {V}
  %least = stablehlo.minimum %x, %c : {V}
  %sign = stablehlo.sign %x : {V}
  %whole = stablehlo.floor %x : {V}
  return %sum, %product, %most, %less, %size, %root, %quotient, %integer, %double, %least, %sign, %whole
    : {", ".join([V] * 12)}
}}"""

REDUCTIONS = """
func.func @main(%x: tensor<6x10xf16>, %w: tensor<10x4xf16>)
    -> (tensor<6xf16>, tensor<6x10xf16>, tensor<6x9xf16>, tensor<6x4xf16>) {
  %ninf = stablehlo.constant dense<0xFC00> : tensor<f16>
  %zero = stablehlo.constant dense<0.0> : tensor<f16>
  %most = stablehlo.reduce(%x init: %ninf) applies stablehlo.maximum across dimensions = [1]
    : (tensor<6x10xf16>, tensor<f16>) -> tensor<6xf16>
  %sums = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 10>,
      padding = dense<[[0, 0], [9, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %s : tensor<f16>
  }) : (tensor<6x10xf16>, tensor<f16>) -> tensor<6x10xf16>
  %pooled = "stablehlo.reduce_window"(%x, %ninf) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.maximum %a, %b : tensor<f16>
    stablehlo.return %s : tensor<f16>
  }) : (tensor<6x10xf16>, tensor<f16>) -> tensor<6x9xf16>
  %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<6x10xf16>, tensor<10x4xf16>) -> tensor<6x4xf16>
  return %most, %sums, %pooled, %product
    : tensor<6xf16>, tensor<6x10xf16>, tensor<6x9xf16>, tensor<6x4xf16>
}"""


def _run(text: str, *arguments: np.ndarray) -> list[np.ndarray]:
    vmfb = headrace.compile(text, "cpu", cpu="generic").data()
    return Program(vmfb).results("main", *arguments)


def test_every_rounding() -> None:
    """All of f16, what lies between two neighbours, and what lies beside that."""
    finite = np.sort(ALL[np.isfinite(ALL)].astype(np.float32))
    middles = np.append((finite[1:] + finite[:-1]) / 2, [65520.0, -65520.0]).astype(np.float32)
    beside = [np.nextafter(middles, np.float32(to)) for to in (-np.inf, np.inf)]
    others = np.array([np.inf, -np.inf, np.nan, 1e38, -1e38, 1e-30, -0.0, 0.0], np.float32)
    x = np.concatenate([finite, middles, *beside, others])
    n = len(x)
    text = f"""
func.func @main(%x: tensor<{n}xf32>) -> tensor<{n}xf16> {{
  %y = stablehlo.convert %x : (tensor<{n}xf32>) -> tensor<{n}xf16>
  return %y : tensor<{n}xf16>
}}"""
    (got,) = _run(text, x)
    with np.errstate(over="ignore"):
        want = x.astype(np.float16)
    assert np.array_equal(np.isnan(got), np.isnan(want))
    same = (got.view(np.uint16) == want.view(np.uint16)) | np.isnan(want)
    assert same.all(), [(x[i], got[i], want[i]) for i in np.flatnonzero(~same)[:5]]


def test_ops() -> None:
    """Each against what NumPy, which computes in f32 as well, makes of it."""
    i = np.arange(10, dtype=np.int32) * 3000
    d = np.append(np.linspace(-1e-4, 1e-4, 9), 7e4)
    c = np.float16(1.001360e-05)
    with np.errstate(all="ignore"):
        want = (
            *(SMALL + c, SMALL * c, np.maximum(SMALL, c), -SMALL, np.abs(SMALL)),
            *(np.sqrt(np.abs(SMALL)), c / SMALL, i.astype(np.float16), d.astype(np.float16)),
            *(np.minimum(SMALL, c), np.sign(SMALL), np.floor(SMALL)),
        )
    for number, (got, right) in enumerate(zip(_run(OPS, SMALL, i, d), want, strict=True)):
        assert np.array_equal(got, right), (number, got, right)


def test_choices() -> None:
    """Also of zeros of both signs, infinities and NaN."""
    each = np.array([0.0, -0.0, 6e-8, -6e-8, 1.0, -1.0, np.inf, -np.inf, np.nan], np.float16)
    a, b = (v.ravel() for v in np.meshgrid(each, each))
    v = f"tensor<{len(a)}xf16>"
    names = ("maximum", "minimum")
    body = "".join(f"  %{n} = stablehlo.{n} %a, %b : {v}\n" for n in names)
    text = f"func.func @main(%a: {v}, %b: {v}) -> ({v}, {v}) {{\n{body}  return %{names[0]}, %{names[1]} : {v}, {v}\n}}"
    most, least = _run(text, a, b)
    a, b = a.astype(np.float32), b.astype(np.float32)
    negative = np.signbit(a) & np.signbit(b), np.signbit(a) | np.signbit(b)
    want = (np.maximum(a, b), np.minimum(a, b))
    for got, right, sign in zip((most, least), want, negative, strict=True):
        assert np.array_equal(got.astype(np.float32), right, equal_nan=True)
        zero = right == 0
        assert np.array_equal(np.signbit(got[zero]), sign[zero])


@pytest.mark.parametrize("scale", [1.0, 2.0**-24, 2.0**-16])
def test_reductions(scale: float) -> None:
    """Of small multiples of a power of two, all of whose sums are f16s."""
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 9, (6, 10)).astype(np.float32) * np.float32(scale)
    w = rng.integers(-3, 3, (10, 4)).astype(np.float32)
    want = (x.max(1), np.cumsum(x, 1), np.maximum(x[:, 1:], x[:, :-1]), x @ w)
    found = _run(REDUCTIONS, x.astype(np.float16), w.astype(np.float16))
    for number, (got, right) in enumerate(zip(found, want, strict=True)):
        assert np.array_equal(got.astype(np.float32), right), (number, got, right)
