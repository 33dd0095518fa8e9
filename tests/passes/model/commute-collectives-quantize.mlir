// RUN: headrace-opt %s --pass-pipeline='builtin.module(commute-collectives)' | FileCheck %s

// The quantize side: collective, then quantize. The numbers are those of XLA's
// CollectiveQuantizer cases; each is written anew.

module attributes {headrace.num_partitions = 8 : i32, headrace.num_replicas = 1 : i32} {

// 55: all-gather, then a narrowing convert.
// CHECK-LABEL: @all_gather_convert
// CHECK-SAME: (%[[X:.*]]: tensor<8x4x8x128xbf16>)
// CHECK-NEXT: %[[Q:.*]] = stablehlo.convert %[[X]] : (tensor<8x4x8x128xbf16>) -> tensor<8x4x8x128xf8E4M3FN>
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[Q]]) {{.*}} -> tensor<8x32x8x128xf8E4M3FN>
// CHECK-NEXT: return %[[G]]
func.func @all_gather_convert(%x: tensor<8x4x8x128xbf16>) -> tensor<8x32x8x128xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4x8x128xbf16>) -> tensor<8x32x8x128xbf16>
  %q = stablehlo.convert %g : (tensor<8x32x8x128xbf16>) -> tensor<8x32x8x128xf8E4M3FN>
  return %q : tensor<8x32x8x128xf8E4M3FN>
}

// 55 with the op that raise-stablehlo makes of a convert.
// CHECK-LABEL: @all_gather_quantize_unscaled
// CHECK: %[[Q:.*]] = "headrace.quantize"({{.*}}saturate = false{{.*}} -> tensor<8x4xf8E5M2>
// CHECK-NEXT: "headrace.all_gather"(%[[Q]])
func.func @all_gather_quantize_unscaled(%x: tensor<8x4xf16>) -> tensor<64x4xf8E5M2> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4xf16>) -> tensor<64x4xf16>
  %q = "headrace.quantize"(%g) {operandSegmentSizes = array<i32: 1, 0>, saturate = false, scale_mode = "divide"} : (tensor<64x4xf16>) -> tensor<64x4xf8E5M2>
  return %q : tensor<64x4xf8E5M2>
}

// 56: with reshape and slice in between; they come after the collective.
// CHECK-LABEL: @all_gather_convert_unary
// CHECK-SAME: (%[[X:.*]]: tensor<8x4x8x128xbf16>)
// CHECK-NEXT: %[[Q:.*]] = stablehlo.convert %[[X]]
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[Q]]) {{.*}} -> tensor<8x32x8x128xf8E4M3FN>
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[G]] : (tensor<8x32x8x128xf8E4M3FN>) -> tensor<8x4x8x8x128xf8E4M3FN>
// CHECK-NEXT: %[[S:.*]] = stablehlo.slice %[[R]] [0:8, 0:4, 0:8, 0:8, 0:64] : (tensor<8x4x8x8x128xf8E4M3FN>) -> tensor<8x4x8x8x64xf8E4M3FN>
// CHECK-NEXT: return %[[S]]
func.func @all_gather_convert_unary(%x: tensor<8x4x8x128xbf16>) -> tensor<8x4x8x8x64xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4x8x128xbf16>) -> tensor<8x32x8x128xbf16>
  %r = stablehlo.reshape %g : (tensor<8x32x8x128xbf16>) -> tensor<8x4x8x8x128xbf16>
  %s = stablehlo.slice %r [0:8, 0:4, 0:8, 0:8, 0:64] : (tensor<8x4x8x8x128xbf16>) -> tensor<8x4x8x8x64xbf16>
  %q = stablehlo.convert %s : (tensor<8x4x8x8x64xbf16>) -> tensor<8x4x8x8x64xf8E4M3FN>
  return %q : tensor<8x4x8x8x64xf8E4M3FN>
}

