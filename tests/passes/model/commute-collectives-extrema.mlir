// Extrema of a gathered value do not keep it wide: they are taken on each
// device's part, and then over the group.
// RUN: headrace-opt %s --pass-pipeline='builtin.module(commute-collectives)' --split-input-file | FileCheck %s

// Current scaling: the scale is made from the amax, behind a conversion.
// CHECK-LABEL: @amax(
// CHECK-DAG: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK-DAG: %[[C:.*]] = stablehlo.constant
// CHECK: %[[A:.*]] = stablehlo.abs %[[X]] : tensor<8x4xbf16>
// CHECK-NEXT: %[[L:.*]] = stablehlo.reduce(%[[A]] init: %[[C]]) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xbf16>, tensor<bf16>) -> tensor<bf16>
// CHECK-NEXT: %[[M:.*]] = "headrace.all_reduce"(%[[L]]) {pipelined = false, reduction = "max", replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<bf16>) -> tensor<bf16>
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%[[X]], %[[M]])
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[Q]]) {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK-NEXT: return %[[G]], %[[M]]
func.func @amax(%x: tensor<8x4xf32>) -> (tensor<32x4xf8E4M3FN>, tensor<bf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %w = stablehlo.convert %g : (tensor<32x4xf32>) -> tensor<32x4xbf16>
  %c = stablehlo.constant dense<0.0> : tensor<bf16>
  %a = stablehlo.abs %w : tensor<32x4xbf16>
  %m = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x4xbf16>, tensor<bf16>) -> tensor<bf16>
  %q = "headrace.quantize"(%w, %m) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xbf16>, tensor<bf16>) -> tensor<32x4xf8E4M3FN>
  return %q, %m : tensor<32x4xf8E4M3FN>, tensor<bf16>
}

// -----

// One for each column, and the least of all, off the gathered value itself; the
// quantize reads a transposed one.
// CHECK-LABEL: @columns(
// CHECK-DAG: %[[L:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.maximum across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-DAG: %[[M:.*]] = "headrace.all_reduce"(%[[L]]) {{.*}}reduction = "max"{{.*}} -> tensor<4xf32>
// CHECK-DAG: %[[N:.*]] = stablehlo.negate %arg0 : tensor<8x4xf32>
// CHECK-DAG: %[[K:.*]] = stablehlo.reduce(%[[N]] init: %{{.*}}) applies stablehlo.minimum across dimensions = [0, 1]
// CHECK-DAG: %[[I:.*]] = "headrace.all_reduce"(%[[K]]) {{.*}}reduction = "min"{{.*}} -> tensor<f32>
// CHECK-DAG: "headrace.all_gather"(%{{.*}}) {{.*}} -> tensor<4x32xf8E4M3FN>
// CHECK-NOT: tensor<32x4xf32>
func.func @columns(%x: tensor<8x4xf32>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> (tensor<4x32xf8E4M3FN>, tensor<4xf32>, tensor<f32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %d = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %m = stablehlo.reduce(%g init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<32x4xf32>, tensor<f32>) -> tensor<4xf32>
  %n = stablehlo.negate %g : tensor<32x4xf32>
  %k = stablehlo.reduce(%n init: %d) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<32x4xf32>, tensor<f32>) -> tensor<f32>
  %t = stablehlo.transpose %g, dims = [1, 0] : (tensor<32x4xf32>) -> tensor<4x32xf32>
  %q = "headrace.quantize"(%t, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf8E4M3FN>
  return %q, %m, %k : tensor<4x32xf8E4M3FN>, tensor<4xf32>, tensor<f32>
}

// -----

// Two gathers, one after the other: over both groups.
// CHECK-LABEL: @two_gathers(
// CHECK: %[[L:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.maximum
// CHECK: %[[A:.*]] = "headrace.all_reduce"(%[[L]]) {{.*}}replica_groups = dense<{{\[\[}}0, 1], [2, 3]]>
// CHECK: %[[B:.*]] = "headrace.all_reduce"(%[[A]]) {{.*}}replica_groups = dense<{{\[\[}}0, 2], [1, 3]]>
// CHECK: "headrace.all_gather"{{.*}} -> tensor<16x4xf8E4M3FN>
// CHECK: "headrace.all_gather"{{.*}} -> tensor<32x4xf8E4M3FN>
func.func @two_gathers(%x: tensor<8x4xf32>) -> (tensor<32x4xf8E4M3FN>, tensor<f32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1],[2,3]]> : tensor<2x2xi64>} : (tensor<8x4xf32>) -> tensor<16x4xf32>
  %h = "headrace.all_gather"(%g) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,2],[1,3]]> : tensor<2x2xi64>} : (tensor<16x4xf32>) -> tensor<32x4xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%h init: %c) applies stablehlo.maximum across dimensions = [1, 0] : (tensor<32x4xf32>, tensor<f32>) -> tensor<f32>
  %q = "headrace.quantize"(%h, %m) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x4xf8E4M3FN>
  return %q, %m : tensor<32x4xf8E4M3FN>, tensor<f32>
}

