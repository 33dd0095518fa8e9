// RUN: headrace-opt %s --pass-pipeline='builtin.module(form-dispatch-regions{target=gfx950})' --split-input-file | FileCheck %s --check-prefixes=BOTH,GPU
// RUN: headrace-opt %s --pass-pipeline='builtin.module(form-dispatch-regions{target=cpu})' --split-input-file | FileCheck %s --check-prefixes=BOTH,CPU

// A product that others read beside what is computed from it, as a gradient
// does: quirks.UNPACKED_AND_USED parts them on CPUs.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#r = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>

// BOTH-LABEL: @saved(
// GPU: flow.dispatch.region -> (tensor<96x112xf32>, tensor<96x112xf32>)
// GPU: math.tanh
// GPU: flow.return
// CPU: %[[R:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CPU: iree_encoding.unset_encoding
// CPU-NEXT: flow.return
// CPU: linalg.generic {{.*}} ins(%[[R]] :
func.func @saved(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> (tensor<96x112xf32>, tensor<96x112xf32>) {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %u = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %e = tensor.empty() : tensor<96x112xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<96x112xf32>) outs(%e : tensor<96x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  return %u, %t : tensor<96x112xf32>, tensor<96x112xf32>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#r = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#whole = affine_map<(i, j) -> (i, j)>

// What others read is computed from the product, and not the product itself: one region.
// BOTH-LABEL: @computed(
// BOTH: flow.dispatch.region -> (tensor<96x112xf32>, tensor<96x112xf32>)
// BOTH: math.tanh
// BOTH: math.exp
// BOTH: flow.return
func.func @computed(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> (tensor<96x112xf32>, tensor<96x112xf32>) {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %u = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %e = tensor.empty() : tensor<96x112xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<96x112xf32>) outs(%e : tensor<96x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<96x112xf32>) outs(%e : tensor<96x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  return %t, %s : tensor<96x112xf32>, tensor<96x112xf32>
}
