// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(raise-stablehlo,headrace-dce)' | FileCheck %s

// JAX's clip: bounds of another type, converted and broadcast.
// CHECK-LABEL: func.func @jax_clip
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xbf16>, %[[S:.*]]: tensor<bf16>)
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%[[X]], %[[S]]) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4x8xf8E4M3FN>
// CHECK-NEXT: return %[[Q]]
func.func @jax_clip(%x: tensor<4x8xbf16>, %s: tensor<bf16>) -> tensor<4x8xf8E4M3FN> {
  %lo = stablehlo.constant dense<-448.0> : tensor<f32>
  %hi = stablehlo.constant dense<448> : tensor<i32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<bf16>) -> tensor<4x8xbf16>
  %d = stablehlo.divide %x, %b : tensor<4x8xbf16>
  %lo1 = stablehlo.convert %lo : (tensor<f32>) -> tensor<bf16>
  %lo2 = stablehlo.broadcast_in_dim %lo1, dims = [] : (tensor<bf16>) -> tensor<4x8xbf16>
  %m = stablehlo.maximum %lo2, %d : tensor<4x8xbf16>
  %hi1 = stablehlo.convert %hi : (tensor<i32>) -> tensor<bf16>
  %hi2 = stablehlo.broadcast_in_dim %hi1, dims = [] : (tensor<bf16>) -> tensor<4x8xbf16>
  %n = stablehlo.minimum %hi2, %m : tensor<4x8xbf16>
  %q = stablehlo.convert %n : (tensor<4x8xbf16>) -> tensor<4x8xf8E4M3FN>
  return %q : tensor<4x8xf8E4M3FN>
}

// The other nesting order, the bound as second operand, splat constants,
// multiplication with the scale on the left, e5m2, f32.
// CHECK-LABEL: func.func @min_inside
// CHECK-NEXT: "headrace.quantize"(%arg0, %arg1) {{.*}}saturate = true, scale_mode = "multiply"} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E5M2>
func.func @min_inside(%x: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4x8xf8E5M2> {
  %lo = stablehlo.constant dense<-57344.0> : tensor<4x8xf32>
  %hi = stablehlo.constant dense<57344.0> : tensor<4x8xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %d = stablehlo.multiply %b, %x : tensor<4x8xf32>
  %m = stablehlo.minimum %d, %hi : tensor<4x8xf32>
  %n = stablehlo.maximum %m, %lo : tensor<4x8xf32>
  %q = stablehlo.convert %n : (tensor<4x8xf32>) -> tensor<4x8xf8E5M2>
  return %q : tensor<4x8xf8E5M2>
}

// stablehlo.clamp with scalar bounds, one of them negated; f16, fnuz.
// CHECK-LABEL: func.func @clamp_scalar
// CHECK-NEXT: "headrace.quantize"(%arg0, %arg1) {{.*}}saturate = true, scale_mode = "divide"} : (tensor<4x8xf16>, tensor<f16>) -> tensor<4x8xf8E4M3FNUZ>
func.func @clamp_scalar(%x: tensor<4x8xf16>, %s: tensor<f16>) -> tensor<4x8xf8E4M3FNUZ> {
  %hi = stablehlo.constant dense<240.0> : tensor<f16>
  %lo = stablehlo.negate %hi : tensor<f16>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f16>) -> tensor<4x8xf16>
  %d = stablehlo.divide %x, %b : tensor<4x8xf16>
  %n = stablehlo.clamp %lo, %d, %hi : (tensor<f16>, tensor<4x8xf16>, tensor<f16>) -> tensor<4x8xf16>
  %q = stablehlo.convert %n : (tensor<4x8xf16>) -> tensor<4x8xf8E4M3FNUZ>
  return %q : tensor<4x8xf8E4M3FNUZ>
}

// stablehlo.clamp with bounds of the full shape, no scale; f64, e5m2fnuz.
// CHECK-LABEL: func.func @clamp_full
// CHECK-NEXT: "headrace.quantize"(%arg0) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<8xf64>) -> tensor<8xf8E5M2FNUZ>
func.func @clamp_full(%x: tensor<8xf64>) -> tensor<8xf8E5M2FNUZ> {
  %lo = stablehlo.constant dense<-57344.0> : tensor<1xf64>
  %lo1 = stablehlo.reshape %lo : (tensor<1xf64>) -> tensor<f64>
  %lo2 = stablehlo.broadcast_in_dim %lo1, dims = [] : (tensor<f64>) -> tensor<8xf64>
  %hi = stablehlo.constant dense<57344.0> : tensor<8xf64>
  %n = stablehlo.clamp %lo2, %x, %hi : tensor<8xf64>
  %q = stablehlo.convert %n : (tensor<8xf64>) -> tensor<8xf8E5M2FNUZ>
  return %q : tensor<8xf8E5M2FNUZ>
}

