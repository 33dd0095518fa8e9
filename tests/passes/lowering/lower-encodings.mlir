// RUN: headrace-opt %s --pass-pipeline='builtin.module(lower-encodings)' | FileCheck %s

#encoding = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul,
  element_types = [f32, f32, f32], user_indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>,
  affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]>

// CHECK-LABEL: func.func @static
// CHECK: %[[E:.*]] = iree_encoding.set_encoding %arg0 : tensor<8x4xf32> -> tensor<8x4xf32, #{{.*}}>
// CHECK: iree_encoding.unset_encoding %[[E]] : tensor<8x4xf32, #{{.*}}> -> tensor<8x4xf32>
func.func @static(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = "headrace.set_encoding"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32, #encoding>
  %y = "headrace.unset_encoding"(%e) : (tensor<8x4xf32, #encoding>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Sizes that the types do not know become operands.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[E:.*]] = iree_encoding.set_encoding %arg0
// CHECK: %[[ROWS:.*]] = tensor.dim %[[E]], %{{.*}}
// CHECK: iree_encoding.unset_encoding %[[E]] : tensor<?x4xf32, #{{.*}}> -> tensor<?x4xf32>{%[[ROWS]]}
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %e = "headrace.set_encoding"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32, #encoding>
  %y = "headrace.unset_encoding"(%e) : (tensor<?x4xf32, #encoding>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
