// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(fuse-scaled-matmul)' | FileCheck %s

// Dimensions, scales per axis, values with several users, loops.

// Batch dims that do not lead, two contracting dims, two free dims.
// CHECK-LABEL: func.func @any_dims
// CHECK-NEXT: "headrace.matmul"(%arg0, %arg1) {{.*}}lhs_batch = array<i64: 2>, lhs_contracting = array<i64: 4, 1>
// CHECK-SAME: rhs_batch = array<i64: 3>, rhs_contracting = array<i64: 0, 2>
// CHECK-SAME: -> tensor<5x2x7x3xf32>
func.func @any_dims(%x: tensor<2x4x5x7x6xf8E4M3FN>, %y: tensor<6x3x4x5xf8E4M3FN>) -> tensor<5x2x7x3xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<2x4x5x7x6xf8E4M3FN>) -> tensor<2x4x5x7x6xf32>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<6x3x4x5xf8E4M3FN>) -> tensor<6x3x4x5xf32>
  %d = stablehlo.dot_general %a, %b, batching_dims = [2] x [3], contracting_dims = [4, 1] x [0, 2] : (tensor<2x4x5x7x6xf32>, tensor<6x3x4x5xf32>) -> tensor<5x2x7x3xf32>
  return %d : tensor<5x2x7x3xf32>
}

// Matrix times vector, vector times vector, an outer product, a dot of the old
// kind, sizes of 1 and 0.
// CHECK-LABEL: func.func @vectors
// CHECK: "headrace.matmul"(%arg0, %arg1) {{.*}} -> tensor<8xf32>
// CHECK: "headrace.matmul"(%arg1, %arg1) {{.*}} -> tensor<f32>
// CHECK: "headrace.matmul"(%arg1, %arg1) {{.*}}lhs_contracting = array<i64>,{{.*}} -> tensor<4x4xf32>
// CHECK: "headrace.matmul"(%arg0, %arg1) {{.*}}lhs_contracting = array<i64: 1>{{.*}}rhs_contracting = array<i64: 0>{{.*}} -> tensor<8xf32>
// CHECK: "headrace.matmul"(%arg2, %arg3) {{.*}} -> tensor<1x1xbf16>
func.func @vectors(%m: tensor<8x4xf8E4M3FN>, %v: tensor<4xf8E4M3FN>, %e: tensor<1x0xf8E4M3FN>, %f: tensor<0x1xf8E4M3FN>) -> (tensor<8xf32>, tensor<f32>, tensor<4x4xf32>, tensor<8xf32>, tensor<1x1xbf16>) {
  %a = "headrace.dequantize"(%m) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xf32>
  %b = "headrace.dequantize"(%v) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %p = "headrace.dequantize"(%e) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<1x0xf8E4M3FN>) -> tensor<1x0xbf16>
  %q = "headrace.dequantize"(%f) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<0x1xf8E4M3FN>) -> tensor<0x1xbf16>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %1 = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %2 = stablehlo.dot_general %b, %b, contracting_dims = [] x [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.dot %a, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %4 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<1x0xbf16>, tensor<0x1xbf16>) -> tensor<1x1xbf16>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<f32>, tensor<4x4xf32>, tensor<8xf32>, tensor<1x1xbf16>
}

// Sizes that are not known.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[T:.*]] = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<16x?xf8E4M3FN>) -> tensor<?x16xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[T]]) {{.*}} : (tensor<?x?xf8E4M3FN>, tensor<?x16xf8E4M3FN>) -> tensor<?x16xbf16>
func.func @dynamic(%x: tensor<?x?xf8E4M3FN>, %y: tensor<16x?xf8E4M3FN>) -> tensor<?x16xbf16> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<?x?xf8E4M3FN>) -> tensor<?x?xbf16>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x?xf8E4M3FN>) -> tensor<16x?xbf16>
  %t = stablehlo.transpose %b, dims = [1, 0] : (tensor<16x?xbf16>) -> tensor<?x16xbf16>
  %d = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<?x?xbf16>, tensor<?x16xbf16>) -> tensor<?x16xbf16>
  return %d : tensor<?x16xbf16>
}

