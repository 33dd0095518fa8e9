// RUN: headrace-opt %s --pass-pipeline='builtin.module(commute-collectives)' | FileCheck %s

// A collective moves past elementwise ops, movement and extrema to the values with the
// fewest bytes.

module attributes {headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32} {
// Quantized with an amax per token, which goes along.
// CHECK-LABEL: @per_token(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.abs %arg0 : tensor<8x32xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reduce(%[[V0]] init: %[[V1]]) applies stablehlo.maximum across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.broadcast_in_dim %[[V2]], dims = [0] : (tensor<8xf32>) -> tensor<8x32xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.divide %arg0, %[[V3]] : tensor<8x32xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.convert %[[V4]] : (tensor<8x32xf32>) -> tensor<8x32xf8E4M3FN>
// CHECK-NEXT: %[[V6:.*]] = "headrace.all_gather"(%[[V5]]) {dim = 0 : i64, {{.*}} : (tensor<8x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHECK-NEXT: return %[[V6]] : tensor<32x32xf8E4M3FN>
func.func @per_token(%x: tensor<8x32xf32>) -> tensor<32x32xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %a = stablehlo.abs %g : tensor<32x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<32xf32>) -> tensor<32x32xf32>
  %d = stablehlo.divide %g, %b : tensor<32x32xf32>
  %q = stablehlo.convert %d : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
  return %q : tensor<32x32xf8E4M3FN>
}

// The amax has another user: it is sent as well, and the tokens are divided before.
// CHECK-LABEL: @per_token_kept(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.abs %arg0 : tensor<8x32xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reduce(%[[V0]] init: %[[V1]]) applies stablehlo.maximum across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[V3:.*]] = "headrace.all_gather"(%[[V2]]) {dim = 0 : i64, {{.*}} : (tensor<8xf32>) -> tensor<32xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.broadcast_in_dim %[[V2]], dims = [0] : (tensor<8xf32>) -> tensor<8x32xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.divide %arg0, %[[V4]] : tensor<8x32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.convert %[[V5]] : (tensor<8x32xf32>) -> tensor<8x32xf8E4M3FN>
// CHECK-NEXT: %[[V7:.*]] = "headrace.all_gather"(%[[V6]]) {dim = 0 : i64, {{.*}} : (tensor<8x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHECK-NEXT: return %[[V7]], %[[V3]] : tensor<32x32xf8E4M3FN>, tensor<32xf32>
func.func @per_token_kept(%x: tensor<8x32xf32>) -> (tensor<32x32xf8E4M3FN>, tensor<32xf32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %a = stablehlo.abs %g : tensor<32x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<32xf32>) -> tensor<32x32xf32>
  %d = stablehlo.divide %g, %b : tensor<32x32xf32>
  %q = stablehlo.convert %d : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
  return %q, %m : tensor<32x32xf8E4M3FN>, tensor<32xf32>
}

// All-to-all that exchanges parts of one dimension.
// CHECK-LABEL: @all_to_all_same(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.abs %arg0 : tensor<32x32xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reduce(%[[V0]] init: %[[V1]]) applies stablehlo.maximum across dimensions = [1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
// CHECK-NEXT: %[[V3:.*]] = "headrace.all_to_all"(%[[V2]]) {concat_dim = 0 : i64, {{.*}}split_dim = 0 : i64} : (tensor<32xf32>) -> tensor<32xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.broadcast_in_dim %[[V2]], dims = [0] : (tensor<32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.divide %arg0, %[[V4]] : tensor<32x32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.convert %[[V5]] : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// CHECK-NEXT: %[[V7:.*]] = "headrace.all_to_all"(%[[V6]]) {concat_dim = 0 : i64, {{.*}}split_dim = 0 : i64} : (tensor<32x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHECK-NEXT: return %[[V7]], %[[V3]] : tensor<32x32xf8E4M3FN>, tensor<32xf32>
func.func @all_to_all_same(%x: tensor<32x32xf32>) -> (tensor<32x32xf8E4M3FN>, tensor<32xf32>) {
  %g = "headrace.all_to_all"(%x) {concat_dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, split_dim = 0 : i64} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %a = stablehlo.abs %g : tensor<32x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<32xf32>) -> tensor<32x32xf32>
  %d = stablehlo.divide %g, %b : tensor<32x32xf32>
  %q = stablehlo.convert %d : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
  return %q, %m : tensor<32x32xf8E4M3FN>, tensor<32xf32>
}