// A bound that only rounding to bf16 makes the right one.
// CHECK-LABEL: func.func @rounded_bounds
// CHECK-NEXT: "headrace.quantize"(%arg0) {{.*}}saturate = true
func.func @rounded_bounds(%x: tensor<8xbf16>) -> tensor<8xf8E4M3FN> {
  %lo = stablehlo.constant dense<-448.9> : tensor<f32>
  %hi = stablehlo.constant dense<447.1> : tensor<f32>
  %lo1 = stablehlo.convert %lo : (tensor<f32>) -> tensor<bf16>
  %hi1 = stablehlo.convert %hi : (tensor<f32>) -> tensor<bf16>
  %n = stablehlo.clamp %lo1, %x, %hi1 : (tensor<bf16>, tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %q = stablehlo.convert %n : (tensor<8xbf16>) -> tensor<8xf8E4M3FN>
  return %q : tensor<8xf8E4M3FN>
}

// -----

// Without a clamp the quantize does not saturate, with or without a scale.
// CHECK-LABEL: func.func @unclamped
// CHECK-NEXT: "headrace.quantize"(%arg0) {operandSegmentSizes = array<i32: 1, 0>, saturate = false
// CHECK-NEXT: "headrace.quantize"(%arg0, %arg1) {operandSegmentSizes = array<i32: 1, 1>, saturate = false, scale_mode = "divide"
func.func @unclamped(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>) {
  %q = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %d = stablehlo.divide %x, %b : tensor<8xf32>
  %r = stablehlo.convert %d : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return %q, %r : tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>
}

// A relu and a maximum of two tensors are no clamp.
// CHECK-LABEL: func.func @ordinary_maximum
// CHECK: %[[R:.*]] = stablehlo.maximum
// CHECK: "headrace.quantize"(%[[R]]) {{.*}}saturate = false
// CHECK: %[[M:.*]] = stablehlo.maximum %arg0, %arg1
// CHECK: "headrace.quantize"(%[[M]]) {{.*}}saturate = false
func.func @ordinary_maximum(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>) {
  %zero = stablehlo.constant dense<0.0> : tensor<8xf32>
  %a = stablehlo.maximum %x, %zero : tensor<8xf32>
  %q = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %b = stablehlo.maximum %x, %y : tensor<8xf32>
  %r = stablehlo.convert %b : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return %q, %r : tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>
}

// A relu before the clamp stays outside.
// CHECK-LABEL: func.func @relu_then_clamp
// CHECK: %[[R:.*]] = stablehlo.maximum
// CHECK: "headrace.quantize"(%[[R]]) {{.*}}saturate = true
func.func @relu_then_clamp(%x: tensor<8xf32>) -> tensor<8xf8E4M3FN> {
  %zero = stablehlo.constant dense<0.0> : tensor<8xf32>
  %lo = stablehlo.constant dense<-448.0> : tensor<f32>
  %hi = stablehlo.constant dense<448.0> : tensor<f32>
  %a = stablehlo.maximum %x, %zero : tensor<8xf32>
  %n = stablehlo.clamp %lo, %a, %hi : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %q = stablehlo.convert %n : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return %q : tensor<8xf8E4M3FN>
}

// -----

// Rounding twice is kept: f32 -> bf16 stays an op of its own.
// CHECK-LABEL: func.func @rounds_twice
// CHECK: %[[B:.*]] = stablehlo.convert %arg0 : (tensor<8xf32>) -> tensor<8xbf16>
// CHECK: "headrace.quantize"(%[[B]], %arg1) {{.*}} : (tensor<8xbf16>, tensor<bf16>)
func.func @rounds_twice(%x: tensor<8xf32>, %s: tensor<bf16>) -> tensor<8xf8E4M3FN> {
  %lo = stablehlo.constant dense<-448.0> : tensor<bf16>
  %hi = stablehlo.constant dense<448.0> : tensor<bf16>
  %w = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xbf16>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<bf16>) -> tensor<8xbf16>
  %d = stablehlo.divide %w, %b : tensor<8xbf16>
  %n = stablehlo.clamp %lo, %d, %hi : (tensor<bf16>, tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %q = stablehlo.convert %n : (tensor<8xbf16>) -> tensor<8xf8E4M3FN>
  return %q : tensor<8xf8E4M3FN>
}

// A second division is another op: only the last one joins.
// CHECK-LABEL: func.func @two_divisions
// CHECK: %[[D:.*]] = stablehlo.divide %arg0
// CHECK: "headrace.quantize"(%[[D]], %arg2)
func.func @two_divisions(%x: tensor<8xf32>, %s: tensor<f32>, %t: tensor<f32>) -> tensor<8xf8E4M3FN> {
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %d = stablehlo.divide %x, %b : tensor<8xf32>
  %c = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %e = stablehlo.divide %d, %c : tensor<8xf32>
  %q = stablehlo.convert %e : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return %q : tensor<8xf8E4M3FN>
}

// A scale divided by the data is no scale.
// CHECK-LABEL: func.func @scale_over_data
// CHECK: %[[D:.*]] = stablehlo.divide
// CHECK: "headrace.quantize"(%[[D]]) {operandSegmentSizes = array<i32: 1, 0>
func.func @scale_over_data(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf8E4M3FN> {
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %d = stablehlo.divide %b, %x : tensor<8xf32>
  %q = stablehlo.convert %d : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return %q : tensor<8xf8E4M3FN>
}

// Values in between keep their other users.
// CHECK-LABEL: func.func @other_users
// CHECK: %[[D:.*]] = stablehlo.divide
// CHECK: %[[N:.*]] = stablehlo.clamp {{.*}}%[[D]]
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1)
// CHECK: return %[[Q]], %[[D]], %[[N]]
func.func @other_users(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf8E4M3FN>, tensor<8xf32>, tensor<8xf32>) {
  %lo = stablehlo.constant dense<-448.0> : tensor<f32>
  %hi = stablehlo.constant dense<448.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %d = stablehlo.divide %x, %b : tensor<8xf32>
  %n = stablehlo.clamp %lo, %d, %hi : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %q = stablehlo.convert %n : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return %q, %d, %n : tensor<8xf8E4M3FN>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Scales: one element of any rank, splats, per axis, per block.
// CHECK-LABEL: func.func @flax_scale
// CHECK-NEXT: %[[S:.*]] = stablehlo.convert %arg1 : (tensor<1xf32>) -> tensor<1xbf16>
// CHECK-NEXT: "headrace.quantize"(%arg0, %[[S]]) {{.*}} : (tensor<4x8xbf16>, tensor<1xbf16>)
func.func @flax_scale(%x: tensor<4x8xbf16>, %s: tensor<1xf32>) -> tensor<4x8xf8E4M3FN> {
  %c = stablehlo.convert %s : (tensor<1xf32>) -> tensor<1xbf16>
  %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<1xbf16>) -> tensor<4x8xbf16>
  %d = stablehlo.divide %x, %b : tensor<4x8xbf16>
  %q = stablehlo.convert %d : (tensor<4x8xbf16>) -> tensor<4x8xf8E4M3FN>
  return %q : tensor<4x8xf8E4M3FN>
}

// CHECK-LABEL: func.func @splat_scale
// CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: "headrace.quantize"(%arg0, %[[S]]) {{.*}} : (tensor<4x8xf32>, tensor<f32>)
func.func @splat_scale(%x: tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN> {
  %b = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %d = stablehlo.divide %x, %b : tensor<4x8xf32>
  %q = stablehlo.convert %d : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
  return %q : tensor<4x8xf8E4M3FN>
}

// Keepdims sizes come from the broadcast: no reshape is needed.
// CHECK-LABEL: func.func @per_row
// CHECK-NEXT: "headrace.quantize"(%arg0, %arg1) {{.*}} : (tensor<4x8xf32>, tensor<4x1xf32>)
func.func @per_row(%x: tensor<4x8xf32>, %s: tensor<4x1xf32>) -> tensor<4x8xf8E4M3FN> {
  %b = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %d = stablehlo.divide %x, %b : tensor<4x8xf32>
  %q = stablehlo.convert %d : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
  return %q : tensor<4x8xf8E4M3FN>
}

// Two broadcasts, as JAX writes a vector against a matrix.
// CHECK-LABEL: func.func @per_column
// CHECK-NEXT: %[[S:.*]] = stablehlo.reshape %arg1 : (tensor<8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT: "headrace.quantize"(%arg0, %[[S]])
func.func @per_column(%x: tensor<4x8xf32>, %s: tensor<8xf32>) -> tensor<4x8xf8E4M3FN> {
  %a = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
  %b = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
  %d = stablehlo.divide %x, %b : tensor<4x8xf32>
  %q = stablehlo.convert %d : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
  return %q : tensor<4x8xf8E4M3FN>
}

// Blocks of 4 x 32: repeated inside each block, then reshaped.
// CHECK-LABEL: func.func @per_block
// CHECK-NEXT: "headrace.quantize"(%arg0, %arg1) {{.*}} : (tensor<8x64xf32>, tensor<2x2xf32>)
func.func @per_block(%x: tensor<8x64xf32>, %s: tensor<2x2xf32>) -> tensor<8x64xf8E4M3FN> {
  %a = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x2xf32>) -> tensor<2x4x2x32xf32>
  %b = stablehlo.reshape %a : (tensor<2x4x2x32xf32>) -> tensor<8x64xf32>
  %d = stablehlo.divide %x, %b : tensor<8x64xf32>
  %q = stablehlo.convert %d : (tensor<8x64xf32>) -> tensor<8x64xf8E4M3FN>
  return %q : tensor<8x64xf8E4M3FN>
}

// Not blocks: the scale repeats as a whole. A transposing broadcast is
// materialised as it is written. Neither may become a scale of wrong layout.
// CHECK-LABEL: func.func @not_blocks
// CHECK: %[[D:.*]] = stablehlo.divide
// CHECK: "headrace.quantize"(%[[D]]) {operandSegmentSizes = array<i32: 1, 0>
// CHECK: %[[E:.*]] = stablehlo.divide
// CHECK: "headrace.quantize"(%[[E]]) {operandSegmentSizes = array<i32: 1, 0>
func.func @not_blocks(%x: tensor<64xf32>, %s: tensor<2xf32>, %y: tensor<2x3xf32>, %t: tensor<3x2xf32>) -> (tensor<64xf8E4M3FN>, tensor<2x3xf8E4M3FN>) {
  %a = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<32x2xf32>
  %b = stablehlo.reshape %a : (tensor<32x2xf32>) -> tensor<64xf32>
  %d = stablehlo.divide %x, %b : tensor<64xf32>
  %q = stablehlo.convert %d : (tensor<64xf32>) -> tensor<64xf8E4M3FN>
  %c = stablehlo.broadcast_in_dim %t, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %e = stablehlo.divide %y, %c : tensor<2x3xf32>
  %r = stablehlo.convert %e : (tensor<2x3xf32>) -> tensor<2x3xf8E4M3FN>
  return %q, %r : tensor<64xf8E4M3FN>, tensor<2x3xf8E4M3FN>
}

// After a transposing broadcast the scale starts anew: still per row.
// CHECK-LABEL: func.func @transposed_then_spread
// CHECK: %[[T:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1, 0]
// CHECK: %[[R:.*]] = stablehlo.reshape %[[T]] : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
// CHECK: "headrace.quantize"(%arg0, %[[R]])
func.func @transposed_then_spread(%x: tensor<2x3x8xf32>, %t: tensor<3x2xf32>) -> tensor<2x3x8xf8E4M3FN> {
  %c = stablehlo.broadcast_in_dim %t, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %b = stablehlo.broadcast_in_dim %c, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %d = stablehlo.divide %x, %b : tensor<2x3x8xf32>
  %q = stablehlo.convert %d : (tensor<2x3x8xf32>) -> tensor<2x3x8xf8E4M3FN>
  return %q : tensor<2x3x8xf8E4M3FN>
}

// -----

// Data of dynamic shape, with a scale of one element.
// CHECK-LABEL: func.func @dynamic
// CHECK-NEXT: "headrace.quantize"(%arg0, %arg1) {{.*}} : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf8E4M3FN>
func.func @dynamic(%x: tensor<?x8xf32>, %s: tensor<f32>, %n: tensor<2xi32>) -> tensor<?x8xf8E4M3FN> {
  %b = stablehlo.dynamic_broadcast_in_dim %s, %n, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
  %d = stablehlo.divide %x, %b : tensor<?x8xf32>
  %q = stablehlo.convert %d : (tensor<?x8xf32>) -> tensor<?x8xf8E4M3FN>
  return %q : tensor<?x8xf8E4M3FN>
}

// In the regions of loops too, with bounds from outside.
// CHECK-LABEL: func.func @in_a_loop
// CHECK: stablehlo.while
// CHECK: do
// CHECK-NEXT: "headrace.quantize"(%{{.*}}) {{.*}}saturate = true
// CHECK-NEXT: "headrace.dequantize"
func.func @in_a_loop(%x: tensor<8xf32>, %n: tensor<i1>) -> tensor<8xf32> {
  %lo = stablehlo.constant dense<-448.0> : tensor<f32>
  %hi = stablehlo.constant dense<448.0> : tensor<f32>
  %r:2 = stablehlo.while(%a = %x, %p = %n) : tensor<8xf32>, tensor<i1>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %c = stablehlo.clamp %lo, %a, %hi : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %q = stablehlo.convert %c : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
    %w = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
    stablehlo.return %w, %p : tensor<8xf32>, tensor<i1>
  }
  return %r#0 : tensor<8xf32>
}
