// RUN: headrace-opt %s --pass-pipeline='builtin.module(form-dispatch-regions{target=gfx950})' --split-input-file | FileCheck %s

// What follows a packed matmul, by the numbers of IREE's own tests of
// form_dispatch_regions, whose roots our matmuls stand for.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#r = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// 10: a slice of the result, which no packed matmul could be tiled with: outside.
// CHECK-LABEL: @slice(
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: iree_encoding.unset_encoding
// CHECK-NEXT: flow.return
// CHECK: tensor.extract_slice %[[R]]
// CHECK-NOT: flow.dispatch.region
func.func @slice(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> tensor<32x112xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %s = tensor.extract_slice %mu[8, 0] [32, 112] [1, 1] : tensor<96x112xf32> to tensor<32x112xf32>
  return %s : tensor<32x112xf32>
}

// 23: what follows has one loop more: it would compute each element again.
// CHECK-LABEL: @more_loops(
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: iree_encoding.unset_encoding
// CHECK-NEXT: flow.return
// CHECK: linalg.generic {{.*}} ins(%[[R]], %arg3 :
// CHECK-NOT: flow.dispatch.region
func.func @more_loops(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>, %v: tensor<3xf32>) -> tensor<3x96x112xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %se = tensor.empty() : tensor<3x96x112xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mu, %v : tensor<96x112xf32>, tensor<3xf32>) outs(%se : tensor<3x96x112xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<3x96x112xf32>
  return %s : tensor<3x96x112xf32>
}

// 29: what follows captures a scalar that is computed between both.
// CHECK-LABEL: @captured_scalar(
// CHECK: %[[S:.*]] = arith.mulf %arg3, %arg3
// CHECK: flow.dispatch.region
// CHECK: linalg.matmul
// CHECK: arith.addf %{{.*}}, %[[S]]
// CHECK: flow.return
func.func @captured_scalar(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>, %v: f32) -> tensor<96x112xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %sq = arith.mulf %v, %v : f32
  %se = tensor.empty() : tensor<96x112xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu : tensor<96x112xf32>) outs(%se : tensor<96x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.addf %a, %sq : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  return %s : tensor<96x112xf32>
}

