// RUN: headrace-opt %s --pass-pipeline='builtin.module(commute-collectives)' --split-input-file | FileCheck %s

// One case per reason to leave a collective wide, and its near misses.

module attributes {headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32} {

// Reductions.
// CHECK-LABEL: @reduction_of_fp8(
// CHECK: "headrace.all_reduce"({{.*}}headrace.wide_reason = "reductions are never narrowed: a sum in fp8 would lose bits"{{.*}} -> tensor<8x4xbf16>
func.func @reduction_of_fp8(%x: tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16> {
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16>
  %g = "headrace.all_reduce"(%w) {pipelined = false, reduction = "add", replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  return %g : tensor<8x4xbf16>
}
// CHECK-LABEL: @scatter_to_fp8(
// CHECK: "headrace.reduce_scatter"({{.*}}headrace.wide_reason = "reductions are never narrowed: a sum in fp8 would lose bits"{{.*}} -> tensor<2x4xbf16>
func.func @scatter_to_fp8(%x: tensor<8x4xbf16>) -> tensor<2x4xf8E4M3FN> {
  %g = "headrace.reduce_scatter"(%x) {dim = 0 : i64, pipelined = false, reduction = "add", replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<2x4xbf16>
  %q = "headrace.quantize"(%g) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<2x4xbf16>) -> tensor<2x4xf8E4M3FN>
  return %q : tensor<2x4xf8E4M3FN>
}
// The partial sums of an fp8 matmul.
// CHECK-LABEL: @reduction_of_matmul(
// CHECK: "headrace.all_reduce"({{.*}}headrace.wide_reason = "reductions are never narrowed: a sum in fp8 would lose bits"{{.*}} -> tensor<8x8xf32>
func.func @reduction_of_matmul(%x: tensor<8x4xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16>
  %v = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xbf16>
  %d = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<8x4xbf16>, tensor<4x8xbf16>) -> tensor<8x8xbf16>
  %c = stablehlo.convert %d : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %g = "headrace.all_reduce"(%c) {pipelined = false, reduction = "add", replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %g : tensor<8x8xf32>
}

// Nothing to do with fp8: no reason is given, and a stale one goes.
// CHECK-LABEL: @no_fp8(
// CHECK-NOT: wide_reason
// CHECK: return
func.func @no_fp8(%x: tensor<8x4xbf16>, %y: tensor<4x4xbf16>) -> (tensor<32x4xbf16>, tensor<32x4xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, headrace.wide_reason = "stale", pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  %d = stablehlo.dot_general %g, %y, contracting_dims = [1] x [0] : (tensor<32x4xbf16>, tensor<4x4xbf16>) -> tensor<32x4xbf16>
  %r = "headrace.all_reduce"(%d) {pipelined = false, reduction = "add", replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<32x4xbf16>) -> tensor<32x4xbf16>
  return %g, %r : tensor<32x4xbf16>, tensor<32x4xbf16>
}
// What only depends on fp8 values: the sum of their squares, as of a norm or a
// loss; a product of such products; a statistic that goes into the scaling of
// a value that is quantized.
// CHECK-LABEL: @statistics(
// CHECK-NOT: wide_reason
// CHECK: return
func.func @statistics(%x: tensor<8x4xf8E4M3FN>, %y: tensor<4x8xbf16>, %z: tensor<8x8xbf16>) -> (tensor<8xf32>, tensor<8x8xbf16>, tensor<8x4xf8E4M3FN>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xf32>
  %s = stablehlo.multiply %w, %w : tensor<8x4xf32>
  %t = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %r = "headrace.all_reduce"(%t) {pipelined = false, reduction = "add", replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  %v = stablehlo.convert %w : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %d = stablehlo.dot_general %v, %y, contracting_dims = [1] x [0] : (tensor<8x4xbf16>, tensor<4x8xbf16>) -> tensor<8x8xbf16>
  %e = stablehlo.dot_general %d, %z, contracting_dims = [1] x [0] : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %p = "headrace.all_reduce"(%e) {pipelined = false, reduction = "add", replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %b = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
  %n = stablehlo.divide %w, %b : tensor<8x4xf32>
  %q = "headrace.quantize"(%n) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<8x4xf32>) -> tensor<8x4xf8E4M3FN>
  return %r, %p, %q : tensor<8xf32>, tensor<8x8xbf16>, tensor<8x4xf8E4M3FN>
}

// Integers are not to be narrowed.
// CHECK-LABEL: @integers(
// CHECK-NOT: wide_reason
// CHECK: return
func.func @integers(%x: tensor<8x4xi32>) -> tensor<32x4xi32> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xi32>) -> tensor<32x4xi32>
  return %g : tensor<32x4xi32>
}

// Elementwise arithmetic in between is done on the other side: after the gather ...
// CHECK-LABEL: @arithmetic_before(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%arg0) {dim = 0 : i64, {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK-NEXT: %[[W:.*]] = "headrace.dequantize"(%[[G]]) {{.*}} -> tensor<32x4xbf16>
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[W]], dims = [1, 0] : (tensor<32x4xbf16>) -> tensor<4x32xbf16>
// CHECK-NEXT: %[[E:.*]] = stablehlo.exponential %[[T]] : tensor<4x32xbf16>
// CHECK-NEXT: %[[F:.*]] = stablehlo.convert %[[E]] : (tensor<4x32xbf16>) -> tensor<4x32xf32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.reduce_precision %[[F]], format = e8m7 : tensor<4x32xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.convert %[[P]] : (tensor<4x32xf32>) -> tensor<4x32xbf16>
// CHECK-NEXT: return %[[R]]
func.func @arithmetic_before(%x: tensor<8x4xf8E4M3FN>) -> tensor<4x32xbf16> {
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16>
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<8x4xbf16>) -> tensor<4x8xbf16>
  %e = stablehlo.exponential %t : tensor<4x8xbf16>
  %g = "headrace.all_gather"(%e) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<4x8xbf16>) -> tensor<4x32xbf16>
  return %g : tensor<4x32xbf16>
}
// ... but not where an element is computed of several,
// CHECK-LABEL: @factorized(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "'stablehlo.cholesky' between the dequantize and the collective is not data movement"{{.*}} -> tensor<16x4xf32>
func.func @factorized(%x: tensor<4x4xf8E4M3FN>) -> tensor<16x4xf32> {
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  %e = stablehlo.cholesky %w, lower = true : tensor<4x4xf32>
  %g = "headrace.all_gather"(%e) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<4x4xf32>) -> tensor<16x4xf32>
  return %g : tensor<16x4xf32>
}
// or the other operand is another one on each device.
// CHECK-LABEL: @arithmetic_after(
// CHECK: "headrace.all_to_all"({{.*}}headrace.wide_reason = "'stablehlo.add' between the collective and the quantize is not data movement"{{.*}} -> tensor<8x4xbf16>
func.func @arithmetic_after(%x: tensor<8x4xbf16>) -> tensor<4x8xf8E4M3FN> {
  %g = "headrace.all_to_all"(%x) {concat_dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, split_dim = 0 : i64} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  %a = stablehlo.add %g, %x : tensor<8x4xbf16>
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x4xbf16>) -> tensor<4x8xbf16>
  %q = "headrace.quantize"(%t) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<4x8xbf16>) -> tensor<4x8xf8E4M3FN>
  return %q : tensor<4x8xf8E4M3FN>
}

