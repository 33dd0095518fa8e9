// RUN: headrace-opt %s --pass-pipeline='builtin.module(hold-crossed-reductions)' --split-input-file | FileCheck %s

// One op reads a sum along both of its dimensions.
// CHECK-LABEL: func.func @pairs
// CHECK: %[[S:.*]] = linalg.reduce
// CHECK: %[[B:.*]] = util.optimization_barrier %[[S]] : tensor<8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[B]], %[[B]] : tensor<8xf32>, tensor<8xf32>)
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#ij = affine_map<(i, j) -> (i, j)>
func.func @pairs(%x: tensor<8x4xf32>, %z: tensor<8xf32>, %e: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
  %d = linalg.generic {indexing_maps = [#i, #j, #ij], iterator_types = ["parallel", "parallel"]} ins(%s, %s : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Elementwise ops and broadcasts lie between; sizes are said behind the barrier.
// CHECK-LABEL: func.func @far
// CHECK: %[[S:.*]] = linalg.reduce
// CHECK: %[[N:.*]] = tensor.dim %arg1
// CHECK: %[[B:.*]] = util.optimization_barrier %[[S]] : tensor<?xf32>
// CHECK: %[[T:.*]] = flow.tensor.tie_shape %[[B]] : tensor<?xf32>{%[[N]]}
// CHECK: linalg.map { math.exp } ins(%[[T]]
// CHECK: linalg.broadcast ins(%[[T]]
func.func @far(%x: tensor<?x4xf32>, %z: tensor<?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?x4xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %m = linalg.map { math.exp } ins(%s : tensor<?xf32>) outs(%z : tensor<?xf32>)
  %a = linalg.broadcast ins(%m : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [0]
  %b = linalg.broadcast ins(%s : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [1]
  %d = linalg.map { arith.addf } ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
  return %d : tensor<?x?xf32>
}

// -----

// And transposes: a result that meets itself turned.
// CHECK-LABEL: func.func @turned
// CHECK: %[[S:.*]] = linalg.reduce
// CHECK: %[[B:.*]] = util.optimization_barrier %[[S]]
// CHECK: linalg.transpose ins(%[[B]]
func.func @turned(%x: tensor<4x4x8xf32>, %e: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4x4x8xf32>) outs(%e : tensor<4x4xf32>) dimensions = [2]
  %t = linalg.transpose ins(%s : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %d = linalg.map { arith.addf } ins(%s, %t : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>)
  return %d : tensor<4x4xf32>
}

// -----

// Read twice through one map, as softmax does; by two ops; through another
// reduction; twice turned: nothing to keep apart. An argument is no reduction.
// CHECK-LABEL: func.func @others
// CHECK-NOT: util.optimization_barrier
// CHECK: return
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#ij = affine_map<(i, j) -> (i, j)>
func.func @others(%x: tensor<8x8xf32>, %z: tensor<8xf32>, %e: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8x8xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
  %d = linalg.generic {indexing_maps = [#i, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%s, %s : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  %c = linalg.generic {indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x8xf32>
  %u = linalg.reduce { arith.addf } ins(%c : tensor<8x8xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
  %v = linalg.generic {indexing_maps = [#i, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%u, %d : tensor<8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  %t = linalg.transpose ins(%c : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %w = linalg.transpose ins(%t : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %y = linalg.map { arith.addf } ins(%w, %c : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %p = linalg.generic {indexing_maps = [#i, #j, #ij], iterator_types = ["parallel", "parallel"]} ins(%z, %z : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  return %v, %c, %y, %p : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
