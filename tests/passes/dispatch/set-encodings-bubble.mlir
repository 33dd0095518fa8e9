// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=gfx950})' --split-input-file | FileCheck %s
//
// Encodings that are there already move up as ours do. Numbers are those of
// IREE's own tests of hoist_encoding_ops.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#whole = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#one = affine_map<(i, j) -> ()>

// 2, 15: a dequantize with a scale per column and one for all: the bytes are
// packed, and the column's scales; the scalar is read as it is.
// CHECK-DAG: #[[WHOLE:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[BYTES:.*]] = #iree_encoding.encoding<operand_index = 1 {{.*}}user_indexing_maps = [#{{.*}}, [#[[RHS:.*]], #[[WHOLE]]], #{{.*}}]
// CHECK-DAG: #[[SCALES:.*]] = #iree_encoding.encoding<operand_index = 1 {{.*}}user_indexing_maps = [#{{.*}}, [#[[RHS]], #[[COLUMN]]], #{{.*}}]
// CHECK-LABEL: @dequantize
// CHECK-DAG: %[[Q:.*]] = iree_encoding.set_encoding %arg0 : tensor<40x24xi8> -> tensor<40x24xi8, #[[BYTES]]>
// CHECK-DAG: %[[S:.*]] = iree_encoding.set_encoding %arg1 : tensor<24xf32> -> tensor<24xf32, #[[SCALES]]>
// CHECK: %[[W:.*]] = linalg.generic {{.*}}ins(%[[Q]], %[[S]], %arg2 : tensor<40x24xi8, #[[BYTES]]>, tensor<24xf32, #[[SCALES]]>, tensor<f32>)
// CHECK-NOT: set_encoding
// CHECK: return %[[W]]
func.func @dequantize(%q: tensor<40x24xi8>, %s: tensor<24xf32>, %t: tensor<f32>) -> tensor<40x24xf32, #packed> {
  %e = tensor.empty() : tensor<40x24xf32>
  %w = linalg.generic {indexing_maps = [#whole, #column, #one, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s, %t : tensor<40x24xi8>, tensor<24xf32>, tensor<f32>) outs(%e : tensor<40x24xf32>) {
  ^bb0(%a: i8, %b: f32, %c: f32, %o: f32):
    %0 = arith.sitofp %a : i8 to f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.mulf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<40x24xf32>
  %p = iree_encoding.set_encoding %w : tensor<40x24xf32> -> tensor<40x24xf32, #packed>
  return %p : tensor<40x24xf32, #packed>
}

// -----

#lhs = affine_map<(b, m, n, k) -> (b, m, k)>
#rhs = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
#packed = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [3, 32, 24, 40]>

// 3: a weight repeated for each batch is packed once.
// CHECK-DAG: #[[PART:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[ONE:.*]] = #iree_encoding.encoding<operand_index = 1 {{.*}}[#{{.*}}, #[[PART]]]
// CHECK-LABEL: @broadcast
// CHECK: %[[P:.*]] = iree_encoding.set_encoding %arg0 : tensor<40x24xf32> -> tensor<40x24xf32, #[[ONE]]>
// CHECK: linalg.generic {{.*}}ins(%[[P]]
func.func @broadcast(%w: tensor<40x24xf32>) -> tensor<3x40x24xf32, #packed> {
  %e = tensor.empty() : tensor<3x40x24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, k, n) -> (k, n)>, affine_map<(b, k, n) -> (b, k, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<40x24xf32>) outs(%e : tensor<3x40x24xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3x40x24xf32>
  %p = iree_encoding.set_encoding %r : tensor<3x40x24xf32> -> tensor<3x40x24xf32, #packed>
  return %p : tensor<3x40x24xf32, #packed>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, ?, ?]>
#whole = affine_map<(i, j) -> (i, j)>

// 21, 22, 23: sizes that are asked of the decoded tensor are those of the bytes.
// CHECK-LABEL: @sizes
// CHECK-DAG: %[[K:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg0, %c1
// CHECK: iree_encoding.set_encoding %arg0 encoding_dims{%[[N]], %[[K]]} : tensor<?x?xi8>
// CHECK: linalg.generic
// CHECK-NOT: set_encoding
func.func @sizes(%q: tensor<?x?xi8>, %d: index, %f: index) -> tensor<?x?xf32, #packed> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%d, %f) : tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<?x?xi8>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: i8, %o: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  %k = tensor.dim %w, %c0 : tensor<?x?xf32>
  %n = tensor.dim %w, %c1 : tensor<?x?xf32>
  %p = iree_encoding.set_encoding %w encoding_dims{%n, %k} : tensor<?x?xf32> -> tensor<?x?xf32, #packed>
  return %p : tensor<?x?xf32, #packed>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>

// 27: the decode transposes what it writes: maps are taken through the inverse.
// CHECK-DAG: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 1 {{.*}}[#{{.*}}, #[[SWAP]]]
// CHECK-LABEL: @transposing
// CHECK: iree_encoding.set_encoding %arg0 : tensor<24x40xi8>
func.func @transposing(%q: tensor<24x40xi8>) -> tensor<40x24xf32, #packed> {
  %e = tensor.empty() : tensor<40x24xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<24x40xi8>) outs(%e : tensor<40x24xf32>) {
  ^bb0(%a: i8, %o: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<40x24xf32>
  %p = iree_encoding.set_encoding %w : tensor<40x24xf32> -> tensor<40x24xf32, #packed>
  return %p : tensor<40x24xf32, #packed>
}

// -----

#lhs = affine_map<(b, m, n, k) -> (b, m, k)>
#rhs = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
#packed = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [3, 32, 24, 40]>

// 28: a permutation that is not its own inverse. The result's dimensions
// (n, b, k), say, are loops (1, 2, 0); the source's are loops 0, 1, 2.
// CHECK-DAG: #[[INVERSE:.*]] = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 1 {{.*}}[#{{.*}}, #[[INVERSE]]]
// CHECK-LABEL: @rotating
// CHECK: iree_encoding.set_encoding %arg0 : tensor<24x3x40xi8>
func.func @rotating(%q: tensor<24x3x40xi8>) -> tensor<3x40x24xf32, #packed> {
  %e = tensor.empty() : tensor<3x40x24xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j, k, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q : tensor<24x3x40xi8>) outs(%e : tensor<3x40x24xf32>) {
  ^bb0(%a: i8, %o: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<3x40x24xf32>
  %p = iree_encoding.set_encoding %w : tensor<3x40x24xf32> -> tensor<3x40x24xf32, #packed>
  return %p : tensor<3x40x24xf32, #packed>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#whole = affine_map<(i, j) -> (i, j)>

// 4, 29, IREE issue 23142, and a mask of single bits: none moves.
// CHECK-LABEL: @stays
// CHECK-COUNT-5: iree_encoding.set_encoding %{{[0-9]+}} : tensor<40x24xf32>
func.func @stays(%x: tensor<40x24xf32>, %q: tensor<40x24xi8>, %l: tensor<40x24x8xi8>, %b: tensor<40x24xi1>)
    -> (tensor<40x24xf32, #packed>, tensor<40x24xf32, #packed>, tensor<40x24xf32, #packed>, tensor<40x24xf32, #packed>, tensor<40x24xf32, #packed>, tensor<40x24xf32>) {
  %e = tensor.empty() : tensor<40x24xf32>
  // Computes, and neither decodes nor repeats.
  %0 = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<40x24xf32>) outs(%e : tensor<40x24xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.tanh %a : f32
    linalg.yield %t : f32
  } -> tensor<40x24xf32>
  // A decode that others read, too.
  %1 = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<40x24xi8>) outs(%e : tensor<40x24xf32>) {
  ^bb0(%a: i8, %o: f32):
    %t = arith.sitofp %a : i8 to f32
    linalg.yield %t : f32
  } -> tensor<40x24xf32>
  // Sums.
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%l : tensor<40x24x8xi8>) outs(%e : tensor<40x24xf32>) {
  ^bb0(%a: i8, %o: f32):
    %t = arith.sitofp %a : i8 to f32
    %s = arith.addf %t, %o : f32
    linalg.yield %s : f32
  } -> tensor<40x24xf32>
  // Asks where it is.
  %3 = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<40x24xi8>) outs(%e : tensor<40x24xf32>) {
  ^bb0(%a: i8, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i8
    %k = arith.addi %a, %j : i8
    %t = arith.sitofp %k : i8 to f32
    linalg.yield %t : f32
  } -> tensor<40x24xf32>
  %4 = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<40x24xi1>) outs(%e : tensor<40x24xf32>) {
  ^bb0(%a: i1, %o: f32):
    %t = arith.uitofp %a : i1 to f32
    linalg.yield %t : f32
  } -> tensor<40x24xf32>
  %p0 = iree_encoding.set_encoding %0 : tensor<40x24xf32> -> tensor<40x24xf32, #packed>
  %p1 = iree_encoding.set_encoding %1 : tensor<40x24xf32> -> tensor<40x24xf32, #packed>
  %p2 = iree_encoding.set_encoding %2 : tensor<40x24xf32> -> tensor<40x24xf32, #packed>
  %p3 = iree_encoding.set_encoding %3 : tensor<40x24xf32> -> tensor<40x24xf32, #packed>
  %p4 = iree_encoding.set_encoding %4 : tensor<40x24xf32> -> tensor<40x24xf32, #packed>
  return %p0, %p1, %p2, %p3, %p4, %1 : tensor<40x24xf32, #packed>, tensor<40x24xf32, #packed>, tensor<40x24xf32, #packed>, tensor<40x24xf32, #packed>, tensor<40x24xf32, #packed>, tensor<40x24xf32>
}
