// RUN: headrace-opt %s --pass-pipeline='builtin.module(commute-collectives)' | FileCheck %s

// Per-axis and per-block scales.

module attributes {headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32} {

// One scale per row, rows gathered: the scales are gathered with the data,
// equal or not.
// CHECK-LABEL: @gathered_rows(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%arg0) {{.*}} -> tensor<32x16xf8E4M3FN>
// CHECK-NEXT: %[[S:.*]] = "headrace.all_gather"(%arg1) {dim = 0 : i64, {{.*}} : (tensor<8x1xbf16>) -> tensor<32x1xbf16>
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %[[S]]) {{.*}} -> tensor<32x16xbf16>
// CHECK-NOT: wide_reason
func.func @gathered_rows(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xbf16>) -> tensor<32x16xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x16xbf16>) -> tensor<32x16xbf16>
  return %g : tensor<32x16xbf16>
}

// Blocks along the gathered dimension: a shard holds whole blocks.
// CHECK-LABEL: @gathered_blocks(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%arg0) {{.*}} -> tensor<32x16xf8E4M3FN>
// CHECK-NEXT: %[[S:.*]] = "headrace.all_gather"(%arg1) {{.*}} : (tensor<2x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %[[S]])
func.func @gathered_blocks(%x: tensor<8x16xf8E4M3FN>, %s: tensor<2x4xf32>) -> tensor<32x16xf32> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<2x4xf32>) -> tensor<8x16xf32>
  %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x16xf32>) -> tensor<32x16xf32>
  return %g : tensor<32x16xf32>
}

// One scale per column, rows gathered: it must be equal on the group ...
// CHECK-LABEL: @equal_columns(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%arg0) {{.*}} -> tensor<32x16xf8E4M3FN>
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %arg1)
func.func @equal_columns(%x: tensor<8x16xf8E4M3FN>, %s: tensor<1x16xbf16> {headrace.sharding = "{replicated}"}) -> tensor<32x16xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<1x16xbf16>) -> tensor<8x16xbf16>
  %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x16xbf16>) -> tensor<32x16xbf16>
  return %g : tensor<32x16xbf16>
}
// ... else it is refused.
// CHECK-LABEL: @unequal_columns(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "the scale is not proved equal
func.func @unequal_columns(%x: tensor<8x16xf8E4M3FN>, %s: tensor<1x16xbf16>) -> tensor<32x16xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<1x16xbf16>) -> tensor<8x16xbf16>
  %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x16xbf16>) -> tensor<32x16xbf16>
  return %g : tensor<32x16xbf16>
}

// The scale is moved like the data.
// CHECK-LABEL: @transposed(
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0]
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[T]] : (tensor<16x8xf8E4M3FN>) -> tensor<4x4x8xf8E4M3FN>
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[R]]) {{.*}} -> tensor<4x4x32xf8E4M3FN>
// CHECK-NEXT: %[[ST:.*]] = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<8x1xbf16>) -> tensor<1x8xbf16>
// CHECK-NEXT: %[[SR:.*]] = stablehlo.reshape %[[ST]] : (tensor<1x8xbf16>) -> tensor<1x1x8xbf16>
// CHECK-NEXT: %[[SG:.*]] = "headrace.all_gather"(%[[SR]]) {dim = 2 : i64, {{.*}} -> tensor<1x1x32xbf16>
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %[[SG]])
func.func @transposed(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xbf16>) -> tensor<4x4x32xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<8x16xbf16>) -> tensor<16x8xbf16>
  %r = stablehlo.reshape %t : (tensor<16x8xbf16>) -> tensor<4x4x8xbf16>
  %g = "headrace.all_gather"(%r) {dim = 2 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<4x4x8xbf16>) -> tensor<4x4x32xbf16>
  return %g : tensor<4x4x32xbf16>
}

// A reshape that merges the dimension of the scale comes after both gathers: the
// devices' parts follow each other in the merged dimension as in the rows.
// CHECK-LABEL: @merged(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%arg0) {dim = 0 : i64, {{.*}} -> tensor<32x16xf8E4M3FN>
// CHECK-NEXT: %[[S:.*]] = "headrace.all_gather"(%arg1) {dim = 0 : i64, {{.*}} -> tensor<32x1xbf16>
// CHECK-NEXT: %[[W:.*]] = "headrace.dequantize"(%[[G]], %[[S]]) {{.*}} -> tensor<32x16xbf16>
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[W]] : (tensor<32x16xbf16>) -> tensor<512xbf16>
// CHECK-NEXT: return %[[R]]
func.func @merged(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xbf16>) -> tensor<512xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %r = stablehlo.reshape %w : (tensor<8x16xbf16>) -> tensor<128xbf16>
  %g = "headrace.all_gather"(%r) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<128xbf16>) -> tensor<512xbf16>
  return %g : tensor<512xbf16>
}

