// RUN: headrace-opt %s --pass-pipeline='builtin.module(collectives-to-channels)' --split-input-file | FileCheck %s

// Each channel is made once, when the program is loaded; loops only use it.
module attributes {headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32} {
// CHECK: util.global private @__headrace_channel : !flow.channel
// CHECK-NEXT: util.global private @__headrace_channel_1 : !flow.channel
// CHECK-NEXT: util.initializer {
// CHECK-NEXT: %[[W:.*]] = flow.channel.default
// CHECK-NEXT: util.global.store %[[W]], @__headrace_channel :
// CHECK-NEXT: %[[R:.*]] = flow.channel.rank %[[W]]
// CHECK: %[[S:.*]] = flow.channel.split %[[W]], %{{.*}}, %{{.*}}
// CHECK-NEXT: util.global.store %[[S]], @__headrace_channel_1 :
// CHECK-NEXT: util.return
// CHECK-NOT: flow.channel
// CHECK-LABEL: @in_loop(
// CHECK-DAG: %[[A:.*]] = util.global.load @__headrace_channel : !flow.channel
// CHECK-DAG: %[[B:.*]] = util.global.load @__headrace_channel_1 : !flow.channel
// CHECK: scf.for
// CHECK-NEXT: flow.tensor.alloca
// CHECK-NEXT: flow.collective.all_reduce sum, f32, {{.*}}, %[[A]] :
// CHECK-NEXT: flow.tensor.alloca
// CHECK-NEXT: flow.collective.all_reduce maximum, f32, {{.*}}, %[[B]] :
// CHECK-NEXT: flow.tensor.alloca
// CHECK-NEXT: flow.collective.all_reduce sum, f32, {{.*}}, %[[A]] :
// CHECK-NEXT: scf.yield
func.func @in_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> (tensor<4xf32>) {
    %a = "headrace.all_reduce"(%v) {reduction = "add", pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %b = "headrace.all_reduce"(%a) {reduction = "max", pipelined = false, replica_groups = dense<[[0,2],[3,1]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %c = "headrace.all_reduce"(%b) {reduction = "add", pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
// fp8 travels as i8; along dimension 0 nothing is transposed. Each device sends
// its shard to all: IREE's own all_gather does not run right.
// CHECK-LABEL: @fp8(
// CHECK: %[[B:.*]] = tensor.bitcast %arg0 : tensor<4x2xf8E4M3FN> to tensor<4x2xi8>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<4x2xi8>) outs(%{{.*}} : tensor<2x4x2xi8>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[P]] {{\[\[}}0, 1], [2]]
// CHECK: %[[G:.*]] = flow.collective.all_to_all si8, %{{.*}}, %[[C]], {{.*}} as tensor<8x2xi8>
// CHECK-NEXT: %[[R:.*]] = tensor.bitcast %[[G]] : tensor<8x2xi8> to tensor<8x2xf8E4M3FN>
// CHECK-NEXT: return %[[R]]
func.func @fp8(%x: tensor<4x2xf8E4M3FN>) -> tensor<8x2xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4x2xf8E4M3FN>) -> tensor<8x2xf8E4M3FN>
  return %g : tensor<8x2xf8E4M3FN>
}

// Along another dimension there is one transpose, after the gather.
// CHECK-LABEL: @gather_columns(
// CHECK: %[[G:.*]] = flow.collective.all_to_all f32, {{.*}} as tensor<8x3xf32>
// CHECK-NEXT: %[[E:.*]] = tensor.expand_shape %[[G]] {{\[\[}}0, 1], [2]] output_shape [2, 4, 3]
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[E]] : tensor<2x4x3xf32>) outs(%{{.*}} : tensor<4x2x3xf32>)
// CHECK: tensor.collapse_shape %[[T]] {{\[\[}}0], [1, 2]] : tensor<4x2x3xf32> into tensor<4x6xf32>
func.func @gather_columns(%x: tensor<4x3xf32>) -> tensor<4x6xf32> {
  %g = "headrace.all_gather"(%x) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4x3xf32>) -> tensor<4x6xf32>
  return %g : tensor<4x6xf32>
}

// CHECK-LABEL: @scatter_columns(
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1, 2]] output_shape [4, 2, 3]
// CHECK: %[[P:.*]] = tensor.collapse_shape {{.*}} : tensor<2x4x3xf32> into tensor<8x3xf32>
// CHECK: flow.collective.reduce_scatter minimum, f32, %{{.*}}, %[[P]], {{.*}} as tensor<4x3xf32>
// CHECK-NEXT: return
func.func @scatter_columns(%x: tensor<4x6xf32>) -> tensor<4x3xf32> {
  %r = "headrace.reduce_scatter"(%x) {dim = 1 : i64, reduction = "min", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// bf16 moves as f16 of the same bits, and is reduced in f32: IREE's RCCL
// binding takes bf16 for f64.
// CHECK-LABEL: @bf16(
// CHECK: %[[B:.*]] = tensor.bitcast %arg0 : tensor<4x2xbf16> to tensor<4x2xf16>
// CHECK: flow.collective.all_to_all f16, %{{.*}}, %[[B]], {{.*}} as tensor<4x2xf16>
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: flow.collective.all_reduce sum, f32, {{.*}} as tensor<4x2xf32>
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @bf16(%x: tensor<4x2xbf16>) -> (tensor<4x2xbf16>, tensor<4x2xbf16>) {
  %m = "headrace.all_to_all"(%x) {split_dim = 0 : i64, concat_dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4x2xbf16>) -> tensor<4x2xbf16>
  %r = "headrace.all_reduce"(%x) {reduction = "add", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4x2xbf16>) -> tensor<4x2xbf16>
  return %m, %r : tensor<4x2xbf16>, tensor<4x2xbf16>
}

// Unsigned, wider, boolean.
// CHECK-LABEL: @integers(
// CHECK: flow.collective.all_reduce maximum, ui8,
// CHECK: arith.extsi %{{.*}} : i16 to i32
// CHECK: flow.collective.all_reduce sum, si32,
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: flow.collective.all_reduce maximum, ui8,
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK: arith.trunci %{{.*}} : i8 to i1
func.func @integers(%x: tensor<4xi8>, %y: tensor<4xi16>, %z: tensor<4xi1>) -> (tensor<4xi8>, tensor<4xi16>, tensor<4xi1>) {
  %a = "headrace.all_reduce"(%x) {reduction = "umax", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xi8>) -> tensor<4xi8>
  %b = "headrace.all_reduce"(%y) {reduction = "add", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xi16>) -> tensor<4xi16>
  %c = "headrace.all_reduce"(%z) {reduction = "or", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xi1>) -> tensor<4xi1>
  return %a, %b, %c : tensor<4xi8>, tensor<4xi16>, tensor<4xi1>
}

// What is done to the result waits for its first user, so that what stands
// between can run beside the collective.
// CHECK-LABEL: @rounding_waits(
// CHECK: flow.collective.reduce_scatter sum, f32,
// CHECK-NEXT: linalg.matmul
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: tensor.insert_slice
func.func @rounding_waits(%x: tensor<4x2xbf16>, %a: tensor<4x4xf32>, %o: tensor<4x2xbf16>) -> (tensor<4x2xbf16>, tensor<4x4xf32>) {
  %r = "headrace.reduce_scatter"(%x) {dim = 0 : i64, reduction = "add", pipelined = true, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4x2xbf16>) -> tensor<2x2xbf16>
  %m = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = tensor.insert_slice %r into %o[0, 0] [2, 2] [1, 1] : tensor<2x2xbf16> into tensor<4x2xbf16>
  return %s, %m : tensor<4x2xbf16>, tensor<4x4xf32>
}

// No channel takes an exclusive or: gathered, or exchanged, then reduced here.
// CHECK-LABEL: @bitwise(
// CHECK: flow.collective.all_to_all si32, {{.*}} as tensor<2x4xi32>
// CHECK: flow.collective.all_to_all si32, {{.*}} as tensor<4xi32>
// CHECK: arith.xori
// CHECK: arith.xori
func.func @bitwise(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<2xi32>) {
  %a = "headrace.all_reduce"(%x) {reduction = "xor", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xi32>) -> tensor<4xi32>
  %b = "headrace.reduce_scatter"(%x) {dim = 0 : i64, reduction = "xor", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xi32>) -> tensor<2xi32>
  return %a, %b : tensor<4xi32>, tensor<2xi32>
}

// Groups of one talk to nobody, and need no channel.
// CHECK-LABEL: @alone(
// CHECK-NEXT: return %arg0
func.func @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0],[1]]> : tensor<2x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
}

