// RUN: headrace-opt %s --pass-pipeline='builtin.module(spmd-to-devices)' --split-input-file | FileCheck %s
// RUN: headrace-opt %S/Inputs/three-devices.mlir --pass-pipeline='builtin.module(spmd-to-devices{devices=3})' | FileCheck %S/Inputs/three-devices.mlir

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {

// Arguments and results device by device, each with its device; attributes
// stay but for positions that are no longer right. Scalars have no device.
// CHECK-LABEL: @signature(
// CHECK-SAME: %arg0: tensor<4xf32> {headrace.sharding = "{replicated}", iree.abi.affinity = #hal.device.promise<@dev0>},
// CHECK-SAME: %arg1: i32,
// CHECK-SAME: %arg2: tensor<4xf32> {headrace.sharding = "{replicated}", iree.abi.affinity = #hal.device.promise<@dev1>},
// CHECK-SAME: %arg3: i32)
// CHECK-SAME: -> (i32, tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>},
// CHECK-SAME: i32, tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@dev1>})
// CHECK-NEXT: return %arg1, %arg0, %arg3, %arg2
func.func @signature(%x: tensor<4xf32> {headrace.sharding = "{replicated}", iree.abi.output = 1 : index, tf.aliasing_output = 1 : i32}, %n: i32) -> (i32, tensor<4xf32>) {
  return %n, %x : i32, tensor<4xf32>
}

// A private function that is the same on each device is shared.
// CHECK: func.func private @same(
// CHECK-LABEL: @calls(
// CHECK-NEXT: call @same(%arg0)
// CHECK-NEXT: call @same(%arg1)
// CHECK-NEXT: return
func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = func.call @same(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Every device receives both shards, its own included, in the group's order.
// CHECK-LABEL: @all_gather(
// CHECK-NEXT: %[[A1:.*]] = flow.tensor.transfer %arg1 : tensor<4x2xf8E4M3FN> to #hal.device.promise<@dev1>
// CHECK-NEXT: %[[A0:.*]] = flow.tensor.transfer %arg0 : tensor<4x2xf8E4M3FN> to #hal.device.promise<@dev1>
// CHECK-NEXT: %[[A:.*]] = tensor.concat dim(1) %[[A1]], %[[A0]]
// CHECK-NEXT: %[[B1:.*]] = flow.tensor.transfer %arg1 : tensor<4x2xf8E4M3FN> to #hal.device.promise<@dev0>
// CHECK-NEXT: %[[B0:.*]] = flow.tensor.transfer %arg0 : tensor<4x2xf8E4M3FN> to #hal.device.promise<@dev0>
// CHECK-NEXT: %[[B:.*]] = tensor.concat dim(1) %[[B1]], %[[B0]]
// CHECK-NEXT: return %[[B]], %[[A]]
func.func @all_gather(%x: tensor<4x2xf8E4M3FN>) -> tensor<4x4xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[1,0]]> : tensor<1x2xi64>} : (tensor<4x2xf8E4M3FN>) -> tensor<4x4xf8E4M3FN>
  return %g : tensor<4x4xf8E4M3FN>
}

