// RUN: headrace-opt %s --split-input-file --raise-stablehlo | FileCheck %s

// JAX's form: flattened ids with a channel. Every kind of collective.
// CHECK-LABEL: module @kinds
module @kinds attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
// CHECK: "headrace.all_gather"(%arg0) {dim = 1 : i64, pipelined = false, replica_groups = dense<{{\[}}[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<4x8xf32>) -> tensor<4x16xf32>
// CHECK: "headrace.all_reduce"(%arg0) {pipelined = false, reduction = "add", replica_groups = dense<{{\[}}[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: "headrace.reduce_scatter"(%arg0) {dim = 0 : i64, pipelined = false, reduction = "max", replica_groups = dense<{{\[}}[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
// CHECK: "headrace.all_to_all"(%arg0) {concat_dim = 0 : i64, pipelined = false, replica_groups = dense<{{\[}}[3, 1], [0, 2]]> : tensor<2x2xi64>, split_dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK: "headrace.collective_permute"(%arg0) {pipelined = false, source_target_pairs = dense<{{\[}}[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NOT: stablehlo.all
func.func @f(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x8xf32>, tensor<1x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %1 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "stablehlo.reduce_scatter"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %b, %a : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %3 = "stablehlo.all_to_all"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[3, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %4 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1, %2, %3, %4 : tensor<4x16xf32>, tensor<4x8xf32>, tensor<1x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>
}
}

// -----

// The modes of process groups on a grid of 2 replicas x 3 partitions, where
// the device id is replica * 3 + partition.
// CHECK-LABEL: module @modes
module @modes attributes {mhlo.num_partitions = 3 : i32, mhlo.num_replicas = 2 : i32} {
// Without a channel between replicas: one group per partition.
// CHECK: "headrace.all_gather"{{.*}}dense<{{\[}}[3, 0], [4, 1], [5, 2]]> : tensor<3x2xi64>
// With a channel between both, partitions outermost.
// CHECK: "headrace.all_gather"{{.*}}dense<{{\[}}[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>
// CHECK: "headrace.all_gather"{{.*}}dense<{{\[}}[3, 0, 4, 1, 5, 2]]> : tensor<1x6xi64>
// Flattened ids are device ids.
// CHECK: "headrace.all_gather"{{.*}}dense<{{\[}}[5, 1, 2, 3, 4, 0]]> : tensor<1x6xi64>
// all_to_all and permute with a channel: between partitions, per replica.
// CHECK: "headrace.all_to_all"{{.*}}dense<{{\[}}[2, 0, 1], [5, 3, 4]]> : tensor<2x3xi64>
// CHECK: "headrace.collective_permute"{{.*}}dense<{{\[}}[0, 1], [3, 4], [1, 2], [4, 5]]> : tensor<4x2xi64>
// Without one: between replicas, per partition.
// CHECK: "headrace.all_to_all"{{.*}}dense<{{\[}}[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>
// CHECK: "headrace.collective_permute"{{.*}}dense<{{\[}}[3, 0], [4, 1], [5, 2]]> : tensor<3x2xi64>
// No groups: all replicas, or all devices.
// CHECK: "headrace.all_reduce"{{.*}}dense<{{\[}}[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>
// CHECK: "headrace.all_reduce"{{.*}}dense<{{\[}}[0, 3, 1, 4, 2, 5]]> : tensor<1x6xi64>
func.func @f(%x: tensor<2xf32>, %y: tensor<6xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> : (tensor<2xf32>) -> tensor<6xf32>
  %2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<12xf32>
  %3 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[5, 1, 2, 3, 4, 0]]> : tensor<1x6xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<12xf32>
  %4 = "stablehlo.all_to_all"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 3 : i64, replica_groups = dense<[[2, 0, 1]]> : tensor<1x3xi64>}> : (tensor<6xf32>) -> tensor<6xf32>
  %5 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  %6 = "stablehlo.all_to_all"(%x) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  // A channel with handle 0 is none.
  %7 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  %8 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %9 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<> : tensor<0x0xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
}

// -----

