// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=gfx950 estimate=false})' --split-input-file --verify-diagnostics | FileCheck %s
// RUN: headrace-opt %s --remarks --pass-pipeline='builtin.module(set-encodings{target=gfx942 estimate=false})' --split-input-file 2>&1 | FileCheck %s --check-prefix=OTHER

// Matmuls of OCP microscaling formats. Numbers are those of IREE's own tests of set_encoding.

#a = affine_map<(m, n, k, b) -> (m, k, b)>
#w = affine_map<(m, n, k, b) -> (n, k, b)>
#as = affine_map<(m, n, k, b) -> (m, k)>
#ws = affine_map<(m, n, k, b) -> (n, k)>
#o = affine_map<(m, n, k, b) -> (m, n)>

// 41: both operands, both scales and the result are packed; 20: and the fill.
// CHECK-DAG: #[[A:.*]] = #iree_encoding.encoding<operand_index = 0 : index, op_type = scaled_matmul, element_types = [f4E2M1FN, f4E2M1FN, f8E8M0FNU, f8E8M0FNU, f32], user_indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}], iteration_sizes = [48, 80, 6, 32]>
// CHECK-DAG: #[[W:.*]] = #iree_encoding.encoding<operand_index = 1 : index, op_type = scaled_matmul
// CHECK-DAG: #[[AS:.*]] = #iree_encoding.encoding<operand_index = 2 : index, op_type = scaled_matmul
// CHECK-DAG: #[[WS:.*]] = #iree_encoding.encoding<operand_index = 3 : index, op_type = scaled_matmul
// CHECK-DAG: #[[O:.*]] = #iree_encoding.encoding<operand_index = 4 : index, op_type = scaled_matmul
// CHECK-LABEL: @static
// CHECK-DAG: %[[PA:.*]] = iree_encoding.set_encoding %arg0 : {{.*}} -> tensor<48x6x32xf4E2M1FN, #[[A]]>
// CHECK-DAG: %[[PW:.*]] = iree_encoding.set_encoding %arg1 : {{.*}} -> tensor<80x6x32xf4E2M1FN, #[[W]]>
// CHECK-DAG: %[[PAS:.*]] = iree_encoding.set_encoding %arg2 : {{.*}} -> tensor<48x6xf8E8M0FNU, #[[AS]]>
// CHECK-DAG: %[[PWS:.*]] = iree_encoding.set_encoding %arg3 : {{.*}} -> tensor<80x6xf8E8M0FNU, #[[WS]]>
// CHECK: %[[F:.*]] = linalg.fill {{.*}} -> tensor<48x80xf32, #[[O]]>
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[PA]], %[[PW]], %[[PAS]], %[[PWS]] : {{.*}}) outs(%[[F]]
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding %[[M]] : {{.*}} -> tensor<48x80xf32>
// CHECK: return %[[U]]
// OTHER: remark: not encoded: the target has no tiles for f4E2M1FN x f4E2M1FN to f32, scales f8E8M0FNU and f8E8M0FNU
// OTHER-NOT: set_encoding
func.func @static(%x: tensor<48x6x32xf4E2M1FN>, %y: tensor<80x6x32xf4E2M1FN>, %xs: tensor<48x6xf8E8M0FNU>, %ys: tensor<80x6xf8E8M0FNU>) -> tensor<48x80xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x80xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x80xf32>) -> tensor<48x80xf32>
  %r = linalg.generic {indexing_maps = [#a, #w, #as, #ws, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %y, %xs, %ys : tensor<48x6x32xf4E2M1FN>, tensor<80x6x32xf4E2M1FN>, tensor<48x6xf8E8M0FNU>, tensor<80x6xf8E8M0FNU>) outs(%f : tensor<48x80xf32>) {
  ^bb0(%p: f4E2M1FN, %q: f4E2M1FN, %ps: f8E8M0FNU, %qs: f8E8M0FNU, %acc: f32):
    %0 = arith.scaling_extf %p, %ps : f4E2M1FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %q, %qs : f4E2M1FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<48x80xf32>
  return %r : tensor<48x80xf32>
}

// -----

#a = affine_map<(m, n, k, b) -> (m, k, b)>
#w = affine_map<(m, n, k, b) -> (k, b, n)>
#as = affine_map<(m, n, k, b) -> (m, k)>
#ws = affine_map<(m, n, k, b) -> (n, k)>
#o = affine_map<(m, n, k, b) -> (m, n)>

// 42: dynamic sizes travel along, in loop order; the factors in the other order.
// CHECK-DAG: #[[A:.*]] = #iree_encoding.encoding<operand_index = 0 : index, op_type = scaled_matmul, {{.*}}, iteration_sizes = [?, ?, ?, 32]>
// CHECK-LABEL: @dynamic
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[COLUMNS:.*]] = tensor.dim %arg1, %c2
// CHECK-DAG: %[[BLOCKS:.*]] = tensor.dim %arg0, %c1
// CHECK: iree_encoding.set_encoding %arg0 encoding_dims{%[[ROWS]], %[[COLUMNS]], %[[BLOCKS]]}
// CHECK-COUNT-4: iree_encoding.set_encoding
// CHECK: iree_encoding.unset_encoding {{.*}} encoding_dims{%[[ROWS]], %[[COLUMNS]], %[[BLOCKS]]}
func.func @dynamic(%x: tensor<?x?x32xf8E4M3FN>, %y: tensor<?x32x?xf8E4M3FN>, %xs: tensor<?x?xf8E8M0FNU>, %ys: tensor<?x?xf8E8M0FNU>, %init: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#a, #w, #as, #ws, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %y, %xs, %ys : tensor<?x?x32xf8E4M3FN>, tensor<?x32x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E8M0FNU>) outs(%init : tensor<?x?xf32>) {
  ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %ps: f8E8M0FNU, %qs: f8E8M0FNU, %acc: f32):
    %0 = arith.scaling_extf %p, %ps : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %q, %qs : f8E4M3FN, f8E8M0FNU to f32
    %2 = arith.mulf %1, %0 : f32
    %3 = arith.addf %2, %acc : f32
    linalg.yield %3 : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// 43, 44: two loops over blocks, two over the elements of one.
