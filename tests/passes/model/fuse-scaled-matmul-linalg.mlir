// RUN: headrace-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(fuse-scaled-matmul)' | FileCheck %s

// Contractions of linalg. Named ops and generics are read by their maps.

// Scales are widened and inverted with arith.
// CHECK-LABEL: func.func @matmul
// CHECK: %[[SX:.*]] = arith.extf %arg2 : tensor<bf16> to tensor<f32>
// CHECK: %[[SY:.*]] = arith.extf %arg3 : tensor<1xbf16> to tensor<1xf32>
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK: %[[RY:.*]] = arith.divf %[[ONE]], %[[SY]] : tensor<1xf32>
// CHECK: %[[M:.*]] = "headrace.matmul"(%arg0, %arg1, %[[SX]], %[[RY]])
// CHECK-SAME: lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>
// CHECK-SAME: (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E5M2>, tensor<f32>, tensor<1xf32>) -> tensor<4x2xbf16>
// CHECK: return %[[M]]
func.func @matmul(%x: tensor<4x8xf8E4M3FN>, %y: tensor<8x2xf8E5M2>, %sx: tensor<bf16>, %sy: tensor<1xbf16>) -> tensor<4x2xbf16> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide"} : (tensor<8x2xf8E5M2>, tensor<1xbf16>) -> tensor<8x2xbf16>
  %c = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4x2xbf16>
  %z = linalg.fill ins(%c : bf16) outs(%e : tensor<4x2xbf16>) -> tensor<4x2xbf16>
  %d = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x2xbf16>) outs(%z : tensor<4x2xbf16>) -> tensor<4x2xbf16>
  return %d : tensor<4x2xbf16>
}

// -----

// fp8 operands themselves, accumulated in f32 onto a value: that becomes the bias.
// CHECK-LABEL: func.func @direct
// CHECK: "headrace.matmul"(%arg0, %arg1, %arg2) {{.*}}operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0>
func.func @direct(%x: tensor<4x8xf8E4M3FN>, %y: tensor<8x2xf8E4M3FN>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %d = linalg.matmul ins(%x, %y : tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %d : tensor<4x2xf32>
}

// -----

// Transposed operands, batches, vectors: all by their maps.
// CHECK-LABEL: func.func @forms
// CHECK: "headrace.matmul"(%arg0, %arg0) {{.*}}lhs_contracting = array<i64: 1>{{.*}}rhs_contracting = array<i64: 1>{{.*}} -> tensor<4x4xf32>
// CHECK: "headrace.matmul"(%arg0, %arg0) {{.*}}lhs_contracting = array<i64: 0>{{.*}}rhs_contracting = array<i64: 0>{{.*}} -> tensor<8x8xf32>
// CHECK: "headrace.matmul"(%arg2, %arg2) {{.*}}lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>{{.*}}rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>
// CHECK: "headrace.matmul"(%arg0, %arg1) {{.*}}lhs_contracting = array<i64: 1>{{.*}}rhs_contracting = array<i64: 0>{{.*}} -> tensor<4xf32>
// CHECK: "headrace.matmul"(%arg1, %arg1) {{.*}} -> tensor<f32>
func.func @forms(%m: tensor<4x8xf8E4M3FN>, %v: tensor<8xf8E4M3FN>, %b: tensor<3x4x8xf8E4M3FN>) -> (tensor<4x4xf32>, tensor<8x8xf32>, tensor<3x4x4xf32>, tensor<4xf32>, tensor<f32>) {
  %0 = "headrace.dequantize"(%m) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %1 = "headrace.dequantize"(%v) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  %2 = "headrace.dequantize"(%b) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<3x4x8xf8E4M3FN>) -> tensor<3x4x8xf32>
  %z44 = arith.constant dense<0.0> : tensor<4x4xf32>
  %z88 = arith.constant dense<0.0> : tensor<8x8xf32>
  %z344 = arith.constant dense<0.0> : tensor<3x4x4xf32>
  %z4 = arith.constant dense<0.0> : tensor<4xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  %r0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%0, %0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%z44 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%0, %0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%z88 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r2 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>] ins(%2, %2 : tensor<3x4x8xf32>, tensor<3x4x8xf32>) outs(%z344 : tensor<3x4x4xf32>) -> tensor<3x4x4xf32>
  %r3 = linalg.matvec ins(%0, %1 : tensor<4x8xf32>, tensor<8xf32>) outs(%z4 : tensor<4xf32>) -> tensor<4xf32>
  %r4 = linalg.dot ins(%1, %1 : tensor<8xf32>, tensor<8xf32>) outs(%z : tensor<f32>) -> tensor<f32>
  return %r0, %r1, %r2, %r3, %r4 : tensor<4x4xf32>, tensor<8x8xf32>, tensor<3x4x4xf32>, tensor<4xf32>, tensor<f32>
}

// -----

