// RUN: headrace-opt %s --pass-pipeline='builtin.module(strip-headrace)' --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: module {
module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
// Other attributes stay.
// CHECK-LABEL: @attributes(
// CHECK-SAME: %arg0: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %arg1: tensor<4xf32>)
// CHECK-SAME: -> (tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>})
// CHECK-NOT: headrace
func.func @attributes(%x: tensor<4xf32> {headrace.sharding = "{replicated}", iree.abi.affinity = #hal.device.promise<@dev0>}, %y: tensor<4xf32> {headrace.sharding = "{manual}"}) -> (tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>, headrace.sharding = "{replicated}"}) attributes {headrace.note} {
  %z = arith.addf %x, %y {headrace.wide_reason = "none"} : tensor<4xf32>
  return %z : tensor<4xf32>
}
}

// -----

// Every op that is left is named, at its place.
func.func @left(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<i32>) {
  // expected-error @+1 {{'headrace.all_gather' was not lowered}}
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>
  // expected-error @+1 {{'headrace.partition_id' was not lowered}}
  %p = "headrace.partition_id"() : () -> tensor<i32>
  return %g, %p : tensor<8xf32>, tensor<i32>
}
