// RUN: headrace-opt %s --pass-pipeline='builtin.module(hold-gathered-slices)' --split-input-file | FileCheck %s

// Once for a generic, however often it reads; behind a view, too; sizes that are known at run time are kept.
// CHECK-LABEL: @slices(
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0
// CHECK: %[[D:.*]] = tensor.dim %[[S]]
// CHECK: %[[B:.*]] = util.optimization_barrier %[[S]] : tensor<?xf32>
// CHECK: %[[H:.*]] = flow.tensor.tie_shape %[[B]] : tensor<?xf32>{%[[D]]}
// CHECK: linalg.generic
// CHECK: tensor.extract %[[H]][
// CHECK: tensor.extract %[[H]][
// CHECK: %[[C:.*]] = tensor.collapse_shape
// CHECK: %[[G:.*]] = util.optimization_barrier %[[C]] : tensor<6xf32>
// CHECK: linalg.generic
// CHECK: tensor.extract %[[G]][
#map = affine_map<(d) -> (d)>
func.func @slices(%x: tensor<?x3xf32>, %i: tensor<4xindex>, %n: index, %y: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = tensor.extract_slice %x[0, 2] [%n, 1] [1, 1] : tensor<?x3xf32> to tensor<?xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%i : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: index, %o: f32):
    %c0 = arith.constant 0 : index
    %a = tensor.extract %s[%p] : tensor<?xf32>
    %b = tensor.extract %s[%c0] : tensor<?xf32>
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<4xf32>
  %t = tensor.extract_slice %y[1, 0] [2, 3] [1, 2] : tensor<4x6xf32> to tensor<2x3xf32>
  %u = tensor.collapse_shape %t [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %w = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%i : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: index, %o: f32):
    %a = tensor.extract %u[%p] : tensor<6xf32>
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// What is no slice, a slice that is read element by element, and an extract in no generic.
// CHECK-LABEL: @others(
// CHECK-NOT: util.optimization_barrier
#map = affine_map<(d) -> (d)>
func.func @others(%x: tensor<4xf32>, %y: tensor<4x3xf32>, %i: tensor<4xindex>, %k: index) -> (tensor<4xf32>, f32) {
  %s = tensor.extract_slice %y[0, 2] [4, 1] [1, 1] : tensor<4x3xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%i, %s : tensor<4xindex>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: index, %v: f32, %o: f32):
    %a = tensor.extract %x[%p] : tensor<4xf32>
    %c = arith.addf %a, %v : f32
    linalg.yield %c : f32
  } -> tensor<4xf32>
  %f = tensor.extract %s[%k] : tensor<4xf32>
  return %r, %f : tensor<4xf32>, f32
}
