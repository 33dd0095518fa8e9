"""``fold-transposes``: one of several results transposed, in real runs."""

from __future__ import annotations

import headrace
import numpy as np
import pytest
from cpu_programs import Program

# Sum and product of each row or column of the first argument, largest value and its place,
# twice and square: each beside another result, transposed.
PROGRAM = """
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @elementwise(%x: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<4x4x?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<?x16xf32>) outs(%e, %e : tensor<?x16xf32>, tensor<?x16xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %s = arith.addf %a, %a : f32
    %t = arith.mulf %s, %a : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<?x16xf32>, tensor<?x16xf32>)
  %v = tensor.expand_shape %r#1 [[0], [1, 2]] output_shape [%n, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %f = tensor.empty(%n) : tensor<4x4x?xf32>
  %t = linalg.transpose ins(%v : tensor<?x4x4xf32>) outs(%f : tensor<4x4x?xf32>) permutation = [1, 2, 0]
  return %r#0, %t : tensor<?x16xf32>, tensor<4x4x?xf32>
}

func.func @sums(%a: tensor<4x5x6xf32>, %init: tensor<4x6xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %c = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r:2 = linalg.reduce ins(%a, %a : tensor<4x5x6xf32>, tensor<4x5x6xf32>)
    outs(%f, %init : tensor<4x6xf32>, tensor<4x6xf32>) dimensions = [1]
    (%x: f32, %y: f32, %o: f32, %p: f32) {
      %s = arith.addf %x, %o : f32
      %t = arith.maximumf %y, %p : f32
      linalg.yield %s, %t : f32, f32
    }
  %g = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%r#0 : tensor<4x6xf32>) outs(%g : tensor<6x4xf32>) permutation = [1, 0]
  %u = linalg.transpose ins(%r#1 : tensor<4x6xf32>) outs(%g : tensor<6x4xf32>) permutation = [1, 0]
  return %t, %u : tensor<6x4xf32>, tensor<6x4xf32>
}
"""
# As JAX writes the largest value and its place.
LARGEST = """
func.func @largest(%a: tensor<4x5x6xf32>) -> (tensor<6x4xf32>, tensor<4x6xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<4x5x6xi32>
  %c0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %c1 = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%a init: %c0), (%i init: %c1) across dimensions = [1]
    : (tensor<4x5x6xf32>, tensor<4x5x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
    reducer(%x: tensor<f32>, %p: tensor<f32>) (%y: tensor<i32>, %q: tensor<i32>) {
    %s = stablehlo.compare GT, %x, %p : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %t = stablehlo.select %s, %x, %p : tensor<i1>, tensor<f32>
    %u = stablehlo.select %s, %y, %q : tensor<i1>, tensor<i32>
    stablehlo.return %t, %u : tensor<f32>, tensor<i32>
  }
  %t = stablehlo.transpose %r#0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %t, %r#1 : tensor<6x4xf32>, tensor<4x6xi32>
}
"""


@pytest.mark.each_cpu
def test_numbers() -> None:
    vmfb = headrace.compile(PROGRAM + LARGEST).vmfb
    assert vmfb is not None
    program = Program(vmfb)
    whole = np.random.default_rng(0).permutation(4 * 5 * 6).astype(np.float32).reshape(4, 5, 6) - 60
    rows = whole.reshape(-1)[: 7 * 16].reshape(7, 16)
    twice, squares = program.results("elementwise", rows)
    assert np.array_equal(twice, 2 * rows)
    assert np.array_equal(squares, (2 * rows * rows).reshape(7, 4, 4).transpose(1, 2, 0))
    start = np.full((4, 6), 3, np.float32)
    sums, largest = program.results("sums", whole, start)
    assert np.array_equal(sums, whole.sum(1).T + 1)
    assert np.array_equal(largest, np.maximum(whole.max(1), 3).T)
    values, places = program.results("largest", whole)
    assert np.array_equal(values, whole.max(1).T)
    assert np.array_equal(places, whole.argmax(1))


@pytest.mark.full
@pytest.mark.parametrize("target", ["gfx942", "gfx1201", "sm_89", "vulkan-rdna3", "vmvx"])
def test_other_targets_compile(target: str) -> None:
    assert headrace.compile(PROGRAM + LARGEST, target=target).vmfb