// CHECK-LABEL: @several_loops
// CHECK-NOT: set_encoding
func.func @several_loops(%x: tensor<48x2x3x32xf8E4M3FN>, %y: tensor<80x2x3x32xf8E4M3FN>, %xs: tensor<48x2x3xf8E8M0FNU>, %ys: tensor<80x2x3xf8E8M0FNU>, %zs: tensor<48x2xf8E8M0FNU>, %ws: tensor<80x2xf8E8M0FNU>, %init: tensor<48x80xf32>) -> (tensor<48x80xf32>, tensor<48x80xf32>) {
  // expected-remark @+1 {{not encoded: it has 2 k loops, resolvers take one}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, l, b) -> (m, k, l, b)>, affine_map<(m, n, k, l, b) -> (n, k, l, b)>, affine_map<(m, n, k, l, b) -> (m, k, l)>, affine_map<(m, n, k, l, b) -> (n, k, l)>, affine_map<(m, n, k, l, b) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %y, %xs, %ys : tensor<48x2x3x32xf8E4M3FN>, tensor<80x2x3x32xf8E4M3FN>, tensor<48x2x3xf8E8M0FNU>, tensor<80x2x3xf8E8M0FNU>) outs(%init : tensor<48x80xf32>) {
  ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %ps: f8E8M0FNU, %qs: f8E8M0FNU, %acc: f32):
    %0 = arith.scaling_extf %p, %ps : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %q, %qs : f8E4M3FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<48x80xf32>
  // expected-remark @+1 {{not encoded: it has 2 block loops, resolvers take one}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n, k, l, b) -> (m, k, l, b)>, affine_map<(m, n, k, l, b) -> (n, k, l, b)>, affine_map<(m, n, k, l, b) -> (m, k)>, affine_map<(m, n, k, l, b) -> (n, k)>, affine_map<(m, n, k, l, b) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %y, %zs, %ws : tensor<48x2x3x32xf8E4M3FN>, tensor<80x2x3x32xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<80x2xf8E8M0FNU>) outs(%init : tensor<48x80xf32>) {
  ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %ps: f8E8M0FNU, %qs: f8E8M0FNU, %acc: f32):
    %0 = arith.scaling_extf %p, %ps : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %q, %qs : f8E4M3FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<48x80xf32>
  return %r, %s : tensor<48x80xf32>, tensor<48x80xf32>
}

// -----

#a = affine_map<(m, n, k, b) -> (m, k, b)>
#w = affine_map<(m, n, k, b) -> (n, k, b)>
#as = affine_map<(m, n, k, b) -> (m, k)>
#ws = affine_map<(m, n, k, b) -> (n, k)>
#o = affine_map<(m, n, k, b) -> (m, n)>

