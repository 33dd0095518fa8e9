"""``trim-windows`` and ``hold-skipped-elements``: what windows leave out, in real runs."""

from __future__ import annotations

import headrace
import numpy as np
import pytest
from cpu_programs import Program
from headrace.compiler.iree.element_types import Array


def _convolution(name: str, size: int, window: int, stride: int, depthwise: bool) -> str:
    """``size`` elements of two features, of which two are made of each or of all."""
    out = (size - window) // stride + 1
    x, k, y = f"tensor<1x2x{size}xf32>", f"tensor<2x2x{window}xf32>", f"tensor<1x2x{out}xf32>"
    groups = 1
    if depthwise:
        k, groups = f"tensor<2x1x{window}xf32>", 2
    return f"""
func.func @{name}(%x: {x}, %k: {k}) -> ({y}, {x}) {{
  %d = stablehlo.add %x, %x : {x}
  %y = stablehlo.convolution(%d, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
    window = {{stride = [{stride}]}}
    {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}} : ({x}, {k}) -> {y}
  %n = stablehlo.negate %d : {x}
  return %y, %n : {y}, {x}
}}"""


SIZES = [
    (f"c{size}_{window}_{stride}_{'d' if depthwise else 'f'}", size, window, stride, depthwise)
    for size in (1, 2, 3, 4, 7)
    for window in (1, 2, 3)
    for stride in (1, 2, 3)
    for depthwise in (False, True)
    if window <= size
]


@pytest.fixture(scope="module")
def program(cpu: str) -> Program:
    text = "\n".join(_convolution(*each) for each in SIZES)
    vmfb = headrace.compile(f"module {{{text}\n}}", cpu=cpu).vmfb
    assert vmfb is not None
    return Program(vmfb)


def _expected(x: Array, k: Array, stride: int, depthwise: bool) -> Array:
    size, window = x.shape[2], k.shape[2]
    starts = range(0, size - window + 1, stride)
    parts = np.stack([x[0, :, start : start + window] for start in starts])
    sums = np.einsum("tiw,iw->it", parts, k[:, 0]) if depthwise else None
    return (np.einsum("tiw,oiw->ot", parts, k) if sums is None else sums)[None]


@pytest.mark.each_cpu(by="")
@pytest.mark.parametrize("each", SIZES, ids=lambda each: each[0])
def test_convolutions(program: Program, each: tuple[str, int, int, int, bool]) -> None:
    """Also what the convolution reads has another user."""
    name, size, window, stride, depthwise = each
    generator = np.random.default_rng(size)
    x = generator.integers(-3, 4, (1, 2, size)).astype(np.float32)
    k = generator.integers(-3, 4, (2, 1 if depthwise else 2, window)).astype(np.float32)
    y, negated = program.results(name, x, k)
    assert np.array_equal(y, _expected(2 * x, k, stride, depthwise))
    assert np.array_equal(negated, -2 * x)