// Where the parts are joined along a dimension that the reshape mixes with another,
// they are in no dimension of the data.
// CHECK-LABEL: @mixed(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "'stablehlo.reshape' merges or splits the dimension of a per-axis scale"{{.*}} -> tensor<4x128xbf16>
func.func @mixed(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xbf16>) -> tensor<4x128xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %r = stablehlo.reshape %w : (tensor<8x16xbf16>) -> tensor<4x32xbf16>
  %g = "headrace.all_gather"(%r) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<4x32xbf16>) -> tensor<4x128xbf16>
  return %g : tensor<4x128xbf16>
}

// A slice of data and scale at an offset that differs: one row is left, with
// a one-element scale that is no longer equal.
// CHECK-LABEL: @sliced_unequally(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "the scale is not proved equal over the replica groups {{.*}}: it depends on the result of headrace.partition_id
func.func @sliced_unequally(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xbf16> {headrace.sharding = "{replicated}"}) -> tensor<1x64xbf16> {
  %p = "headrace.partition_id"() : () -> tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %r = stablehlo.dynamic_slice %w, %p, %z, sizes = [1, 16] : (tensor<8x16xbf16>, tensor<i32>, tensor<i32>) -> tensor<1x16xbf16>
  %g = "headrace.all_gather"(%r) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<1x16xbf16>) -> tensor<1x64xbf16>
  return %g : tensor<1x64xbf16>
}

// All-to-all: the parts of the scale go with the parts of the data.
// CHECK-LABEL: @exchanged_rows(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_to_all"(%arg0) {{.*}} -> tensor<2x64xf8E4M3FN>
// CHECK-NEXT: %[[S:.*]] = "headrace.all_to_all"(%arg1) {concat_dim = 1 : i64, {{.*}}split_dim = 0 : i64} : (tensor<8x1xbf16>) -> tensor<2x4xbf16>
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %[[S]])
func.func @exchanged_rows(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xbf16>) -> tensor<2x64xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %g = "headrace.all_to_all"(%w) {concat_dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, split_dim = 0 : i64} : (tensor<8x16xbf16>) -> tensor<2x64xbf16>
  return %g : tensor<2x64xbf16>
}
// A scale that varies along the concatenated dimension only: it is gathered.
// CHECK-LABEL: @exchanged_columns(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_to_all"(%arg0) {{.*}} -> tensor<2x64xf8E4M3FN>
// CHECK-NEXT: %[[S:.*]] = "headrace.all_gather"(%arg1) {dim = 1 : i64, {{.*}} : (tensor<1x2xbf16>) -> tensor<1x8xbf16>
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %[[S]])
func.func @exchanged_columns(%x: tensor<8x16xf8E4M3FN>, %s: tensor<1x2xbf16>) -> tensor<2x64xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<1x2xbf16>) -> tensor<8x16xbf16>
  %g = "headrace.all_to_all"(%w) {concat_dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, split_dim = 0 : i64} : (tensor<8x16xbf16>) -> tensor<2x64xbf16>
  return %g : tensor<2x64xbf16>
}
// Two blocks of rows for four devices: a block would be cut.
// CHECK-LABEL: @cut_blocks(
// CHECK: "headrace.all_to_all"({{.*}}headrace.wide_reason = "a part of dimension 0 for one of 4 devices holds no whole number of the scale's 2 blocks"
func.func @cut_blocks(%x: tensor<8x16xf8E4M3FN>, %s: tensor<2x1xbf16> {headrace.sharding = "{replicated}"}) -> tensor<2x64xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<2x1xbf16>) -> tensor<8x16xbf16>
  %g = "headrace.all_to_all"(%w) {concat_dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, split_dim = 0 : i64} : (tensor<8x16xbf16>) -> tensor<2x64xbf16>
  return %g : tensor<2x64xbf16>
}

