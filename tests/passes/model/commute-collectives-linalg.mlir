// RUN: headrace-opt %s --pass-pipeline='builtin.module(commute-collectives)' | FileCheck %s

// The same on linalg and tensor ops, with arith constants and scf loops.

module attributes {headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32} {

// CHECK-LABEL: @dequantize_side(
// CHECK: %[[S:.*]] = arith.constant dense<
// CHECK-NOT: linalg.transpose {{.*}}bf16
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<4x4x8xf8E4M3FN> into tensor<16x8xf8E4M3FN>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[C]] : tensor<16x8xf8E4M3FN>) outs(%{{.*}} : tensor<8x16xf8E4M3FN>) permutation = [1, 0]
// CHECK: %[[X:.*]] = tensor.extract_slice %[[T]][0, 4] [8, 8] [1, 1] : tensor<8x16xf8E4M3FN> to tensor<8x8xf8E4M3FN>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[X]] {{.*}} : tensor<8x8xf8E4M3FN> into tensor<8x2x4xf8E4M3FN>
// CHECK: %[[G:.*]] = "headrace.all_gather"(%[[E]]) {{.*}} -> tensor<32x2x4xf8E4M3FN>
// CHECK-NEXT: %[[W:.*]] = "headrace.dequantize"(%[[G]], %[[S]]) {{.*}} -> tensor<32x2x4xbf16>
// CHECK-NEXT: return %[[W]]
func.func @dequantize_side(%x: tensor<4x4x8xf8E4M3FN>) -> tensor<32x2x4xbf16> {
  %s = arith.constant dense<0.3> : tensor<bf16>
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x4x8xbf16>
  %c = tensor.collapse_shape %w [[0, 1], [2]] : tensor<4x4x8xbf16> into tensor<16x8xbf16>
  %i = tensor.empty() : tensor<8x16xbf16>
  %t = linalg.transpose ins(%c : tensor<16x8xbf16>) outs(%i : tensor<8x16xbf16>) permutation = [1, 0]
  %v = tensor.extract_slice %t[0, 4] [8, 8] [1, 1] : tensor<8x16xbf16> to tensor<8x8xbf16>
  %e = tensor.expand_shape %v [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xbf16> into tensor<8x2x4xbf16>
  %g = "headrace.all_gather"(%e) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x2x4xbf16>) -> tensor<32x2x4xbf16>
  return %g : tensor<32x2x4xbf16>
}

