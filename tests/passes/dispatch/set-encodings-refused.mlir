// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=gfx942 estimate=false})' --split-input-file --verify-diagnostics | FileCheck %s
//
// Numbers are those of IREE's own tests of set_encoding.

// 33: no rows, no columns.
// CHECK-LABEL: @dot
// CHECK-NOT: set_encoding
func.func @dot(%x: tensor<64xf32>, %init: tensor<f32>) -> tensor<f32> {
  // expected-remark @+1 {{not encoded: a dot product has neither rows nor columns to tile}}
  %m = linalg.dot ins(%x, %x : tensor<64xf32>, tensor<64xf32>) outs(%init : tensor<f32>) -> tensor<f32>
  return %m : tensor<f32>
}

// -----

// 34, 36: several loops of one kind.
// CHECK-LABEL: @several_rows
// CHECK-NOT: set_encoding
func.func @several_rows(%x: tensor<2x32x64xf32>, %w: tensor<64x48xf32>, %init: tensor<2x32x48xf32>) -> tensor<2x32x48xf32> {
  // expected-remark @+1 {{not encoded: it has 2 m loops, resolvers take one}}
  %m = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x32x64xf32>, tensor<64x48xf32>) outs(%init : tensor<2x32x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x32x48xf32>
  return %m : tensor<2x32x48xf32>
}

// -----

// CHECK-LABEL: @several_depths
// CHECK-NOT: set_encoding
func.func @several_depths(%x: tensor<32x64x2xf32>, %w: tensor<64x2x48xf32>, %init: tensor<32x48xf32>) -> tensor<32x48xf32> {
  // expected-remark @+1 {{not encoded: it has 2 k loops, resolvers take one}}
  %m = linalg.generic {indexing_maps = [affine_map<(m, n, k, l) -> (m, k, l)>, affine_map<(m, n, k, l) -> (k, l, n)>, affine_map<(m, n, k, l) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<32x64x2xf32>, tensor<64x2x48xf32>) outs(%init : tensor<32x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %m : tensor<32x48xf32>
}

// -----

// 17, 27: too narrow for the target's instructions (on a GPU IREE fails to
// compile vectors that are encoded: its issue 23046).
// CHECK-LABEL: @vectors
// CHECK-NOT: set_encoding
func.func @vectors(%x: tensor<64xf32>, %w: tensor<32x64xf32>, %o: tensor<32xf32>, %n: tensor<4x64xf32>, %v: tensor<64x32xf32>, %q: tensor<4x32xf32>) -> (tensor<32xf32>, tensor<4x32xf32>) {
  // expected-remark @+1 {{not encoded: 1 rows or columns do not fill a tile of 16}}
  %0 = linalg.matvec ins(%w, %x : tensor<32x64xf32>, tensor<64xf32>) outs(%o : tensor<32xf32>) -> tensor<32xf32>
  // expected-remark @+1 {{not encoded: 4 rows or columns do not fill a tile of 16}}
  %1 = linalg.matmul ins(%n, %v : tensor<4x64xf32>, tensor<64x32xf32>) outs(%q : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %0, %1 : tensor<32xf32>, tensor<4x32xf32>
}

// -----

// CHECK-LABEL: @no_instruction
// CHECK-NOT: set_encoding
func.func @no_instruction(%x: tensor<32x32xf8E4M3FN>, %o: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-remark @+1 {{not encoded: the target has no tiles for f8E4M3FN x f8E4M3FN to f32}}
  %m = linalg.matmul ins(%x, %x : tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) outs(%o : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %m : tensor<32x32xf32>
}

// -----

// 35: several columns.
// CHECK-LABEL: @several_columns
// CHECK-NOT: set_encoding
func.func @several_columns(%x: tensor<32x64xf32>, %w: tensor<4x64x48xf32>, %init: tensor<32x4x48xf32>) -> tensor<32x4x48xf32> {
  // expected-remark @+1 {{not encoded: it has 2 n loops, resolvers take one}}
  %m = linalg.contract indexing_maps = [affine_map<(m, c, n, k) -> (m, k)>, affine_map<(m, c, n, k) -> (c, k, n)>, affine_map<(m, c, n, k) -> (m, c, n)>]
      ins(%x, %w : tensor<32x64xf32>, tensor<4x64x48xf32>) outs(%init : tensor<32x4x48xf32>) -> tensor<32x4x48xf32>
  return %m : tensor<32x4x48xf32>
}

// -----

// 37: several batches.
// CHECK-LABEL: @several_batches
// CHECK-NOT: set_encoding
func.func @several_batches(%x: tensor<4x32x6x64xf32>, %w: tensor<4x6x64x48xf32>, %init: tensor<4x6x32x48xf32>) -> tensor<4x6x32x48xf32> {
  // expected-remark @+1 {{not encoded: it has 2 batch loops, resolvers take one}}
  %m = linalg.contract indexing_maps = [affine_map<(a, b, m, n, k) -> (a, m, b, k)>, affine_map<(a, b, m, n, k) -> (a, b, k, n)>, affine_map<(a, b, m, n, k) -> (a, b, m, n)>]
      ins(%x, %w : tensor<4x32x6x64xf32>, tensor<4x6x64x48xf32>) outs(%init : tensor<4x6x32x48xf32>) -> tensor<4x6x32x48xf32>
  return %m : tensor<4x6x32x48xf32>
}