// Of three dimensions the amax is over the one that is neither split nor joined.
// CHECK-LABEL: @all_to_all_other(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.abs %arg0 : tensor<8x4x32xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reduce(%[[V1]] init: %[[V0]]) applies stablehlo.maximum across dimensions = [2] : (tensor<8x4x32xf32>, tensor<f32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V3:.*]] = "headrace.all_to_all"(%[[V2]]) {concat_dim = 1 : i64, {{.*}}split_dim = 0 : i64} : (tensor<8x4xf32>) -> tensor<2x16xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.broadcast_in_dim %[[V2]], dims = [0, 1] : (tensor<8x4xf32>) -> tensor<8x4x32xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.divide %arg0, %[[V4]] : tensor<8x4x32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.convert %[[V5]] : (tensor<8x4x32xf32>) -> tensor<8x4x32xf8E4M3FN>
// CHECK-NEXT: %[[V7:.*]] = "headrace.all_to_all"(%[[V6]]) {concat_dim = 1 : i64, {{.*}}split_dim = 0 : i64} : (tensor<8x4x32xf8E4M3FN>) -> tensor<2x16x32xf8E4M3FN>
// CHECK-NEXT: return %[[V7]], %[[V3]] : tensor<2x16x32xf8E4M3FN>, tensor<2x16xf32>
func.func @all_to_all_other(%x: tensor<8x4x32xf32>) -> (tensor<2x16x32xf8E4M3FN>, tensor<2x16xf32>) {
  %g = "headrace.all_to_all"(%x) {concat_dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, split_dim = 0 : i64} : (tensor<8x4x32xf32>) -> tensor<2x16x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.abs %g : tensor<2x16x32xf32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x32xf32>
  %d = stablehlo.divide %g, %b : tensor<2x16x32xf32>
  %q = stablehlo.convert %d : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
  return %q, %m : tensor<2x16x32xf8E4M3FN>, tensor<2x16xf32>
}

// Along a dimension that is joined of several devices' parts no device has the amax.
// CHECK-LABEL: @all_to_all_joined(
// CHECK: "headrace.all_to_all"(%arg0) {{.*}}headrace.wide_reason = "'stablehlo.divide' between the collective and the quantize is not data movement"{{.*}}-> tensor<2x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @all_to_all_joined(%x: tensor<8x8xf32>) -> tensor<2x32xf8E4M3FN> {
  %g = "headrace.all_to_all"(%x) {concat_dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, split_dim = 0 : i64} : (tensor<8x8xf32>) -> tensor<2x32xf32>
  %a = stablehlo.abs %g : tensor<2x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<2x32xf32>, tensor<f32>) -> tensor<2xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2xf32>) -> tensor<2x32xf32>
  %d = stablehlo.divide %g, %b : tensor<2x32xf32>
  %q = stablehlo.convert %d : (tensor<2x32xf32>) -> tensor<2x32xf8E4M3FN>
  return %q : tensor<2x32xf8E4M3FN>
}

// A permute by which every device receives something, over all dimensions.
// CHECK-LABEL: @permute(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.abs %arg0 : tensor<8x32xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reduce(%[[V1]] init: %[[V0]]) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V3:.*]] = "headrace.collective_permute"(%[[V2]]) {{.*}}source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.broadcast_in_dim %[[V2]], dims = [] : (tensor<f32>) -> tensor<8x32xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.divide %arg0, %[[V4]] : tensor<8x32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.convert %[[V5]] : (tensor<8x32xf32>) -> tensor<8x32xf8E4M3FN>
// CHECK-NEXT: %[[V7:.*]] = "headrace.collective_permute"(%[[V6]]) {{.*}}source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>} : (tensor<8x32xf8E4M3FN>) -> tensor<8x32xf8E4M3FN>
// CHECK-NEXT: return %[[V7]], %[[V3]] : tensor<8x32xf8E4M3FN>, tensor<f32>
func.func @permute(%x: tensor<8x32xf32>) -> (tensor<8x32xf8E4M3FN>, tensor<f32>) {
  %g = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3],[3,0]]> : tensor<4x2xi64>} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.abs %g : tensor<8x32xf32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
  %d = stablehlo.divide %g, %b : tensor<8x32xf32>
  %q = stablehlo.convert %d : (tensor<8x32xf32>) -> tensor<8x32xf8E4M3FN>
  return %q, %m : tensor<8x32xf8E4M3FN>, tensor<f32>
}