// 57: all-gather, then a scaled quantize. The discardable attributes stay.
// CHECK-LABEL: @all_gather_quantize(
// CHECK-SAME: %[[X:.*]]: tensor<8x4x8x128xbf16>, %[[S:.*]]: tensor<bf16>
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%[[X]], %[[S]]) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8x4x8x128xbf16>, tensor<bf16>) -> tensor<8x4x8x128xf8E4M3FN>
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[Q]]) {dim = 1 : i64, headrace.pipeline, pipelined = false
// CHECK-SAME: -> tensor<8x32x8x128xf8E4M3FN>
// CHECK-NEXT: return %[[G]]
func.func @all_gather_quantize(%x: tensor<8x4x8x128xbf16>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<8x32x8x128xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 1 : i64, headrace.pipeline, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4x8x128xbf16>) -> tensor<8x32x8x128xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8x32x8x128xbf16>, tensor<bf16>) -> tensor<8x32x8x128xf8E4M3FN>
  return %q : tensor<8x32x8x128xf8E4M3FN>
}

// 58: all-to-all.
// CHECK-LABEL: @all_to_all_quantize(
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1)
// CHECK-NEXT: "headrace.all_to_all"(%[[Q]]) {{.*}} : (tensor<8x32x8x128xf8E4M3FN>) -> tensor<64x4x8x128xf8E4M3FN>
func.func @all_to_all_quantize(%x: tensor<8x32x8x128xbf16>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<64x4x8x128xf8E4M3FN> {
  %g = "headrace.all_to_all"(%x) {concat_dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>, split_dim = 1 : i64} : (tensor<8x32x8x128xbf16>) -> tensor<64x4x8x128xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "multiply"} : (tensor<64x4x8x128xbf16>, tensor<bf16>) -> tensor<64x4x8x128xf8E4M3FN>
  return %q : tensor<64x4x8x128xf8E4M3FN>
}

// 59 is about collective-broadcast, which the dialect does not have.

// 60: collective-permute; all devices receive.
// CHECK-LABEL: @permute_quantize(
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1)
// CHECK-NEXT: "headrace.collective_permute"(%[[Q]]) {{.*}} -> tensor<8x4xf8E4M3FN>
func.func @permute_quantize(%x: tensor<8x4xbf16>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<8x4xf8E4M3FN> {
  %g = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7],[7,0]]> : tensor<8x2xi64>} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8x4xbf16>, tensor<bf16>) -> tensor<8x4xf8E4M3FN>
  return %q : tensor<8x4xf8E4M3FN>
}

// 61: reshape and slice in between. The slice is along the gathered dimension.
// CHECK-LABEL: @all_gather_quantize_unary(
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1)
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[Q]])
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[G]] : (tensor<8x32x8x128xf8E4M3FN>) -> tensor<256x8x128xf8E4M3FN>
// CHECK-NEXT: %[[S:.*]] = stablehlo.slice %[[R]] [3:250:2, 0:8, 0:128]
// CHECK-NEXT: return %[[S]]
func.func @all_gather_quantize_unary(%x: tensor<8x4x8x128xbf16>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<124x8x128xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4x8x128xbf16>) -> tensor<8x32x8x128xbf16>
  %r = stablehlo.reshape %g : (tensor<8x32x8x128xbf16>) -> tensor<256x8x128xbf16>
  %v = stablehlo.slice %r [3:250:2, 0:8, 0:128] : (tensor<256x8x128xbf16>) -> tensor<124x8x128xbf16>
  %q = "headrace.quantize"(%v, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<124x8x128xbf16>, tensor<bf16>) -> tensor<124x8x128xf8E4M3FN>
  return %q : tensor<124x8x128xf8E4M3FN>
}

