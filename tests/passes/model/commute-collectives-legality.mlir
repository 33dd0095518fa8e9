// RUN: headrace-opt %s --pass-pipeline='builtin.module(commute-collectives)' | FileCheck %s

// What may stand between a collective and the fp8 value, and what not: those ops
// that are in none of the other files. (Transpose, reshape, broadcast, slice,
// dynamic slice, pad, select, concatenate and reverse are in
// commute-collectives-dequantize.mlir and -quantize.mlir.)

module attributes {headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32} {

// Rows picked by an index that differs between the devices.
// CHECK-LABEL: @rows(
// CHECK-NEXT: %[[R:.*]] = "stablehlo.gather"(%arg0, %arg2) {{.*}} -> tensor<3x4xf8E4M3FN>
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[R]]) {{.*}} -> tensor<12x4xf8E4M3FN>
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %arg1) {{.*}} -> tensor<12x4xf32>
func.func @rows(%x: tensor<8x4xf8E4M3FN>, %s: tensor<f32> {headrace.sharding = "{replicated}"}, %i: tensor<3x1xi32>) -> tensor<12x4xf32> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
  %r = "stablehlo.gather"(%w, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  %g = "headrace.all_gather"(%r) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<3x4xf32>) -> tensor<12x4xf32>
  return %g : tensor<12x4xf32>
}

// With a scale per row the picked rows have scales of their own: it does not follow.
// CHECK-LABEL: @rows_with_scales(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "a per-axis scale does not follow 'stablehlo.gather'"{{.*}} -> tensor<12x4xf32>
func.func @rows_with_scales(%x: tensor<8x4xf8E4M3FN>, %s: tensor<8x1xf32> {headrace.sharding = "{replicated}"}, %i: tensor<3x1xi32>) -> tensor<12x4xf32> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %r = "stablehlo.gather"(%w, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  %g = "headrace.all_gather"(%r) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<3x4xf32>) -> tensor<12x4xf32>
  return %g : tensor<12x4xf32>
}

// Rows picked of what was gathered, then quantized: each device quantizes its part.
// CHECK-LABEL: @rows_after(
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1) {{.*}} -> tensor<8x4xf8E4M3FN>
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[Q]]) {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK-NEXT: "stablehlo.gather"(%[[G]], %arg2) {{.*}} -> tensor<3x4xf8E4M3FN>
func.func @rows_after(%x: tensor<8x4xf32>, %s: tensor<f32> {headrace.sharding = "{replicated}"}, %i: tensor<3x1xi32>) -> tensor<3x4xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %r = "stablehlo.gather"(%g, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<32x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  %q = "headrace.quantize"(%r, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf8E4M3FN>
  return %q : tensor<3x4xf8E4M3FN>
}

// Both values of an update have the same scale.
// CHECK-LABEL: @updated(
// CHECK-NEXT: %[[U:.*]] = stablehlo.dynamic_update_slice %arg0, %arg1, %arg3, %arg3 {{.*}} -> tensor<8x4xf8E4M3FN>
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[U]]) {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %arg2)
func.func @updated(%x: tensor<8x4xf8E4M3FN>, %u: tensor<2x4xf8E4M3FN>, %s: tensor<f32> {headrace.sharding = "{replicated}"}, %i: tensor<i32>) -> tensor<32x4xf32> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
  %v = "headrace.dequantize"(%u, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x4xf8E4M3FN>, tensor<f32>) -> tensor<2x4xf32>
  %b = stablehlo.dynamic_update_slice %w, %v, %i, %i : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  %g = "headrace.all_gather"(%b) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  return %g : tensor<32x4xf32>
}

// The bits of the wide value are no data movement of the fp8 one: they are taken of
// what was gathered.
// CHECK-LABEL: @bits(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%arg0) {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK-NEXT: %[[W:.*]] = "headrace.dequantize"(%[[G]], %arg1) {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.bitcast_convert %[[W]] : (tensor<32x4xf32>) -> tensor<32x4xi32>
// CHECK-NEXT: return %[[B]]
func.func @bits(%x: tensor<8x4xf8E4M3FN>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> tensor<32x4xi32> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
  %b = stablehlo.bitcast_convert %w : (tensor<8x4xf32>) -> tensor<8x4xi32>
  %g = "headrace.all_gather"(%b) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xi32>) -> tensor<32x4xi32>
  return %g : tensor<32x4xi32>
}

// In fp8 a relu would need a positive scale, and a negate make NaN of an FNUZ zero. They
// are done in f32, of what was gathered; the zeros are made in its shape.
// CHECK-LABEL: @relu(
// CHECK-DAG: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<32x4xf32>
// CHECK-DAG: %[[G:.*]] = "headrace.all_gather"(%arg0) {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK: %[[W:.*]] = "headrace.dequantize"(%[[G]], %arg1) {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[M:.*]] = stablehlo.maximum %[[W]], %[[Z]] : tensor<32x4xf32>
// CHECK-NEXT: return %[[M]]
func.func @relu(%x: tensor<8x4xf8E4M3FN>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> tensor<32x4xf32> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %b = stablehlo.maximum %w, %z : tensor<8x4xf32>
  %g = "headrace.all_gather"(%b) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  return %g : tensor<32x4xf32>
}
// CHECK-LABEL: @negated(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%arg0) {{.*}} -> tensor<32x4xf8E4M3FNUZ>
// CHECK-NEXT: %[[W:.*]] = "headrace.dequantize"(%[[G]]) {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[W]] : tensor<32x4xf32>
// CHECK-NEXT: return %[[N]]
func.func @negated(%x: tensor<8x4xf8E4M3FNUZ>) -> tensor<32x4xf32> {
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FNUZ>) -> tensor<8x4xf32>
  %b = stablehlo.negate %w : tensor<8x4xf32>
  %g = "headrace.all_gather"(%b) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  return %g : tensor<32x4xf32>
}

// A scale that is equal on all devices would commute with a sum; it stays where it is.
// CHECK-LABEL: @scaled_sum(
// CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %arg0, %arg1
// CHECK-NEXT: "headrace.reduce_scatter"(%[[M]])
func.func @scaled_sum(%x: tensor<8x4xf32>, %s: tensor<8x4xf32> {headrace.sharding = "{replicated}"}) -> tensor<2x4xf32> {
  %m = stablehlo.multiply %x, %s : tensor<8x4xf32>
  %r = "headrace.reduce_scatter"(%m) {dim = 0 : i64, pipelined = false, reduction = "add", replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
}
