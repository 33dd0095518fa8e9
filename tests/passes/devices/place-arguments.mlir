// RUN: headrace-opt %s --place-arguments | FileCheck %s

// Tensors only, and not over what says where it lives already.
// CHECK: func.func public @main(
// CHECK-SAME: %arg0: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@__device_0>},
// CHECK-SAME: %arg1: i32,
// CHECK-SAME: %arg2: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@other>},
// CHECK-SAME: %arg3: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@__device_0>, iree.identifier = "x"})
func.func public @main(%a: tensor<4xf32>, %n: i32, %b: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@other>}, %c: tensor<4xf32> {iree.identifier = "x"}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// CHECK: func.func private @outside(tensor<4xf32>)
func.func private @outside(tensor<4xf32>)