// 62: the gathered value has a second, wide user.
// CHECK-LABEL: @all_gather_quantize_multi_user(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}headrace.wide_reason = "the wide value has another user, which would keep it on the wire"{{.*}} -> tensor<64x4xbf16>
// CHECK-NEXT: "headrace.quantize"
func.func @all_gather_quantize_multi_user(%x: tensor<8x4xbf16>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> (tensor<64x4xf8E4M3FN>, tensor<64x4xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4xbf16>) -> tensor<64x4xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<64x4xbf16>, tensor<bf16>) -> tensor<64x4xf8E4M3FN>
  return %q, %g : tensor<64x4xf8E4M3FN>, tensor<64x4xbf16>
}

// A second user of the movement in between is as bad.
// CHECK-LABEL: @multi_user_of_movement(
// CHECK: "headrace.all_gather"(%arg0) {{.*}} -> tensor<64x4xbf16>
func.func @multi_user_of_movement(%x: tensor<8x4xbf16>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> (tensor<4x64xf8E4M3FN>, tensor<4x64xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4xbf16>) -> tensor<64x4xbf16>
  %t = stablehlo.transpose %g, dims = [1, 0] : (tensor<64x4xbf16>) -> tensor<4x64xbf16>
  %q = "headrace.quantize"(%t, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<4x64xbf16>, tensor<bf16>) -> tensor<4x64xf8E4M3FN>
  return %q, %t : tensor<4x64xf8E4M3FN>, tensor<4x64xbf16>
}

// 63: each device has its own scale.
// CHECK-LABEL: @all_gather_quantize_own_scale(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}headrace.wide_reason = "the scale is not proved equal over the replica groups {{.*}}: it depends on argument 1 of @all_gather_quantize_own_scale, whose sharding is {devices=[8]<=[8]}"
// CHECK-SAME: -> tensor<64x4xbf16>
func.func @all_gather_quantize_own_scale(%x: tensor<8x4xbf16>, %s: tensor<1xbf16> {headrace.sharding = "{devices=[8]<=[8]}"}) -> tensor<64x4xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4xbf16>) -> tensor<64x4xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<64x4xbf16>, tensor<1xbf16>) -> tensor<64x4xf8E4M3FN>
  return %q : tensor<64x4xf8E4M3FN>
}

// 64, 65: the scale is equal inside the groups, though not over all devices.
// CHECK-LABEL: @all_gather_quantize_partial(
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1)
// CHECK-NEXT: "headrace.all_gather"(%[[Q]])
func.func @all_gather_quantize_partial(%x: tensor<8x4xbf16>, %s: tensor<1xbf16> {headrace.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"}) -> tensor<32x4xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3],[4,5,6,7]]> : tensor<2x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xbf16>, tensor<1xbf16>) -> tensor<32x4xf8E4M3FN>
  return %q : tensor<32x4xf8E4M3FN>
}
// CHECK-LABEL: @all_to_all_quantize_partial(
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1)
// CHECK-NEXT: "headrace.all_to_all"(%[[Q]])
func.func @all_to_all_quantize_partial(%x: tensor<8x4xbf16>, %s: tensor<1xbf16> {headrace.sharding = "{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"}) -> tensor<2x16xf8E4M3FN> {
  %g = "headrace.all_to_all"(%x) {concat_dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,2,4,6],[1,3,5,7]]> : tensor<2x4xi64>, split_dim = 0 : i64} : (tensor<8x4xbf16>) -> tensor<2x16xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<2x16xbf16>, tensor<1xbf16>) -> tensor<2x16xf8E4M3FN>
  return %q : tensor<2x16xf8E4M3FN>
}

