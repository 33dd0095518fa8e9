// RUN: headrace-opt %s --pass-pipeline='builtin.module(form-dispatch-regions)' --split-input-file | FileCheck %s

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#cube = affine_map<(i, b, j) -> (i, b, j)>
#face = affine_map<(i, b, j) -> (i, j)>
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// Pooling: a sum along a dimension of its own, what it adds up, and what is
// made of each sum, here turned as well.
// CHECK-LABEL: @pooled
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<32x40xf32>) {
// CHECK: %[[T:.*]] = linalg.generic {{.*}}["parallel", "parallel", "parallel"]} ins(%arg0
// CHECK: %[[S:.*]] = linalg.generic {{.*}}["parallel", "reduction", "parallel"]} ins(%[[T]]
// CHECK: %[[N:.*]] = linalg.generic {{.*}}ins(%[[S]]
// CHECK: flow.return %[[N]]
// CHECK: iree_encoding.set_encoding %[[R]]
func.func @pooled(%x: tensor<40x7x32xf32>) -> tensor<32x40xf32, #l> {
  %zero = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<40x7x32xf32>
  %t = linalg.generic {indexing_maps = [#cube, #cube], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<40x7x32xf32>) outs(%e3 : tensor<40x7x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<40x7x32xf32>
  %e = tensor.empty() : tensor<40x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x32xf32>) -> tensor<40x32xf32>
  %s = linalg.generic {indexing_maps = [#cube, #face], iterator_types = ["parallel", "reduction", "parallel"]} ins(%t : tensor<40x7x32xf32>) outs(%f : tensor<40x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<40x32xf32>
  %en = tensor.empty() : tensor<32x40xf32>
  %n = linalg.generic {indexing_maps = [#turned, #whole], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<40x32xf32>) outs(%en : tensor<32x40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %p = iree_encoding.set_encoding %n : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  return %p : tensor<32x40xf32, #l>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#cube = affine_map<(i, b, j) -> (i, b, j)>
#face = affine_map<(i, b, j) -> (i, j)>
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Two pools would be two loop nests, as would a pool and a sum of each row:
// the first is left outside.
// CHECK-LABEL: @two_nests
// CHECK: %[[A:.*]] = linalg.generic {{.*}}["parallel", "reduction", "parallel"]} ins(%arg0
// CHECK: %[[R:.*]] = flow.dispatch.region
// CHECK: %[[B:.*]] = linalg.generic {{.*}}["parallel", "reduction", "parallel"]} ins(%arg1
// CHECK: linalg.generic {{.*}}ins(%[[A]], %[[B]]
// CHECK: iree_encoding.set_encoding %[[R]]
// CHECK: %[[C:.*]] = linalg.generic {{.*}}["parallel", "reduction", "parallel"]} ins(%arg1
// CHECK: %[[Q:.*]] = flow.dispatch.region
// CHECK: %[[S:.*]] = linalg.generic {{.*}}["parallel", "reduction"]} ins(%arg2
// CHECK: linalg.generic {{.*}}ins(%[[C]], %[[S]]
// CHECK: iree_encoding.set_encoding %[[Q]]
func.func @two_nests(%x: tensor<32x7x40xf32>, %y: tensor<32x7x40xf32>, %z: tensor<32x40xf32>) -> (tensor<32x40xf32, #l>, tensor<32x40xf32, #l>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x40xf32>) -> tensor<32x40xf32>
  %a = linalg.generic {indexing_maps = [#cube, #face], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<32x7x40xf32>) outs(%f : tensor<32x40xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = arith.addf %i, %o : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %b = linalg.generic {indexing_maps = [#cube, #face], iterator_types = ["parallel", "reduction", "parallel"]} ins(%y : tensor<32x7x40xf32>) outs(%f : tensor<32x40xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = arith.addf %i, %o : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %n = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<32x40xf32>, tensor<32x40xf32>) outs(%e : tensor<32x40xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %0 = arith.divf %i, %j : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %p = iree_encoding.set_encoding %n : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  %c = linalg.generic {indexing_maps = [#cube, #face], iterator_types = ["parallel", "reduction", "parallel"]} ins(%y : tensor<32x7x40xf32>) outs(%f : tensor<32x40xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = arith.maximumf %i, %o : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %er = tensor.empty() : tensor<32xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<32x40xf32>) outs(%fr : tensor<32xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = arith.addf %i, %o : f32
    linalg.yield %0 : f32
  } -> tensor<32xf32>
  %m = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%c, %s : tensor<32x40xf32>, tensor<32xf32>) outs(%e : tensor<32x40xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %0 = arith.divf %i, %j : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %q = iree_encoding.set_encoding %m : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  return %p, %q : tensor<32x40xf32, #l>, tensor<32x40xf32, #l>
}