// bf16 sums in f32, rounded once.
// CHECK-LABEL: @all_reduce(
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[X:.*]]: bf16, %[[Y:.*]]: bf16, %{{.*}}: bf16):
// CHECK-NEXT: %[[WX:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK-NEXT: %[[WY:.*]] = arith.extf %[[Y]] : bf16 to f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[WX]], %[[WY]] : f32
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[S]] : f32 to bf16
// CHECK-NEXT: linalg.yield %[[R]]
func.func @all_reduce(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %r = "headrace.all_reduce"(%x) {reduction = "add", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xbf16>) -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// Only the part that a device keeps travels.
// CHECK-LABEL: @reduce_scatter(
// CHECK: %[[P0:.*]] = tensor.extract_slice %arg0[0, 0] [2, 4] [1, 1]
// CHECK-NEXT: %[[P1:.*]] = tensor.extract_slice %arg1[0, 0] [2, 4] [1, 1]
// CHECK-NEXT: flow.tensor.transfer %[[P0]] : tensor<2x4xf32> to #hal.device.promise<@dev0>
// CHECK-NEXT: flow.tensor.transfer %[[P1]] : tensor<2x4xf32> to #hal.device.promise<@dev0>
// CHECK: tensor.extract_slice %arg0[2, 0] [2, 4] [1, 1]
func.func @reduce_scatter(%x: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %r = "headrace.reduce_scatter"(%x) {dim = 0 : i64, reduction = "add", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: @all_to_all(
// CHECK: tensor.extract_slice %arg0[0, 2] [4, 2] [1, 1]
// CHECK-NEXT: tensor.extract_slice %arg1[0, 2] [4, 2] [1, 1]
// CHECK: tensor.concat dim(0) {{.*}} -> tensor<8x2xi8>
// CHECK-NEXT: return
func.func @all_to_all(%x: tensor<4x4xi8>) -> tensor<8x2xi8> {
  %r = "headrace.all_to_all"(%x) {split_dim = 1 : i64, concat_dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4x4xi8>) -> tensor<8x2xi8>
  return %r : tensor<8x2xi8>
}

// Who receives nothing gets zeros, on its device.
// CHECK-LABEL: @permute(
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<0.000000e+00> : tensor<4xbf16>
// CHECK-NEXT: %[[Z:.*]] = flow.tensor.transfer %[[C]] : tensor<4xbf16> to #hal.device.promise<@dev0>
// CHECK-NEXT: %[[T:.*]] = flow.tensor.transfer %arg0 : tensor<4xbf16> to #hal.device.promise<@dev1>
// CHECK-NEXT: return %[[Z]], %[[T]]
func.func @permute(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %r = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xbf16>) -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// One loop carries both devices' values; bounds and index are there once. A
// constant that starts the loop is said to be on its device.
// CHECK-LABEL: @loop(
// CHECK-COUNT-3: arith.constant {{.*}} : index
// CHECK: %[[Z0:.*]] = arith.constant dense<0.000000e+00>
// CHECK-NEXT: %[[Z1:.*]] = arith.constant dense<0.000000e+00>
// CHECK-NEXT: %[[P0:.*]] = flow.tensor.transfer %[[Z0]] : tensor<4xf32> to #hal.device.promise<@dev0>
// CHECK-NEXT: %[[P1:.*]] = flow.tensor.transfer %[[Z1]] : tensor<4xf32> to #hal.device.promise<@dev1>
// CHECK-NEXT: %[[R:.*]]:4 = scf.for {{.*}} iter_args(%{{.*}} = %arg0, %{{.*}} = %arg1, %{{.*}} = %[[P0]], %{{.*}} = %[[P1]])
// CHECK: scf.yield
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x, %w = %z) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = "headrace.all_reduce"(%v) {reduction = "max", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s, %v : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// A counter that is the same everywhere is carried once, one that differs
// twice.
// CHECK-LABEL: @scalars(
// CHECK: scf.for {{.*}} -> (tensor<4xf32>, tensor<4xf32>, i32, i32, i32)
func.func @scalars(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0 : i32
  %r:3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x, %k = %z, %l = %n) -> (tensor<4xf32>, i32, i32) {
    %s = "headrace.all_reduce"(%v) {reduction = "max", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %o = arith.constant 1 : i32
    %k1 = arith.addi %k, %o : i32
    %l1 = arith.addi %l, %o : i32
    scf.yield %s, %k1, %l1 : tensor<4xf32>, i32, i32
  }
  return %r#0 : tensor<4xf32>
}

// A loop without collectives is each device's own.
// CHECK-LABEL: @own_loop(
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
func.func @own_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %id = "headrace.partition_id"() : () -> tensor<i32>
  %t = tensor.extract %id[] : tensor<i32>
  %n = arith.index_cast %t : i32 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<4xf32>) {
    scf.yield %v : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
}

// -----

// device = replica * num_partitions + partition
module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 2 : i32} {
// CHECK-LABEL: @ids(
// CHECK-NEXT: %[[P0:.*]] = arith.constant dense<0>
// CHECK-NEXT: %[[P1:.*]] = arith.constant dense<1>
// CHECK-NEXT: %[[P2:.*]] = arith.constant dense<0>
// CHECK-NEXT: %[[P3:.*]] = arith.constant dense<1>
// CHECK-NEXT: %[[R0:.*]] = arith.constant dense<0>
// CHECK-NEXT: %[[R1:.*]] = arith.constant dense<0>
// CHECK-NEXT: %[[R2:.*]] = arith.constant dense<1>
// CHECK-NEXT: %[[R3:.*]] = arith.constant dense<1>
func.func @ids() -> (tensor<i32>, tensor<i32>) {
  %p = "headrace.partition_id"() : () -> tensor<i32>
  %r = "headrace.replica_id"() : () -> tensor<i32>
  return %p, %r : tensor<i32>, tensor<i32>
}
}

// -----

// Without recorded counts there is one device, and a collective does nothing
// but say where its result is.
// CHECK-LABEL: @one_device(
// CHECK-NEXT: %[[T:.*]] = flow.tensor.transfer %arg0
// CHECK-NEXT: return %[[T]]
func.func @one_device(%x: tensor<4xf32>) -> tensor<4xf32> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