// Without counts the ids are taken as they are.
// CHECK-LABEL: func.func @no_counts
// CHECK: "headrace.all_gather"{{.*}}dense<{{\[}}[1, 0]]>
// CHECK: "headrace.all_gather"{{.*}}dense<{{\[}}[1, 0]]>
func.func @no_counts(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Several operands: one op each, of its own element type.
// CHECK-LABEL: func.func @variadic
// CHECK: %[[A:.*]] = "headrace.all_gather"(%arg0) {{.*}} -> tensor<4xf8E4M3FN>
// CHECK: %[[B:.*]] = "headrace.all_gather"(%arg1) {{.*}} -> tensor<4x3xi32>
// CHECK: %[[C:.*]] = "headrace.all_reduce"(%arg1) {{.*}}reduction = "min"
// CHECK: %[[D:.*]] = "headrace.all_reduce"(%arg1) {{.*}}reduction = "min"
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @variadic(%x: tensor<2xf8E4M3FN>, %y: tensor<2x3xi32>) -> (tensor<4xf8E4M3FN>, tensor<4x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>) {
  %0:2 = "stablehlo.all_gather"(%x, %y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf8E4M3FN>, tensor<2x3xi32>) -> (tensor<4xf8E4M3FN>, tensor<4x3xi32>)
  %1:2 = "stablehlo.all_reduce"(%y, %y) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.minimum %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<4xf8E4M3FN>, tensor<4x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>
}

// -----

// Every reduction. On booleans arithmetic is logic; unsigned has its own order.
// CHECK-LABEL: func.func @reductions
// CHECK: "headrace.all_reduce"{{.*}}reduction = "add"{{.*}} -> tensor<2xi32>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "mul"{{.*}} -> tensor<2xi32>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "max"{{.*}} -> tensor<2xi32>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "and"{{.*}} -> tensor<2xi32>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "or"{{.*}} -> tensor<2xi32>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "xor"{{.*}} -> tensor<2xi32>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "umax"{{.*}} -> tensor<2xi32>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "umin"{{.*}} -> tensor<2xi32>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "add"{{.*}} -> tensor<2xi32>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "or"{{.*}} -> tensor<2xi1>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "and"{{.*}} -> tensor<2xi1>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "or"{{.*}} -> tensor<2xi1>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "and"{{.*}} -> tensor<2xi1>
// CHECK: "headrace.all_reduce"{{.*}}reduction = "xor"{{.*}} -> tensor<2xi1>
func.func @reductions(%x_i32: tensor<2xi32>, %x_ui32: tensor<2xui32>, %x_i1: tensor<2xi1>) {
  %0 = "stablehlo.all_reduce"(%x_i32) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  %1 = "stablehlo.all_reduce"(%x_i32) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.multiply %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  %2 = "stablehlo.all_reduce"(%x_i32) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  %3 = "stablehlo.all_reduce"(%x_i32) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.and %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  %4 = "stablehlo.all_reduce"(%x_i32) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.or %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  %5 = "stablehlo.all_reduce"(%x_i32) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.xor %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  %6 = "stablehlo.all_reduce"(%x_ui32) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
    %s = stablehlo.maximum %a, %b : tensor<ui32>
    stablehlo.return %s : tensor<ui32>
  }) : (tensor<2xui32>) -> tensor<2xui32>
  %7 = "stablehlo.all_reduce"(%x_ui32) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
    %s = stablehlo.minimum %a, %b : tensor<ui32>
    stablehlo.return %s : tensor<ui32>
  }) : (tensor<2xui32>) -> tensor<2xui32>
  %8 = "stablehlo.all_reduce"(%x_ui32) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
    %s = stablehlo.add %a, %b : tensor<ui32>
    stablehlo.return %s : tensor<ui32>
  }) : (tensor<2xui32>) -> tensor<2xui32>
  %9 = "stablehlo.all_reduce"(%x_i1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %s = stablehlo.add %a, %b : tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<2xi1>) -> tensor<2xi1>
  %10 = "stablehlo.all_reduce"(%x_i1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %s = stablehlo.multiply %a, %b : tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<2xi1>) -> tensor<2xi1>
  %11 = "stablehlo.all_reduce"(%x_i1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %s = stablehlo.maximum %a, %b : tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<2xi1>) -> tensor<2xi1>
  %12 = "stablehlo.all_reduce"(%x_i1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %s = stablehlo.minimum %a, %b : tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<2xi1>) -> tensor<2xi1>
  %13 = "stablehlo.all_reduce"(%x_i1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %s = stablehlo.xor %a, %b : tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

// Types: unsigned travels signless, complex as two parts, bool as it is; a
// promoting reduction converts first.
// CHECK-LABEL: func.func @types
// CHECK: %[[A:.*]] = stablehlo.bitcast_convert %arg0 : (tensor<2xui8>) -> tensor<2xi8>
// CHECK: %[[B:.*]] = "headrace.all_gather"(%[[A]]) {{.*}} -> tensor<4xi8>
// CHECK: stablehlo.bitcast_convert %[[B]] : (tensor<4xi8>) -> tensor<4xui8>
// CHECK: %[[R:.*]] = stablehlo.real %arg1
// CHECK: %[[I:.*]] = stablehlo.imag %arg1
// CHECK: %[[GR:.*]] = "headrace.all_gather"(%[[R]])
// CHECK: %[[GI:.*]] = "headrace.all_gather"(%[[I]])
// CHECK: stablehlo.complex %[[GR]], %[[GI]] : tensor<4xcomplex<f32>>
// CHECK: "headrace.all_gather"(%arg2) {{.*}} -> tensor<4xi1>
// CHECK: %[[P:.*]] = stablehlo.convert %arg3 : (tensor<2xbf16>) -> tensor<2xf32>
// CHECK: "headrace.all_reduce"(%[[P]])
// CHECK: %[[U:.*]] = stablehlo.convert %arg0 : (tensor<2xui8>) -> tensor<2xui32>
// CHECK: %[[V:.*]] = stablehlo.bitcast_convert %[[U]] : (tensor<2xui32>) -> tensor<2xi32>
// CHECK: %[[W:.*]] = "headrace.all_reduce"(%[[V]]) {{.*}}reduction = "umax"
// CHECK: stablehlo.bitcast_convert %[[W]] : (tensor<2xi32>) -> tensor<2xui32>
func.func @types(%u: tensor<2xui8>, %c: tensor<2xcomplex<f32>>, %i: tensor<2xi1>, %h: tensor<2xbf16>) -> (tensor<4xui8>, tensor<4xcomplex<f32>>, tensor<4xi1>, tensor<2xf32>, tensor<2xui32>) {
  %0 = "stablehlo.all_gather"(%u) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xui8>) -> tensor<4xui8>
  %1 = "stablehlo.all_gather"(%c) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %2 = "stablehlo.all_gather"(%i) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xi1>) -> tensor<4xi1>
  %3 = "stablehlo.all_reduce"(%h) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xbf16>) -> tensor<2xf32>
  %4 = "stablehlo.all_reduce"(%u) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
    %s = stablehlo.maximum %a, %b : tensor<ui32>
    stablehlo.return %s : tensor<ui32>
  }) : (tensor<2xui8>) -> tensor<2xui32>
  return %0, %1, %2, %3, %4 : tensor<4xui8>, tensor<4xcomplex<f32>>, tensor<4xi1>, tensor<2xf32>, tensor<2xui32>
}

