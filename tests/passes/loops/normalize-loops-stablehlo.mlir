// RUN: headrace-opt %s --pass-pipeline='builtin.module(iree-stablehlo-input-transformation-pipeline,normalize-loops,canonicalize,cse)' | FileCheck %s

// Loops as JAX writes them, through IREE's own input pipeline.

// lax.fori_loop(lower, upper, ...) with bounds that are arguments: both are
// carried, the upper one never changes.
// CHECK-LABEL: func.func @fori_dynamic(
// CHECK-SAME: %[[LOWER:[a-z0-9]*]]: tensor<i32>, %[[UPPER:[a-z0-9]*]]: tensor<i32>
// CHECK-DAG: %[[L:.*]] = tensor.extract %[[LOWER]][] : tensor<i32>
// CHECK-DAG: %[[U:.*]] = tensor.extract %[[UPPER]][] : tensor<i32>
// CHECK: arith.cmpi slt, %[[L]], %[[U]] : i32
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<4xf32>) {
// CHECK-NOT: scf.while
func.func @fori_dynamic(%lower: tensor<i32>, %upper: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %lower, %n = %upper, %a = %x) : tensor<i32>, tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.add %a, %a : tensor<4xf32>
    stablehlo.return %j, %n, %y : tensor<i32>, tensor<i32>, tensor<4xf32>
  }
  return %0#2 : tensor<4xf32>
}

// A reverse loop: while i >= 0, from 5 down. The slice is of row 5 - trip.
// CHECK-LABEL: func.func @downwards
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : i32
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[C6]] step %{{.*}} iter_args(
// CHECK: %[[T:.*]] = arith.index_castui %[[K]] : index to i32
// CHECK: %[[I:.*]] = arith.subi %[[C5]], %[[T]] : i32
// CHECK: tensor.extract_slice
// CHECK-NOT: tensor<i32>
// CHECK: return
func.func @downwards(%w: tensor<6x4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %five = stablehlo.constant dense<5> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %five, %a = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare GE, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %w, %i, %zero, sizes = [1, 4] : (tensor<6x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %r = stablehlo.reshape %s : (tensor<1x4xf32>) -> tensor<4xf32>
    %y = stablehlo.multiply %a, %r : tensor<4xf32>
    %j = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// Unsigned counters, NE, a second counter that goes by 2, and a barrier, which
// stays one.
// CHECK-LABEL: func.func @unsigned_not_equal
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[C7]] step %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<4xi32>) {
// CHECK: %[[T:.*]] = arith.index_castui %[[K]] : index to i32
// CHECK: %[[J:.*]] = arith.muli %[[T]], %[[C2]] : i32
// CHECK: util.optimization_barrier
// CHECK: return
func.func @unsigned_not_equal(%x: tensor<4xui32>) -> tensor<4xui32> {
  %zero = stablehlo.constant dense<0> : tensor<ui32>
  %end = stablehlo.constant dense<7> : tensor<ui32>
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %two = stablehlo.constant dense<2> : tensor<ui32>
  %0:3 = stablehlo.while(%i = %zero, %k = %zero, %a = %x) : tensor<ui32>, tensor<ui32>, tensor<4xui32>
  cond {
    %p = stablehlo.compare NE, %i, %end : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %b = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<ui32>) -> tensor<4xui32>
    %y = stablehlo.add %a, %b : tensor<4xui32>
    %w = stablehlo.optimization_barrier %y : tensor<4xui32>
    %j = stablehlo.add %i, %one : tensor<ui32>
    %l = stablehlo.add %k, %two : tensor<ui32>
    stablehlo.return %j, %l, %w : tensor<ui32>, tensor<ui32>, tensor<4xui32>
  }
  return %0#2 : tensor<4xui32>
}
