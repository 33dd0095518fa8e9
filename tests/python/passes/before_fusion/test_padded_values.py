"""``hold-padded-values``: sorts and running sums that are padded, in real runs."""

from __future__ import annotations

import headrace
import numpy as np
import pytest
from cpu_programs import Program

SORT = """
  %s = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>"""
SUMS = """
  %s = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 2>,
      padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>"""


@pytest.mark.each_cpu
@pytest.mark.parametrize("name", ["sort", "sums"])
def test_padded(name: str) -> None:
    text = f"""
func.func @main(%x: tensor<3x2xf32>) -> tensor<2x4x4xf32> {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  {SORT if name == "sort" else SUMS}
  %r = stablehlo.reshape %s : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
  %y = stablehlo.pad %r, %z, low = [0, 1, 2], high = [1, 0, 0], interior = [0, 0, 0]
    : (tensor<1x3x2xf32>, tensor<f32>) -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}}"""
    vmfb = headrace.compile(text).vmfb
    assert vmfb is not None
    x = np.array([[3, 1], [2, 5], [7, 4]], np.float32)
    want = np.zeros((2, 4, 4), np.float32)
    want[0, 1:, 2:] = np.sort(x, 1) if name == "sort" else np.cumsum(x, 1)
    (got,) = Program(vmfb).results("main", x)
    assert np.array_equal(got, want)