// Device 0 receives zeros: 0 / 0 is NaN, which is not 0.
// CHECK-LABEL: @permute_with_zeros(
// CHECK: "headrace.collective_permute"(%arg0) {{.*}}headrace.wide_reason = "'stablehlo.divide' between the collective and the quantize is not data movement"{{.*}}-> tensor<8x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @permute_with_zeros(%x: tensor<8x32xf32>) -> tensor<8x32xf8E4M3FN> {
  %g = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3]]> : tensor<3x2xi64>} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %a = stablehlo.abs %g : tensor<8x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x32xf32>
  %d = stablehlo.divide %g, %b : tensor<8x32xf32>
  %q = stablehlo.convert %d : (tensor<8x32xf32>) -> tensor<8x32xf8E4M3FN>
  return %q : tensor<8x32xf8E4M3FN>
}

// Blocks of 32 x 32, through a view: a shard holds two rows of them.
// CHECK-LABEL: @blocks(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.reshape %arg0 : (tensor<64x64xf32>) -> tensor<2x32x2x32xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.abs %[[V0]] : tensor<2x32x2x32xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.reduce(%[[V1]] init: %[[V2]]) applies stablehlo.maximum across dimensions = [1, 3] : (tensor<2x32x2x32xf32>, tensor<f32>) -> tensor<2x2xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.broadcast_in_dim %[[V3]], dims = [0, 2] : (tensor<2x2xf32>) -> tensor<2x32x2x32xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.divide %[[V0]], %[[V4]] : tensor<2x32x2x32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.reshape %[[V5]] : (tensor<2x32x2x32xf32>) -> tensor<64x64xf32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.convert %[[V6]] : (tensor<64x64xf32>) -> tensor<64x64xf8E4M3FN>
// CHECK-NEXT: %[[V8:.*]] = "headrace.all_gather"(%[[V7]]) {dim = 0 : i64, {{.*}} : (tensor<64x64xf8E4M3FN>) -> tensor<256x64xf8E4M3FN>
// CHECK-NEXT: return %[[V8]] : tensor<256x64xf8E4M3FN>
func.func @blocks(%x: tensor<64x64xf32>) -> tensor<256x64xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<64x64xf32>) -> tensor<256x64xf32>
  %v = stablehlo.reshape %g : (tensor<256x64xf32>) -> tensor<8x32x2x32xf32>
  %a = stablehlo.abs %v : tensor<8x32x2x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1, 3] : (tensor<8x32x2x32xf32>, tensor<f32>) -> tensor<8x2xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0, 2] : (tensor<8x2xf32>) -> tensor<8x32x2x32xf32>
  %d = stablehlo.divide %v, %b : tensor<8x32x2x32xf32>
  %r = stablehlo.reshape %d : (tensor<8x32x2x32xf32>) -> tensor<256x64xf32>
  %q = stablehlo.convert %r : (tensor<256x64xf32>) -> tensor<256x64xf8E4M3FN>
  return %q : tensor<256x64xf8E4M3FN>
}

// A shard holds half a row of blocks: it has no amax.
// CHECK-LABEL: @cut_blocks(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}headrace.wide_reason = "'stablehlo.divide' between the collective and the quantize is not data movement"{{.*}}-> tensor<64x64xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @cut_blocks(%x: tensor<16x64xf32>) -> tensor<64x64xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<16x64xf32>) -> tensor<64x64xf32>
  %v = stablehlo.reshape %g : (tensor<64x64xf32>) -> tensor<2x32x2x32xf32>
  %a = stablehlo.abs %v : tensor<2x32x2x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1, 3] : (tensor<2x32x2x32xf32>, tensor<f32>) -> tensor<2x2xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0, 2] : (tensor<2x2xf32>) -> tensor<2x32x2x32xf32>
  %d = stablehlo.divide %v, %b : tensor<2x32x2x32xf32>
  %r = stablehlo.reshape %d : (tensor<2x32x2x32xf32>) -> tensor<64x64xf32>
  %q = stablehlo.convert %r : (tensor<64x64xf32>) -> tensor<64x64xf8E4M3FN>
  return %q : tensor<64x64xf8E4M3FN>
}