// CHECK-LABEL: @quantize_side(
// CHECK: %[[N:.*]] = arith.truncf %arg0 : tensor<8x4xf32> to tensor<8x4xbf16>
// CHECK: %[[Q:.*]] = "headrace.quantize"(%[[N]], %arg1) {{.*}} -> tensor<8x4xf8E4M3FN>
// CHECK: %[[G:.*]] = "headrace.all_gather"(%[[Q]]) {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK: %[[P:.*]] = tensor.pad %[[G]] low[0, 0] high[0, 4]
// CHECK: : tensor<32x4xf8E4M3FN> to tensor<32x8xf8E4M3FN>
// CHECK: %[[B:.*]] = linalg.broadcast ins(%[[P]] : tensor<32x8xf8E4M3FN>) outs(%{{.*}} : tensor<2x32x8xf8E4M3FN>)
// CHECK: return %[[B]]
func.func @quantize_side(%x: tensor<8x4xf32>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<2x32x8xf8E4M3FN> {
  %z = arith.constant 0.0 : bf16
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %n = arith.truncf %g : tensor<32x4xf32> to tensor<32x4xbf16>
  %p = tensor.pad %n low[0, 0] high[0, 4] {
  ^bb0(%a: index, %b: index):
    tensor.yield %z : bf16
  } : tensor<32x4xbf16> to tensor<32x8xbf16>
  %i = tensor.empty() : tensor<2x32x8xbf16>
  %b = linalg.broadcast ins(%p : tensor<32x8xbf16>) outs(%i : tensor<2x32x8xbf16>) dimensions = [0]
  %q = "headrace.quantize"(%b, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<2x32x8xbf16>, tensor<bf16>) -> tensor<2x32x8xf8E4M3FN>
  return %q : tensor<2x32x8xf8E4M3FN>
}

// Plain conversions.
// CHECK-LABEL: @plain(
// CHECK: %[[Q:.*]] = arith.truncf %arg0 : tensor<8x4xbf16> to tensor<8x4xf8E5M2>
// CHECK: "headrace.all_gather"(%[[Q]]) {{.*}} -> tensor<32x4xf8E5M2>
// CHECK: %[[H:.*]] = "headrace.all_gather"(%arg1) {{.*}} -> tensor<32x4xf8E5M2>
// CHECK: arith.extf %[[H]] : tensor<32x4xf8E5M2> to tensor<32x4xbf16>
func.func @plain(%x: tensor<8x4xbf16>, %y: tensor<8x4xf8E5M2>) -> (tensor<32x4xf8E5M2>, tensor<32x4xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  %q = arith.truncf %g : tensor<32x4xbf16> to tensor<32x4xf8E5M2>
  %w = arith.extf %y : tensor<8x4xf8E5M2> to tensor<8x4xbf16>
  %h = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  return %q, %h : tensor<32x4xf8E5M2>, tensor<32x4xbf16>
}

// A per-axis scale moves with the data, in linalg.
// CHECK-LABEL: @axis_scale(
// CHECK: %[[T:.*]] = linalg.transpose ins(%arg0 : tensor<8x16xf8E4M3FN>)
// CHECK: %[[G:.*]] = "headrace.all_gather"(%[[T]]) {{.*}} -> tensor<16x32xf8E4M3FN>
// CHECK: %[[S:.*]] = linalg.transpose ins(%arg1 : tensor<8x1xf32>) outs(%{{.*}} : tensor<1x8xf32>)
// CHECK: %[[H:.*]] = "headrace.all_gather"(%[[S]]) {dim = 1 : i64, {{.*}} -> tensor<1x32xf32>
// CHECK: "headrace.dequantize"(%[[G]], %[[H]])
func.func @axis_scale(%x: tensor<8x16xf8E4M3FN>, %s: tensor<8x1xf32>) -> tensor<16x32xf32> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x16xf8E4M3FN>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %i = tensor.empty() : tensor<16x8xf32>
  %t = linalg.transpose ins(%w : tensor<8x16xf32>) outs(%i : tensor<16x8xf32>) permutation = [1, 0]
  %g = "headrace.all_gather"(%t) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<16x8xf32>) -> tensor<16x32xf32>
  return %g : tensor<16x32xf32>
}

// Arithmetic in between is named.
// CHECK-LABEL: @arithmetic(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "'arith.mulf' between the dequantize and the collective is not data movement"{{.*}} -> tensor<32x4xbf16>
func.func @arithmetic(%x: tensor<8x4xf8E4M3FN>, %y: tensor<8x4xbf16>) -> tensor<32x4xbf16> {
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16>
  %m = arith.mulf %w, %y : tensor<8x4xbf16>
  %g = "headrace.all_gather"(%m) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  return %g : tensor<32x4xbf16>
}
// CHECK-LABEL: @arithmetic_generic(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "'linalg.generic' between the dequantize and the collective is not data movement"{{.*}} -> tensor<32x4xbf16>
func.func @arithmetic_generic(%x: tensor<8x4xf8E4M3FN>) -> tensor<32x4xbf16> {
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16>
  %i = tensor.empty() : tensor<8x4xbf16>
  %m = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<8x4xbf16>) outs(%i : tensor<8x4xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %d = arith.mulf %a, %a : bf16
    linalg.yield %d : bf16
  } -> tensor<8x4xbf16>
  %g = "headrace.all_gather"(%m) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  return %g : tensor<32x4xbf16>
}

// Dynamic shapes.
// CHECK-LABEL: @dynamic(
// CHECK: %[[G:.*]] = "headrace.all_gather"(%arg0) {{.*}} : (tensor<?x4xf8E4M3FN>) -> tensor<?x4xf8E4M3FN>
// CHECK-NEXT: "headrace.dequantize"(%[[G]], %arg1) {{.*}} -> tensor<?x4xbf16>
func.func @dynamic(%x: tensor<?x4xf8E4M3FN>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<?x4xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<?x4xf8E4M3FN>, tensor<bf16>) -> tensor<?x4xbf16>
  %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<?x4xbf16>) -> tensor<?x4xbf16>
  return %g : tensor<?x4xbf16>
}
// CHECK-LABEL: @dynamic_axis_scale(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "the shape of the scale is dynamic"
func.func @dynamic_axis_scale(%x: tensor<?x4xf8E4M3FN>, %s: tensor<?x1xbf16>) -> tensor<?x4xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<?x4xf8E4M3FN>, tensor<?x1xbf16>) -> tensor<?x4xbf16>
  %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<?x4xbf16>) -> tensor<?x4xbf16>
  return %g : tensor<?x4xbf16>
}
}
