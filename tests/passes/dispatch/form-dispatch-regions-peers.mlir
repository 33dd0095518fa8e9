// RUN: headrace-opt %s --pass-pipeline='builtin.module(form-dispatch-regions)' --split-input-file | FileCheck %s

// More shapes that IREE's own tests of form_dispatch_regions have, written
// anew, by their numbers there.

// 6: what is packed is an input: nothing to put in a region.
// CHECK-LABEL: @encoding_alone
// CHECK-NOT: flow.dispatch.region
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#r = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @encoding_alone(%x: tensor<32x40xf32>) -> tensor<32x40xf32, #l> {
  %e = iree_encoding.set_encoding %x : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  return %e : tensor<32x40xf32, #l>
}

// -----

// 45: two products in a row are two regions, each with its fill and unpacking.
// CHECK-LABEL: @two_products
// CHECK: %[[A:.*]] = flow.dispatch.region
// CHECK: linalg.matmul
// CHECK-NOT: linalg.matmul
// CHECK: flow.return
// CHECK: %[[P:.*]] = iree_encoding.set_encoding %[[A]]
// CHECK: flow.dispatch.region
// CHECK: linalg.matmul ins(%[[P]]
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#r = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @two_products(%x: tensor<32x40xf32, #l>, %w: tensor<40x40xf32, #r>) -> tensor<32x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x40xf32, #o>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x40xf32, #o>) -> tensor<32x40xf32, #o>
  %m = linalg.matmul ins(%x, %w : tensor<32x40xf32, #l>, tensor<40x40xf32, #r>) outs(%f : tensor<32x40xf32, #o>) -> tensor<32x40xf32, #o>
  %u = iree_encoding.unset_encoding %m : tensor<32x40xf32, #o> -> tensor<32x40xf32>
  %p = iree_encoding.set_encoding %u : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  %n = linalg.matmul ins(%p, %w : tensor<32x40xf32, #l>, tensor<40x40xf32, #r>) outs(%f : tensor<32x40xf32, #o>) -> tensor<32x40xf32, #o>
  %v = iree_encoding.unset_encoding %n : tensor<32x40xf32, #o> -> tensor<32x40xf32>
  return %v : tensor<32x40xf32>
}

// -----

// 17, and 5 of clone_producers: a decode with two readers is copied into both
// regions, and never written to memory.
// CHECK-LABEL: @decode_of_two
// CHECK-NOT: arith.sitofp
// CHECK: flow.dispatch.region
// CHECK: arith.sitofp
// CHECK: math.tanh
// CHECK: flow.return
// CHECK: flow.dispatch.region
// CHECK: arith.sitofp
// CHECK: math.absf
// CHECK: flow.return
// CHECK-NOT: arith.sitofp
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#r = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @decode_of_two(%q: tensor<32x40xi8>) -> (tensor<32x40xf32, #l>, tensor<32x40xf32, #l>) {
  %we = tensor.empty() : tensor<32x40xf32>
  %w = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<32x40xi8>) outs(%we : tensor<32x40xf32>) {
  ^bb0(%a: i8, %z: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %te = tensor.empty() : tensor<32x40xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<32x40xf32>) outs(%te : tensor<32x40xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %se = tensor.empty() : tensor<32x40xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<32x40xf32>) outs(%se : tensor<32x40xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %p = iree_encoding.set_encoding %t : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  %r = iree_encoding.set_encoding %s : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  return %p, %r : tensor<32x40xf32, #l>, tensor<32x40xf32, #l>
}

// -----

// 41: both reads of the producer are turned, each by a loop of its own: it goes along.
// CHECK-LABEL: @turned_twice
// CHECK: flow.dispatch.region
// CHECK: math.tanh
// CHECK: arith.addf
// CHECK: flow.return
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#r = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @turned_twice(%x: tensor<40x40xf32>) -> tensor<40x40xf32, #r> {
  %pe = tensor.empty() : tensor<40x40xf32>
  %p = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<40x40xf32>) outs(%pe : tensor<40x40xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<40x40xf32>
  %se = tensor.empty() : tensor<40x40xf32>
  %s = linalg.generic {indexing_maps = [#turned, #turned, #whole], iterator_types = ["parallel", "parallel"]} ins(%p, %p : tensor<40x40xf32>, tensor<40x40xf32>) outs(%se : tensor<40x40xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<40x40xf32>
  %e = iree_encoding.set_encoding %s : tensor<40x40xf32> -> tensor<40x40xf32, #r>
  return %e : tensor<40x40xf32, #r>
}

// -----

// 18 and 19 of clone_producers: neither a transfer nor an inserted slice goes
// into a region.
// CHECK-LABEL: @others
// CHECK: flow.tensor.transfer
// CHECK: tensor.insert_slice
// CHECK: flow.dispatch.region
// CHECK-NOT: insert_slice
// CHECK: flow.return
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#r = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 40, 40]>
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @others(%x: tensor<32x40xf32>, %y: tensor<8x40xf32>) -> tensor<32x40xf32, #l> {
  %sent = flow.tensor.transfer %x : tensor<32x40xf32> to #hal.device.promise<@dev0>
  %i = tensor.insert_slice %y into %sent[0, 0] [8, 40] [1, 1] : tensor<8x40xf32> into tensor<32x40xf32>
  %te = tensor.empty() : tensor<32x40xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<32x40xf32>) outs(%te : tensor<32x40xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %e = iree_encoding.set_encoding %t : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  return %e : tensor<32x40xf32, #l>
}

// -----

// 16: both packed operands of a batched product are decoded: in its region.
// CHECK-LABEL: @two_decodes
// CHECK-NOT: arith.extf
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<3x32x40xf32>)
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%arg0 :
// CHECK: arith.extf
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%arg1 :
// CHECK: arith.extf
// CHECK: linalg.batch_matmul ins(%[[X]], %[[W]] :
// CHECK: iree_encoding.unset_encoding
// CHECK-NEXT: flow.return
// CHECK: return %[[R]]
#lhs = affine_map<(b, m, n, k) -> (b, m, k)>
#rhs = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [3, 32, 40, 24]>
#r = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [3, 32, 40, 24]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [3, 32, 40, 24]>
#whole = affine_map<(b, i, j) -> (b, i, j)>
func.func @two_decodes(%x: tensor<3x32x24xbf16, #l>, %w: tensor<3x24x40xbf16, #r>, %y: tensor<3x32x40xf32, #o>) -> tensor<3x32x40xf32> {
  %xe = tensor.empty() : tensor<3x32x24xf32, #l>
  %p = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<3x32x24xbf16, #l>) outs(%xe : tensor<3x32x24xf32, #l>) {
  ^bb0(%a: bf16, %z: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<3x32x24xf32, #l>
  %we = tensor.empty() : tensor<3x24x40xf32, #r>
  %q = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<3x24x40xbf16, #r>) outs(%we : tensor<3x24x40xf32, #r>) {
  ^bb0(%a: bf16, %z: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<3x24x40xf32, #r>
  %m = linalg.batch_matmul ins(%p, %q : tensor<3x32x24xf32, #l>, tensor<3x24x40xf32, #r>) outs(%y : tensor<3x32x40xf32, #o>) -> tensor<3x32x40xf32, #o>
  %u = iree_encoding.unset_encoding %m : tensor<3x32x40xf32, #o> -> tensor<3x32x40xf32>
  return %u : tensor<3x32x40xf32>
}