// Behind a matmul the values are new ones.
// CHECK-LABEL: @gather_of_product(
// CHECK-NOT: wide_reason
// CHECK: return
func.func @gather_of_product(%x: tensor<8x4xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>) -> tensor<32x8xbf16> {
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16>
  %v = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xbf16>
  %d = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<8x4xbf16>, tensor<4x8xbf16>) -> tensor<8x8xbf16>
  %g = "headrace.all_gather"(%d) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x8xbf16>) -> tensor<32x8xbf16>
  return %g : tensor<32x8xbf16>
}

// Padding with something other than +0, on both sides.
// CHECK-LABEL: @padded_with_one(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "'stablehlo.pad' pads with something other than the literal +0"{{.*}} -> tensor<36x4xbf16>
func.func @padded_with_one(%x: tensor<8x4xf8E4M3FN>) -> tensor<36x4xbf16> {
  %z = stablehlo.constant dense<1.0> : tensor<bf16>
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16>
  %p = stablehlo.pad %w, %z, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<8x4xbf16>, tensor<bf16>) -> tensor<9x4xbf16>
  %g = "headrace.all_gather"(%p) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<9x4xbf16>) -> tensor<36x4xbf16>
  return %g : tensor<36x4xbf16>
}
// CHECK-LABEL: @padded_with_minus_zero(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "'stablehlo.pad' pads with something other than the literal +0"{{.*}} -> tensor<32x4xbf16>
func.func @padded_with_minus_zero(%x: tensor<8x4xbf16>) -> tensor<33x4xf8E4M3FN> {
  %z = stablehlo.constant dense<-0.0> : tensor<bf16>
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  %p = stablehlo.pad %g, %z, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<32x4xbf16>, tensor<bf16>) -> tensor<33x4xbf16>
  %q = "headrace.quantize"(%p) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<33x4xbf16>) -> tensor<33x4xf8E4M3FN>
  return %q : tensor<33x4xf8E4M3FN>
}

