// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=gfx950})' --split-input-file | FileCheck %s
//
// Where results are unpacked. Numbers are those of IREE's own tests of
// hoist_encoding_ops.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, ?]>
#whole = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> ()>

// 13, 15: after a scaling by a scalar, which is read as it is (IREE packs
// it), and a rounding; also where a value is read twice on the way. Sizes are kept.
// CHECK: #[[OUT:.*]] = #iree_encoding.encoding<operand_index = 2
// CHECK-LABEL: @scale_and_round
// CHECK: %[[A:.*]] = linalg.generic {{.*}}ins(%arg0, %arg1 : tensor<32x24xf32, #[[OUT]]>, tensor<f32>)
// CHECK: %[[B:.*]] = linalg.generic {{.*}}ins(%[[A]] : tensor<32x24xf32, #[[OUT]]>)
// CHECK: %[[C:.*]] = linalg.generic {{.*}}ins(%[[A]], %[[B]] : {{.*}}) outs(%{{.*}} : tensor<32x24xbf16, #[[OUT]]>)
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding %[[C]] encoding_dims{%arg2} : tensor<32x24xbf16, #[[OUT]]> -> tensor<32x24xbf16>
// CHECK: return %[[U]]
func.func @scale_and_round(%m: tensor<32x24xf32, #packed>, %s: tensor<f32>, %k: index) -> tensor<32x24xbf16> {
  %u = iree_encoding.unset_encoding %m encoding_dims{%k} : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %e = tensor.empty() : tensor<32x24xf32>
  %a = linalg.generic {indexing_maps = [#whole, #one, #whole], iterator_types = ["parallel", "parallel"]} ins(%u, %s : tensor<32x24xf32>, tensor<f32>) outs(%e : tensor<32x24xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<32x24xf32>
  %b = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<32x24xf32>) outs(%e : tensor<32x24xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = math.tanh %x : f32
    linalg.yield %0 : f32
  } -> tensor<32x24xf32>
  %f = tensor.empty() : tensor<32x24xbf16>
  %c = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<32x24xf32>, tensor<32x24xf32>) outs(%f : tensor<32x24xbf16>) {
  ^bb0(%x: f32, %y: f32, %o: bf16):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<32x24xbf16>
  return %c : tensor<32x24xbf16>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#whole = affine_map<(i, j) -> (i, j)>

// A bias is packed where the ops after it are costly, and left where they are not.
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[BIAS:.*]] = #iree_encoding.encoding<operand_index = 2 {{.*}}[#{{.*}}, #[[COLUMN]]]
// CHECK-LABEL: @costly
// CHECK: %[[B:.*]] = iree_encoding.set_encoding %arg1 : tensor<24xf32> -> tensor<24xf32, #[[BIAS]]>
// CHECK: linalg.generic {{.*}}ins(%arg0, %[[B]]
// CHECK: math.exp
// CHECK: iree_encoding.unset_encoding
// CHECK-LABEL: @cheap
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding %arg0
// CHECK: linalg.generic {{.*}}ins(%[[U]], %arg1
func.func @costly(%m: tensor<32x24xf32, #packed>, %b: tensor<24xf32>) -> tensor<32x24xf32> {
  %u = iree_encoding.unset_encoding %m : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %e = tensor.empty() : tensor<32x24xf32>
  %a = linalg.generic {indexing_maps = [#whole, affine_map<(i, j) -> (j)>, #whole], iterator_types = ["parallel", "parallel"]} ins(%u, %b : tensor<32x24xf32>, tensor<24xf32>) outs(%e : tensor<32x24xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.addf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<32x24xf32>
  return %a : tensor<32x24xf32>
}
func.func @cheap(%m: tensor<32x24xf32, #packed>, %b: tensor<24xf32>) -> tensor<32x24xf32> {
  %u = iree_encoding.unset_encoding %m : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %e = tensor.empty() : tensor<32x24xf32>
  %a = linalg.generic {indexing_maps = [#whole, affine_map<(i, j) -> (j)>, #whole], iterator_types = ["parallel", "parallel"]} ins(%u, %b : tensor<32x24xf32>, tensor<24xf32>) outs(%e : tensor<32x24xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<32x24xf32>
  return %a : tensor<32x24xf32>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#whole = affine_map<(i, j) -> (i, j)>

// 17: two values would leave. 18: a sum. 19: as initial value. 13: turned. 26: a
// repetition (IREE issue 24160: a crash). A mask of single bits. A residual:
// packing it would cost what is gained.
// CHECK-LABEL: @two_readers
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding %arg0
// CHECK: linalg.generic {{.*}}ins(%[[U]]
// CHECK-LABEL: @others
// CHECK-NOT: {{ }}iree_encoding.set_encoding
// CHECK: %[[U0:.*]] = iree_encoding.unset_encoding %arg0
// CHECK: linalg.generic {{.*}}%[[U0]]
// CHECK: %[[U1:.*]] = iree_encoding.unset_encoding %arg1
// CHECK: linalg.generic {{.*}}%[[U1]]
// CHECK: %[[U2:.*]] = iree_encoding.unset_encoding %arg2
// CHECK: linalg.generic {{.*}}%[[U2]]
// CHECK: %[[U3:.*]] = iree_encoding.unset_encoding %arg3
// CHECK: linalg.generic {{.*}}%[[U3]]
// CHECK: %[[U4:.*]] = iree_encoding.unset_encoding %arg4
// CHECK: linalg.generic {{.*}}%[[U4]]
// CHECK: %[[U5:.*]] = iree_encoding.unset_encoding %arg5
// CHECK: linalg.generic {{.*}}%[[U5]]
func.func @two_readers(%m: tensor<32x24xf32, #packed>) -> (tensor<32x24xf32>, tensor<32x24xf32>) {
  %u = iree_encoding.unset_encoding %m : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %e = tensor.empty() : tensor<32x24xf32>
  %a = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<32x24xf32>) outs(%e : tensor<32x24xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = math.tanh %x : f32
    linalg.yield %0 : f32
  } -> tensor<32x24xf32>
  return %a, %u : tensor<32x24xf32>, tensor<32x24xf32>
}
func.func @others(%m0: tensor<32x24xf32, #packed>, %m1: tensor<32x24xf32, #packed>, %m2: tensor<32x24xf32, #packed>, %m3: tensor<32x24xf32, #packed>, %m4: tensor<32x24xf32, #packed>, %m5: tensor<32x24xf32, #packed>, %mask: tensor<24xi1>, %r: tensor<32x24xf32>)
    -> (tensor<32xf32>, tensor<32x24xf32>, tensor<24x32xf32>, tensor<2x32x24xf32>, tensor<32x24xf32>, tensor<32x24xf32>) {
  %e0 = tensor.empty() : tensor<32xf32>
  %u0 = iree_encoding.unset_encoding %m0 : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %0 = linalg.generic {indexing_maps = [#whole, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%u0 : tensor<32x24xf32>) outs(%e0 : tensor<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  %u1 = iree_encoding.unset_encoding %m1 : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %1 = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<32x24xf32>) outs(%u1 : tensor<32x24xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<32x24xf32>
  %e2 = tensor.empty() : tensor<24x32xf32>
  %u2 = iree_encoding.unset_encoding %m2 : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #whole], iterator_types = ["parallel", "parallel"]} ins(%u2 : tensor<32x24xf32>) outs(%e2 : tensor<24x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<24x32xf32>
  %e3 = tensor.empty() : tensor<2x32x24xf32>
  %u3 = iree_encoding.unset_encoding %m3 : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%u3 : tensor<32x24xf32>) outs(%e3 : tensor<2x32x24xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<2x32x24xf32>
  %e4 = tensor.empty() : tensor<32x24xf32>
  %u4 = iree_encoding.unset_encoding %m4 : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %4 = linalg.generic {indexing_maps = [#whole, affine_map<(i, j) -> (j)>, #whole], iterator_types = ["parallel", "parallel"]} ins(%u4, %mask : tensor<32x24xf32>, tensor<24xi1>) outs(%e4 : tensor<32x24xf32>) {
  ^bb0(%x: f32, %c: i1, %o: f32):
    %z = arith.negf %x : f32
    %s = arith.select %c, %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<32x24xf32>
  %u5 = iree_encoding.unset_encoding %m5 : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %5 = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%u5, %r : tensor<32x24xf32>, tensor<32x24xf32>) outs(%e4 : tensor<32x24xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<32x24xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<32xf32>, tensor<32x24xf32>, tensor<24x32xf32>, tensor<2x32x24xf32>, tensor<32x24xf32>, tensor<32x24xf32>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#dynamic = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [?, ?, 40]>
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// 13, 14: what turns the result reads it unpacked (IREE: unpacks behind it). Both
// are in one region, and as fast: 0.96 ms of CPU time for 256 x 384 x 512 either way.
// CHECK-LABEL: @turning
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding %arg0 encoding_dims{%arg1, %arg2} : {{.*}} -> tensor<?x?xf32>{%arg1, %arg2}
// CHECK: linalg.generic {{.*}}ins(%[[U]] : tensor<?x?xf32>) outs(%{{.*}} : tensor<?x?xbf16>)
func.func @turning(%m: tensor<?x?xf32, #dynamic>, %d0: index, %d1: index) -> tensor<?x?xbf16> {
  %u = iree_encoding.unset_encoding %m encoding_dims{%d0, %d1} : tensor<?x?xf32, #dynamic> -> tensor<?x?xf32>{%d0, %d1}
  %e = tensor.empty(%d1, %d0) : tensor<?x?xbf16>
  %a = linalg.generic {indexing_maps = [#whole, #turned], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<?x?xf32>) outs(%e : tensor<?x?xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %0 = arith.truncf %x : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<?x?xbf16>
  return %a : tensor<?x?xbf16>
}

// 15: a scalar that is no tensor.
// CHECK-LABEL: @scalar
// CHECK: %[[P:.*]] = linalg.generic {{.*}}ins(%arg0, %arg1 : tensor<32x24xf32, #{{.*}}>, f32)
// CHECK: iree_encoding.unset_encoding %[[P]]
func.func @scalar(%m: tensor<32x24xf32, #packed>, %s: f32) -> tensor<32x24xf32> {
  %u = iree_encoding.unset_encoding %m : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %e = tensor.empty() : tensor<32x24xf32>
  %a = linalg.generic {indexing_maps = [#whole, affine_map<(i, j) -> ()>, #whole], iterator_types = ["parallel", "parallel"]} ins(%u, %s : tensor<32x24xf32>, f32) outs(%e : tensor<32x24xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<32x24xf32>
  return %a : tensor<32x24xf32>
}

// 20: places that are sums of loops.
// CHECK-LABEL: @sums_of_loops
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding %arg0
// CHECK: linalg.generic {{.*}}ins(%[[U]] :
func.func @sums_of_loops(%m: tensor<32x24xf32, #packed>) -> tensor<4x3x24xf32> {
  %u = iree_encoding.unset_encoding %m : tensor<32x24xf32, #packed> -> tensor<32x24xf32>
  %e = tensor.empty() : tensor<4x3x24xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i * 8 + j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%u : tensor<32x24xf32>) outs(%e : tensor<4x3x24xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = math.exp %x : f32
    linalg.yield %0 : f32
  } -> tensor<4x3x24xf32>
  return %a : tensor<4x3x24xf32>
}

// 25: sizes of the loops go to what is packed beside, too.
// CHECK-LABEL: @sizes_of_a_bias
// CHECK: %[[B:.*]] = iree_encoding.set_encoding %arg1 encoding_dims{%arg2, %arg3} : tensor<?xf32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}}ins(%arg0, %[[B]] :
// CHECK: iree_encoding.unset_encoding %[[P]] encoding_dims{%arg2, %arg3} : {{.*}} -> tensor<?x?xf32>{%arg2, %arg3}
func.func @sizes_of_a_bias(%m: tensor<?x?xf32, #dynamic>, %b: tensor<?xf32>, %d0: index, %d1: index) -> tensor<?x?xf32> {
  %u = iree_encoding.unset_encoding %m encoding_dims{%d0, %d1} : tensor<?x?xf32, #dynamic> -> tensor<?x?xf32>{%d0, %d1}
  %e = tensor.empty(%d0, %d1) : tensor<?x?xf32>
  %a = linalg.generic {indexing_maps = [#whole, affine_map<(i, j) -> (j)>, #whole], iterator_types = ["parallel", "parallel"]} ins(%u, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.addf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}
