// RUN: headrace-opt %s --pass-pipeline='builtin.module(reduce-constants)' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK: %[[TWOS:.*]] = linalg.generic
// CHECK: %[[B:.*]] = util.optimization_barrier %[[TWOS]] : tensor<10xf32>
// CHECK: linalg.generic {{.*}} ins(%[[B]] : tensor<10xf32>)
// CHECK: arith.addf %out, %in
#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>
func.func @sum(%init: tensor<f32>) -> tensor<f32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %twos = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<10xf32>) {
  ^bb0(%out: f32):
    linalg.yield %two : f32
  } -> tensor<10xf32>
  %0 = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]} ins(%twos : tensor<10xf32>) outs(%init : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Folded into the body already, beside a parallel loop.
// CHECK-LABEL: func.func @folded
// CHECK: %[[LIKE:.*]] = util.optimization_barrier %{{.*}} : i8
// CHECK: %[[IS:.*]] = arith.cmpi slt, %in, %{{.*}} : i8
// CHECK: %[[V:.*]] = arith.select %[[IS]], %{{.*}}, %[[LIKE]] : i8
// CHECK: arith.addi %[[V]], %out : i8
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @folded(%x: tensor<3x5xi8>, %init: tensor<3xi8>) -> tensor<3xi8> {
  %two = arith.constant 2 : i8
  %0 = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xi8>) outs(%init : tensor<3xi8>) {
  ^bb0(%in: i8, %out: i8):
    %1 = arith.addi %two, %out : i8
    linalg.yield %1 : i8
  } -> tensor<3xi8>
  return %0 : tensor<3xi8>
}

// -----

// What differs from step to step, by an operand or by its index, and what is no sum.
// CHECK-LABEL: func.func @others
// CHECK-NOT: util.optimization_barrier
#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>
func.func @others(%x: tensor<10xf32>, %init: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<10xf32>) {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %0 = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]} ins(%x : tensor<10xf32>) outs(%init : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.mulf %in, %two : f32
    %1 = arith.addf %out, %m : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %counted = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<10xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    linalg.yield %f : f32
  } -> tensor<10xf32>
  %2 = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]} ins(%counted : tensor<10xf32>) outs(%init : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %twos = linalg.fill ins(%two : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%twos : tensor<10xf32>) outs(%x : tensor<10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<10xf32>
  return %0, %2, %3 : tensor<f32>, tensor<f32>, tensor<10xf32>
}