// Without any fp8: half the bytes as bf16.
// CHECK-LABEL: @convert(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.convert %arg0 : (tensor<8x32xf32>) -> tensor<8x32xbf16>
// CHECK-NEXT: %[[V1:.*]] = "headrace.all_gather"(%[[V0]]) {dim = 0 : i64, {{.*}} : (tensor<8x32xbf16>) -> tensor<32x32xbf16>
// CHECK-NEXT: return %[[V1]] : tensor<32x32xbf16>
func.func @convert(%x: tensor<8x32xf32>) -> tensor<32x32xbf16> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %q = stablehlo.convert %g : (tensor<32x32xf32>) -> tensor<32x32xbf16>
  return %q : tensor<32x32xbf16>
}

// Weights in int8 with a constant scale: they are sent, and scaled after. The product was
// rounded to bf16 to be sent: quirks.BF16_ROUNDINGS_DROPPED.
// CHECK-LABEL: @int8(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<32x32xbf16>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<8x32xbf16>
// CHECK-NEXT: %[[V2:.*]] = "headrace.all_gather"(%arg0) {dim = 0 : i64, {{.*}} : (tensor<8x32xi8>) -> tensor<32x32xi8>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.convert %[[V2]] : (tensor<32x32xi8>) -> tensor<32x32xbf16>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.multiply %[[V3]], %[[V0]] : tensor<32x32xbf16>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.convert %[[V4]] : (tensor<32x32xbf16>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.reduce_precision %[[V5]], format = e8m7 : tensor<32x32xf32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.convert %[[V6]] : (tensor<32x32xf32>) -> tensor<32x32xbf16>
// CHECK-NEXT: return %[[V7]] : tensor<32x32xbf16>
func.func @int8(%x: tensor<8x32xi8>) -> tensor<32x32xbf16> {
  %w = stablehlo.convert %x : (tensor<8x32xi8>) -> tensor<8x32xbf16>
  %s = stablehlo.constant dense<0.125> : tensor<8x32xbf16>
  %m = stablehlo.multiply %w, %s : tensor<8x32xbf16>
  %g = "headrace.all_gather"(%m) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xbf16>) -> tensor<32x32xbf16>
  return %g : tensor<32x32xbf16>
}

// And the other way.
// CHECK-LABEL: @to_int8(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<8x32xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<32x32xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.divide %arg0, %[[V0]] : tensor<8x32xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.clamp %[[V3]], %[[V2]], %[[V4]] : (tensor<f32>, tensor<8x32xf32>, tensor<f32>) -> tensor<8x32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.round_nearest_even %[[V5]] : tensor<8x32xf32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.convert %[[V6]] : (tensor<8x32xf32>) -> tensor<8x32xi8>
// CHECK-NEXT: %[[V8:.*]] = "headrace.all_gather"(%[[V7]]) {dim = 0 : i64, {{.*}} : (tensor<8x32xi8>) -> tensor<32x32xi8>
// CHECK-NEXT: return %[[V8]] : tensor<32x32xi8>
func.func @to_int8(%x: tensor<8x32xf32>) -> tensor<32x32xi8> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %s = stablehlo.constant dense<0.125> : tensor<32x32xf32>
  %d = stablehlo.divide %g, %s : tensor<32x32xf32>
  %l = stablehlo.constant dense<-128.0> : tensor<f32>
  %h = stablehlo.constant dense<127.0> : tensor<f32>
  %c = stablehlo.clamp %l, %d, %h : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
  %r = stablehlo.round_nearest_even %c : tensor<32x32xf32>
  %q = stablehlo.convert %r : (tensor<32x32xf32>) -> tensor<32x32xi8>
  return %q : tensor<32x32xi8>
}

