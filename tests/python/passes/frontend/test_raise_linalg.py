"""Raised linalg programs on the CPU, bit for bit against ml_dtypes.

One program holds all cases: compiling is slow.
"""

from __future__ import annotations

from pathlib import Path

import headrace
import ml_dtypes
import numpy as np
import pytest
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline

E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
ROWS, COLUMNS = 8, 64

PROGRAM = """
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#block = affine_map<(d0, d1, d2) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @main(%x: tensor<8x64xf32>, %q: tensor<8x64xf8E4M3FN>, %c: tensor<64xf32>, %r: tensor<8xf32>, %b: tensor<8x4xf32>)
    -> (tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x64xf32>, tensor<64x8xf32>, tensor<8x4x16xf32>) {
  %lo = arith.constant -448.0 : f32
  %hi = arith.constant 448.0 : f32
  %narrow = tensor.empty() : tensor<8x64xf8E4M3FN>
  %wide = tensor.empty() : tensor<8x64xf32>
  // torch.clamp's form, a scale for each column.
  %0 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<8x64xf32>, tensor<64xf32>) outs(%narrow : tensor<8x64xf8E4M3FN>) {
  ^bb0(%a: f32, %s: f32, %o: f8E4M3FN):
    %d = arith.divf %a, %s : f32
    %l = arith.cmpf ult, %d, %lo : f32
    %m = arith.select %l, %lo, %d : f32
    %g = arith.cmpf ugt, %m, %hi : f32
    %n = arith.select %g, %hi, %m : f32
    %v = arith.truncf %n : f32 to f8E4M3FN
    linalg.yield %v : f8E4M3FN
  } -> tensor<8x64xf8E4M3FN>
  // Something before it in the same body; no clamp: overflow is NaN.
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %r : tensor<8x64xf32>, tensor<8xf32>) outs(%narrow : tensor<8x64xf8E4M3FN>) {
  ^bb0(%a: f32, %s: f32, %o: f8E4M3FN):
    %t = arith.addf %a, %a : f32
    %d = arith.mulf %s, %t : f32
    %v = arith.truncf %d : f32 to f8E4M3FN
    linalg.yield %v : f8E4M3FN
  } -> tensor<8x64xf8E4M3FN>
  // Something after it.
  %2 = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %r, %c : tensor<8x64xf8E4M3FN>, tensor<8xf32>, tensor<64xf32>) outs(%wide : tensor<8x64xf32>) {
  ^bb0(%a: f8E4M3FN, %s: f32, %k: f32, %o: f32):
    %w = arith.extf %a : f8E4M3FN to f32
    %d = arith.divf %w, %s : f32
    %v = arith.subf %d, %k : f32
    linalg.yield %v : f32
  } -> tensor<8x64xf32>
  // Transposed.
  %across = tensor.empty() : tensor<64x8xf32>
  %3 = linalg.generic {indexing_maps = [#turned, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %r : tensor<8x64xf8E4M3FN>, tensor<8xf32>) outs(%across : tensor<64x8xf32>) {
  ^bb0(%a: f8E4M3FN, %s: f32, %o: f32):
    %w = arith.extf %a : f8E4M3FN to f32
    %v = arith.mulf %w, %s : f32
    linalg.yield %v : f32
  } -> tensor<64x8xf32>
  // Scales of blocks.
  %e = arith.extf %q : tensor<8x64xf8E4M3FN> to tensor<8x64xf32>
  %f = tensor.expand_shape %e [[0], [1, 2]] output_shape [8, 4, 16] : tensor<8x64xf32> into tensor<8x4x16xf32>
  %blocks = tensor.empty() : tensor<8x4x16xf32>
  %4 = linalg.generic {indexing_maps = [#id3, #block, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f, %b : tensor<8x4x16xf32>, tensor<8x4xf32>) outs(%blocks : tensor<8x4x16xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %v = arith.mulf %a, %s : f32
    linalg.yield %v : f32
  } -> tensor<8x4x16xf32>
  return %0, %1, %2, %3, %4 : tensor<8x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<8x64xf32>, tensor<64x8xf32>, tensor<8x4x16xf32>
}
"""


def test_everything_is_raised() -> None:
    module = parse_module(PROGRAM, "program", ir.make_context())
    Pipeline.parse("builtin.module(raise-linalg)").run(module)
    names = [op.name for op in ir.walk(module)]
    assert names.count("headrace.quantize") == 2
    assert names.count("headrace.dequantize") == 3
    assert not {"arith.extf", "arith.truncf", "arith.mulf", "arith.divf"} & set(names)


@pytest.mark.each_cpu
def test_bits_are_those_of_the_arithmetic(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    golden = [0.0, -0.0, np.nan, np.inf, -np.inf, 448.0, 464.0, 464.1, -1e30, 2.0**-10, 1.0625]
    x = (random.standard_normal((ROWS, COLUMNS)) * 100).astype(np.float32)
    x.flat[: len(golden)] = golden
    codes = random.integers(0, 256, (ROWS, COLUMNS)).astype(np.uint8).view(E4M3)
    c, r, b = (
        np.exp2(random.integers(-3, 4, shape)).astype(np.float32) * np.float32(1.25)
        for shape in ((COLUMNS,), (ROWS,), (ROWS, 4))
    )
    vmfb = tmp_path / "program.vmfb"
    headrace.compile(PROGRAM, target="cpu").save(vmfb)
    function = choose_function(load_functions(vmfb), "main")
    inputs = [array[None] for array in (x, codes, c, r, b)]
    results = [result[0] for result in run_program(vmfb, function, inputs)]
    wide = codes.astype(np.float32)
    with np.errstate(all="ignore"):
        expected = [
            # np.clip keeps a NaN, as PyTorch's clamp does.
            np.clip(x / c, -448, 448).astype(E4M3),
            (r[:, None] * (x + x)).astype(E4M3),
            wide / r[:, None] - c,
            (wide * r[:, None]).T,
            wide.reshape(ROWS, 4, 16) * b[:, :, None],
        ]
    for got, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(got.astype(np.float32), want.astype(np.float32))