// 66: the scale is equal inside other groups.
// CHECK-LABEL: @all_gather_quantize_group_mismatch(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}headrace.wide_reason = "the scale is not proved equal
// CHECK-SAME: -> tensor<32x4xbf16>
func.func @all_gather_quantize_group_mismatch(%x: tensor<8x4xbf16>, %s: tensor<1xbf16> {headrace.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"}) -> tensor<32x4xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,2,4,6],[1,3,5,7]]> : tensor<2x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<32x4xbf16>, tensor<1xbf16>) -> tensor<32x4xf8E4M3FN>
  return %q : tensor<32x4xf8E4M3FN>
}

// A scale made after the collective: the collective moves down to it.
// CHECK-LABEL: @scale_made_later(
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %arg1, %arg1
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%arg0, %[[S]])
// CHECK-NEXT: "headrace.all_gather"(%[[Q]])
func.func @scale_made_later(%x: tensor<8x4xbf16>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<64x4xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4xbf16>) -> tensor<64x4xbf16>
  %t = stablehlo.add %s, %s : tensor<bf16>
  %q = "headrace.quantize"(%g, %t) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<64x4xbf16>, tensor<bf16>) -> tensor<64x4xf8E4M3FN>
  return %q : tensor<64x4xf8E4M3FN>
}

// Two collectives before one quantize; a conversion between wide floats is
// done in the same place of the arithmetic, on each device's part.
// CHECK-LABEL: @two_collectives(
// CHECK-NEXT: %[[C:.*]] = stablehlo.convert %arg0 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%[[C]], %arg1)
// CHECK-NEXT: %[[A:.*]] = "headrace.all_gather"(%[[Q]]) {{.*}} -> tensor<16x4xf8E4M3FN>
// CHECK-NEXT: %[[B:.*]] = "headrace.all_gather"(%[[A]]) {{.*}} -> tensor<64x4xf8E4M3FN>
// CHECK-NEXT: return %[[B]]
func.func @two_collectives(%x: tensor<8x4xf32>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}) -> tensor<64x4xf8E4M3FN> {
  %a = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1],[2,3],[4,5],[6,7]]> : tensor<4x2xi64>} : (tensor<8x4xf32>) -> tensor<16x4xf32>
  %b = "headrace.all_gather"(%a) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,2,4,6],[1,3,5,7]]> : tensor<2x4xi64>} : (tensor<16x4xf32>) -> tensor<64x4xf32>
  %c = stablehlo.convert %b : (tensor<64x4xf32>) -> tensor<64x4xbf16>
  %q = "headrace.quantize"(%c, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<64x4xbf16>, tensor<bf16>) -> tensor<64x4xf8E4M3FN>
  return %q : tensor<64x4xf8E4M3FN>
}

// A per-axis scale that does not vary along the gathered dimension.
// CHECK-LABEL: @axis_scale(
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1)
// CHECK-NEXT: "headrace.all_gather"(%[[Q]])
func.func @axis_scale(%x: tensor<8x4xbf16>, %s: tensor<1x4xbf16> {headrace.sharding = "{replicated}"}) -> tensor<64x4xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4xbf16>) -> tensor<64x4xbf16>
  %q = "headrace.quantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<64x4xbf16>, tensor<1x4xbf16>) -> tensor<64x4xf8E4M3FN>
  return %q : tensor<64x4xf8E4M3FN>
}

// The quantize is in a loop, the collective is not: it stays outside, and so
// does the quantize.
// CHECK-LABEL: @quantize_in_loop(
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1)
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[Q]])
// CHECK: scf.for
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[G]]
// CHECK-NEXT: scf.yield %[[T]]
func.func @quantize_in_loop(%x: tensor<8x4xbf16>, %s: tensor<bf16> {headrace.sharding = "{replicated}"}, %i: tensor<4x64xf8E4M3FN>, %n: index) -> tensor<4x64xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<8x4xbf16>) -> tensor<64x4xbf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %i) -> tensor<4x64xf8E4M3FN> {
    %t = stablehlo.transpose %g, dims = [1, 0] : (tensor<64x4xbf16>) -> tensor<4x64xbf16>
    %q = "headrace.quantize"(%t, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<4x64xbf16>, tensor<bf16>) -> tensor<4x64xf8E4M3FN>
    scf.yield %q : tensor<4x64xf8E4M3FN>
  }
  return %r : tensor<4x64xf8E4M3FN>
}
}