// One extremum over the gathered dimension, one for each token: one is reduced, the
// other gathered.
// CHECK-LABEL: @two_extrema(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.abs %arg0 : tensor<8x32xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reduce(%[[V0]] init: %[[V1]]) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V3:.*]] = "headrace.all_reduce"(%[[V2]]) {{.*}}reduction = "max"{{.*}} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reduce(%[[V0]] init: %[[V1]]) applies stablehlo.maximum across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[V5:.*]] = "headrace.all_gather"(%[[V4]]) {dim = 0 : i64, {{.*}} : (tensor<8xf32>) -> tensor<32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.convert %arg0 : (tensor<8x32xf32>) -> tensor<8x32xf8E4M3FN>
// CHECK-NEXT: %[[V7:.*]] = "headrace.all_gather"(%[[V6]]) {dim = 0 : i64, {{.*}} : (tensor<8x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHECK-NEXT: return %[[V3]], %[[V5]], %[[V7]] : tensor<f32>, tensor<32xf32>, tensor<32x32xf8E4M3FN>
func.func @two_extrema(%x: tensor<8x32xf32>) -> (tensor<f32>, tensor<32xf32>, tensor<32x32xf8E4M3FN>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %a = stablehlo.abs %g : tensor<32x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
  %q = stablehlo.convert %g : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
  return %m, %n, %q : tensor<f32>, tensor<32xf32>, tensor<32x32xf8E4M3FN>
}

// An extremum of an extremum; nothing is gathered.
// CHECK-LABEL: @extremum_of_extremum(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.reduce(%arg0 init: %[[V0]]) applies stablehlo.maximum across dimensions = [0] : (tensor<8x32xf32>, tensor<f32>) -> tensor<32xf32>
// CHECK-NEXT: %[[V2:.*]] = "headrace.all_reduce"(%[[V1]]) {{.*}}reduction = "max"{{.*}} : (tensor<32xf32>) -> tensor<32xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.reduce(%[[V2]] init: %[[V0]]) applies stablehlo.minimum across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %[[V3]] : tensor<f32>
func.func @extremum_of_extremum(%x: tensor<8x32xf32>) -> tensor<f32> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%g init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
  %n = stablehlo.reduce(%m init: %z) applies stablehlo.minimum across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
  return %n : tensor<f32>
}

// Users that need the wide value: what is returned,
// CHECK-LABEL: @returned(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @returned(%x: tensor<8x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %q = stablehlo.convert %g : (tensor<32x32xf32>) -> tensor<32x32xbf16>
  return %g, %q : tensor<32x32xf32>, tensor<32x32xbf16>
}

// a dot,
// CHECK-LABEL: @multiplied(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @multiplied(%x: tensor<8x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %d = stablehlo.dot_general %g, %g, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %q = stablehlo.convert %g : (tensor<32x32xf32>) -> tensor<32x32xbf16>
  return %d, %q : tensor<32x32xf32>, tensor<32x32xbf16>
}

// a loop.
// CHECK-LABEL: @looped(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @looped(%x: tensor<8x32xf32>, %n: index) -> (tensor<32x32xf32>, tensor<32x32xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %q = stablehlo.convert %g : (tensor<32x32xf32>) -> tensor<32x32xbf16>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %g) -> (tensor<32x32xf32>) {
    %b = stablehlo.add %a, %g : tensor<32x32xf32>
    scf.yield %b : tensor<32x32xf32>
  }
  return %r, %q : tensor<32x32xf32>, tensor<32x32xbf16>
}

// In a loop, with a scale from outside.
// CHECK-LABEL: @in_loop(
// CHECK-NEXT: %[[V0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[V1:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[V2:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V4:.*]] = scf.for %arg4 = %[[V0]] to %arg3 step %[[V1]] iter_args(%arg5 = %arg2) -> (tensor<32x32xbf16>) {
// CHECK-NEXT: %[[V5:.*]] = stablehlo.multiply %arg0, %[[V2]] : tensor<8x32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.convert %[[V5]] : (tensor<8x32xf32>) -> tensor<8x32xbf16>
// CHECK-NEXT: %[[V7:.*]] = "headrace.all_gather"(%[[V6]]) {dim = 0 : i64, {{.*}} : (tensor<8x32xbf16>) -> tensor<32x32xbf16>
// CHECK-NEXT: scf.yield %[[V7]] : tensor<32x32xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V4]] : tensor<32x32xbf16>
func.func @in_loop(%x: tensor<8x32xf32>, %s: tensor<f32> {headrace.sharding = "{replicated}"}, %i: tensor<32x32xbf16>, %n: index) -> tensor<32x32xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %i) -> (tensor<32x32xbf16>) {
    %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
    %d = stablehlo.multiply %g, %b : tensor<32x32xf32>
    %q = stablehlo.convert %d : (tensor<32x32xf32>) -> tensor<32x32xbf16>
    scf.yield %q : tensor<32x32xbf16>
  }
  return %r : tensor<32x32xbf16>
}

