// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(raise-stablehlo,headrace-dce)' | FileCheck %s

// Without a scale, from each fp8 type to each wide type.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: "headrace.dequantize"(%arg0) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
// CHECK-NEXT: "headrace.dequantize"(%arg1) {{.*}} : (tensor<8xf8E5M2>) -> tensor<8xf16>
// CHECK-NEXT: "headrace.dequantize"(%arg2) {{.*}} : (tensor<8xf8E4M3FNUZ>) -> tensor<8xf32>
// CHECK-NEXT: "headrace.dequantize"(%arg3) {{.*}} : (tensor<?xf8E5M2FNUZ>) -> tensor<?xf64>
func.func @plain(%a: tensor<8xf8E4M3FN>, %b: tensor<8xf8E5M2>, %c: tensor<8xf8E4M3FNUZ>, %d: tensor<?xf8E5M2FNUZ>) -> (tensor<8xbf16>, tensor<8xf16>, tensor<8xf32>, tensor<?xf64>) {
  %0 = stablehlo.convert %a : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %1 = stablehlo.convert %b : (tensor<8xf8E5M2>) -> tensor<8xf16>
  %2 = stablehlo.convert %c : (tensor<8xf8E4M3FNUZ>) -> tensor<8xf32>
  %3 = stablehlo.convert %d : (tensor<?xf8E5M2FNUZ>) -> tensor<?xf64>
  return %0, %1, %2, %3 : tensor<8xbf16>, tensor<8xf16>, tensor<8xf32>, tensor<?xf64>
}

// Multiply in both operand orders, divide with the data on the left only.
// CHECK-LABEL: func.func @modes
// CHECK: %[[A:.*]] = "headrace.dequantize"(%arg0, %arg1) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>, tensor<bf16>) -> tensor<8xbf16>
// CHECK-NEXT: %[[B:.*]] = "headrace.dequantize"(%arg0, %arg1) {{.*}}scale_mode = "multiply"
// CHECK-NEXT: %[[C:.*]] = "headrace.dequantize"(%arg0, %arg1) {{.*}}scale_mode = "divide"
// CHECK-NEXT: %[[U:.*]] = "headrace.dequantize"(%arg0) {operandSegmentSizes = array<i32: 1, 0>
// CHECK-NEXT: %[[D:.*]] = stablehlo.divide %{{.*}}, %[[U]]
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @modes(%q: tensor<8xf8E4M3FN>, %s: tensor<bf16>) -> (tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>) {
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<bf16>) -> tensor<8xbf16>
  %w0 = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %0 = stablehlo.multiply %w0, %b : tensor<8xbf16>
  %w1 = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %1 = stablehlo.multiply %b, %w1 : tensor<8xbf16>
  %w2 = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %2 = stablehlo.divide %w2, %b : tensor<8xbf16>
  %w3 = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %3 = stablehlo.divide %b, %w3 : tensor<8xbf16>
  return %0, %1, %2, %3 : tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>
}

