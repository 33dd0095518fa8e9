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