// One operand twice, and one value on both sides.
// CHECK-LABEL: func.func @same_operand
// CHECK: %[[F:.*]] = stablehlo.convert %arg1
// CHECK: %[[G:.*]] = stablehlo.convert %arg1
// CHECK: "headrace.matmul"(%arg0, %arg0, %[[F]], %[[G]])
// CHECK-NOT: headrace.dequantize
func.func @same_operand(%x: tensor<8x8xf8E4M3FN>, %s: tensor<bf16>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<bf16>) -> tensor<8x8xbf16>
  %d = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// Two dots share a dequantize and a transpose; each gets its own on fp8.
// Nobody needs the wide values any more.
// CHECK-LABEL: func.func @shared
// CHECK-NOT: headrace.dequantize
// CHECK-NOT: tensor<8x16xbf16>
// CHECK: %[[T1:.*]] = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<8x16xf8E4M3FN>)
// CHECK: %[[T2:.*]] = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<8x16xf8E4M3FN>)
// CHECK: "headrace.matmul"(%arg0, %[[T1]]
// CHECK: "headrace.matmul"(%arg0, %[[T2]]
func.func @shared(%x: tensor<4x16xf8E4M3FN>, %w: tensor<8x16xf8E4M3FN>, %s: tensor<bf16>) -> (tensor<4x8xbf16>, tensor<4x8xf32>) {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x16xf8E4M3FN>, tensor<bf16>) -> tensor<4x16xbf16>
  %b = "headrace.dequantize"(%w, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<bf16>) -> tensor<8x16xbf16>
  %t = stablehlo.transpose %b, dims = [1, 0] : (tensor<8x16xbf16>) -> tensor<16x8xbf16>
  %0 = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<4x16xbf16>, tensor<16x8xbf16>) -> tensor<4x8xbf16>
  %1 = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<4x16xbf16>, tensor<16x8xbf16>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xbf16>, tensor<4x8xf32>
}

// Another user keeps the wide value that it reads, and what made it; the
// transpose was for the dot alone.
// CHECK-LABEL: func.func @other_user
// CHECK: %[[B:.*]] = "headrace.dequantize"(%arg1, %arg2)
// CHECK-NOT: stablehlo.transpose %[[B]]
// CHECK: %[[M:.*]] = "headrace.matmul"
// CHECK: %[[N:.*]] = stablehlo.negate %[[B]]
// CHECK: return %[[M]], %[[N]]
func.func @other_user(%x: tensor<4x16xf8E4M3FN>, %w: tensor<8x16xf8E4M3FN>, %s: tensor<bf16>) -> (tensor<4x8xbf16>, tensor<8x16xbf16>) {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x16xf8E4M3FN>, tensor<bf16>) -> tensor<4x16xbf16>
  %b = "headrace.dequantize"(%w, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<bf16>) -> tensor<8x16xbf16>
  %t = stablehlo.transpose %b, dims = [1, 0] : (tensor<8x16xbf16>) -> tensor<16x8xbf16>
  %0 = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<4x16xbf16>, tensor<16x8xbf16>) -> tensor<4x8xbf16>
  %n = stablehlo.negate %b : tensor<8x16xbf16>
  return %0, %n : tensor<4x8xbf16>, tensor<8x16xbf16>
}