// Permute: an equal scale stays, another goes with the data.
// CHECK-LABEL: @permuted_equal(
// CHECK-NEXT: %[[G:.*]] = "headrace.collective_permute"(%arg0)
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %arg1)
func.func @permuted_equal(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xbf16> {headrace.sharding = "{replicated}"}) -> tensor<8x16xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %g = "headrace.collective_permute"(%w) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3],[3,0]]> : tensor<4x2xi64>} : (tensor<8x16xbf16>) -> tensor<8x16xbf16>
  return %g : tensor<8x16xbf16>
}
// CHECK-LABEL: @permuted_unequal(
// CHECK-NEXT: %[[G:.*]] = "headrace.collective_permute"(%arg0)
// CHECK-NEXT: %[[S:.*]] = "headrace.collective_permute"(%arg1) {{.*}} -> tensor<8x1xbf16>
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %[[S]])
func.func @permuted_unequal(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xbf16>) -> tensor<8x16xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %g = "headrace.collective_permute"(%w) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3],[3,0]]> : tensor<4x2xi64>} : (tensor<8x16xbf16>) -> tensor<8x16xbf16>
  return %g : tensor<8x16xbf16>
}
// Zeros and a scale that travels: a device without data has no scale.
// CHECK-LABEL: @permuted_partially(
// CHECK: "headrace.collective_permute"({{.*}}headrace.wide_reason = "devices [0] receive zeros
func.func @permuted_partially(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xbf16>) -> tensor<8x16xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %g = "headrace.collective_permute"(%w) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3]]> : tensor<3x2xi64>} : (tensor<8x16xbf16>) -> tensor<8x16xbf16>
  return %g : tensor<8x16xbf16>
}

// A scale as large as the data is not worth a collective of its own.
// CHECK-LABEL: @large_scale(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "the scale would travel too: 128 bytes, where fp8 saves 128"
func.func @large_scale(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x8xbf16>) -> tensor<32x16xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x8xbf16>) -> tensor<8x16xbf16>
  %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x16xbf16>) -> tensor<32x16xbf16>
  return %g : tensor<32x16xbf16>
}

// Two values with one per-axis scale are joined along the other axis.
// CHECK-LABEL: @joined(
// CHECK-NEXT: %[[C:.*]] = stablehlo.concatenate %arg0, %arg2, dim = 1 : (tensor<8x16xf8E4M3FN>, tensor<8x16xf8E4M3FN>) -> tensor<8x32xf8E4M3FN>
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[C]])
// CHECK-NEXT: %[[S:.*]] = "headrace.all_gather"(%arg1)
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %[[S]])
func.func @joined(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xbf16>, %y: tensor<8x16xf8E4M3FN>) -> tensor<32x32xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %v = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xbf16>) -> tensor<8x16xbf16>
  %c = stablehlo.concatenate %w, %v, dim = 1 : (tensor<8x16xbf16>, tensor<8x16xbf16>) -> tensor<8x32xbf16>
  %g = "headrace.all_gather"(%c) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xbf16>) -> tensor<32x32xbf16>
  return %g : tensor<32x32xbf16>
}

// Quantize side: each device would need its own part of the scale.
// CHECK-LABEL: @quantized_rows(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "the scale varies along dimension 0, along which the devices hold different parts"
func.func @quantized_rows(%x: tensor<8x16xbf16>, %s: tensor<32x1xbf16> {headrace.sharding = "{replicated}"}) -> tensor<32x16xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x16xbf16>) -> tensor<32x16xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x16xbf16>, tensor<32x1xbf16>) -> tensor<32x16xf8E4M3FN>
  return %q : tensor<32x16xf8E4M3FN>
}
// A scale along the other dimension is the same for all parts.
// CHECK-LABEL: @quantized_behind_movement(
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x16xbf16>) -> tensor<16x8xbf16>
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%[[T]], %arg1) {{.*}} : (tensor<16x8xbf16>, tensor<16x1xbf16>) -> tensor<16x8xf8E4M3FN>
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[Q]]) {dim = 1 : i64, {{.*}} -> tensor<16x32xf8E4M3FN>
// CHECK-NEXT: return %[[G]]
func.func @quantized_behind_movement(%x: tensor<8x16xbf16>, %s: tensor<16x1xbf16> {headrace.sharding = "{replicated}"}) -> tensor<16x32xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x16xbf16>) -> tensor<32x16xbf16>
  %t = stablehlo.transpose %g, dims = [1, 0] : (tensor<32x16xbf16>) -> tensor<16x32xbf16>
  %q = "headrace.quantize"(%t, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<16x32xbf16>, tensor<16x1xbf16>) -> tensor<16x32xf8E4M3FN>
  return %q : tensor<16x32xf8E4M3FN>
}
// What a slice leaves out the parts have still.
// CHECK-LABEL: @quantized_behind_slice(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "a per-axis scale does not go back past 'stablehlo.slice'"
func.func @quantized_behind_slice(%x: tensor<8x16xbf16>, %s: tensor<1x16xbf16> {headrace.sharding = "{replicated}"}) -> tensor<30x16xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x16xbf16>) -> tensor<32x16xbf16>
  %t = stablehlo.slice %g [1:31, 0:16] : (tensor<32x16xbf16>) -> tensor<30x16xbf16>
  %q = "headrace.quantize"(%t, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<30x16xbf16>, tensor<1x16xbf16>) -> tensor<30x16xf8E4M3FN>
  return %q : tensor<30x16xf8E4M3FN>
}
}
