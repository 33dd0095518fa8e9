// RUN: headrace-opt %s --pass-pipeline='builtin.module(own-buffers{several=false})' --split-input-file | FileCheck %s

// What reads the tensor need not be done by then: the update has a copy.
// CHECK-LABEL: func.func @read_before
// CHECK: %[[Y:.*]] = math.exp
// CHECK: %[[R:.*]] = tensor.extract_slice %[[Y]][0] [4] [1]
// CHECK: %[[O:.*]] = flow.tensor.alloca : tensor<8xf32>
// CHECK: %[[P:.*]] = tensor.extract_slice %[[Y]][0] [1] [1]
// CHECK: %[[A:.*]] = tensor.insert_slice %[[P]] into %[[O]][0] [1] [1]
// CHECK: %[[Q:.*]] = tensor.extract_slice %[[Y]][1] [7] [1]
// CHECK: %[[B:.*]] = tensor.insert_slice %[[Q]] into %[[A]][1] [7] [1]
// CHECK: %[[U:.*]] = tensor.insert_slice %arg1 into %[[B]][4] [4] [1]
// CHECK: %[[V:.*]] = tensor.insert_slice %arg1 into %[[U]][0] [4] [1]
// CHECK: return %[[V]], %[[R]]
func.func @read_before(%x: tensor<8xf32>, %a: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %y = math.exp %x : tensor<8xf32>
  %r = tensor.extract_slice %y[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %u = tensor.insert_slice %a into %y[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %v = tensor.insert_slice %a into %u[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %v, %r : tensor<8xf32>, tensor<4xf32>
}

// -----

// What is read to compute the update comes before it. Empty tensors and what is
// put together stay as they are.
// CHECK-LABEL: func.func @in_order
// CHECK-NOT: flow.tensor.alloca
// CHECK: tensor.concat
// CHECK-NOT: flow.tensor.alloca
func.func @in_order(%x: tensor<8xf32>, %a: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %y = math.exp %x : tensor<8xf32>
  %r = tensor.extract_slice %y[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %s = math.exp %r : tensor<4xf32>
  %u = tensor.insert_slice %s into %y[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %c = tensor.concat dim(0) %a, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %v = tensor.insert_slice %a into %e[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %u, %c, %v : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// What comes out of a barrier is in the buffer of what goes in, of which IREE knows nothing;
// also where that is a part of an argument, a constant, or the second of two.
// CHECK-LABEL: func.func @behind_a_barrier
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0
// CHECK: %[[H:.*]]:2 = util.optimization_barrier %arg1, %[[S]]
// CHECK: flow.tensor.alloca
// CHECK: %[[B:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[1] [7] [1]
// CHECK: tensor.insert_slice %arg1 into %[[B]][4] [4] [1]
// CHECK: %[[C:.*]] = util.optimization_barrier %{{.*}} : tensor<8xf32>
// CHECK: flow.tensor.alloca
// CHECK: %[[D:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[1] [7] [1]
// CHECK: tensor.insert_slice %arg1 into %[[D]][0] [4] [1]
func.func @behind_a_barrier(%x: tensor<9xf32>, %a: tensor<4xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %k = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %s = tensor.extract_slice %x[1] [8] [1] : tensor<9xf32> to tensor<8xf32>
  %b:2 = util.optimization_barrier %a, %s : tensor<4xf32>, tensor<8xf32>
  %u = tensor.insert_slice %a into %b#1[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %c = util.optimization_barrier %k : tensor<8xf32>
  %v = tensor.insert_slice %a into %c[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %u, %s, %v, %k : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Nobody else reads it.
// CHECK-LABEL: func.func @alone_behind_a_barrier
// CHECK-NOT: flow.tensor.alloca
func.func @alone_behind_a_barrier(%x: tensor<8xf32>, %a: tensor<4xf32>) -> tensor<8xf32> {
  %y = math.exp %x : tensor<8xf32>
  %b = util.optimization_barrier %y : tensor<8xf32>
  %u = tensor.insert_slice %a into %b[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %u : tensor<8xf32>
}
