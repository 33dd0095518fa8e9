// RUN: headrace-opt %s --pass-pipeline='builtin.module(keep-arguments)' --split-input-file | FileCheck %s

// An argument is the caller's: a copy is updated.
// CHECK-LABEL: func.func @updated
// CHECK: %[[E:.*]] = flow.tensor.alloca : tensor<4xf32>
// CHECK: %[[A:.*]] = tensor.insert_slice %{{.*}} into %[[E]][0] [1] [1]
// CHECK: %[[C:.*]] = tensor.insert_slice %{{.*}} into %[[A]][1] [3] [1]
// CHECK: tensor.insert_slice %arg1 into %[[C]][0] [2] [1]
func.func @updated(%x: tensor<4xf32>, %u: tensor<2xf32>) -> tensor<4xf32> {
  %y = tensor.insert_slice %u into %x[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Through a view, by an op that goes on from its output, and in a dispatch region.
// CHECK-LABEL: func.func @ways
// CHECK-COUNT-3: flow.tensor.alloca
// CHECK-NOT: flow.tensor.alloca
func.func @ways(%x: tensor<4x4xf32>, %u: tensor<2xf32>, %z: tensor<4x4xf32>) -> (tensor<16xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %f = tensor.collapse_shape %x [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %y = tensor.insert_slice %u into %f[0] [2] [1] : tensor<2xf32> into tensor<16xf32>
  %m = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = flow.dispatch.region -> (tensor<4x4xf32>) {
    %n = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    flow.return %n : tensor<4x4xf32>
  }
  return %y, %m, %r : tensor<16xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A loop that starts from it has one copy, before the loop.
// CHECK-LABEL: func.func @loop
// CHECK: flow.tensor.alloca
// CHECK: cf.br ^bb1
// CHECK-NOT: flow.tensor.alloca
func.func @loop(%x: tensor<4xf32>, %u: tensor<1xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, tensor<4xf32>)
^head(%i: index, %a: tensor<4xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^exit
^body:
  %p = tensor.insert_slice %u into %a[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %p : index, tensor<4xf32>)
^exit:
  return %a : tensor<4xf32>
}

// -----

// Given away by the caller, only read, or what is computed of it: no copy.
// CHECK-LABEL: func.func @not_copied
// CHECK-NOT: flow.tensor.alloca
// CHECK: return
func.func @not_copied(%x: tensor<4xf32> {headrace.donated}, %d: tensor<4xf32> {headrace.donated}, %u: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  %y = tensor.insert_slice %u into %x[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %z = tensor.insert_slice %u into %d[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %e = math.exp %u : tensor<2xf32>
  %s = tensor.extract_slice %u[0] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %w = tensor.insert_slice %s into %e[1] [1] [1] : tensor<1xf32> into tensor<2xf32>
  return %y, %z, %w : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
}
