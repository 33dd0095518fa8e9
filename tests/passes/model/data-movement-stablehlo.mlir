// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-scaled-matmul)' | FileCheck %s

// Each StableHLO op that moves data, on its way from a dequantize to a dot. The
// dots contract dims of any size; what counts is the op on the fp8 value.

// Values with one scale are joined; zeros have every scale.
// CHECK-LABEL: func.func @concatenate
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2x8xf8E4M3FN>
// CHECK: %[[R:.*]] = stablehlo.concatenate %arg1, %[[Z]], %arg1, dim = 0 : (tensor<4x8xf8E4M3FN>, tensor<2x8xf8E4M3FN>, tensor<4x8xf8E4M3FN>) -> tensor<10x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[R]]
func.func @concatenate(%x: tensor<8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>) -> tensor<10xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %z = stablehlo.constant dense<0.0> : tensor<2x8xbf16>
  %r = stablehlo.concatenate %b, %z, %b, dim = 0 : (tensor<4x8xbf16>, tensor<2x8xbf16>, tensor<4x8xbf16>) -> tensor<10x8xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [1] : (tensor<8xbf16>, tensor<10x8xbf16>) -> tensor<10xf32>
  return %d : tensor<10xf32>
}

// Reverse.
// CHECK-LABEL: func.func @reverse
// CHECK: %[[R:.*]] = stablehlo.reverse %arg1, dims = [0] : tensor<4x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[R]]
func.func @reverse(%x: tensor<8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>) -> tensor<4xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %r = stablehlo.reverse %b, dims = [0] : tensor<4x8xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [1] : (tensor<8xbf16>, tensor<4x8xbf16>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// Rows by index.
// CHECK-LABEL: func.func @gather
// CHECK: %[[R:.*]] = "stablehlo.gather"(%arg1, %arg3) {{.*}} : (tensor<4x8xf8E4M3FN>, tensor<3x1xi32>) -> tensor<3x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[R]]
func.func @gather(%x: tensor<8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>, %i: tensor<3x1xi32>) -> tensor<3xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %r = "stablehlo.gather"(%b, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xbf16>, tensor<3x1xi32>) -> tensor<3x8xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [1] : (tensor<8xbf16>, tensor<3x8xbf16>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// A part written into zeros.
// CHECK-LABEL: func.func @dynamic_update_slice
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<6x8xf8E4M3FN>
// CHECK: %[[R:.*]] = stablehlo.dynamic_update_slice %[[Z]], %arg1, %arg3, %arg3
// CHECK: "headrace.matmul"(%arg0, %[[R]]
func.func @dynamic_update_slice(%x: tensor<8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>, %i: tensor<i32>) -> tensor<6xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %z = stablehlo.constant dense<0.0> : tensor<6x8xbf16>
  %r = stablehlo.dynamic_update_slice %z, %b, %i, %i : (tensor<6x8xbf16>, tensor<4x8xbf16>, tensor<i32>, tensor<i32>) -> tensor<6x8xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [1] : (tensor<8xbf16>, tensor<6x8xbf16>) -> tensor<6xf32>
  return %d : tensor<6xf32>
}

// Padding inside and outside, and cutting by it.
// CHECK-LABEL: func.func @pad
// CHECK: %[[R:.*]] = stablehlo.pad %arg1, %{{.*}}, low = [1, -1], high = [2, 0], interior = [1, 0] : (tensor<4x8xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<10x7xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[R]]
func.func @pad(%x: tensor<7xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>) -> tensor<10xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<7xf8E4M3FN>) -> tensor<7xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %r = stablehlo.pad %b, %z, low = [1, -1], high = [2, 0], interior = [1, 0] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<10x7xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [1] : (tensor<7xbf16>, tensor<10x7xbf16>) -> tensor<10xf32>
  return %d : tensor<10xf32>
}

