// RUN: headrace-opt %s --keep-sorts | FileCheck %s
// RUN: headrace-opt %s --pass-pipeline='builtin.module(keep-sorts,iree-stablehlo-input-transformation-pipeline)' | FileCheck %s --check-prefix=IREE

// The positions are what is compared.
// CHECK-LABEL: func.func @positions
// CHECK: %[[I:.*]] = stablehlo.iota
// CHECK: %[[A:.*]] = stablehlo.optimization_barrier %arg0
// CHECK: %[[B:.*]] = stablehlo.optimization_barrier %[[I]]
// CHECK: "stablehlo.sort"(%[[A]], %[[B]])
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

// The least come first.
// CHECK-LABEL: func.func @least
// CHECK-COUNT-2: stablehlo.optimization_barrier
// CHECK: "stablehlo.sort"
// IREE-LABEL: func.func @least
// IREE: iree_linalg_ext.sort
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
// CHECK-COUNT-2: stablehlo.optimization_barrier
// CHECK: "stablehlo.sort"
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

// Negative: it is a top-k, and has to be seen as one by its positions.
// CHECK-LABEL: func.func @top
// CHECK: %[[I:.*]] = stablehlo.broadcast_in_dim
// CHECK: %[[A:.*]] = stablehlo.optimization_barrier %arg0
// CHECK: "stablehlo.sort"(%[[A]], %[[I]])
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

// A value that is sorted with itself stays one; of one operand, or three, IREE does not ask.
// CHECK-LABEL: func.func @others
// CHECK: %[[A:.*]] = stablehlo.optimization_barrier %arg0
// CHECK-NOT: stablehlo.optimization_barrier
// CHECK: "stablehlo.sort"(%[[A]], %[[A]])
// CHECK: "stablehlo.sort"(%arg0)
// CHECK: "stablehlo.sort"(%arg0, %{{.*}}, %arg0)
// IREE-LABEL: func.func @others
func.func @others(%x: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %s:2 = "stablehlo.sort"(%x, %x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  %t = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xi32>) -> tensor<8xi32>
  %u:3 = "stablehlo.sort"(%x, %i, %x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>, %e: tensor<i32>, %f: tensor<i32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
  return %s#0, %s#1, %t, %u#1 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// The select folds to the broadcast of a scalar on the way, of which IREE asks for the last dimension.
// CHECK-LABEL: func.func @broadcast
// CHECK-COUNT-2: stablehlo.optimization_barrier
// CHECK: "stablehlo.sort"
// CHECK: %[[H:.*]] = stablehlo.optimization_barrier
// CHECK: chlo.top_k(%[[H]], k = 3)
// IREE-LABEL: func.func @broadcast
// IREE: iree_linalg_ext.sort
// IREE: iree_linalg_ext.topk
func.func @broadcast(%x: tensor<f32>, %m: tensor<8xi1>) -> (tensor<8xi32>, tensor<3xf32>, tensor<3xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %y = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %z = stablehlo.select %m, %y, %y : tensor<8xi1>, tensor<8xf32>
  %s:2 = "stablehlo.sort"(%z, %i) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %v, %j = chlo.top_k(%z, k = 3) : tensor<8xf32> -> (tensor<3xf32>, tensor<3xi32>)
  return %s#1, %v, %j : tensor<8xi32>, tensor<3xf32>, tensor<3xi32>
}

// What folds to an iota before the top-k becomes a sort.
// CHECK-LABEL: func.func @two_iotas
// CHECK: %[[B:.*]] = stablehlo.optimization_barrier %{{.*}} : tensor<8xf32>
// CHECK: chlo.top_k(%[[B]], k = 3)
// CHECK: %[[C:.*]] = stablehlo.optimization_barrier %arg0
// CHECK: chlo.top_k(%[[C]], k = 2)
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