// Booleans are not sent, though they are a byte.
// CHECK-LABEL: @booleans(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @booleans(%x: tensor<8x32xf32>) -> tensor<32x32xi1> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<32x32xf32>
  %p = stablehlo.compare LT, %g, %z : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xi1>
  return %p : tensor<32x32xi1>
}

// Nor are 4-bit floats,
// CHECK-LABEL: @four_bits(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @four_bits(%x: tensor<8x32xf32>) -> tensor<32x32xf4E2M1FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %q = stablehlo.convert %g : (tensor<32x32xf32>) -> tensor<32x32xf4E2M1FN>
  return %q : tensor<32x32xf4E2M1FN>
}

// and unsigned integers, which are signless after StableHLO.
// CHECK-LABEL: @unsigned(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @unsigned(%x: tensor<8x32xf32>) -> tensor<32x32xui8> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %q = stablehlo.convert %g : (tensor<32x32xf32>) -> tensor<32x32xui8>
  return %q : tensor<32x32xui8>
}

// But past booleans: the predicate is made of what was sent.
// CHECK-LABEL: @selected(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.constant dense<0> : tensor<32x32xi8>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.constant dense<0> : tensor<8x32xi8>
// CHECK-NEXT: %[[V2:.*]] = "headrace.all_gather"(%arg0) {dim = 0 : i64, {{.*}} : (tensor<8x32xi8>) -> tensor<32x32xi8>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.compare LT, %[[V2]], %[[V0]] : (tensor<32x32xi8>, tensor<32x32xi8>) -> tensor<32x32xi1>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.convert %[[V2]] : (tensor<32x32xi8>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.exponential %[[V4]] : tensor<32x32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.select %[[V3]], %[[V4]], %[[V5]] : tensor<32x32xi1>, tensor<32x32xf32>
// CHECK-NEXT: return %[[V6]] : tensor<32x32xf32>
func.func @selected(%x: tensor<8x32xi8>) -> tensor<32x32xf32> {
  %z = stablehlo.constant dense<0> : tensor<8x32xi8>
  %p = stablehlo.compare LT, %x, %z : (tensor<8x32xi8>, tensor<8x32xi8>) -> tensor<8x32xi1>
  %w = stablehlo.convert %x : (tensor<8x32xi8>) -> tensor<8x32xf32>
  %e = stablehlo.exponential %w : tensor<8x32xf32>
  %s = stablehlo.select %p, %w, %e : tensor<8x32xi1>, tensor<8x32xf32>
  %g = "headrace.all_gather"(%s) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  return %g : tensor<32x32xf32>
}

// A scale per row of each device is sent, too.
// CHECK-LABEL: @own_scale(
// CHECK-NEXT: %[[V0:.*]] = "headrace.all_gather"(%arg0) {dim = 0 : i64, {{.*}} : (tensor<8x32xi8>) -> tensor<32x32xi8>
// CHECK-NEXT: %[[V1:.*]] = "headrace.all_gather"(%arg1) {dim = 0 : i64, {{.*}} : (tensor<8xf32>) -> tensor<32xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.convert %[[V0]] : (tensor<32x32xi8>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.broadcast_in_dim %[[V1]], dims = [0] : (tensor<32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.multiply %[[V2]], %[[V3]] : tensor<32x32xf32>
// CHECK-NEXT: return %[[V4]] : tensor<32x32xf32>
func.func @own_scale(%x: tensor<8x32xi8>, %s: tensor<8xf32>) -> tensor<32x32xf32> {
  %w = stablehlo.convert %x : (tensor<8x32xi8>) -> tensor<8x32xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xf32>) -> tensor<8x32xf32>
  %m = stablehlo.multiply %w, %b : tensor<8x32xf32>
  %g = "headrace.all_gather"(%m) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  return %g : tensor<32x32xf32>
}