// Joined values with different scales, or with another value.
// CHECK-LABEL: @different_scales(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "'stablehlo.concatenate' joins values with different scales"{{.*}} -> tensor<64x4xbf16>
func.func @different_scales(%x: tensor<8x4xf8E4M3FN>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}, %t: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<64x4xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<bf16>) -> tensor<8x4xbf16>
  %v = "headrace.dequantize"(%x, %t) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<bf16>) -> tensor<8x4xbf16>
  %c = stablehlo.concatenate %w, %v, dim = 0 : (tensor<8x4xbf16>, tensor<8x4xbf16>) -> tensor<16x4xbf16>
  %g = "headrace.all_gather"(%c) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<16x4xbf16>) -> tensor<64x4xbf16>
  return %g : tensor<64x4xbf16>
}
// CHECK-LABEL: @joined_after(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "'stablehlo.concatenate' joins the collective with another value"{{.*}} -> tensor<32x4xbf16>
func.func @joined_after(%x: tensor<8x4xbf16>) -> tensor<40x4xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  %c = stablehlo.concatenate %g, %x, dim = 0 : (tensor<32x4xbf16>, tensor<8x4xbf16>) -> tensor<40x4xbf16>
  %q = "headrace.quantize"(%c) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<40x4xbf16>) -> tensor<40x4xf8E4M3FN>
  return %q : tensor<40x4xf8E4M3FN>
}

// A permute by which devices 2 and 3 (0 and 3) receive zeros. 0 * s is not +0
// if s is infinite, NaN or negative.
// CHECK-LABEL: @partial_permute(
// CHECK: "headrace.collective_permute"({{.*}}headrace.wide_reason = "devices [2, 3] receive zeros from the permute, which remain zeros only under a constant, finite, positive scale"{{.*}} -> tensor<8x4xbf16>
func.func @partial_permute(%x: tensor<8x4xf8E4M3FN>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<8x4xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<bf16>) -> tensor<8x4xbf16>
  %g = "headrace.collective_permute"(%w) {pipelined = false, source_target_pairs = dense<[[0,1],[1,0]]> : tensor<2x2xi64>} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  return %g : tensor<8x4xbf16>
}
// CHECK-LABEL: @partial_permute_negative(
// CHECK: "headrace.collective_permute"({{.*}}headrace.wide_reason = "devices [0, 3] receive zeros{{.*}} -> tensor<8x4xbf16>
func.func @partial_permute_negative(%x: tensor<8x4xbf16>) -> tensor<8x4xf8E4M3FN> {
  %s = stablehlo.constant dense<-2.0> : tensor<bf16>
  %g = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2]]> : tensor<2x2xi64>} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8x4xbf16>, tensor<bf16>) -> tensor<8x4xf8E4M3FN>
  return %q : tensor<8x4xf8E4M3FN>
}
// CHECK-LABEL: @partial_permute_infinite(
// CHECK: "headrace.collective_permute"({{.*}}headrace.wide_reason = "devices [0] receive zeros{{.*}} -> tensor<8x4xbf16>
func.func @partial_permute_infinite(%x: tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16> {
  %s = stablehlo.constant dense<0x7F80> : tensor<bf16>
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<bf16>) -> tensor<8x4xbf16>
  %g = "headrace.collective_permute"(%w) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3]]> : tensor<3x2xi64>} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  return %g : tensor<8x4xbf16>
}
// Unequal scales over a permute: they are sent, too,
// CHECK-LABEL: @permute_own_scale(
// CHECK-NEXT: %[[G:.*]] = "headrace.collective_permute"(%arg0) {{.*}} -> tensor<8x4xf8E4M3FN>
// CHECK-NEXT: %[[S:.*]] = "headrace.collective_permute"(%arg1) {{.*}} : (tensor<bf16>) -> tensor<bf16>
// CHECK-NEXT: %[[W:.*]] = "headrace.dequantize"(%[[G]], %[[S]]) {{.*}} -> tensor<8x4xbf16>
// CHECK-NEXT: return %[[W]]
func.func @permute_own_scale(%x: tensor<8x4xf8E4M3FN>, %s: tensor<bf16>) -> tensor<8x4xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<bf16>) -> tensor<8x4xbf16>
  %g = "headrace.collective_permute"(%w) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3],[3,0]]> : tensor<4x2xi64>} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  return %g : tensor<8x4xbf16>
}

