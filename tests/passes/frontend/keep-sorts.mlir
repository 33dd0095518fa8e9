// RUN: headrace-opt %s --keep-sorts | FileCheck %s
// RUN: headrace-opt %s --pass-pipeline='builtin.module(keep-sorts,iree-stablehlo-input-transformation-pipeline)' | FileCheck %s --check-prefix=IREE

// The positions are what is compared.
// CHECK-LABEL: func.func @positions
// CHECK: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %[[I:.*]]: tensor<i32>, %[[J:.*]]: tensor<i32>):
// CHECK: stablehlo.compare LT, %[[J]], %[[I]]
// IREE-LABEL: func.func @positions
// IREE: iree_linalg_ext.sort
func.func @positions(%x: tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare GT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %v = stablehlo.slice %s#0 [0:3] : (tensor<8xf32>) -> tensor<3xf32>
  %j = stablehlo.slice %s#1 [0:3] : (tensor<8xi32>) -> tensor<3xi32>
  return %v, %j : tensor<3xf32>, tensor<3xi32>
}

// The least come first; what may be equal, and the kind of comparison, stay.
// CHECK-LABEL: func.func @least
// CHECK: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>,
// CHECK: stablehlo.compare LE, %[[A]], %[[B]], TOTALORDER
func.func @least(%x: tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare GE, %b, %a, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %v = stablehlo.slice %s#0 [0:3] : (tensor<8xf32>) -> tensor<3xf32>
  %j = stablehlo.slice %s#1 [0:3] : (tensor<8xi32>) -> tensor<3xi32>
  return %v, %j : tensor<3xf32>, tensor<3xi32>
}

// Not the first of all.
// CHECK-LABEL: func.func @middle
// CHECK: stablehlo.compare LT
// IREE-LABEL: func.func @middle
// IREE: iree_linalg_ext.sort
func.func @middle(%x: tensor<2x8xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<2x8xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x8xi32>, tensor<2x8xi32>) -> (tensor<2x8xi32>, tensor<2x8xi32>)
  %v = stablehlo.slice %s#0 [0:2, 2:5] : (tensor<2x8xi32>) -> tensor<2x3xi32>
  %j = stablehlo.slice %s#1 [0:2, 2:5] : (tensor<2x8xi32>) -> tensor<2x3xi32>
  return %v, %j : tensor<2x3xi32>, tensor<2x3xi32>
}

// Negative: it is a top-k.
// CHECK-LABEL: func.func @top
// CHECK: stablehlo.compare GT
// IREE-LABEL: func.func @top
// IREE: iree_linalg_ext.topk
func.func @top(%x: tensor<2x8xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  %o = stablehlo.iota dim = 0 : tensor<8xi32>
  %i = stablehlo.broadcast_in_dim %o, dims = [1] : (tensor<8xi32>) -> tensor<2x8xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x8xi32>, tensor<2x8xi32>) -> (tensor<2x8xi32>, tensor<2x8xi32>)
  %v = stablehlo.slice %s#0 [0:2, 0:3] : (tensor<2x8xi32>) -> tensor<2x3xi32>
  %j = stablehlo.slice %s#1 [0:2, 0:3] : (tensor<2x8xi32>) -> tensor<2x3xi32>
  return %v, %j : tensor<2x3xi32>, tensor<2x3xi32>
}

// Negative: IREE does not take these for one.
// CHECK-LABEL: func.func @others
// CHECK: stablehlo.compare LT, %arg1, %arg2
// CHECK: stablehlo.compare GT, %arg1, %arg2
func.func @others(%x: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  %t = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xi32>) -> tensor<8xi32>
  return %s#0, %s#1, %t : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// What folds to an iota before the top-k becomes a sort.
// CHECK-LABEL: func.func @two_iotas
// CHECK: %[[B:.*]] = stablehlo.optimization_barrier %{{.*}} : tensor<8xf32>
// CHECK: chlo.top_k(%[[B]], k = 3)
// CHECK: chlo.top_k(%arg0, k = 2)
// IREE-LABEL: func.func @two_iotas
// IREE: iree_linalg_ext.topk
// IREE: iree_linalg_ext.topk
func.func @two_iotas(%x: tensor<8xf32>)
    -> (tensor<3xf32>, tensor<3xi32>, tensor<2xf32>, tensor<2xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %c = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf32>
  %v, %j = chlo.top_k(%c, k = 3) : tensor<8xf32> -> (tensor<3xf32>, tensor<3xi32>)
  %w, %k = chlo.top_k(%x, k = 2) : tensor<8xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return %v, %j, %w, %k : tensor<3xf32>, tensor<3xi32>, tensor<2xf32>, tensor<2xi32>
}
