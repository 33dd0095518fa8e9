// RUN: headrace-opt %s --pass-pipeline='builtin.module(form-dispatch-regions{target=gfx950})' --split-input-file | FileCheck %s

// Sums before the packing, by the numbers of IREE's own tests of form_dispatch_regions.
// In place of its roots stand tensors that are to be packed.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#vec = affine_map<(i) -> (i)>

// 2, 4: a sum over a loop more, what is added to it, and the packing.
// CHECK-LABEL: @sum_of_more_loops(
// CHECK-NOT: linalg.generic
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x80xf32>)
// CHECK: linalg.fill
// CHECK: %[[S:.*]] = linalg.generic {{.*}}["parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}} ins(%[[S]], %arg1 :
// CHECK: flow.return
// CHECK: iree_encoding.set_encoding %[[R]]
func.func @sum_of_more_loops(%x: tensor<96x80x6xf32>, %y: tensor<96x80xf32>) -> tensor<96x80xf32, #l> {
  %zero = arith.constant 0.0 : f32
  %f0 = tensor.empty() : tensor<96x80xf32>
  %f = linalg.fill ins(%zero : f32) outs(%f0 : tensor<96x80xf32>) -> tensor<96x80xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<96x80x6xf32>) outs(%f : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.addf %a, %z : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %te = tensor.empty() : tensor<96x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%s, %y : tensor<96x80xf32>, tensor<96x80xf32>) outs(%te : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %t : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p : tensor<96x80xf32, #l>
}

// 18: a softmax of decoded values: two reductions and what is between them, one
// region; the decode of its input is copied in for both who read it.
// CHECK-LABEL: @softmax(
// CHECK-NOT: linalg.generic
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x80xf32>)
// CHECK: arith.sitofp
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: flow.return
// CHECK: iree_encoding.set_encoding %[[R]]
func.func @softmax(%q: tensor<96x80xi8>) -> tensor<96x80xf32, #l> {
  %zero = arith.constant 0.0 : f32
  %f0 = tensor.empty() : tensor<96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%f0 : tensor<96xf32>) -> tensor<96xf32>
  %we = tensor.empty() : tensor<96x80xf32>
  %w = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<96x80xi8>) outs(%we : tensor<96x80xf32>) {
  ^bb0(%a: i8, %z: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %m = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]} ins(%w : tensor<96x80xf32>) outs(%f : tensor<96xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.maximumf %a, %z : f32
    linalg.yield %0 : f32
  } -> tensor<96xf32>
  %te = tensor.empty() : tensor<96x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%w, %m : tensor<96x80xf32>, tensor<96xf32>) outs(%te : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<96x80xf32>
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<96x80xf32>) outs(%f : tensor<96xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.addf %a, %z : f32
    linalg.yield %0 : f32
  } -> tensor<96xf32>
  %ne = tensor.empty() : tensor<96x80xf32>
  %n = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%t, %s : tensor<96x80xf32>, tensor<96xf32>) outs(%ne : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %n : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p : tensor<96x80xf32, #l>
}

// 40: a dynamic quantization whose scale others read, too: the values in a region,
// the scale not (IREE: two results). IREE issue 24058: a region that reduces and
// stores something else besides what is packed does not compile on CPUs.
// CHECK-LABEL: @dynamic_quantization(
// CHECK: %[[M:.*]] = linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[M]] :
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x80xf32>)
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[S]] :
// CHECK: flow.return
// CHECK: iree_encoding.set_encoding %[[R]]
// CHECK: return %{{.*}}, %[[S]]
func.func @dynamic_quantization(%x: tensor<96x80xf32>) -> (tensor<96x80xf32, #l>, tensor<96xf32>) {
  %zero = arith.constant 0.0 : f32
  %f0 = tensor.empty() : tensor<96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%f0 : tensor<96xf32>) -> tensor<96xf32>
  %m = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<96x80xf32>) outs(%f : tensor<96xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.maximumf %a, %z : f32
    linalg.yield %0 : f32
  } -> tensor<96xf32>
  %se = tensor.empty() : tensor<96xf32>
  %s = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%m : tensor<96xf32>) outs(%se : tensor<96xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<96xf32>
  %ne = tensor.empty() : tensor<96x80xf32>
  %n = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<96x80xf32>, tensor<96xf32>) outs(%ne : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %n : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p, %s : tensor<96x80xf32, #l>, tensor<96xf32>
}

