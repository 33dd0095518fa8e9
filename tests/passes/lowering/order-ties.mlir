// RUN: headrace-opt %s --pass-pipeline='builtin.module(order-ties)' --split-input-file | FileCheck %s

// Equal elements stay in order: a is before b, or b is not before a.
// CHECK-LABEL: func.func @stable
// CHECK: iree_linalg_ext.sort
// CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i8, %{{.*}}: i8):
// CHECK: %[[AB:.*]] = arith.cmpi slt, %[[A]], %[[B]]
// CHECK: %[[BA:.*]] = arith.cmpi slt, %[[B]], %[[A]]
// CHECK: %[[NOT:.*]] = arith.xori %[[BA]], %true
// CHECK: %[[R:.*]] = arith.ori %[[AB]], %[[NOT]]
// CHECK: iree_linalg_ext.yield %[[R]]
func.func @stable(%k: tensor<6xi32>, %v: tensor<6xi8>) -> (tensor<6xi32>, tensor<6xi8>) {
  %0:2 = iree_linalg_ext.sort dimension(0) outs(%k, %v : tensor<6xi32>, tensor<6xi8>) {
  ^bb0(%a: i32, %b: i32, %c: i8, %d: i8):
    %1 = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<6xi32>, tensor<6xi8>
  return %0#0, %0#1 : tensor<6xi32>, tensor<6xi8>
}

// -----

// An order that holds for equal ones is stable as it is.
// CHECK-LABEL: func.func @stable_already
// CHECK: ^bb0
// CHECK-NEXT: arith.cmpi sle
// CHECK-NEXT: iree_linalg_ext.yield
func.func @stable_already(%k: tensor<6xi32>) -> tensor<6xi32> {
  %0 = iree_linalg_ext.sort dimension(0) outs(%k : tensor<6xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi sle, %a, %b : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<6xi32>
  return %0 : tensor<6xi32>
}

// -----

// CHECK-LABEL: func.func @one_element
// CHECK-NEXT: return %arg0
func.func @one_element(%k: tensor<6x1xi32>) -> tensor<6x1xi32> {
  %0 = iree_linalg_ext.sort dimension(1) outs(%k : tensor<6x1xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<6x1xi32>
  return %0 : tensor<6x1xi32>
}

// -----

// A value twice, the second pair of arguments compared: once.
// CHECK-LABEL: func.func @twice
// CHECK: %[[S:.*]]:2 = iree_linalg_ext.sort dimension(0) outs(%arg0, %arg1 : tensor<2x2xi32>, tensor<2x2xi8>)
// CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i8, %{{.*}}: i8):
// CHECK: arith.cmpi sle, %[[A]], %[[B]]
// CHECK: return %[[S]]#0, %[[S]]#0, %[[S]]#1
func.func @twice(%k: tensor<2x2xi32>, %v: tensor<2x2xi8>) -> (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi8>) {
  %0:3 = iree_linalg_ext.sort dimension(0) outs(%k, %k, %v : tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi8>) {
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32, %e: i8, %f: i8):
    %1 = arith.cmpi sle, %c, %d : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi8>
  return %0#0, %0#1, %0#2 : tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi8>
}

// -----

// IREE compares indices where the comparator says the same both ways.
// CHECK-LABEL: func.func @topk_integers
// CHECK: %[[AB:.*]] = arith.cmpi sge, %[[A:.*]], %[[B:.*]] : i32
// CHECK: %[[BA:.*]] = arith.cmpi sge, %[[B]], %[[A]] : i32
// CHECK: %[[NOT:.*]] = arith.xori %[[BA]], %true
// CHECK: %[[R:.*]] = arith.andi %[[AB]], %[[NOT]]
// CHECK: iree_linalg_ext.yield %[[R]]
func.func @topk_integers(%x: tensor<6xi32>, %v: tensor<2xi32>, %i: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %0:2 = iree_linalg_ext.topk dimension(0) ins(%x : tensor<6xi32>) outs(%v, %i : tensor<2xi32>, tensor<2xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi sge, %a, %b : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2xi32>, tensor<2xi32>
  return %0#0, %0#1 : tensor<2xi32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @topk_strict
// CHECK: ^bb0
// CHECK-NEXT: arith.cmpi sgt
// CHECK-NEXT: iree_linalg_ext.yield
func.func @topk_strict(%x: tensor<6xi32>, %v: tensor<2xi32>, %i: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %0:2 = iree_linalg_ext.topk dimension(0) ins(%x : tensor<6xi32>) outs(%v, %i : tensor<2xi32>, tensor<2xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi sgt, %a, %b : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2xi32>, tensor<2xi32>
  return %0#0, %0#1 : tensor<2xi32>, tensor<2xi32>
}

// -----

// Floats by an integer that orders them, NaN the greatest.
// CHECK-LABEL: func.func @topk_floats
// CHECK: arith.bitcast %{{.*}} : bf16 to i16
// CHECK: arith.cmpf uno
// CHECK: arith.cmpf uno
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : i16
// CHECK-NEXT: iree_linalg_ext.yield
func.func @topk_floats(%x: tensor<6xbf16>, %v: tensor<2xbf16>, %i: tensor<2xi32>) -> (tensor<2xbf16>, tensor<2xi32>) {
  %0:2 = iree_linalg_ext.topk dimension(0) ins(%x : tensor<6xbf16>) outs(%v, %i : tensor<2xbf16>, tensor<2xi32>) {
  ^bb0(%a: bf16, %b: bf16):
    %1 = arith.cmpf oge, %a, %b : bf16
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2xbf16>, tensor<2xi32>
  return %0#0, %0#1 : tensor<2xbf16>, tensor<2xi32>
}

// -----

// A slice is made before it is sorted, through reshapes too.
// CHECK-LABEL: func.func @sliced
// CHECK: %[[S:.*]] = tensor.collapse_shape
// CHECK: %[[B:.*]] = util.optimization_barrier %[[S]]
// CHECK: iree_linalg_ext.sort dimension(0) outs(%[[B]] : tensor<6xi32>)
func.func @sliced(%x: tensor<4x3xi32>) -> tensor<6xi32> {
  %s = tensor.extract_slice %x[1, 0] [2, 3] [1, 1] : tensor<4x3xi32> to tensor<2x3xi32>
  %k = tensor.collapse_shape %s [[0, 1]] : tensor<2x3xi32> into tensor<6xi32>
  %0 = iree_linalg_ext.sort dimension(0) outs(%k : tensor<6xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi sle, %a, %b : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<6xi32>
  return %0 : tensor<6xi32>
}