// Ops whose shapes are operands.
// CHECK-LABEL: func.func @dynamic_shapes
// CHECK: stablehlo.real_dynamic_slice %arg1, %arg3, %arg3, %arg3 : {{.*}} -> tensor<?x8xf8E4M3FN>
// CHECK: stablehlo.dynamic_reshape %{{.*}}, %arg4 : (tensor<?x8xf8E4M3FN>, tensor<3xi32>) -> tensor<?x2x4xf8E4M3FN>
// CHECK: %[[R:.*]] = stablehlo.dynamic_broadcast_in_dim %{{.*}}, %arg4, dims = [0, 1, 2] : (tensor<?x2x4xf8E4M3FN>, tensor<3xi32>) -> tensor<3x2x4xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[R]]
func.func @dynamic_shapes(%x: tensor<4xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>, %i: tensor<2xi32>, %j: tensor<3xi32>) -> tensor<3x2xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %0 = stablehlo.real_dynamic_slice %b, %i, %i, %i : (tensor<4x8xbf16>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x8xbf16>
  %1 = stablehlo.dynamic_reshape %0, %j : (tensor<?x8xbf16>, tensor<3xi32>) -> tensor<?x2x4xbf16>
  %r = stablehlo.dynamic_broadcast_in_dim %1, %j, dims = [0, 1, 2] : (tensor<?x2x4xbf16>, tensor<3xi32>) -> tensor<3x2x4xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [2] : (tensor<4xbf16>, tensor<3x2x4xbf16>) -> tensor<3x2xf32>
  return %d : tensor<3x2xf32>
}

// Scales per axis are moved as the data are.

// A slice of the scaled dim cuts the scale at the same places.
// CHECK-LABEL: func.func @scale_slice
// CHECK-DAG: %[[S:.*]] = stablehlo.slice %{{.*}} [1:4:2, 0:1] : (tensor<4x1xf32>) -> tensor<2x1xf32>
// CHECK-DAG: %[[R:.*]] = stablehlo.slice %arg1 [1:4:2, 0:6] : (tensor<4x8xf8E4M3FN>)
// CHECK: "headrace.matmul"(%arg0, %[[R]], %[[S]])
func.func @scale_slice(%x: tensor<6xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<4x1xbf16>) -> tensor<2xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<6xf8E4M3FN>) -> tensor<6xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<4x1xbf16>) -> tensor<4x8xbf16>
  %r = stablehlo.slice %b [1:4:2, 0:6] : (tensor<4x8xbf16>) -> tensor<2x6xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [1] : (tensor<6xbf16>, tensor<2x6xbf16>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

// At run time as well; in a dim of size 1 the start is clamped to 0.
// CHECK-LABEL: func.func @scale_dynamic_slice
// CHECK-DAG: %[[S:.*]] = stablehlo.dynamic_slice %{{.*}}, %arg3, %arg3, sizes = [2, 1] : (tensor<4x1xf32>
// CHECK-DAG: %[[R:.*]] = stablehlo.dynamic_slice %arg1, %arg3, %arg3, sizes = [2, 6] : (tensor<4x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[R]], %[[S]])
func.func @scale_dynamic_slice(%x: tensor<6xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<4x1xbf16>, %i: tensor<i32>) -> tensor<2xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<6xf8E4M3FN>) -> tensor<6xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<4x1xbf16>) -> tensor<4x8xbf16>
  %r = stablehlo.dynamic_slice %b, %i, %i, sizes = [2, 6] : (tensor<4x8xbf16>, tensor<i32>, tensor<i32>) -> tensor<2x6xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [1] : (tensor<6xbf16>, tensor<2x6xbf16>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

// A broadcast leaves the scale 1 along new dims.
// CHECK-LABEL: func.func @scale_broadcast
// CHECK-DAG: %[[S:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [2, 1] : (tensor<4x1xf32>) -> tensor<1x1x4xf32>
// CHECK-DAG: %[[R:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [2, 1] : (tensor<4x8xf8E4M3FN>) -> tensor<3x8x4xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[R]], %[[S]])
func.func @scale_broadcast(%x: tensor<8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<4x1xbf16>) -> tensor<3x4xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<4x1xbf16>) -> tensor<4x8xbf16>
  %r = stablehlo.broadcast_in_dim %b, dims = [2, 1] : (tensor<4x8xbf16>) -> tensor<3x8x4xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [1] : (tensor<8xbf16>, tensor<3x8x4xbf16>) -> tensor<3x4xf32>
  return %d : tensor<3x4xf32>
}

