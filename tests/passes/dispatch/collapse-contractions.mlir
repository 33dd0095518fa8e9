// RUN: headrace-opt %s --pass-pipeline='builtin.module(collapse-contractions)' --split-input-file | FileCheck %s

// Two loops of depth, and two of rows.
// CHECK-DAG: #[[L:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[R:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[O:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: @rows_and_depth
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2, 3]] : tensor<4x8x6x2xf32> into tensor<32x12xf32>
// CHECK-DAG: %[[W:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1], [2]] : tensor<6x2x48xf32> into tensor<12x48xf32>
// CHECK-DAG: %[[F:.*]] = linalg.fill {{.*}} -> tensor<32x48xf32>
// CHECK: %[[Y:.*]] = linalg.generic {indexing_maps = [#[[L]], #[[R]], #[[O]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[W]] : {{.*}}) outs(%[[F]] : tensor<32x48xf32>)
// CHECK: tensor.expand_shape %[[Y]] {{\[\[}}0, 1], [2]] output_shape [4, 8, 48] : tensor<32x48xf32> into tensor<4x8x48xf32>
#x = affine_map<(a, b, n, k, l) -> (a, b, k, l)>
#w = affine_map<(a, b, n, k, l) -> (k, l, n)>
#y = affine_map<(a, b, n, k, l) -> (a, b, n)>
func.func @rows_and_depth(%x: tensor<4x8x6x2xf32>, %w: tensor<6x2x48xf32>) -> tensor<4x8x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8x48xf32>) -> tensor<4x8x48xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<4x8x6x2xf32>, tensor<6x2x48xf32>) outs(%f : tensor<4x8x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8x48xf32>
  return %r : tensor<4x8x48xf32>
}

// -----

// Two batch loops, added to something: that is collapsed, too.
// CHECK-LABEL: @batches
// CHECK: %[[I:.*]] = tensor.collapse_shape %arg2 {{\[\[}}0, 1], [2], [3]] : tensor<2x3x8x48xf32> into tensor<6x8x48xf32>
// CHECK: linalg.generic {{.*}} outs(%[[I]] : tensor<6x8x48xf32>)
#x = affine_map<(a, b, m, n, k) -> (a, b, m, k)>
#w = affine_map<(a, b, m, n, k) -> (a, b, k, n)>
#y = affine_map<(a, b, m, n, k) -> (a, b, m, n)>
func.func @batches(%x: tensor<2x3x8x16xf32>, %w: tensor<2x3x16x48xf32>, %i: tensor<2x3x8x48xf32>) -> tensor<2x3x8x48xf32> {
  %r = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<2x3x8x16xf32>, tensor<2x3x16x48xf32>) outs(%i : tensor<2x3x8x48xf32>) -> tensor<2x3x8x48xf32>
  return %r : tensor<2x3x8x48xf32>
}

// -----

// Stay: loops of one kind in another order, torn apart, dynamic; one of each.
// CHECK-LABEL: @stay
// CHECK-NOT: collapse_shape
#ml = affine_map<(m, n, k, l) -> (m, k, l)>
#nlk = affine_map<(m, n, k, l) -> (n, l, k)>
#kml = affine_map<(m, n, k, l) -> (k, m, l)>
#nkl = affine_map<(m, n, k, l) -> (n, k, l)>
#mn = affine_map<(m, n, k, l) -> (m, n)>
func.func @stay(%x: tensor<8x6x2xf32>, %w: tensor<48x2x6xf32>, %v: tensor<6x8x2xf32>, %u: tensor<48x6x2xf32>, %d: tensor<?x6x2xf32>,
    %i: tensor<8x48xf32>, %j: tensor<?x48xf32>, %p: tensor<8x16xf32>, %q: tensor<16x48xf32>)
    -> (tensor<8x48xf32>, tensor<8x48xf32>, tensor<?x48xf32>, tensor<8x48xf32>) {
  %0 = linalg.contract indexing_maps = [#ml, #nlk, #mn] ins(%x, %w : tensor<8x6x2xf32>, tensor<48x2x6xf32>) outs(%i : tensor<8x48xf32>) -> tensor<8x48xf32>
  %1 = linalg.contract indexing_maps = [#kml, #nkl, #mn] ins(%v, %u : tensor<6x8x2xf32>, tensor<48x6x2xf32>) outs(%i : tensor<8x48xf32>) -> tensor<8x48xf32>
  %2 = linalg.contract indexing_maps = [#ml, #nkl, #mn] ins(%d, %u : tensor<?x6x2xf32>, tensor<48x6x2xf32>) outs(%j : tensor<?x48xf32>) -> tensor<?x48xf32>
  %3 = linalg.matmul ins(%p, %q : tensor<8x16xf32>, tensor<16x48xf32>) outs(%i : tensor<8x48xf32>) -> tensor<8x48xf32>
  return %0, %1, %2, %3 : tensor<8x48xf32>, tensor<8x48xf32>, tensor<?x48xf32>, tensor<8x48xf32>
}