// A generic that widens bf16 in its body; two contracting dims and a batch dim.
// CHECK-LABEL: func.func @generic
// CHECK: "headrace.matmul"(%arg0, %arg1, {{.*}}lhs_batch = array<i64: 1>, lhs_contracting = array<i64: 2, 3>
// CHECK-SAME: rhs_batch = array<i64: 3>, rhs_contracting = array<i64: 2, 0>
// CHECK-SAME: -> tensor<2x3x6xf32>
func.func @generic(%x: tensor<3x2x4x5xf8E4M3FN>, %y: tensor<5x6x4x2xf8E4M3FN>, %s: tensor<bf16>) -> tensor<2x3x6xf32> {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<3x2x4x5xf8E4M3FN>, tensor<bf16>) -> tensor<3x2x4x5xbf16>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<5x6x4x2xf8E4M3FN>) -> tensor<5x6x4x2xbf16>
  %z = arith.constant dense<0.0> : tensor<2x3x6xf32>
  %d = linalg.generic {
      indexing_maps = [affine_map<(b, m, n, k, l) -> (m, b, k, l)>, affine_map<(b, m, n, k, l) -> (l, n, k, b)>, affine_map<(b, m, n, k, l) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<3x2x4x5xbf16>, tensor<5x6x4x2xbf16>) outs(%z : tensor<2x3x6xf32>) {
  ^bb0(%l: bf16, %r: bf16, %acc: f32):
    %lw = arith.extf %l : bf16 to f32
    %rw = arith.extf %r : bf16 to f32
    %p = arith.mulf %lw, %rw : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<2x3x6xf32>
  return %d : tensor<2x3x6xf32>
}

// -----

// A result with rhs's dims first: the sides change places, the scales with them.
// CHECK-LABEL: func.func @swapped
// CHECK: "headrace.matmul"(%arg1, %arg0, %arg2) {{.*}}lhs_contracting = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>{{.*}}rhs_contracting = array<i64: 1>{{.*}} -> tensor<2x4xf32>
func.func @swapped(%x: tensor<4x8xf8E4M3FN>, %y: tensor<8x2xf8E5M2>, %s: tensor<f32>) -> tensor<2x4xf32> {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x2xf8E5M2>) -> tensor<8x2xf32>
  %z = arith.constant dense<0.0> : tensor<2x4xf32>
  %d = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>] ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %d : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @order
// CHECK: linalg.contract {{.*}}
// CHECK-NOT: headrace.matmul
func.func @order(%x: tensor<4x5x8xf8E4M3FN>, %y: tensor<8x2xf8E4M3FN>) -> tensor<4x2x5xf32> {
  %z = arith.constant dense<0.0> : tensor<4x2x5xf32>
  // expected-remark @below {{the dot stays wide: its result's dimensions are not in the order batch, lhs, rhs}}
  %d = linalg.contract indexing_maps = [affine_map<(m, n, k, l) -> (m, l, k)>, affine_map<(m, n, k, l) -> (k, n)>, affine_map<(m, n, k, l) -> (m, n, l)>] ins(%x, %y : tensor<4x5x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) outs(%z : tensor<4x2x5xf32>) -> tensor<4x2x5xf32>
  return %d : tensor<4x2x5xf32>
}

// -----

// A bf16 sum that is added to is rounded in between.
// CHECK-LABEL: func.func @bf16_init
// CHECK: linalg.matmul {headrace.wide_reason = "the dot stays wide: it adds to a value of bf16"}
func.func @bf16_init(%x: tensor<4x8xf8E4M3FN>, %y: tensor<8x2xf8E4M3FN>, %c: tensor<4x2xbf16>) -> tensor<4x2xbf16> {
  // expected-remark @below {{the dot stays wide: it adds to a value of bf16}}
  %d = linalg.matmul ins(%x, %y : tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) outs(%c : tensor<4x2xbf16>) -> tensor<4x2xbf16>
  return %d : tensor<4x2xbf16>
}

// -----

// CHECK-LABEL: func.func @f64
func.func @f64(%x: tensor<4x8xf8E4M3FN>, %y: tensor<8x2xf8E4M3FN>) -> tensor<4x2xf64> {
  %z = arith.constant dense<0.0> : tensor<4x2xf64>
  // expected-remark @below {{the dot stays wide: f64 arithmetic would lose bits in f32 accumulation}}
  %d = linalg.matmul ins(%x, %y : tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) outs(%z : tensor<4x2xf64>) -> tensor<4x2xf64>
  return %d : tensor<4x2xf64>
}

// -----