// A scale per column that all devices have alike is not sent, but made in the other shape;
// CHECK-LABEL: @equal_scale(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
// CHECK-NEXT: %[[V2:.*]] = "headrace.all_gather"(%arg0) {dim = 0 : i64, {{.*}} : (tensor<8x32xi8>) -> tensor<32x32xi8>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.convert %[[V2]] : (tensor<32x32xi8>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.multiply %[[V3]], %[[V0]] : tensor<32x32xf32>
// CHECK-NEXT: return %[[V4]] : tensor<32x32xf32>
func.func @equal_scale(%x: tensor<8x32xi8>, %s: tensor<32xf32> {headrace.sharding = "{replicated}"}) -> tensor<32x32xf32> {
  %w = stablehlo.convert %x : (tensor<8x32xi8>) -> tensor<8x32xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
  %m = stablehlo.multiply %w, %b : tensor<8x32xf32>
  %g = "headrace.all_gather"(%m) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  return %g : tensor<32x32xf32>
}

// if they have others, each would have to keep all.
// CHECK-LABEL: @column_scale_of_devices(
// CHECK: "headrace.all_gather"({{.*}} -> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @column_scale_of_devices(%x: tensor<8x32xi8>, %s: tensor<32xf32>) -> tensor<32x32xf32> {
  %w = stablehlo.convert %x : (tensor<8x32xi8>) -> tensor<8x32xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
  %m = stablehlo.multiply %w, %b : tensor<8x32xf32>
  %g = "headrace.all_gather"(%m) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  return %g : tensor<32x32xf32>
}

// Nor is there a part of a value that all devices have as a whole.
// CHECK-LABEL: @varying_operand(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @varying_operand(%x: tensor<8x32xf32>, %y: tensor<32x32xf32> {headrace.sharding = "{replicated}"}) -> tensor<32x32xbf16> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %m = stablehlo.multiply %g, %y : tensor<32x32xf32>
  %q = stablehlo.convert %m : (tensor<32x32xf32>) -> tensor<32x32xbf16>
  return %q : tensor<32x32xbf16>
}

// No bytes are saved.
// CHECK-LABEL: @no_gain(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @no_gain(%x: tensor<8x32xf32>) -> tensor<32x32xf32> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %m = stablehlo.exponential %g : tensor<32x32xf32>
  return %m : tensor<32x32xf32>
}

// Two collectives with half the bytes each save none.
// CHECK-LABEL: @three_users(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @three_users(%x: tensor<8x32xf32>) -> (tensor<32x32xbf16>, tensor<32x32xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %q = stablehlo.convert %g : (tensor<32x32xf32>) -> tensor<32x32xbf16>
  %n = stablehlo.negate %g : tensor<32x32xf32>
  %r = stablehlo.convert %n : (tensor<32x32xf32>) -> tensor<32x32xbf16>
  return %q, %r : tensor<32x32xbf16>, tensor<32x32xbf16>
}

// Two equal ones with a quarter each do; they are merged later.
// CHECK-LABEL: @equal_quantizes(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.convert %arg0 : (tensor<8x32xf32>) -> tensor<8x32xf8E4M3FN>
// CHECK-NEXT: %[[V1:.*]] = "headrace.all_gather"(%[[V0]]) {dim = 0 : i64, {{.*}} : (tensor<8x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.convert %arg0 : (tensor<8x32xf32>) -> tensor<8x32xf8E4M3FN>
// CHECK-NEXT: %[[V3:.*]] = "headrace.all_gather"(%[[V2]]) {dim = 0 : i64, {{.*}} : (tensor<8x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHECK-NEXT: return %[[V1]], %[[V3]] : tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>
func.func @equal_quantizes(%x: tensor<8x32xf32>) -> (tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %q = stablehlo.convert %g : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
  %r = stablehlo.convert %g : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
  return %q, %r : tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>
}

// Groups along one axis of a 2 x 2 mesh.
// CHECK-LABEL: @mesh(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.abs %arg0 : tensor<8x32xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reduce(%[[V0]] init: %[[V1]]) applies stablehlo.maximum across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[V3:.*]] = "headrace.all_gather"(%[[V2]]) {dim = 0 : i64, {{.*}}replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<8xf32>) -> tensor<16xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.broadcast_in_dim %[[V2]], dims = [0] : (tensor<8xf32>) -> tensor<8x32xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.divide %arg0, %[[V4]] : tensor<8x32xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.convert %[[V5]] : (tensor<8x32xf32>) -> tensor<8x32xf8E4M3FN>
// CHECK-NEXT: %[[V7:.*]] = "headrace.all_gather"(%[[V6]]) {dim = 0 : i64, {{.*}}replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<8x32xf8E4M3FN>) -> tensor<16x32xf8E4M3FN>
// CHECK-NEXT: return %[[V7]], %[[V3]] : tensor<16x32xf8E4M3FN>, tensor<16xf32>
func.func @mesh(%x: tensor<8x32xf32>) -> (tensor<16x32xf8E4M3FN>, tensor<16xf32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1],[2,3]]> : tensor<2x2xi64>} : (tensor<8x32xf32>) -> tensor<16x32xf32>
  %a = stablehlo.abs %g : tensor<16x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<16xf32>) -> tensor<16x32xf32>
  %d = stablehlo.divide %g, %b : tensor<16x32xf32>
  %q = stablehlo.convert %d : (tensor<16x32xf32>) -> tensor<16x32xf8E4M3FN>
  return %q, %m : tensor<16x32xf8E4M3FN>, tensor<16xf32>
}