// Scales that do not go by blocks alike, blocks that are shorter than the
// instruction's, and two types, which IREE 3.13 fails to compile. A body that
// takes the scales crosswise is nobody's matmul.
// CHECK-LABEL: @refused
// CHECK-NOT: set_encoding
func.func @refused(%x: tensor<48x6x32xf8E4M3FN>, %y: tensor<80x6x32xf8E4M3FN>, %xs: tensor<48x6xf8E8M0FNU>, %ys: tensor<80x6xf8E8M0FNU>, %row: tensor<48xf8E8M0FNU>, %short: tensor<48x6x16xf8E4M3FN>, %short2: tensor<80x6x16xf8E4M3FN>, %other: tensor<80x6x32xf8E5M2>, %init: tensor<48x80xf32>)
    -> (tensor<48x80xf32>, tensor<48x80xf32>, tensor<48x80xf32>, tensor<48x80xf32>) {
  // expected-remark @+1 {{not encoded: scales are not one per block of the same loop}}
  %0 = linalg.generic {indexing_maps = [#a, #w, affine_map<(m, n, k, b) -> (m)>, #ws, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %y, %row, %ys : tensor<48x6x32xf8E4M3FN>, tensor<80x6x32xf8E4M3FN>, tensor<48xf8E8M0FNU>, tensor<80x6xf8E8M0FNU>) outs(%init : tensor<48x80xf32>) {
  ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %ps: f8E8M0FNU, %qs: f8E8M0FNU, %acc: f32):
    %a = arith.scaling_extf %p, %ps : f8E4M3FN, f8E8M0FNU to f32
    %b = arith.scaling_extf %q, %qs : f8E4M3FN, f8E8M0FNU to f32
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %acc, %c : f32
    linalg.yield %d : f32
  } -> tensor<48x80xf32>
  // expected-remark @+1 {{not encoded: the target's instructions scale 32 elements at once}}
  %1 = linalg.generic {indexing_maps = [#a, #w, #as, #ws, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%short, %short2, %xs, %ys : tensor<48x6x16xf8E4M3FN>, tensor<80x6x16xf8E4M3FN>, tensor<48x6xf8E8M0FNU>, tensor<80x6xf8E8M0FNU>) outs(%init : tensor<48x80xf32>) {
  ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %ps: f8E8M0FNU, %qs: f8E8M0FNU, %acc: f32):
    %a = arith.scaling_extf %p, %ps : f8E4M3FN, f8E8M0FNU to f32
    %b = arith.scaling_extf %q, %qs : f8E4M3FN, f8E8M0FNU to f32
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %acc, %c : f32
    linalg.yield %d : f32
  } -> tensor<48x80xf32>
  // expected-remark @+1 {{not encoded: the target has no tiles for f8E4M3FN x f8E5M2 to f32, scales f8E8M0FNU and f8E8M0FNU}}
  %2 = linalg.generic {indexing_maps = [#a, #w, #as, #ws, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %other, %xs, %ys : tensor<48x6x32xf8E4M3FN>, tensor<80x6x32xf8E5M2>, tensor<48x6xf8E8M0FNU>, tensor<80x6xf8E8M0FNU>) outs(%init : tensor<48x80xf32>) {
  ^bb0(%p: f8E4M3FN, %q: f8E5M2, %ps: f8E8M0FNU, %qs: f8E8M0FNU, %acc: f32):
    %a = arith.scaling_extf %p, %ps : f8E4M3FN, f8E8M0FNU to f32
    %b = arith.scaling_extf %q, %qs : f8E5M2, f8E8M0FNU to f32
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %acc, %c : f32
    linalg.yield %d : f32
  } -> tensor<48x80xf32>
  %3 = linalg.generic {indexing_maps = [#a, #w, #as, #ws, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %y, %xs, %ys : tensor<48x6x32xf8E4M3FN>, tensor<80x6x32xf8E4M3FN>, tensor<48x6xf8E8M0FNU>, tensor<80x6xf8E8M0FNU>) outs(%init : tensor<48x80xf32>) {
  ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %ps: f8E8M0FNU, %qs: f8E8M0FNU, %acc: f32):
    %a = arith.scaling_extf %p, %qs : f8E4M3FN, f8E8M0FNU to f32
    %b = arith.scaling_extf %q, %ps : f8E4M3FN, f8E8M0FNU to f32
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %acc, %c : f32
    linalg.yield %d : f32
  } -> tensor<48x80xf32>
  return %0, %1, %2, %3 : tensor<48x80xf32>, tensor<48x80xf32>, tensor<48x80xf32>, tensor<48x80xf32>
}
