// RUN: headrace-opt %s --pass-pipeline='builtin.module(commute-collectives)' | FileCheck %s

// Scales that are proved equal, or are not, over the replica groups: what
// commute-collectives does with the answer. The analysis itself is tested in
// python/test_replication.py.

module attributes {headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32} {

// A dynamic scale: the amax of the shard, all-reduced, then arithmetic.
// CHECK-LABEL: @all_reduced_scale(
// CHECK: %[[A:.*]] = "headrace.all_reduce"
// CHECK: %[[S:.*]] = stablehlo.divide %[[A]]
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%arg0, %[[S]])
// CHECK-NEXT: "headrace.all_gather"(%[[Q]]) {{.*}} -> tensor<32x4xf8E4M3FN>
func.func @all_reduced_scale(%x: tensor<8x4xf32>) -> tensor<32x4xf8E4M3FN> {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.constant dense<448.0> : tensor<f32>
  %abs = stablehlo.abs %x : tensor<8x4xf32>
  %own = stablehlo.reduce(%abs init: %inf) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %amax = "headrace.all_reduce"(%own) {pipelined = false, reduction = "max", replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<f32>) -> tensor<f32>
  %s = stablehlo.divide %amax, %max : tensor<f32>
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x4xf8E4M3FN>
  return %q : tensor<32x4xf8E4M3FN>
}

// Reduced over other groups than the data are gathered over.
// CHECK-LABEL: @reduced_over_other_groups(
// CHECK: "headrace.all_gather"({{.*}}it depends on the result of headrace.all_reduce
// CHECK-SAME: -> tensor<16x4xf32>
func.func @reduced_over_other_groups(%x: tensor<8x4xf32>, %own: tensor<f32>) -> tensor<16x4xf8E4M3FN> {
  %s = "headrace.all_reduce"(%own) {pipelined = false, reduction = "max", replica_groups = dense<[[0,1],[2,3]]> : tensor<2x2xi64>} : (tensor<f32>) -> tensor<f32>
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,2],[1,3]]> : tensor<2x2xi64>} : (tensor<8x4xf32>) -> tensor<16x4xf32>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf8E4M3FN>
  return %q : tensor<16x4xf8E4M3FN>
}

// A scale that is computed from the gathered value, which all devices hold.
// CHECK-LABEL: @scale_of_gathered(
// CHECK: "headrace.all_gather"({{.*}} -> tensor<32x4xf8E4M3FN>
func.func @scale_of_gathered(%x: tensor<8x4xf32>) -> tensor<32x4xf8E4M3FN> {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %s = stablehlo.reduce(%g init: %inf) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x4xf32>, tensor<f32>) -> tensor<f32>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x4xf8E4M3FN>
  return %q : tensor<32x4xf8E4M3FN>
}

// A scale that depends on the device's own number.
// CHECK-LABEL: @own_number(
// CHECK: "headrace.all_gather"({{.*}}it depends on the result of headrace.partition_id
func.func @own_number(%x: tensor<8x4xf8E4M3FN>) -> tensor<32x4xf32> {
  %p = "headrace.partition_id"() : () -> tensor<i32>
  %s = stablehlo.convert %p : (tensor<i32>) -> tensor<f32>
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
  %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  return %g : tensor<32x4xf32>
}

// A layer scan: one scale per layer in a replicated array, and a carried one
// that is updated by all devices alike.
// CHECK-LABEL: @scan(
// CHECK: stablehlo.while
// CHECK: %[[G:.*]] = "headrace.all_gather"(%{{.*}}) {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK: %[[H:.*]] = "headrace.all_gather"(%{{.*}}) {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK: stablehlo.return
func.func @scan(%x: tensor<8x4xf8E4M3FN>, %scales: tensor<3xf32> {headrace.sharding = "{replicated}"}, %s: tensor<f32> {headrace.sharding = "{replicated}"}, %i: tensor<32x4xf32>) -> tensor<32x4xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%k = %c, %a = %s, %b = %i) : tensor<i32>, tensor<f32>, tensor<32x4xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %t = stablehlo.dynamic_slice %scales, %k, sizes = [1] : (tensor<3xf32>, tensor<i32>) -> tensor<1xf32>
    %w = "headrace.dequantize"(%x, %t) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<1xf32>) -> tensor<8x4xf32>
    %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
    %v = "headrace.dequantize"(%x, %a) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
    %h = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
    %d = stablehlo.add %a, %a : tensor<f32>
    %e = stablehlo.add %g, %h : tensor<32x4xf32>
    stablehlo.return %k1, %d, %e : tensor<i32>, tensor<f32>, tensor<32x4xf32>
  }
  return %r#2 : tensor<32x4xf32>
}

// A carried scale that each device changes in its own way.
// CHECK-LABEL: @carried_unequal(
// CHECK: scf.for
// CHECK: "headrace.all_gather"({{.*}}it depends on argument 2 of @carried_unequal, which has no sharding
func.func @carried_unequal(%x: tensor<8x4xf8E4M3FN>, %s: tensor<f32> {headrace.sharding = "{replicated}"}, %own: tensor<f32>, %i: tensor<32x4xf32>) -> tensor<32x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %s, %b = %i) -> (tensor<f32>, tensor<32x4xf32>) {
    %w = "headrace.dequantize"(%x, %a) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
    %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
    %d = arith.addf %a, %own : tensor<f32>
    scf.yield %d, %g : tensor<f32>, tensor<32x4xf32>
  }
  return %r#1 : tensor<32x4xf32>
}

// Private functions: their arguments are what their callers pass.
func.func private @gather(%x: tensor<8x4xf8E4M3FN>, %s: tensor<f32>) -> tensor<32x4xf32> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<8x4xf32>
  %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  return %g : tensor<32x4xf32>
}
// CHECK-LABEL: @gather(
// CHECK: "headrace.all_gather"(%arg0) {{.*}} -> tensor<32x4xf8E4M3FN>
func.func @caller(%x: tensor<8x4xf8E4M3FN>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> tensor<32x4xf32> {
  %r = func.call @gather(%x, %s) : (tensor<8x4xf8E4M3FN>, tensor<f32>) -> tensor<32x4xf32>
  return %r : tensor<32x4xf32>
}
}
