// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=cpu},form-dispatch-regions,fuse-encodings,func.func(iree-dispatch-creation-convert-encoding-to-flow))' --split-input-file | FileCheck %s

// What IREE's convert_encoding_to_flow finds after our passes, by the numbers
// of its own tests: encodings outside of regions become ops of flow, those
// within stay.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#d = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [?, 112, ?]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#od = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [?, ?, 80]>

// 1: static.
// CHECK-LABEL: @set_static(
// CHECK-NEXT: %[[E:.*]] = flow.tensor.encode %arg0 : tensor<96x80xf32> -> tensor<96x80xf32, #{{.*}}>
// CHECK-NEXT: return %[[E]]
func.func @set_static(%x: tensor<96x80xf32>) -> tensor<96x80xf32, #l> {
  %0 = iree_encoding.set_encoding %x : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %0 : tensor<96x80xf32, #l>
}

// 2: dynamic: the sizes of the tensor, not those of the loops.
// CHECK-LABEL: @set_dynamic(
// CHECK-DAG: %[[M:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[K:.*]] = tensor.dim %arg0, %c1
// CHECK: flow.tensor.encode %arg0 : tensor<?x?xf32>{%[[M]], %[[K]]} -> tensor<?x?xf32, #{{.*}}>{%[[M]], %[[K]]}
// CHECK-NOT: set_encoding
func.func @set_dynamic(%x: tensor<?x?xf32>, %m: index, %k: index) -> tensor<?x?xf32, #d> {
  %0 = iree_encoding.set_encoding %x encoding_dims{%m, %k} : tensor<?x?xf32> -> tensor<?x?xf32, #d>
  return %0 : tensor<?x?xf32, #d>
}

// 4: unpacked, static.
// CHECK-LABEL: @unset_static(
// CHECK-NEXT: %[[E:.*]] = flow.tensor.encode %arg0 : tensor<96x112xf32, #{{.*}}> -> tensor<96x112xf32>
// CHECK-NEXT: return %[[E]]
func.func @unset_static(%x: tensor<96x112xf32, #o>) -> tensor<96x112xf32> {
  %0 = iree_encoding.unset_encoding %x : tensor<96x112xf32, #o> -> tensor<96x112xf32>
  return %0 : tensor<96x112xf32>
}

// 5: unpacked, dynamic.
// CHECK-LABEL: @unset_dynamic(
// CHECK: flow.tensor.encode %arg0 : tensor<?x?xf32, #{{.*}}>{%arg1, %arg2} -> tensor<?x?xf32>{%arg1, %arg2}
func.func @unset_dynamic(%x: tensor<?x?xf32, #od>, %m: index, %n: index) -> tensor<?x?xf32> {
  %0 = iree_encoding.unset_encoding %x encoding_dims{%m, %n} : tensor<?x?xf32, #od> -> tensor<?x?xf32>{%m, %n}
  return %0 : tensor<?x?xf32>
}

// -----

// 3, 6: in a region both stay: the packing in the one that makes the operand,
// the unpacking in the matmul's. The other operand comes from outside.
// CHECK-LABEL: @in_regions(
// CHECK-NOT: flow.tensor.encode
// CHECK: %[[X:.*]] = flow.dispatch.region -> (tensor<512x512xf32, #{{.*}}>)
// CHECK: math.tanh
// CHECK: iree_encoding.set_encoding
// CHECK-NEXT: flow.return
// CHECK: %[[W:.*]] = flow.tensor.encode %arg1
// CHECK: %[[Y:.*]] = flow.dispatch.region -> (tensor<512x512xf32>)
// CHECK: linalg.matmul ins(%[[X]], %[[W]] :
// CHECK-NEXT: iree_encoding.unset_encoding
// CHECK-NEXT: flow.return
// CHECK-NOT: flow.tensor.encode
// CHECK: return %[[Y]]
#whole = affine_map<(i, j) -> (i, j)>
func.func @in_regions(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul ins(%t, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
