// RUN: headrace-opt %s --pass-pipeline='builtin.module(keep-update-order)' --split-input-file | FileCheck %s

// Written, then what lies beside it, then written again.
// CHECK-LABEL: func.func @written_again
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[ZERO:.*]] = util.optimization_barrier %[[C0]] : index
// CHECK: tensor.insert_slice %arg1 into %arg0[4] [4] [1]
// CHECK: tensor.insert_slice %arg2 into %{{.*}}[0] [4] [1]
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[I:.*]] = arith.addi %[[C4]], %[[ZERO]] : index
// CHECK: tensor.insert_slice %arg3 into %{{.*}}[%[[I]]] [4] [1]
func.func @written_again(%x: tensor<8xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<8xf32> {
  %0 = tensor.insert_slice %a into %x[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %1 = tensor.insert_slice %b into %0[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %2 = tensor.insert_slice %c into %1[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// One zero for all that are moved. Behind one, order is kept: the last stays.
// CHECK-LABEL: func.func @there_and_back
// CHECK-COUNT-1: util.optimization_barrier
// CHECK-NOT: util.optimization_barrier
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[0, 0] [1, 4]
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[1, 0] [1, 4]
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[2, 0] [1, 4]
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[%{{.*}}, 0] [1, 4]
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[2, 0] [1, 4]
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[1, 0] [1, 4]
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[%{{.*}}, 0] [1, 4]
func.func @there_and_back(%x: tensor<8x4xf32>, %a: tensor<1x4xf32>) -> tensor<8x4xf32> {
  %0 = tensor.insert_slice %a into %x[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  %1 = tensor.insert_slice %a into %0[1, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  %2 = tensor.insert_slice %a into %1[2, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  %3 = tensor.insert_slice %a into %2[1, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  %4 = tensor.insert_slice %a into %3[2, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  %5 = tensor.insert_slice %a into %4[1, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  %6 = tensor.insert_slice %a into %5[2, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  return %6 : tensor<8x4xf32>
}

// -----

// Written, then what lies beside it, then read.
// CHECK-LABEL: func.func @read_again
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [2, 4]
func.func @read_again(%x: tensor<8x4xf32>, %a: tensor<2x4xf32>, %b: tensor<3x4xf32>) -> (tensor<8x4xf32>, tensor<2x4xf32>) {
  %0 = tensor.insert_slice %a into %x[1, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<8x4xf32>
  %1 = tensor.insert_slice %b into %0[3, 0] [3, 4] [1, 1] : tensor<3x4xf32> into tensor<8x4xf32>
  %r = tensor.extract_slice %1[1, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
  return %1, %r : tensor<8x4xf32>, tensor<2x4xf32>
}

// -----

// Through a view, and where the tensor already is.
// CHECK-LABEL: func.func @views
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[4, 0] [4, 4]
// CHECK: tensor.insert_slice %arg2 into %{{.*}}[0] [16]
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[%{{.*}}, 0] [4, 4]
func.func @views(%x: tensor<8x4xf32>, %a: tensor<4x4xf32>, %b: tensor<16xf32>) -> tensor<8x4xf32> {
  %0 = tensor.insert_slice %a into %x[4, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
  %flat = tensor.collapse_shape %0 [[0, 1]] : tensor<8x4xf32> into tensor<32xf32>
  %1 = tensor.insert_slice %b into %flat[0] [16] [1] : tensor<16xf32> into tensor<32xf32>
  %2 = flow.tensor.transfer %1 : tensor<32xf32> to #hal.device.promise<@dev0>
  %3 = tensor.expand_shape %2 [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %4 = tensor.insert_slice %a into %3[4, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// -----

// What is joined is written part by part, here of sizes known at run time.
// CHECK-LABEL: func.func @joined
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [%{{.*}}, 4]
func.func @joined(%x: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %one = arith.constant 1.0 : f32
  %a = linalg.fill ins(%one : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %0 = tensor.concat dim(0) %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = tensor.extract_slice %0[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %0, %r : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// Rows of a size known at run time, of what is allocated.
// CHECK-LABEL: func.func @dynamic_rows
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0] [1, %{{.*}}]
func.func @dynamic_rows(%n: index, %a: tensor<1x?xf32>) -> tensor<4x?xf32> {
  %x = flow.tensor.alloca : tensor<4x?xf32>{%n}
  %0 = tensor.insert_slice %a into %x[0, 0] [1, %n] [1, 1] : tensor<1x?xf32> into tensor<4x?xf32>
  %1 = tensor.insert_slice %a into %0[1, 0] [1, %n] [1, 1] : tensor<1x?xf32> into tensor<4x?xf32>
  %2 = tensor.insert_slice %a into %1[0, 0] [1, %n] [1, 1] : tensor<1x?xf32> into tensor<4x?xf32>
  return %2 : tensor<4x?xf32>
}

// -----

// Elements are parts as well.
// CHECK-LABEL: func.func @elements
// CHECK: %[[ZERO:.*]] = util.optimization_barrier
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: tensor.insert %arg1 into %arg0[%[[C0]]]
// CHECK: tensor.insert %arg1 into %{{.*}}[%[[C1]]]
// CHECK: %[[I:.*]] = arith.addi %[[C0]], %[[ZERO]] : index
// CHECK: tensor.insert %arg1 into %{{.*}}[%[[I]]]
// CHECK: tensor.extract %{{.*}}[%[[C1]]]
func.func @elements(%x: tensor<4xf32>, %a: f32) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.insert %a into %x[%c0] : tensor<4xf32>
  %1 = tensor.insert %a into %0[%c1] : tensor<4xf32>
  %2 = tensor.insert %a into %1[%c0] : tensor<4xf32>
  %r = tensor.extract %2[%c1] : tensor<4xf32>
  return %2, %r : tensor<4xf32>, f32
}

// -----

// Nothing is written or read again.
// CHECK-LABEL: func.func @once
// CHECK-NOT: util.optimization_barrier
func.func @once(%x: tensor<8xf32>, %a: tensor<2xf32>) -> (tensor<8xf32>, tensor<2xf32>) {
  %0 = tensor.insert_slice %a into %x[2] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %1 = tensor.insert_slice %a into %0[4] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %2 = tensor.insert_slice %a into %1[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %r = tensor.extract_slice %2[6] [2] [1] : tensor<8xf32> to tensor<2xf32>
  return %2, %r : tensor<8xf32>, tensor<2xf32>
}

// -----

// With a gap between, or in common with the one between, IREE keeps the order.
// CHECK-LABEL: func.func @not_beside
// CHECK-NOT: util.optimization_barrier
func.func @not_beside(%x: tensor<8xf32>, %a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<8xf32>, tensor<2xf32>) {
  %0 = tensor.insert_slice %a into %x[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %1 = tensor.insert_slice %a into %0[3] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %2 = tensor.insert_slice %a into %1[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %3 = tensor.insert_slice %b into %2[1] [3] [1] : tensor<3xf32> into tensor<8xf32>
  %r = tensor.extract_slice %3[0] [2] [1] : tensor<8xf32> to tensor<2xf32>
  return %3, %r : tensor<8xf32>, tensor<2xf32>
}

// -----

// Columns, and every other element, IREE writes as a whole.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: util.optimization_barrier
func.func @columns(%x: tensor<4x8xf32>, %y: tensor<16xf32>, %a: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<16xf32>) {
  %0 = tensor.insert_slice %a into %x[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %1 = tensor.insert_slice %a into %0[0, 4] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %2 = tensor.insert_slice %a into %1[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %3 = tensor.insert_slice %b into %y[0] [4] [2] : tensor<4xf32> into tensor<16xf32>
  %4 = tensor.insert_slice %b into %3[4] [4] [1] : tensor<4xf32> into tensor<16xf32>
  %5 = tensor.insert_slice %b into %4[0] [4] [2] : tensor<4xf32> into tensor<16xf32>
  return %2, %5 : tensor<4x8xf32>, tensor<16xf32>
}

// -----

// Reads need no order, nor does an offset that IREE sees nothing beside.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: util.optimization_barrier
func.func @unknown(%x: tensor<8xf32>, %a: tensor<4xf32>, %i: index) -> (tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %0 = tensor.insert_slice %a into %x[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %s = tensor.extract_slice %0[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %1 = tensor.insert_slice %a into %0[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %1, %r, %s : tensor<8xf32>, tensor<4xf32>, tensor<4xf32>
}
