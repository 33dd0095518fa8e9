// RUN: headrace-opt %s --pass-pipeline='builtin.module(raise-stablehlo,canonicalize,cse,commute-collectives,fuse-scaled-matmul)' | FileCheck %s

// Both operands are gathered (exchanged, permuted) after the dequantize, as SPMD
// partitioners write it. The collectives carry fp8, and the dot is scaled.

module attributes {headrace.num_partitions = 8 : i32, headrace.num_replicas = 1 : i32} {

// Peer 52.
// CHECK-LABEL: func.func @peer_52
// CHECK-DAG: %[[X:.*]] = "headrace.all_gather"(%arg0) {dim = 1 : i64, {{.*}} : (tensor<16x4xf8E4M3FN>) -> tensor<16x32xf8E4M3FN>
// CHECK-DAG: %[[Y:.*]] = "headrace.all_gather"(%arg1) {dim = 1 : i64, {{.*}} : (tensor<32x2xf8E4M3FN>) -> tensor<32x16xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[X]], %[[Y]], %arg2, %arg3)
// CHECK-NEXT: return
func.func @peer_52(%x: tensor<16x4xf8E4M3FN>, %y: tensor<32x2xf8E4M3FN>,
    %sx: tensor<f32> {headrace.sharding = "{replicated}"}, %sy: tensor<f32> {headrace.sharding = "{replicated}"}) -> tensor<16x16xf32> {
  %xw = stablehlo.convert %x : (tensor<16x4xf8E4M3FN>) -> tensor<16x4xf32>
  %sxb = stablehlo.broadcast_in_dim %sx, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
  %a = stablehlo.multiply %xw, %sxb : tensor<16x4xf32>
  %yw = stablehlo.convert %y : (tensor<32x2xf8E4M3FN>) -> tensor<32x2xf32>
  %syb = stablehlo.broadcast_in_dim %sy, dims = [] : (tensor<f32>) -> tensor<32x2xf32>
  %b = stablehlo.multiply %yw, %syb : tensor<32x2xf32>
  %ag = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<16x4xf32>) -> tensor<16x32xf32>
  %bg = "stablehlo.all_gather"(%b) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<32x2xf32>) -> tensor<32x16xf32>
  %d = stablehlo.dot_general %ag, %bg, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Peer 53.
// CHECK-LABEL: func.func @peer_53
// CHECK: %[[X:.*]] = "headrace.all_to_all"(%arg0) {{.*}} : (tensor<16x32xf8E4M3FN>) -> tensor<2x256xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[X]], %arg1, %arg2, %arg3)
// CHECK-NEXT: return
func.func @peer_53(%x: tensor<16x32xf8E4M3FN>, %y: tensor<256x16xf8E4M3FN>,
    %sx: tensor<f32> {headrace.sharding = "{replicated}"}, %sy: tensor<f32>) -> tensor<2x16xf32> {
  %xw = stablehlo.convert %x : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xf32>
  %sxb = stablehlo.broadcast_in_dim %sx, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  %a = stablehlo.multiply %xw, %sxb : tensor<16x32xf32>
  %yw = stablehlo.convert %y : (tensor<256x16xf8E4M3FN>) -> tensor<256x16xf32>
  %syb = stablehlo.broadcast_in_dim %sy, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
  %b = stablehlo.multiply %yw, %syb : tensor<256x16xf32>
  %t = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 8 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>}> : (tensor<16x32xf32>) -> tensor<2x256xf32>
  %d = stablehlo.dot_general %t, %b, contracting_dims = [1] x [0] : (tensor<2x256xf32>, tensor<256x16xf32>) -> tensor<2x16xf32>
  return %d : tensor<2x16xf32>
}

// Peer 54.
// CHECK-LABEL: func.func @peer_54
// CHECK: %[[X:.*]] = "headrace.collective_permute"(%arg0) {{.*}} : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[X]], %arg1, %arg2, %arg3)
// CHECK-NEXT: return
func.func @peer_54(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>,
    %sx: tensor<f32> {headrace.sharding = "{replicated}"}, %sy: tensor<f32>) -> tensor<16x16xf32> {
  %xw = stablehlo.convert %x : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xf32>
  %sxb = stablehlo.broadcast_in_dim %sx, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  %a = stablehlo.multiply %xw, %sxb : tensor<16x32xf32>
  %yw = stablehlo.convert %y : (tensor<32x16xf8E4M3FN>) -> tensor<32x16xf32>
  %syb = stablehlo.broadcast_in_dim %sy, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
  %b = stablehlo.multiply %yw, %syb : tensor<32x16xf32>
  %p = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %d = stablehlo.dot_general %p, %b, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// The scale of the gathered operand differs from device to device: the gather
// stays wide, and so does the dot.
// CHECK-LABEL: func.func @other_scales
// CHECK: "headrace.all_gather"({{.*}}headrace.wide_reason
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'headrace.all_gather' stands between the dequantize and the dot"
func.func @other_scales(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x2xf8E4M3FN>, %sx: tensor<f32>, %sy: tensor<f32>) -> tensor<16x16xf32> {
  %xw = stablehlo.convert %x : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xf32>
  %sxb = stablehlo.broadcast_in_dim %sx, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  %a = stablehlo.multiply %xw, %sxb : tensor<16x32xf32>
  %yw = stablehlo.convert %y : (tensor<32x2xf8E4M3FN>) -> tensor<32x2xf32>
  %syb = stablehlo.broadcast_in_dim %sy, dims = [] : (tensor<f32>) -> tensor<32x2xf32>
  %b = stablehlo.multiply %yw, %syb : tensor<32x2xf32>
  %bg = "stablehlo.all_gather"(%b) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<32x2xf32>) -> tensor<32x16xf32>
  %d = stablehlo.dot_general %a, %bg, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}
}
