// RUN: headrace-opt %s --pass-pipeline='builtin.module(hold-carried-transfers)' | FileCheck %s

// What the loop starts with is held; what its own iterations pass on is not.
// CHECK-LABEL: func.func @copied
// CHECK: %[[T:.*]] = flow.tensor.transfer
// CHECK: %[[B:.*]] = util.optimization_barrier %[[T]] : tensor<4xf32>
// CHECK: cf.br ^bb1(%{{.*}}, %{{.*}}, %[[B]] :
// CHECK: ^bb2:
// CHECK: %[[U:.*]] = flow.tensor.transfer
// CHECK-NOT: optimization_barrier
// CHECK: cf.br ^bb1(%{{.*}}, %{{.*}}, %[[U]] :
func.func @copied(%x: tensor<4xf32>, %stack: tensor<3x2x2xf32>, %n: index) -> tensor<3x2x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.promise<@dev1>
  cf.br ^bb1(%c0, %stack, %t : index, tensor<3x2x2xf32>, tensor<4xf32>)
^bb1(%i: index, %s: tensor<3x2x2xf32>, %a: tensor<4xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^bb2, ^bb3
^bb2:
  %v = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %w = tensor.insert_slice %v into %s[%i, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<2x2xf32> into tensor<3x2x2xf32>
  %u = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.promise<@dev1>
  %j = arith.addi %i, %c1 : index
  cf.br ^bb1(%j, %w, %u : index, tensor<3x2x2xf32>, tensor<4xf32>)
^bb3:
  return %s : tensor<3x2x2xf32>
}

// A dynamic size is tied to what the barrier gives.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[B:.*]] = util.optimization_barrier %{{.*}} : tensor<?xf32>
// CHECK: %[[S:.*]] = flow.tensor.tie_shape %[[B]]
// CHECK: cf.br ^bb1(%{{.*}}, %{{.*}}, %[[S]] :
func.func @dynamic(%x: tensor<?xf32>, %stack: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = flow.tensor.transfer %x : tensor<?xf32>{%m} to #hal.device.promise<@dev1>
  cf.br ^bb1(%c0, %stack, %t : index, tensor<?xf32>, tensor<?xf32>)
^bb1(%i: index, %s: tensor<?xf32>, %a: tensor<?xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^bb2, ^bb3
^bb2:
  %w = tensor.insert_slice %a into %s[%i] [%m] [1] : tensor<?xf32> into tensor<?xf32>
  %u = flow.tensor.transfer %x : tensor<?xf32>{%m} to #hal.device.promise<@dev1>
  %j = arith.addi %i, %c1 : index
  cf.br ^bb1(%j, %w, %u : index, tensor<?xf32>, tensor<?xf32>)
^bb3:
  return %s : tensor<?xf32>
}

// What computes with it once the loop has ended is not of the loop.
// CHECK-LABEL: func.func @read_after_the_loop
// CHECK: %[[T:.*]] = flow.tensor.transfer
// CHECK: %[[B:.*]] = util.optimization_barrier %[[T]]
// CHECK: cf.br ^bb1(%{{.*}}, %{{.*}}, %[[B]] :
func.func @read_after_the_loop(%x: tensor<4xf32>, %stack: tensor<3x4xf32>, %n: index)
    -> (tensor<3x4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.promise<@dev1>
  cf.br ^bb1(%c0, %stack, %t : index, tensor<3x4xf32>, tensor<4xf32>)
^bb1(%i: index, %s: tensor<3x4xf32>, %a: tensor<4xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^bb2, ^bb3
^bb2:
  %w = tensor.insert_slice %a into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %u = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.promise<@dev1>
  %j = arith.addi %i, %c1 : index
  cf.br ^bb1(%j, %w, %u : index, tensor<3x4xf32>, tensor<4xf32>)
^bb3:
  %v = arith.addf %a, %a : tensor<4xf32>
  return %s, %v : tensor<3x4xf32>, tensor<4xf32>
}

// What is computed with, what no transfer made, and what is inserted into: IREE is right.
// CHECK-LABEL: func.func @others
// CHECK-NOT: optimization_barrier
func.func @others(%x: tensor<4xf32>, %stack: tensor<3x4xf32>, %n: index) -> tensor<3x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.promise<@dev1>
  %p = flow.tensor.transfer %stack : tensor<3x4xf32> to #hal.device.promise<@dev1>
  cf.br ^bb1(%c0, %p, %t, %x : index, tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>)
^bb1(%i: index, %s: tensor<3x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^bb2, ^bb3
^bb2:
  %v = arith.addf %a, %a : tensor<4xf32>
  %w = tensor.insert_slice %v into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %y = tensor.insert_slice %b into %w[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %u = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.promise<@dev1>
  %j = arith.addi %i, %c1 : index
  cf.br ^bb1(%j, %y, %u, %x : index, tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>)
^bb3:
  return %s : tensor<3x4xf32>
}