// 30, 38: three products of one value, each rounded: each is one region with its
// rounding (IREE: all three in one, which reads the operand once more for each
// product, too). The operand is packed once.
// CHECK-LABEL: @three_rounded(
// CHECK: %[[X:.*]] = iree_encoding.set_encoding %arg0
// CHECK-NOT: set_encoding
// CHECK: %[[A:.*]] = flow.dispatch.region -> (tensor<96x112xbf16>)
// CHECK: linalg.matmul ins(%[[X]], %arg1
// CHECK: arith.truncf
// CHECK: flow.return
// CHECK: %[[B:.*]] = flow.dispatch.region -> (tensor<96x112xbf16>)
// CHECK: linalg.matmul ins(%[[X]], %arg2
// CHECK: arith.truncf
// CHECK: flow.return
// CHECK: %[[C:.*]] = flow.dispatch.region -> (tensor<96x112xbf16>)
// CHECK: linalg.matmul ins(%[[X]], %arg3
// CHECK: arith.truncf
// CHECK: flow.return
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @three_rounded(%px: tensor<96x80xf32>, %w: tensor<80x112xf32, #r>, %w2: tensor<80x112xf32, #r>, %w3: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> (tensor<96x112xbf16>, tensor<96x112xbf16>, tensor<96x112xbf16>) {
  %x = iree_encoding.set_encoding %px : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %se = tensor.empty() : tensor<96x112xbf16>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu : tensor<96x112xf32>) outs(%se : tensor<96x112xbf16>) {
  ^bb0(%a: f32, %z: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<96x112xbf16>
  %m2 = linalg.matmul ins(%x, %w2 : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %m2u = iree_encoding.unset_encoding %m2 : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %s2e = tensor.empty() : tensor<96x112xbf16>
  %s2 = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m2u : tensor<96x112xf32>) outs(%s2e : tensor<96x112xbf16>) {
  ^bb0(%a: f32, %z: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<96x112xbf16>
  %m3 = linalg.matmul ins(%x, %w3 : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %m3u = iree_encoding.unset_encoding %m3 : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %s3e = tensor.empty() : tensor<96x112xbf16>
  %s3 = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m3u : tensor<96x112xf32>) outs(%s3e : tensor<96x112xbf16>) {
  ^bb0(%a: f32, %z: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<96x112xbf16>
  return %s, %s2, %s3 : tensor<96x112xbf16>, tensor<96x112xbf16>, tensor<96x112xbf16>
}

// 31: only their combination is read: the first product goes on to it, after the
// other two (IREE: all in one).
// CHECK-LABEL: @combined(
// CHECK: %[[A:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: %[[B:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: %[[C:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding
// CHECK: linalg.generic {{.*}} ins(%[[U]], %[[A]], %[[B]] :
// CHECK: flow.return
// CHECK: return %[[C]]
func.func @combined(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>, %w2: tensor<80x112xf32, #r>, %w3: tensor<80x112xf32, #r>) -> tensor<96x112xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %m2 = linalg.matmul ins(%x, %w2 : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %m2u = iree_encoding.unset_encoding %m2 : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %m3 = linalg.matmul ins(%x, %w3 : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %m3u = iree_encoding.unset_encoding %m3 : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %se = tensor.empty() : tensor<96x112xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu, %m2u, %m3u : tensor<96x112xf32>, tensor<96x112xf32>, tensor<96x112xf32>) outs(%se : tensor<96x112xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<96x112xf32>
  return %s : tensor<96x112xf32>
}

// 32: the combination reads the result behind a barrier, too: apart.
// CHECK-LABEL: @barrier(
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: iree_encoding.unset_encoding
// CHECK-NEXT: flow.return
// CHECK: %[[B:.*]] = iree_tensor_ext.compute_barrier.start %[[R]]
// CHECK: linalg.generic {{.*}} ins(%[[R]], %[[B]] :
func.func @barrier(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> tensor<96x112xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %bar = iree_tensor_ext.compute_barrier.start %mu : tensor<96x112xf32> -> tensor<96x112xf32>
  %se = tensor.empty() : tensor<96x112xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu, %bar : tensor<96x112xf32>, tensor<96x112xf32>) outs(%se : tensor<96x112xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  return %s : tensor<96x112xf32>
}

// 33, 39: the result is turned, and rounded on the way: in the region.
// CHECK-LABEL: @turned(
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<112x96xbf16>)
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[U]] :
// CHECK: arith.truncf
// CHECK: flow.return %[[T]]
// CHECK: return %[[R]]
func.func @turned(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> tensor<112x96xbf16> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %se = tensor.empty() : tensor<112x96xbf16>
  %s = linalg.generic {indexing_maps = [#turned, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu : tensor<96x112xf32>) outs(%se : tensor<112x96xbf16>) {
  ^bb0(%a: f32, %z: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<112x96xbf16>
  return %s : tensor<112x96xbf16>
}

// 42: read as it lies, and turned: no tile of it serves both.
// CHECK-LABEL: @turned_and_not(
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<16x16xf32>)
// CHECK: iree_encoding.unset_encoding
// CHECK-NEXT: flow.return
// CHECK: linalg.generic {{.*}} ins(%[[R]], %[[R]] :
#so = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [16, 16, 80]>
func.func @turned_and_not(%x: tensor<16x80xf32, #l>, %w: tensor<80x16xf32, #r>, %i: tensor<16x16xf32, #so>) -> tensor<16x16xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<16x80xf32, #l>, tensor<80x16xf32, #r>) outs(%i : tensor<16x16xf32, #so>) -> tensor<16x16xf32, #so>
  %u = iree_encoding.unset_encoding %m : tensor<16x16xf32, #so> -> tensor<16x16xf32>
  %se = tensor.empty() : tensor<16x16xf32>
  %s = linalg.generic {indexing_maps = [#whole, #turned, #whole], iterator_types = ["parallel", "parallel"]} ins(%u, %u : tensor<16x16xf32>, tensor<16x16xf32>) outs(%se : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<16x16xf32>
  return %s : tensor<16x16xf32>
}

// 41, 67: turned once, and the turned value read with the plain one, which is
// turned alike: in the region.
// CHECK-LABEL: @turned_alike(
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<112x96xf32>)
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[U]] :
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[T]], %[[U]] :
// CHECK: flow.return %[[S]]
func.func @turned_alike(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> tensor<112x96xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %te = tensor.empty() : tensor<112x96xf32>
  %t = linalg.generic {indexing_maps = [#turned, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu : tensor<96x112xf32>) outs(%te : tensor<112x96xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<112x96xf32>
  %se = tensor.empty() : tensor<112x96xf32>
  %s = linalg.generic {indexing_maps = [#whole, #turned, #whole], iterator_types = ["parallel", "parallel"]} ins(%t, %mu : tensor<112x96xf32>, tensor<96x112xf32>) outs(%se : tensor<112x96xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<112x96xf32>
  return %s : tensor<112x96xf32>
}

// 35: what cannot be in a region stands between: what follows it is apart.
// CHECK-LABEL: @between(
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: math.absf
// CHECK: flow.return
// CHECK: %[[I:.*]] = tensor.insert_slice %arg3 into %[[R]]
// CHECK: linalg.generic {{.*}} ins(%[[I]] :
// CHECK: math.exp
func.func @between(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>, %v: tensor<8x112xf32>) -> tensor<96x112xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %te = tensor.empty() : tensor<96x112xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu : tensor<96x112xf32>) outs(%te : tensor<96x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  %ins = tensor.insert_slice %v into %t[0, 0] [8, 112] [1, 1] : tensor<8x112xf32> into tensor<96x112xf32>
  %se = tensor.empty() : tensor<96x112xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%ins : tensor<96x112xf32>) outs(%se : tensor<96x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  return %s : tensor<96x112xf32>
}

// 37: read at one place for all: no tile will do.
// CHECK-LABEL: @one_place(
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: iree_encoding.unset_encoding
// CHECK-NEXT: flow.return
// CHECK: linalg.generic {{.*}} ins(%[[R]] :
func.func @one_place(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> tensor<96xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %se = tensor.empty() : tensor<96xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i, 0)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%mu : tensor<96x112xf32>) outs(%se : tensor<96xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<96xf32>
  return %s : tensor<96xf32>
}

// 44, 68: two elementwise ops in a row, one of which reads a value twice.
// CHECK-LABEL: @two_in_a_row(
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[U]], %[[U]] :
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[A]] :
// CHECK: flow.return %[[B]]
// CHECK: return %[[R]]
func.func @two_in_a_row(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> tensor<96x112xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %te = tensor.empty() : tensor<96x112xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu, %mu : tensor<96x112xf32>, tensor<96x112xf32>) outs(%te : tensor<96x112xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  %se = tensor.empty() : tensor<96x112xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<96x112xf32>) outs(%se : tensor<96x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  return %s : tensor<96x112xf32>
}

// 47: two products, and what reads both: it goes with one of them.
// CHECK-LABEL: @reads_above(
// CHECK: %[[A:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: iree_encoding.unset_encoding
// CHECK-NEXT: flow.return
// CHECK: %[[B:.*]] = flow.dispatch.region -> (tensor<96x112xf32>)
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding
// CHECK: linalg.generic {{.*}} ins(%[[U]], %[[A]] :
// CHECK: flow.return
// CHECK: return %[[B]]
func.func @reads_above(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>, %w2: tensor<80x112xf32, #r>) -> tensor<96x112xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %m2 = linalg.matmul ins(%x, %w2 : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %m2u = iree_encoding.unset_encoding %m2 : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %se = tensor.empty() : tensor<96x112xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu, %m2u : tensor<96x112xf32>, tensor<96x112xf32>) outs(%se : tensor<96x112xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  return %s : tensor<96x112xf32>
}

// 50: the result is reshaped beside what follows: a region of two results.
// CHECK-LABEL: @reshaped_beside(
// CHECK: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<96x112xf32>, tensor<96x112xf32>)
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[U]] :
// CHECK: flow.return %[[U]], %[[S]]
// CHECK: tensor.expand_shape %[[R]]#0
func.func @reshaped_beside(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> (tensor<96x112xf32>, tensor<96x4x28xf32>) {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %se = tensor.empty() : tensor<96x112xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu : tensor<96x112xf32>) outs(%se : tensor<96x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  %t = tensor.expand_shape %mu [[0], [1, 2]] output_shape [96, 4, 28] : tensor<96x112xf32> into tensor<96x4x28xf32>
  return %s, %t : tensor<96x112xf32>, tensor<96x4x28xf32>
}

// What a gradient asks for is stored on the way, but no third tensor: the
// last op is left to itself.
// CHECK-LABEL: @three_results(
// CHECK: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<96x112xf32>, tensor<96x112xf32>)
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[U]] :
// CHECK-NOT: linalg.generic
// CHECK: flow.return %[[U]], %[[S]]
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[R]]#1 :
// CHECK: return %[[R]]#0, %[[R]]#1, %[[T]]
func.func @three_results(%x: tensor<96x80xf32, #l>, %w: tensor<80x112xf32, #r>, %i: tensor<96x112xf32, #o>) -> (tensor<96x112xf32>, tensor<96x112xf32>, tensor<96x112xf32>) {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32, #l>, tensor<80x112xf32, #r>) outs(%i : tensor<96x112xf32, #o>) -> tensor<96x112xf32, #o>
  %mu = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  %e = tensor.empty() : tensor<96x112xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%mu : tensor<96x112xf32>) outs(%e : tensor<96x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<96x112xf32>) outs(%e : tensor<96x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x112xf32>
  return %mu, %s, %t : tensor<96x112xf32>, tensor<96x112xf32>, tensor<96x112xf32>
}