// A reshape may split the scaled dim, and add and drop dims of size 1.
// CHECK-LABEL: func.func @scale_reshape
// CHECK-DAG: %[[S:.*]] = stablehlo.reshape %{{.*}} : (tensor<4x1xf32>) -> tensor<1x2x2x1xf32>
// CHECK-DAG: %[[R:.*]] = stablehlo.reshape %arg1 : (tensor<4x8xf8E4M3FN>) -> tensor<1x2x2x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[R]], %[[S]])
func.func @scale_reshape(%x: tensor<8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<4x1xbf16>) -> tensor<1x2x2xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<4x1xbf16>) -> tensor<4x8xbf16>
  %r = stablehlo.reshape %b : (tensor<4x8xbf16>) -> tensor<1x2x2x8xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [3] : (tensor<8xbf16>, tensor<1x2x2x8xbf16>) -> tensor<1x2x2xf32>
  return %d : tensor<1x2x2xf32>
}

// Reverse.
// CHECK-LABEL: func.func @scale_reverse
// CHECK-DAG: %[[S:.*]] = stablehlo.reverse %{{.*}}, dims = [0, 1] : tensor<4x1xf32>
// CHECK-DAG: %[[R:.*]] = stablehlo.reverse %arg1, dims = [0, 1] : tensor<4x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[R]], %[[S]])
func.func @scale_reverse(%x: tensor<8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<4x1xbf16>) -> tensor<4xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<4x1xbf16>) -> tensor<4x8xbf16>
  %r = stablehlo.reverse %b, dims = [0, 1] : tensor<4x8xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [1] : (tensor<8xbf16>, tensor<4x8xbf16>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// Padding, joining and selecting along other dims leave the scale as it is.
// CHECK-LABEL: func.func @scale_stays
// CHECK: %[[S:.*]] = stablehlo.convert %arg2 : (tensor<4x1xbf16>) -> tensor<4x1xf32>
// CHECK: %[[R:.*]] = stablehlo.select %arg3, %{{.*}}, %{{.*}} : tensor<4x20xi1>, tensor<4x20xf8E4M3FN>
// CHECK: "headrace.matmul"(%arg0, %[[R]], %[[S]])
func.func @scale_stays(%x: tensor<20xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<4x1xbf16>, %p: tensor<4x20xi1>) -> tensor<4xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<20xf8E4M3FN>) -> tensor<20xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<4x1xbf16>) -> tensor<4x8xbf16>
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.pad %b, %z, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4x17xbf16>
  %y0 = stablehlo.constant dense<0.0> : tensor<4x3xbf16>
  %1 = stablehlo.concatenate %0, %y0, dim = 1 : (tensor<4x17xbf16>, tensor<4x3xbf16>) -> tensor<4x20xbf16>
  %z1 = stablehlo.constant dense<0.0> : tensor<4x20xbf16>
  %r = stablehlo.select %p, %1, %z1 : tensor<4x20xi1>, tensor<4x20xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [1] : (tensor<20xbf16>, tensor<4x20xbf16>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// A scale of one element in the data's rank is a scale per tensor.
// CHECK-LABEL: func.func @scale_of_one
// CHECK: %[[S:.*]] = stablehlo.convert %arg2 : (tensor<1x1xbf16>) -> tensor<1x1xf32>
// CHECK: "headrace.matmul"(%arg0, %{{.*}}, %[[S]])
func.func @scale_of_one(%x: tensor<32xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<1x1xbf16>) -> tensor<f32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32xf8E4M3FN>) -> tensor<32xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<1x1xbf16>) -> tensor<4x8xbf16>
  %r = stablehlo.reshape %b : (tensor<4x8xbf16>) -> tensor<32xbf16>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [0] x [0] : (tensor<32xbf16>, tensor<32xbf16>) -> tensor<f32>
  return %d : tensor<f32>
}