// In a loop: the scale of the activation changes from trip to trip and stays
// inside; what was moved outside the loop is moved outside of it still.
// CHECK-LABEL: func.func @loop
// CHECK-NEXT: %[[SW:.*]] = stablehlo.convert %arg2 : (tensor<bf16>) -> tensor<f32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf8E4M3FN>
// CHECK: stablehlo.while
// CHECK: do {
// CHECK: %[[SX:.*]] = stablehlo.convert %iterArg_{{.*}} : (tensor<bf16>) -> tensor<f32>
// CHECK: %[[M:.*]] = "headrace.matmul"(%iterArg, %[[T]], %[[SX]], %[[SW]])
// CHECK: "headrace.quantize"(%[[M]]
func.func @loop(%x: tensor<4x8xf8E4M3FN>, %w: tensor<8x8xf8E4M3FN>, %s: tensor<bf16>) -> tensor<4x8xf8E4M3FN> {
  %b = "headrace.dequantize"(%w, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<bf16>) -> tensor<8x8xbf16>
  %t = stablehlo.transpose %b, dims = [1, 0] : (tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%q = %x, %sx = %s, %i = %zero) : tensor<4x8xf8E4M3FN>, tensor<bf16>, tensor<i32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %a = "headrace.dequantize"(%q, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
    %d = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
    %next = "headrace.quantize"(%d, %sx) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4x8xf8E4M3FN>
    %s2 = stablehlo.add %sx, %sx : tensor<bf16>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %s2, %j : tensor<4x8xf8E4M3FN>, tensor<bf16>, tensor<i32>
  }
  return %r#0 : tensor<4x8xf8E4M3FN>
}

// Scales of infinity, NaN and 0 are scales like others.
// CHECK-LABEL: func.func @odd_scales
// CHECK: %[[I:.*]] = stablehlo.constant dense<0x7F800000> : tensor<f32>
// CHECK: %[[N:.*]] = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK: "headrace.matmul"(%arg0, %arg1, %[[I]], %[[N]])
// CHECK: stablehlo.divide {{.*}}, %[[Z]] : tensor<f32>
// CHECK: "headrace.matmul"
func.func @odd_scales(%x: tensor<4x4xf8E4M3FN>, %y: tensor<4x4xf8E4M3FN>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %i = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %n = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = "headrace.dequantize"(%x, %i) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
  %b = "headrace.dequantize"(%y, %n) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = "headrace.dequantize"(%x, %z) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide"} : (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
  %e = stablehlo.dot_general %c, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d, %e : tensor<4x4xf32>, tensor<4x4xf32>
}

// A scale per row of lhs and per column of rhs (and per batch element) leaves
// the sum; behind a transpose it is transposed.
// CHECK-LABEL: func.func @per_axis
// CHECK: %[[G:.*]] = stablehlo.convert %arg2 : (tensor<2x8x1xbf16>) -> tensor<2x8x1xf32>
// CHECK: %[[F:.*]] = stablehlo.convert %arg3 : (tensor<2x16x1xbf16>) -> tensor<2x16x1xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %arg1, dims = [0, 2, 1] : (tensor<2x16x32xf8E4M3FN>) -> tensor<2x32x16xf8E4M3FN>
// CHECK: %[[S:.*]] = stablehlo.transpose %[[F]], dims = [0, 2, 1] : (tensor<2x16x1xf32>) -> tensor<2x1x16xf32>
// CHECK: "headrace.matmul"(%arg0, %[[T]], %[[G]], %[[S]])
func.func @per_axis(%x: tensor<2x8x32xf8E4M3FN>, %y: tensor<2x16x32xf8E4M3FN>, %sx: tensor<2x8x1xbf16>, %sy: tensor<2x16x1xbf16>) -> tensor<2x8x16xbf16> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x8x32xf8E4M3FN>, tensor<2x8x1xbf16>) -> tensor<2x8x32xbf16>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x16x32xf8E4M3FN>, tensor<2x16x1xbf16>) -> tensor<2x16x32xbf16>
  %t = stablehlo.transpose %b, dims = [0, 2, 1] : (tensor<2x16x32xbf16>) -> tensor<2x32x16xbf16>
  %d = stablehlo.dot_general %a, %t, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x32xbf16>, tensor<2x32x16xbf16>) -> tensor<2x8x16xbf16>
  return %d : tensor<2x8x16xbf16>
}