// -----

// Ranks to send to and receive from are looked up at the entry; -1 is nobody.
module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 2 : i32} {
// CHECK-LABEL: @permute(
// CHECK: %[[C:.*]] = util.global.load @__headrace_channel
// CHECK-NEXT: %[[R:.*]] = flow.channel.rank %[[C]]
// CHECK: arith.constant -1 : index
// CHECK: arith.select
// CHECK: scf.if
// CHECK-NEXT: flow.tensor.alloca
// CHECK-NEXT: flow.collective.send_recv f32, %{{.*}}, %arg0, %[[C]], %{{.*}}, %{{.*}} :
func.func @permute(%x: tensor<4xf32>, %go: i1) -> tensor<4xf32> {
  %r = scf.if %go -> (tensor<4xf32>) {
    %p = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3]]> : tensor<3x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %p : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @ids(
// CHECK: %[[R:.*]] = flow.channel.rank
// CHECK: arith.remui %[[R]], %
// CHECK: arith.divui %[[R]], %
func.func @ids() -> (tensor<i32>, tensor<i32>) {
  %p = "headrace.partition_id"() : () -> tensor<i32>
  %r = "headrace.replica_id"() : () -> tensor<i32>
  return %p, %r : tensor<i32>, tensor<i32>
}
}

// -----

// A program for one device has no channel at all.
// CHECK-NOT: channel
// CHECK-LABEL: @one_device(
// CHECK: %[[Z:.*]] = arith.constant 0 : i32
// CHECK-NEXT: tensor.from_elements %[[Z]]
// CHECK-NOT: channel
func.func @one_device(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %p = "headrace.partition_id"() : () -> tensor<i32>
  %g = "headrace.all_reduce"(%x) {reduction = "add", pipelined = false, replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %g, %p : tensor<4xf32>, tensor<i32>
}