// The scale is one for each row of the mesh, along which is gathered,
// CHECK-LABEL: @mesh_scale(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.reshape %arg1 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.broadcast_in_dim %[[V0]], dims = [] : (tensor<f32>) -> tensor<8x32xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.broadcast_in_dim %[[V0]], dims = [] : (tensor<f32>) -> tensor<16x32xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.add %arg0, %[[V1]] : tensor<8x32xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.convert %[[V3]] : (tensor<8x32xf32>) -> tensor<8x32xbf16>
// CHECK-NEXT: %[[V5:.*]] = "headrace.all_gather"(%[[V4]]) {dim = 0 : i64, {{.*}}replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<8x32xbf16>) -> tensor<16x32xbf16>
// CHECK-NEXT: return %[[V5]] : tensor<16x32xbf16>
func.func @mesh_scale(%x: tensor<8x32xf32>, %s: tensor<1xf32> {headrace.sharding = "{devices=[2,2]<=[4] last_tile_dim_replicate}"}) -> tensor<16x32xbf16> {
  %r = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1],[2,3]]> : tensor<2x2xi64>} : (tensor<8x32xf32>) -> tensor<16x32xf32>
  %m = stablehlo.add %g, %b : tensor<16x32xf32>
  %q = stablehlo.convert %m : (tensor<16x32xf32>) -> tensor<16x32xbf16>
  return %q : tensor<16x32xbf16>
}

// or not.
// CHECK-LABEL: @mesh_other_scale(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<16x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @mesh_other_scale(%x: tensor<8x32xf32>, %s: tensor<1xf32> {headrace.sharding = "{devices=[2,2]<=[4] last_tile_dim_replicate}"}) -> tensor<16x32xbf16> {
  %r = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,2],[1,3]]> : tensor<2x2xi64>} : (tensor<8x32xf32>) -> tensor<16x32xf32>
  %m = stablehlo.add %g, %b : tensor<16x32xf32>
  %q = stablehlo.convert %m : (tensor<16x32xf32>) -> tensor<16x32xbf16>
  return %q : tensor<16x32xbf16>
}

// Sums of integers do not depend on the order; those of floats do.
// CHECK-LABEL: @integer_sum(
// CHECK-NEXT: %[[V0:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.reduce(%arg0 init: %[[V0]]) applies stablehlo.add across dimensions = [1] : (tensor<8x32xi32>, tensor<i32>) -> tensor<8xi32>
// CHECK-NEXT: %[[V2:.*]] = "headrace.all_gather"(%[[V1]]) {dim = 0 : i64, {{.*}} : (tensor<8xi32>) -> tensor<32xi32>
// CHECK-NEXT: return %[[V2]] : tensor<32xi32>
func.func @integer_sum(%x: tensor<8x32xi32>) -> tensor<32xi32> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xi32>) -> tensor<32x32xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %m = stablehlo.reduce(%g init: %z) applies stablehlo.add across dimensions = [1] : (tensor<32x32xi32>, tensor<i32>) -> tensor<32xi32>
  return %m : tensor<32xi32>
}

// CHECK-LABEL: @float_sum(
// CHECK: "headrace.all_gather"(%arg0) {{.*}}-> tensor<32x32xf32>
// CHECK-NOT: "headrace.{{a|c}}
// CHECK: return
func.func @float_sum(%x: tensor<8x32xf32>) -> tensor<32xf32> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%g init: %z) applies stablehlo.add across dimensions = [1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
  return %m : tensor<32xf32>
}
}