// -----

// Groups of one device, one of them padded: nothing is left but a conversion.
// CHECK-LABEL: func.func @alone
// CHECK-NEXT: %[[C:.*]] = stablehlo.convert %arg0 : (tensor<2xbf16>) -> tensor<2xf32>
// CHECK-NEXT: return %arg0, %[[C]]
func.func @alone(%x: tensor<2xbf16>) -> (tensor<2xbf16>, tensor<2xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> : (tensor<2xbf16>) -> tensor<2xbf16>
  %1 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, -1], [1, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xbf16>) -> tensor<2xf32>
  return %0, %1 : tensor<2xbf16>, tensor<2xf32>
}

// -----

// A permute without pairs: every device gets zeros.
// CHECK-LABEL: func.func @nobody_sends
// CHECK-NEXT: stablehlo.constant dense<0.000000e+00> : tensor<2xbf16>
// CHECK-NEXT: stablehlo.constant dense<0> : tensor<2xi32>
// CHECK-NEXT: return
func.func @nobody_sends(%x: tensor<2xbf16>, %y: tensor<2xi32>) -> (tensor<2xbf16>, tensor<2xi32>) {
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<2xbf16>) -> tensor<2xbf16>
  %1 = "stablehlo.collective_permute"(%y) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
  return %0, %1 : tensor<2xbf16>, tensor<2xi32>
}

// -----

// The wish for pipelining, from a frontend attribute or ours.
// CHECK-LABEL: func.func @pipelining
// CHECK: "headrace.all_gather"(%arg0) {dim = 0 : i64, headrace.pipeline, pipelined = false
// CHECK: "headrace.all_gather"(%arg0) {dim = 0 : i64, headrace.pipeline, pipelined = false
// CHECK: "headrace.all_gather"(%arg0) {dim = 0 : i64, pipelined = false
func.func @pipelining(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> {mhlo.frontend_attributes = {headrace_pipeline = "True"}} : (tensor<2xf32>) -> tensor<4xf32>
  %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> {headrace.pipeline} : (tensor<2xf32>) -> tensor<4xf32>
  %2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> {mhlo.frontend_attributes = {headrace_pipeline = "false", other = "1"}} : (tensor<2xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Device ids, and sharding calls that say nothing in one device's program.
// CHECK-LABEL: func.func @device_ids
// CHECK-NEXT: %[[P:.*]] = "headrace.partition_id"() : () -> tensor<i32>
// CHECK-NEXT: %[[U:.*]] = stablehlo.convert %[[P]] : (tensor<i32>) -> tensor<ui32>
// CHECK-NEXT: %[[R:.*]] = "headrace.replica_id"() : () -> tensor<i32>
// CHECK-NEXT: %[[V:.*]] = stablehlo.convert %[[R]] : (tensor<i32>) -> tensor<ui32>
// CHECK-NEXT: return %[[U]], %[[V]], %arg0
func.func @device_ids(%x: tensor<8xf32>) -> (tensor<ui32>, tensor<ui32>, tensor<8xf32>) {
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.replica_id : tensor<ui32>
  %2 = stablehlo.custom_call @Sharding(%x) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<ui32>, tensor<ui32>, tensor<8xf32>
}