// 48, 57, 58: a reduction to a scalar beside, with what is computed of the scalar:
// nothing of it is packed, all of it stays for IREE.
// CHECK-LABEL: @scalar_beside(
// CHECK-NOT: arith.maximumf
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x80xf32>)
// CHECK: math.tanh
// CHECK: flow.return
// CHECK: arith.maximumf
// CHECK: math.absf
// CHECK-NOT: flow.dispatch.region
func.func @scalar_beside(%x: tensor<96x80xf32>, %i: tensor<f32>) -> (tensor<96x80xf32, #l>, tensor<f32>) {
  %te = tensor.empty() : tensor<96x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<96x80xf32>) outs(%te : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %t : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  %m = linalg.generic {indexing_maps = [#whole, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<96x80xf32>) outs(%i : tensor<f32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.maximumf %a, %z : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %ne = tensor.empty() : tensor<f32>
  %n = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%m : tensor<f32>) outs(%ne : tensor<f32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %p, %n : tensor<96x80xf32, #l>, tensor<f32>
}

// 49: a sum with two readers, one of them packed: the sum is apart, and read twice
// (IREE: all in one region; with a packed store that does not compile on CPUs).
// CHECK-LABEL: @sum_of_two(
// CHECK: %[[S:.*]] = linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: flow.dispatch.region -> (tensor<96x80xf32>)
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[S]] :
// CHECK: flow.return
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[S]] :
func.func @sum_of_two(%x: tensor<96x80xf32>) -> (tensor<96x80xf32, #l>, tensor<96x80xf32>) {
  %zero = arith.constant 0.0 : f32
  %f0 = tensor.empty() : tensor<96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%f0 : tensor<96xf32>) -> tensor<96xf32>
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<96x80xf32>) outs(%f : tensor<96xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.addf %a, %z : f32
    linalg.yield %0 : f32
  } -> tensor<96xf32>
  %te = tensor.empty() : tensor<96x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<96x80xf32>, tensor<96xf32>) outs(%te : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %t : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  %ue = tensor.empty() : tensor<96x80xf32>
  %u = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<96x80xf32>, tensor<96xf32>) outs(%ue : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  return %p, %u : tensor<96x80xf32, #l>, tensor<96x80xf32>
}

// Such a sum that is read as it lies and turned is apart: IREE fails to compile
// that, with "large vector sizes". A product goes along, as other sums do.
// CHECK-LABEL: @sum_turned_and_not(
// CHECK: %[[S:.*]] = linalg.generic {{.*}}["parallel", "parallel", "reduction"]
// CHECK: flow.dispatch.region
// CHECK: linalg.generic {{.*}} ins(%[[S]], %[[S]] :
// CHECK-LABEL: @product(
// CHECK: flow.dispatch.region
// CHECK: %[[S:.*]] = linalg.generic {{.*}}["parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}} ins(%[[S]], %arg2 :
func.func @sum_turned_and_not(%x: tensor<80x80x6xf32>, %f: tensor<80x80xf32>) -> tensor<80x80xf32, #l> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<80x80x6xf32>) outs(%f : tensor<80x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.addf %a, %z : f32
    linalg.yield %0 : f32
  } -> tensor<80x80xf32>
  %te = tensor.empty() : tensor<80x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #turned, #whole], iterator_types = ["parallel", "parallel"]} ins(%s, %s : tensor<80x80xf32>, tensor<80x80xf32>) outs(%te : tensor<80x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<80x80xf32>
  %p = iree_encoding.set_encoding %t : tensor<80x80xf32> -> tensor<80x80xf32, #l>
  return %p : tensor<80x80xf32, #l>
}
func.func @product(%x: tensor<96x12xf32>, %w: tensor<12x80xf32>, %y: tensor<96x80xf32>) -> tensor<96x80xf32, #l> {
  %s = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<96x12xf32>, tensor<12x80xf32>) outs(%y : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %z : f32
    linalg.yield %1 : f32
  } -> tensor<96x80xf32>
  %te = tensor.empty() : tensor<96x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%s, %y : tensor<96x80xf32>, tensor<96x80xf32>) outs(%te : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %t : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p : tensor<96x80xf32, #l>
}

// 51: a sum repeated along a loop of its own is apart.
// CHECK-LABEL: @sum_to_bigger(
// CHECK: %[[S:.*]] = linalg.generic {{.*}}["parallel", "reduction", "reduction"]
// CHECK: flow.dispatch.region -> (tensor<96x80xf32>)
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[S]] :
func.func @sum_to_bigger(%x: tensor<96x40x9xf32>, %y: tensor<96x80xf32>) -> tensor<96x80xf32, #l> {
  %zero = arith.constant 0.0 : f32
  %f0 = tensor.empty() : tensor<96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%f0 : tensor<96xf32>) -> tensor<96xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<96x40x9xf32>) outs(%f : tensor<96xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.addf %a, %z : f32
    linalg.yield %0 : f32
  } -> tensor<96xf32>
  %te = tensor.empty() : tensor<96x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<96x80xf32>, tensor<96xf32>) outs(%te : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %t : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p : tensor<96x80xf32, #l>
}

// 52, 53: a sum, an op on the row's sums, and one that repeats what that makes: the
// last is a region; dimensions of size 1 are folded before, and IREE computes the
// op on the sums within its readers.
// CHECK-LABEL: @op_on_sums(
// CHECK: %[[S:.*]] = linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[S]] :
// CHECK: flow.dispatch.region -> (tensor<96x80xf32>)
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[T]] :
func.func @op_on_sums(%x: tensor<96x80xf32>) -> tensor<96x80xf32, #l> {
  %zero = arith.constant 0.0 : f32
  %f0 = tensor.empty() : tensor<96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%f0 : tensor<96xf32>) -> tensor<96xf32>
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<96x80xf32>) outs(%f : tensor<96xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.addf %a, %z : f32
    linalg.yield %0 : f32
  } -> tensor<96xf32>
  %te = tensor.empty() : tensor<96xf32>
  %t = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%s : tensor<96xf32>) outs(%te : tensor<96xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<96xf32>
  %ue = tensor.empty() : tensor<96x80xf32>
  %u = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<96x80xf32>, tensor<96xf32>) outs(%ue : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %u : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p : tensor<96x80xf32, #l>
}
