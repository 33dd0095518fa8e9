// RUN: headrace-opt %s --release-sorts | FileCheck %s

// CHECK-LABEL: func.func @sorted
// CHECK-NOT: util.optimization_barrier
// CHECK: iree_linalg_ext.sort dimension(0) outs(%arg0, %arg1 :
func.func @sorted(%x: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %a = util.optimization_barrier %x : tensor<8xf32>
  %b = util.optimization_barrier %i : tensor<8xi32>
  %s:2 = iree_linalg_ext.sort dimension(0) outs(%a, %b : tensor<8xf32>, tensor<8xi32>) {
  ^bb0(%c: f32, %d: f32, %e: i32, %f: i32):
    %p = arith.cmpf olt, %c, %d : f32
    iree_linalg_ext.yield %p : i1
  } -> tensor<8xf32>, tensor<8xi32>
  return %s#0, %s#1 : tensor<8xf32>, tensor<8xi32>
}

// Both operands are the one value.
// CHECK-LABEL: func.func @itself
// CHECK: iree_linalg_ext.sort dimension(0) outs(%arg0, %arg0 :
func.func @itself(%x: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %a = util.optimization_barrier %x : tensor<8xi32>
  %s:2 = iree_linalg_ext.sort dimension(0) outs(%a, %a : tensor<8xi32>, tensor<8xi32>) {
  ^bb0(%c: i32, %d: i32, %e: i32, %f: i32):
    %p = arith.cmpi slt, %c, %d : i32
    iree_linalg_ext.yield %p : i1
  } -> tensor<8xi32>, tensor<8xi32>
  return %s#0, %s#1 : tensor<8xi32>, tensor<8xi32>
}

// Negative: another op reads it; it is of two values.
// CHECK-LABEL: func.func @others
// CHECK: %[[A:.*]] = util.optimization_barrier %arg0
// CHECK: %[[B:.*]]:2 = util.optimization_barrier %arg1, %arg2
// CHECK: iree_linalg_ext.sort dimension(0) outs(%[[A]], %[[B]]#0 :
func.func @others(%x: tensor<8xi32>, %y: tensor<8xi32>, %z: tensor<8xi32>)
    -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %a = util.optimization_barrier %x : tensor<8xi32>
  %b:2 = util.optimization_barrier %y, %z : tensor<8xi32>, tensor<8xi32>
  %s:2 = iree_linalg_ext.sort dimension(0) outs(%a, %b#0 : tensor<8xi32>, tensor<8xi32>) {
  ^bb0(%c: i32, %d: i32, %e: i32, %f: i32):
    %p = arith.cmpi slt, %c, %d : i32
    iree_linalg_ext.yield %p : i1
  } -> tensor<8xi32>, tensor<8xi32>
  return %s#0, %s#1, %a, %b#1 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}