// Reasons of single ops: padding, selecting, a slice of the scaled dim, arithmetic.
// CHECK-LABEL: func.func @reasons
// CHECK-NOT: headrace.matmul
func.func @reasons(%x: tensor<4x8xf8E4M3FN>, %s: tensor<4x1xf32>, %p: i1, %ps: tensor<4x8xi1>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>, tensor<32x4xf32>) {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %b = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %one = arith.constant 1.0 : f32
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %z2 = arith.constant dense<0.0> : tensor<2x4xf32>
  %z32 = arith.constant dense<0.0> : tensor<32x4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %pad = tensor.pad %a low[0, 1] high[0, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<4x8xf32> to tensor<4x8xf32>
  // expected-remark @below {{lhs stays wide: 'tensor.pad' pads with something other than the literal +0}}
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%pad, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %ones = tensor.splat %one : tensor<4x8xf32>
  %select = arith.select %p, %a, %ones : tensor<4x8xf32>
  // expected-remark @below {{lhs stays wide: 'arith.select' fills in a constant that is not the literal +0}}
  %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%select, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %generic = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a, %ps : tensor<4x8xf32>, tensor<4x8xi1>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %q: i1, %out: f32):
    %k = arith.constant -0.0 : f32
    %v = arith.select %q, %in, %k : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{lhs stays wide: 'linalg.generic' fills in a constant that is not the literal +0}}
  %2 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%generic, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %slice = tensor.extract_slice %b[1, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  // expected-remark @below {{lhs stays wide: 'tensor.extract_slice' cuts the dimension of a per-axis scale}}
  %3 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%slice, %a : tensor<2x8xf32>, tensor<4x8xf32>) outs(%z2 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %in : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{rhs stays wide: 'linalg.generic' stands between the dequantize and the dot}}
  %4 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %sum : tensor<4x8xf32>, tensor<4x8xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %flat = tensor.collapse_shape %b [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %row = tensor.expand_shape %flat [[0, 1]] output_shape [1, 32] : tensor<32xf32> into tensor<1x32xf32>
  %one_row = tensor.extract_slice %a[0, 0] [1, 4] [1, 1] : tensor<4x8xf32> to tensor<1x4xf32>
  // expected-remark @below {{lhs stays wide: 'tensor.collapse_shape' merges or splits the dimension of a per-axis scale}}
  %5 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%row, %one_row : tensor<1x32xf32>, tensor<1x4xf32>) outs(%z32 : tensor<32x4xf32>) -> tensor<32x4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>, tensor<32x4xf32>
}

// -----

// No fp8 value near: nothing is said. Elementwise generics are no contractions.
// CHECK-LABEL: func.func @silent
// CHECK-NOT: wide_reason
func.func @silent(%x: tensor<4x4xf32>, %i: tensor<4x4xi32>) -> (tensor<4x4xf32>, tensor<4x4xi32>) {
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%i, %i : tensor<4x4xi32>, tensor<4x4xi32>) outs(%i : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xi32>
}

// -----

// A body that computes more, or something else, than a sum of products.
// CHECK-LABEL: func.func @no_dots
// CHECK-NOT: headrace.matmul
func.func @no_dots(%x: tensor<4x8xf8E4M3FN>, %y: tensor<8x2xf8E4M3FN>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %z = arith.constant dense<0.0> : tensor<4x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) outs(%z : tensor<4x2xf32>) {
  ^bb0(%l: f8E4M3FN, %r: f8E4M3FN, %acc: f32):
    %lw = arith.extf %l : f8E4M3FN to f32
    %rw = arith.extf %r : f8E4M3FN to f32
    %e = math.exp %lw : f32
    %p = arith.mulf %e, %rw : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<4x2xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) outs(%z : tensor<4x2xf32>) {
  ^bb0(%l: f8E4M3FN, %r: f8E4M3FN, %acc: f32):
    %lw = arith.extf %l : f8E4M3FN to bf16
    %rw = arith.extf %r : f8E4M3FN to bf16
    %p = arith.mulf %lw, %rw : bf16
    %pw = arith.extf %p : bf16 to f32
    %q = arith.addf %acc, %pw : f32
    linalg.yield %q : f32
  } -> tensor<4x2xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) outs(%z : tensor<4x2xf32>) {
  ^bb0(%l: f8E4M3FN, %r: f8E4M3FN, %acc: f32):
    %lw = arith.extf %l : f8E4M3FN to f32
    %rw = arith.extf %r : f8E4M3FN to f32
    %p = arith.mulf %lw, %rw : f32
    %n = arith.negf %p : f32
    %q = arith.addf %acc, %n : f32
    linalg.yield %q : f32
  } -> tensor<4x2xf32>
  return %0, %1, %2 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// An fp8 result, cleared with an fp8 zero.
// CHECK-LABEL: func.func @fp8_result
// CHECK: %[[M:.*]] = "headrace.matmul"(%arg0, %arg1) {{.*}} -> tensor<4x2xf32>
// CHECK: "headrace.quantize"(%[[M]]) {{.*}}saturate = false{{.*}} -> tensor<4x2xf8E4M3FN>
func.func @fp8_result(%x: tensor<4x8xf8E4M3FN>, %y: tensor<8x2xf8E4M3FN>) -> tensor<4x2xf8E4M3FN> {
  %z = arith.constant dense<0.0> : tensor<4x2xf8E4M3FN>
  %d = linalg.matmul ins(%x, %y : tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) outs(%z : tensor<4x2xf8E4M3FN>) -> tensor<4x2xf8E4M3FN>
  return %d : tensor<4x2xf8E4M3FN>
}
