// RUN: headrace-opt %s --pass-pipeline='builtin.module(lower-dynamic-shapes)' | FileCheck %s

// CHECK-LABEL: @reshape(
// CHECK: tensor.reshape %arg0(%arg1) : (tensor<?x8xf32>, tensor<1xi32>) -> tensor<?xf32>
func.func @reshape(%x: tensor<?x8xf32>, %s: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?x8xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A scalar expands nothing that could be known or not.
// CHECK-LABEL: @scalar(
// CHECK: %[[I:.*]] = tensor.extract %arg1[%c0] : tensor<2xi32>
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : i32 to index
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<f32>) outs(%[[E]] : tensor<?x4xf32>)
// CHECK-NOT: stablehlo
func.func @scalar(%x: tensor<f32>, %s: tensor<2xi32>) -> tensor<?x4xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// One dynamic size is kept, a size of 1 expanded into a dynamic one.
// CHECK-LABEL: @kept_and_expanded(
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0 {{.*}} : tensor<?x1xf32> into tensor<?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[C]] : tensor<?xf32>) outs(%{{.*}} : tensor<?x?xf32>)
func.func @kept_and_expanded(%x: tensor<?x1xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] {known_expanding_dimensions = array<i64: 1>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// A dynamic size that is known to be 1; sizes as indices.
// CHECK-LABEL: @expanded(
// CHECK: %[[C:.*]] = tensor.cast %arg0 : tensor<?xf32> to tensor<1xf32>
// CHECK: tensor.collapse_shape %[[C]] [] : tensor<1xf32> into tensor<f32>
// CHECK: tensor.empty(%{{.*}}) : tensor<?xf32>
func.func @expanded(%x: tensor<?xf32>, %s: tensor<1xindex>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] {known_expanding_dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Whether it is expanded is not known.
// CHECK-LABEL: @unknown(
// CHECK: stablehlo.dynamic_broadcast_in_dim
func.func @unknown(%x: tensor<?xf32>, %s: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
