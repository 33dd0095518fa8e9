// RUN: headrace-opt %s --pass-pipeline='builtin.module(hold-sourceless-results)' --split-input-file | FileCheck %s

// Indices only: all users read what is behind the barrier.
// CHECK-LABEL: func.func @indices
// CHECK: %[[V:.*]]:2 = linalg.generic
// CHECK: %[[H:.*]]:2 = util.optimization_barrier %[[V]]#0, %[[V]]#1 : tensor<8xi8>, tensor<8xi32>
// CHECK: %[[W:.*]] = tensor.insert_slice %{{.*}} into %[[H]]#1
// CHECK: return %[[H]]#0, %[[H]]#1, %[[W]]
#map = affine_map<(d0) -> (d0)>
func.func @indices(%a: tensor<2xi32>) -> (tensor<8xi8>, tensor<8xi32>, tensor<8xi32>) {
  %e = tensor.empty() : tensor<8xi8>
  %f = tensor.empty() : tensor<8xi32>
  %v:2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} outs(%e, %f : tensor<8xi8>, tensor<8xi32>) {
  ^bb0(%o: i8, %p: i32):
    %i = linalg.index 0 : index
    %x = arith.index_cast %i : index to i32
    %y = arith.trunci %x : i32 to i8
    linalg.yield %y, %x : i8, i32
  } -> (tensor<8xi8>, tensor<8xi32>)
  %w = tensor.insert_slice %a into %v#1[3] [2] [1] : tensor<2xi32> into tensor<8xi32>
  return %v#0, %v#1, %w : tensor<8xi8>, tensor<8xi32>, tensor<8xi32>
}

// -----

// A splat and a fill of any number go into the dispatch that reads them.
// CHECK-LABEL: func.func @made_in_place
// CHECK: %[[V:.*]]:2 = linalg.generic
// CHECK: util.optimization_barrier %[[V]]#0, %[[V]]#1
#map = affine_map<(d0) -> (d0)>
func.func @made_in_place(%s: f32) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = arith.constant dense<2.0> : tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v:2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%c, %f : tensor<8xf32>, tensor<8xf32>) outs(%e, %e : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
    %x = arith.addf %a, %b : f32
    %y = arith.mulf %a, %b : f32
    linalg.yield %x, %y : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %v#0, %v#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// One result cannot be taken for another; an argument, a constant that is no
// splat, and an argument that only the region reads are tensors that are read.
// CHECK-LABEL: func.func @others
// CHECK-NOT: util.optimization_barrier
// CHECK: return
#map = affine_map<(d0) -> (d0)>
func.func @others(%t: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %c = arith.constant dense<[1, 2]> : tensor<2xi32>
  %e = tensor.empty() : tensor<2xi32>
  %one = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e : tensor<2xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %x = arith.index_cast %i : index to i32
    linalg.yield %x : i32
  } -> tensor<2xi32>
  %v:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%c : tensor<2xi32>) outs(%e, %e : tensor<2xi32>, tensor<2xi32>) {
  ^bb0(%a: i32, %o: i32, %p: i32):
    %y = arith.muli %a, %a : i32
    linalg.yield %a, %y : i32, i32
  } -> (tensor<2xi32>, tensor<2xi32>)
  %w:2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} outs(%e, %e : tensor<2xi32>, tensor<2xi32>) {
  ^bb0(%o: i32, %p: i32):
    %i = linalg.index 0 : index
    %a = tensor.extract %t[%i] : tensor<2xi32>
    %y = arith.muli %a, %a : i32
    linalg.yield %a, %y : i32, i32
  } -> (tensor<2xi32>, tensor<2xi32>)
  return %one, %v#0, %v#1, %w#0, %w#1 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}