// A dot without an fp8 value near it: nothing is said.
// CHECK-LABEL: func.func @wide
// CHECK: stablehlo.dot_general
// CHECK-NOT: wide_reason
func.func @wide(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// Nor about products of a product, or of a value quantized long ago.
// CHECK-LABEL: func.func @attention
// CHECK: %[[M:.*]] = "headrace.matmul"
// CHECK: stablehlo.dot_general %[[M]], %[[M]], contracting_dims = [1] x [1] :
func.func @attention(%x: tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  %d = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = stablehlo.dot_general %d, %d, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// A reason from an earlier run goes when it no longer holds.
// CHECK-LABEL: func.func @stale
// CHECK-NOT: wide_reason
func.func @stale(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] {headrace.wide_reason = "old"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// -----

// A conversion to f32 after the dequantize is exact; that bf16 rounds before it
// is kept where the target can.
// CHECK-LABEL: func.func @widened
// CHECK: %[[S:.*]] = stablehlo.convert %arg1 : (tensor<bf16>) -> tensor<f32>
// CHECK: "headrace.matmul"(%arg0, %arg2, %[[S]]) {{.*}}headrace.lhs_rounding = bf16
func.func @widened(%x: tensor<8x8xf8E4M3FN>, %s: tensor<bf16>, %y: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<bf16>) -> tensor<8x8xbf16>
  %r = stablehlo.convert %a : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %d = stablehlo.dot_general %r, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// The same as a linalg.generic, as torch-mlir writes it.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @widened_generic
// CHECK: "headrace.matmul"(%arg0, %arg2, %{{.*}}) {{.*}}headrace.lhs_rounding = f16
func.func @widened_generic(%x: tensor<8x8xf8E4M3FN>, %s: tensor<f16>, %y: tensor<8x8xf8E4M3FN>, %init: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<f16>) -> tensor<8x8xf16>
  %e = tensor.empty() : tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x8xf16>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%i: f16, %o: f32):
    %w = arith.extf %i : f16 to f32
    linalg.yield %w : f32
  } -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %d = linalg.matmul ins(%r, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// What the dequantize computes in f32, and the source rounds to the dot's type:
// the attributes keep the type. Without a scale nothing is rounded.
// CHECK-LABEL: func.func @computed_in_f32
// CHECK: "headrace.matmul"(%arg0, %arg1, %{{.*}}) {{.*}}headrace.lhs_rounding = bf16{{.*}} : (tensor<8x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<8x8xf32>
// CHECK-NOT: rhs_rounding
func.func @computed_in_f32(%x: tensor<8x4xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<f32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %c = stablehlo.convert %a : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %d = stablehlo.convert %b : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %e = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<8x4xbf16>, tensor<4x8xbf16>) -> tensor<8x8xf32>
  return %e : tensor<8x8xf32>
}

// Rounded to bf16 and widened again, behind a transpose: it is bf16 that counts.
// CHECK-LABEL: func.func @rounded_and_widened
// CHECK: %[[T:.*]] = stablehlo.transpose %arg0
// CHECK: "headrace.matmul"(%[[T]], %arg0, %{{.*}}, %{{.*}}) {{.*}}headrace.lhs_rounding = bf16, headrace.rhs_rounding = bf16
func.func @rounded_and_widened(%x: tensor<8x4xf8E4M3FN>, %s: tensor<8x1xf32>) -> tensor<4x4xf32> {
  %one = stablehlo.constant dense<2.0> : tensor<f32>
  %a = "headrace.dequantize"(%x, %one) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
  %b = stablehlo.convert %a : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %c = stablehlo.convert %b : (tensor<8x4xbf16>) -> tensor<8x4xf32>
  %t = stablehlo.transpose %c, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %e = stablehlo.dot_general %t, %c, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// The same in linalg: a truncf, and a generic of one.
// CHECK-LABEL: func.func @computed_in_f32_linalg
// CHECK: "headrace.matmul"(%arg0, %arg1, {{.*}}headrace.lhs_rounding = bf16, headrace.rhs_rounding = bf16
func.func @computed_in_f32_linalg(%x: tensor<8x4xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<f32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %c = arith.truncf %a : tensor<8x4xf32> to tensor<8x4xbf16>
  %e = tensor.empty() : tensor<4x8xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<4x8xf32>) outs(%e : tensor<4x8xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %0 = arith.truncf %in : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<4x8xbf16>
  %o = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%c, %d : tensor<8x4xbf16>, tensor<4x8xbf16>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}