// -----

// A row is on one device as a whole: its extremum is taken there, and sent.
// CHECK-LABEL: @rows(
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant
// CHECK-NEXT: %[[L:.*]] = stablehlo.reduce(%arg0 init: %[[C]]) applies stablehlo.maximum across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[M:.*]] = "headrace.all_gather"(%[[L]]) {dim = 0 : i64, {{.*}} -> tensor<32xf32>
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1) {{.*}} -> tensor<8x4xf8E4M3FN>
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[Q]]) {dim = 0 : i64, {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK-NEXT: return %[[G]], %[[M]]
func.func @rows(%x: tensor<8x4xf32>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> (tensor<32x4xf8E4M3FN>, tensor<32xf32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%g init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<32x4xf32>, tensor<f32>) -> tensor<32xf32>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x4xf8E4M3FN>
  return %q, %m : tensor<32x4xf8E4M3FN>, tensor<32xf32>
}

// -----

// A sum is no extremum: its bits depend on the order.
// CHECK-LABEL: @sum(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}headrace.wide_reason = "the wide value has another user
func.func @sum(%x: tensor<8x4xf32>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> (tensor<32x4xf8E4M3FN>, tensor<f32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%g init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x4xf32>, tensor<f32>) -> tensor<f32>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x4xf8E4M3FN>
  return %q, %m : tensor<32x4xf8E4M3FN>, tensor<f32>
}

// -----

// One user of the absolute value is an extremum, the other is not.
// CHECK-LABEL: @used_otherwise(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}headrace.wide_reason = "the wide value has another user
func.func @used_otherwise(%x: tensor<8x4xf32>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> (tensor<32x4xf8E4M3FN>, tensor<f32>, tensor<32x4xf32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.abs %g : tensor<32x4xf32>
  %m = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x4xf32>, tensor<f32>) -> tensor<f32>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x4xf8E4M3FN>
  return %q, %m, %a : tensor<32x4xf8E4M3FN>, tensor<f32>, tensor<32x4xf32>
}

// -----

// Not from a constant: each device starts from a value of its own.
// CHECK-LABEL: @own_start(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}headrace.wide_reason = "the wide value has another user
func.func @own_start(%x: tensor<8x4xf32>, %c: tensor<f32>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> (tensor<32x4xf8E4M3FN>, tensor<f32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %m = stablehlo.reduce(%g init: %c) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x4xf32>, tensor<f32>) -> tensor<f32>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x4xf8E4M3FN>
  return %q, %m : tensor<32x4xf8E4M3FN>, tensor<f32>
}

// -----

// In a branch not all devices may take, a collective would wait for ever.
// CHECK-LABEL: @in_branch(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}headrace.wide_reason = "the wide value has another user
func.func @in_branch(%x: tensor<8x4xf32>, %p: tensor<i1>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> (tensor<32x4xf8E4M3FN>, tensor<f32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %m = "stablehlo.if"(%p) ({
    %n = stablehlo.reduce(%g init: %c) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x4xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %n : tensor<f32>
  }, {
    stablehlo.return %c : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x4xf8E4M3FN>
  return %q, %m : tensor<32x4xf8E4M3FN>, tensor<f32>
}

// -----

// After an all-to-all each device holds other elements than its part had.
// CHECK-LABEL: @all_to_all(
// CHECK: "headrace.all_to_all"(%arg0) {{.*}}headrace.wide_reason = "the wide value has another user
func.func @all_to_all(%x: tensor<8x4xf32>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> (tensor<32x1xf8E4M3FN>, tensor<f32>) {
  %g = "headrace.all_to_all"(%x) {concat_dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, split_dim = 1 : i64} : (tensor<8x4xf32>) -> tensor<32x1xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%g init: %c) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x1xf32>, tensor<f32>) -> tensor<f32>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x1xf32>, tensor<f32>) -> tensor<32x1xf8E4M3FN>
  return %q, %m : tensor<32x1xf8E4M3FN>, tensor<f32>
}

// -----

// So many extrema that they outweigh what fp8 saves.
// CHECK-LABEL: @too_many(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}headrace.wide_reason = "the wide value has another user, which would keep it on the wire"
func.func @too_many(%x: tensor<1x4xbf16>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> (tensor<4x4xf8E4M3FN>, tensor<4xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<1x4xbf16>) -> tensor<4x4xbf16>
  %c = stablehlo.constant dense<0.0> : tensor<bf16>
  %m = stablehlo.reduce(%g init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<4x4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<4x4xbf16>, tensor<bf16>) -> tensor<4x4xf8E4M3FN>
  return %q, %m : tensor<4x4xf8E4M3FN>, tensor<4xbf16>
}

// -----

// The amax of bf16 values that are widened first is a bf16: that is sent, and no bit is lost.
// CHECK-LABEL: @widened(
// CHECK: %[[L:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.maximum across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %[[N:.*]] = stablehlo.convert %[[L]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: %[[M:.*]] = "headrace.all_reduce"(%[[N]]) {{.*}}reduction = "max"{{.*}} -> tensor<4xbf16>
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %[[M]] : (tensor<4xbf16>) -> tensor<4xf32>
func.func @widened(%x: tensor<8x4xbf16>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> (tensor<32x4xf8E4M3FN>, tensor<4xf32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %w = stablehlo.convert %g : (tensor<32x4xbf16>) -> tensor<32x4xf32>
  %a = stablehlo.abs %w : tensor<32x4xf32>
  %m = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<32x4xf32>, tensor<f32>) -> tensor<4xf32>
  %q = "headrace.quantize"(%w, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x4xf8E4M3FN>
  return %q, %m : tensor<32x4xf8E4M3FN>, tensor<4xf32>
}

// -----

// From a number that bf16 does not hold, or of values that are computed in f32: sent as f32.
// CHECK-LABEL: @not_widened(
// CHECK-COUNT-2: "headrace.all_reduce"{{.*}} -> tensor<4xf32>
func.func @not_widened(%x: tensor<32x4xbf16>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> (tensor<128x4xf8E4M3FN>, tensor<4xf32>, tensor<4xf32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<32x4xbf16>) -> tensor<128x4xbf16>
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %d = stablehlo.constant dense<1.0e-12> : tensor<f32>
  %w = stablehlo.convert %g : (tensor<128x4xbf16>) -> tensor<128x4xf32>
  %a = stablehlo.abs %w : tensor<128x4xf32>
  %m = stablehlo.reduce(%a init: %d) applies stablehlo.maximum across dimensions = [0] : (tensor<128x4xf32>, tensor<f32>) -> tensor<4xf32>
  %e = stablehlo.exponential %w : tensor<128x4xf32>
  %n = stablehlo.reduce(%e init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<128x4xf32>, tensor<f32>) -> tensor<4xf32>
  %q = "headrace.quantize"(%w, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<128x4xf32>, tensor<f32>) -> tensor<128x4xf8E4M3FN>
  return %q, %m, %n : tensor<128x4xf8E4M3FN>, tensor<4xf32>, tensor<4xf32>
}