// but not where a device receives none.
// CHECK-LABEL: @partial_permute_own_scale(
// CHECK: "headrace.collective_permute"({{.*}}headrace.wide_reason = "the scale is not proved equal over the replica groups {{\[\[}}0, 1, 2]]: it depends on argument 1
func.func @partial_permute_own_scale(%x: tensor<8x4xf8E4M3FN>, %s: tensor<bf16>) -> tensor<8x4xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<bf16>) -> tensor<8x4xbf16>
  %g = "headrace.collective_permute"(%w) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,0]]> : tensor<3x2xi64>} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  return %g : tensor<8x4xbf16>
}

// The wide value has another user: see 62 in commute-collectives-quantize.

// A dequantize outside of the loop that carries its result.
// CHECK-LABEL: @carried(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "the value is carried by the loop 'scf.for' between the dequantize and the collective"{{.*}} -> tensor<32x4xbf16>
func.func @carried(%x: tensor<8x4xf8E4M3FN>, %n: index, %i: tensor<32x4xbf16>) -> tensor<32x4xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %w, %b = %i) -> (tensor<8x4xbf16>, tensor<32x4xbf16>) {
    %g = "headrace.all_gather"(%a) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
    scf.yield %a, %g : tensor<8x4xbf16>, tensor<32x4xbf16>
  }
  return %r#1 : tensor<32x4xbf16>
}
// A quantize in the next trip.
// CHECK-LABEL: @carried_to_quantize(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "the value is carried by the loop 'stablehlo.while' between the collective and the quantize"{{.*}} -> tensor<32x4xbf16>
func.func @carried_to_quantize(%x: tensor<8x4xbf16>, %i: tensor<32x4xbf16>, %j: tensor<32x4xf8E4M3FN>) -> tensor<32x4xf8E4M3FN> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%k = %c, %a = %i, %b = %j) : tensor<i32>, tensor<32x4xbf16>, tensor<32x4xf8E4M3FN>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
    %q = "headrace.quantize"(%a) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<32x4xbf16>) -> tensor<32x4xf8E4M3FN>
    stablehlo.return %k1, %g, %q : tensor<i32>, tensor<32x4xbf16>, tensor<32x4xf8E4M3FN>
  }
  return %r#2 : tensor<32x4xf8E4M3FN>
}
// A quantize in a loop, with a scale that is made there.
// CHECK-LABEL: @scale_made_in_loop(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "the quantize is in another region, where its scale is made"{{.*}} -> tensor<32x4xbf16>
func.func @scale_made_in_loop(%x: tensor<8x4xbf16>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}, %n: index {headrace.sharding = "{replicated}"}, %i: tensor<32x4xf8E4M3FN>) -> tensor<32x4xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %s, %b = %i) -> (tensor<bf16>, tensor<32x4xf8E4M3FN>) {
    %d = stablehlo.add %a, %a : tensor<bf16>
    %q = "headrace.quantize"(%g, %d) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xbf16>, tensor<bf16>) -> tensor<32x4xf8E4M3FN>
    scf.yield %d, %q : tensor<bf16>, tensor<32x4xf8E4M3FN>
  }
  return %r#1 : tensor<32x4xf8E4M3FN>
}
}

// -----

// The module does not say how many devices there are.
// CHECK-LABEL: @permute_of_unstated_devices(
// CHECK: "headrace.collective_permute"({{.*}}headrace.wide_reason = "other devices (their number is not stated) receive zeros{{.*}} -> tensor<8x4xbf16>
func.func @permute_of_unstated_devices(%x: tensor<8x4xf8E4M3FN>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<8x4xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<bf16>) -> tensor<8x4xbf16>
  %g = "headrace.collective_permute"(%w) {pipelined = false, source_target_pairs = dense<[[0,1],[1,0]]> : tensor<2x2xi64>} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  return %g : tensor<8x4xbf16>
}

// -----

// More devices are named than there are.
// CHECK-LABEL: @no_such_device(
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason = "the program has 2 devices, and no device 2"{{.*}} -> tensor<32x4xbf16>
module attributes {headrace.num_partitions = 2 : i32} {
func.func @no_such_device(%x: tensor<8x4xf8E4M3FN>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<32x4xbf16> {
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<bf16>) -> tensor<8x4xbf16>
  %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  return %g : tensor<32x4xbf16>
}
}