// The wide value keeps its other users; two scales give two dequantizes.
// CHECK-LABEL: func.func @other_users
// CHECK: %[[W:.*]] = "headrace.dequantize"(%arg0) {operandSegmentSizes = array<i32: 1, 0>
// CHECK: %[[A:.*]] = "headrace.dequantize"(%arg0, %arg1)
// CHECK: %[[B:.*]] = "headrace.dequantize"(%arg0, %arg2)
// CHECK: return %[[W]], %[[A]], %[[B]]
func.func @other_users(%q: tensor<8xf8E4M3FN>, %s: tensor<f32>, %t: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %w = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %c = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.multiply %w, %b : tensor<8xf32>
  %1 = stablehlo.multiply %w, %c : tensor<8xf32>
  return %w, %0, %1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Only the first of two scales joins: products are not re-associated.
// CHECK-LABEL: func.func @two_scales
// CHECK: %[[D:.*]] = "headrace.dequantize"(%arg0, %arg1)
// CHECK: stablehlo.multiply %[[D]]
func.func @two_scales(%q: tensor<8xf8E4M3FN>, %s: tensor<f32>, %t: tensor<f32>) -> tensor<8xf32> {
  %w = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %c = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.multiply %w, %b : tensor<8xf32>
  %1 = stablehlo.multiply %0, %c : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// An ordinary product is no scale.
// CHECK-LABEL: func.func @product
// CHECK: %[[D:.*]] = "headrace.dequantize"(%arg0) {operandSegmentSizes = array<i32: 1, 0>
// CHECK: stablehlo.multiply %[[D]], %arg1
func.func @product(%q: tensor<8xf8E4M3FN>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %w = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  %0 = stablehlo.multiply %w, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A second convert: both are exact, one is left. Then the scale is f32.
// CHECK-LABEL: func.func @second_convert
// CHECK-NEXT: "headrace.dequantize"(%arg0, %arg1) {{.*}} : (tensor<8xf8E4M3FN>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: return
func.func @second_convert(%q: tensor<8xf8E4M3FN>, %s: tensor<f32>) -> tensor<8xf32> {
  %w = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %v = stablehlo.convert %w : (tensor<8xbf16>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.multiply %v, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// After the scale a convert rounds: it stays.
// CHECK-LABEL: func.func @convert_after_scale
// CHECK: %[[D:.*]] = "headrace.dequantize"(%arg0, %arg1) {{.*}} -> tensor<8xf32>
// CHECK: stablehlo.convert %[[D]] : (tensor<8xf32>) -> tensor<8xbf16>
func.func @convert_after_scale(%q: tensor<8xf8E4M3FN>, %s: tensor<f32>) -> tensor<8xbf16> {
  %w = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.multiply %w, %b : tensor<8xf32>
  %1 = stablehlo.convert %0 : (tensor<8xf32>) -> tensor<8xbf16>
  return %1 : tensor<8xbf16>
}

// Quantize-dequantize twice: both pairs stay, in order.
// CHECK-LABEL: func.func @twice
// CHECK: %[[Q0:.*]] = "headrace.quantize"(%arg0, %arg1)
// CHECK: %[[D0:.*]] = "headrace.dequantize"(%[[Q0]], %arg1)
// CHECK: %[[Q1:.*]] = "headrace.quantize"(%[[D0]], %arg2)
// CHECK: %[[D1:.*]] = "headrace.dequantize"(%[[Q1]], %arg2)
// CHECK: return %[[D1]]
func.func @twice(%x: tensor<8xf32>, %s: tensor<f32>, %t: tensor<f32>) -> tensor<8xf32> {
  %lo = stablehlo.constant dense<-448.0> : tensor<f32>
  %hi = stablehlo.constant dense<448.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.divide %x, %b : tensor<8xf32>
  %1 = stablehlo.clamp %lo, %0, %hi : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.convert %1 : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %3 = stablehlo.convert %2 : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  %4 = stablehlo.multiply %3, %b : tensor<8xf32>
  %c = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %5 = stablehlo.divide %4, %c : tensor<8xf32>
  %6 = stablehlo.clamp %lo, %5, %hi : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %7 = stablehlo.convert %6 : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %8 = stablehlo.convert %7 : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  %9 = stablehlo.multiply %8, %c : tensor<8xf32>
  return %9 : tensor<8xf32>
}

// A convert to fp8 and back is the quantization itself, with or without scale.
// CHECK-LABEL: func.func @round_trip
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0) {{.*}}saturate = false
// CHECK: "headrace.dequantize"(%[[Q]])
func.func @round_trip(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  %q = stablehlo.convert %x : (tensor<8xbf16>) -> tensor<8xf8E4M3FN>
  %w = stablehlo.convert %q : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  return %w : tensor<8xbf16>
}

// -----

// Scales of one element, per axis, per block; Flax's on the last dimension.
// CHECK-LABEL: func.func @flax
// CHECK-NEXT: "headrace.dequantize"(%arg0, %arg1) {{.*}} : (tensor<4x8xf8E4M3FN>, tensor<1xbf16>) -> tensor<4x8xbf16>
func.func @flax(%q: tensor<4x8xf8E4M3FN>, %s: tensor<1xbf16>) -> tensor<4x8xbf16> {
  %w = stablehlo.convert %q : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xbf16>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<1xbf16>) -> tensor<4x8xbf16>
  %0 = stablehlo.multiply %w, %b : tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// CHECK-LABEL: func.func @per_row
// CHECK-NEXT: %[[S:.*]] = stablehlo.reshape %arg1 : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: "headrace.dequantize"(%arg0, %[[S]]) {{.*}}scale_mode = "divide"
func.func @per_row(%q: tensor<4x8xf8E5M2>, %s: tensor<4xf32>) -> tensor<4x8xf32> {
  %w = stablehlo.convert %q : (tensor<4x8xf8E5M2>) -> tensor<4x8xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %0 = stablehlo.divide %w, %b : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Batch and column vary, the row does not.
// CHECK-LABEL: func.func @two_axes
// CHECK-NEXT: %[[S:.*]] = stablehlo.reshape %arg1 : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
// CHECK-NEXT: "headrace.dequantize"(%arg0, %[[S]])
func.func @two_axes(%q: tensor<2x4x8xf8E4M3FN>, %s: tensor<2x8xf32>) -> tensor<2x4x8xf32> {
  %w = stablehlo.convert %q : (tensor<2x4x8xf8E4M3FN>) -> tensor<2x4x8xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x4x8xf32>
  %0 = stablehlo.multiply %w, %b : tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// The data is reshaped to blocks, scaled and reshaped back.
// CHECK-LABEL: func.func @blocks_by_data
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %arg0 : (tensor<4x64xf8E4M3FN>) -> tensor<4x2x32xf8E4M3FN>
// CHECK-NEXT: %[[S:.*]] = stablehlo.reshape %arg1 : (tensor<4x2xbf16>) -> tensor<4x2x1xbf16>
// CHECK-NEXT: %[[D:.*]] = "headrace.dequantize"(%[[R]], %[[S]])
// CHECK-NEXT: stablehlo.reshape %[[D]]
func.func @blocks_by_data(%q: tensor<4x64xf8E4M3FN>, %s: tensor<4x2xbf16>) -> tensor<4x64xbf16> {
  %w = stablehlo.convert %q : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xbf16>
  %r = stablehlo.reshape %w : (tensor<4x64xbf16>) -> tensor<4x2x32xbf16>
  %b = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<4x2xbf16>) -> tensor<4x2x32xbf16>
  %m = stablehlo.multiply %r, %b : tensor<4x2x32xbf16>
  %t = stablehlo.reshape %m : (tensor<4x2x32xbf16>) -> tensor<4x64xbf16>
  return %t : tensor<4x64xbf16>
}

// The scale is spread over the blocks.
// CHECK-LABEL: func.func @blocks_by_scale
// CHECK-NEXT: "headrace.dequantize"(%arg0, %arg1) {{.*}} : (tensor<4x64xf8E4M3FN>, tensor<4x2xbf16>)
func.func @blocks_by_scale(%q: tensor<4x64xf8E4M3FN>, %s: tensor<4x2xbf16>) -> tensor<4x64xbf16> {
  %w = stablehlo.convert %q : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xbf16>
  %b = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<4x2xbf16>) -> tensor<4x2x32xbf16>
  %r = stablehlo.reshape %b : (tensor<4x2x32xbf16>) -> tensor<4x64xbf16>
  %m = stablehlo.multiply %r, %w : tensor<4x64xbf16>
  return %m : tensor<4x64xbf16>
}

// A transpose between convert and scale is done on the fp8 value; the wide
// transposed value keeps its other user.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[W:.*]] = "headrace.dequantize"(%arg0) {operandSegmentSizes = array<i32: 1, 0>
// CHECK: %[[V:.*]] = stablehlo.transpose %[[W]]
// CHECK: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf8E4M3FN>) -> tensor<8x4xf8E4M3FN>
// CHECK: %[[D:.*]] = "headrace.dequantize"(%[[T]], %arg1)
// CHECK: return %[[D]], %[[V]]
func.func @transposed(%q: tensor<4x8xf8E4M3FN>, %s: tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %w = stablehlo.convert %q : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %m = stablehlo.multiply %t, %b : tensor<8x4xf32>
  return %m, %t : tensor<8x4xf32>, tensor<8x4xf32>
}

// A scale that is itself fp8.
// CHECK-LABEL: func.func @fp8_scale
// CHECK: %[[S:.*]] = "headrace.dequantize"(%arg1) {operandSegmentSizes = array<i32: 1, 0>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[S]] : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK: "headrace.dequantize"(%arg0, %[[R]])
func.func @fp8_scale(%q: tensor<4x16xf8E4M3FN>, %s: tensor<4xf8E4M3FN>) -> tensor<4x16xf32> {
  %w = stablehlo.convert %q : (tensor<4x16xf8E4M3FN>) -> tensor<4x16xf32>
  %v = stablehlo.convert %s : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
  %m = stablehlo.multiply %w, %b : tensor<4x16xf32>
  return %m : tensor<4x16xf32>
}

// -----

// A convert joins a scale inside a loop, but no transpose is moved into one.
// CHECK-LABEL: func.func @into_a_loop
// CHECK: %[[T:.*]] = stablehlo.transpose %{{.*}} : (tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK: stablehlo.while
// CHECK: do
// CHECK-NOT: stablehlo.transpose
// CHECK: "headrace.dequantize"(%arg1, %arg2)
// CHECK: stablehlo.multiply %[[T]]
func.func @into_a_loop(%q: tensor<4x8xf8E4M3FN>, %r: tensor<8x4xf8E4M3FN>, %s: tensor<f32>, %n: tensor<i1>) -> tensor<8x4xf32> {
  %w = stablehlo.convert %q : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %v = stablehlo.convert %r : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xf32>
  %x:2 = stablehlo.while(%a = %t, %p = %n) : tensor<8x4xf32>, tensor<i1>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %0 = stablehlo.multiply %v, %b : tensor<8x4xf32>
    %1 = stablehlo.multiply %t, %b : tensor<8x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<8x4xf32>
    stablehlo.return %2, %p : tensor<8x4xf32>, tensor<i1>
  }
  return %x#0 : tensor<8x4xf32>
}
