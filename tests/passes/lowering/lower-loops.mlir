// RUN: headrace-opt %s --pass-pipeline='builtin.module(lower-loops)' | FileCheck %s

// Each carried value stays in its place, or is new: blocks.
// CHECK-LABEL: func.func @in_place(
// CHECK-NOT: scf.
// CHECK: cf.cond_br
// CHECK-NOT: scf.
// CHECK: return
func.func @in_place(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = arith.addf %a, %b : tensor<4xf32>
    scf.yield %s, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// Scalars may change places.
// CHECK-LABEL: func.func @scalars(
// CHECK-NOT: scf.
// CHECK: return
func.func @scalars(%x: i32, %y: i32, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (i32, i32) {
    scf.yield %b, %a : i32, i32
  }
  return %r#0 : i32
}

// Tensors that change places, one of them in another shape.
// CHECK-LABEL: func.func @swapped(
// CHECK: scf.for
// CHECK-NOT: cf.br
func.func @swapped(%x: tensor<4xf32>, %y: tensor<2x2xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<2x2xf32>) {
    %flat = tensor.collapse_shape %b [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
    %square = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
    scf.yield %flat, %square : tensor<4xf32>, tensor<2x2xf32>
  }
  return %r#0 : tensor<4xf32>
}

// A delay line is no cycle, and wrong as well.
// CHECK-LABEL: func.func @delayed(
// CHECK: scf.for
func.func @delayed(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = arith.addf %a, %a : tensor<4xf32>
    scf.yield %s, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// Before and after regions of a while loop.
// CHECK-LABEL: func.func @while(
// CHECK: scf.while
func.func @while(%x: tensor<4xf32>, %y: tensor<4xf32>, %go: i1) -> tensor<4xf32> {
  %r:2 = scf.while (%a = %x, %b = %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.condition(%go) %b, %a : tensor<4xf32>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scf.yield %a, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// IREE does not take a switch.
// CHECK-LABEL: func.func @switch(
// CHECK-NOT: scf.
// CHECK: cf.switch
// CHECK-NOT: scf.
// CHECK: return
func.func @switch(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  %s = scf.index_switch %n -> tensor<4xf32>
  case 0 {
    scf.yield %r#0 : tensor<4xf32>
  }
  default {
    scf.yield %r#1 : tensor<4xf32>
  }
  return %s : tensor<4xf32>
}
