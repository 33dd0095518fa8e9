// RUN: headrace-opt %s --pass-pipeline='builtin.module(widen-sliced-scalars)' --split-input-file | FileCheck %s

// To the highest rank that the element gets, over ops of any kind; sizes known at run time are kept, and a slice
// that keeps its dimension keeps it.
// CHECK-LABEL: @widened(
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{\[}}[0, 1, 2]] output_shape [8, 1, 1] : tensor<8xf32> into tensor<8x1x1xf32>
// CHECK: tensor.extract_slice %[[X]][%arg2, 0, 0] [1, 1, 1] [1, 1, 1] : tensor<8x1x1xf32> to tensor<f32>
// CHECK: %[[D:.*]] = tensor.dim %arg1, %c1
// CHECK: %[[Y:.*]] = tensor.expand_shape %arg1 {{\[}}[0], [1, 2]] output_shape [4, %[[D]], 1] : tensor<4x?xf32> into tensor<4x?x1xf32>
// CHECK: tensor.extract_slice %[[Y]][3, %arg2, 0] [1, 1, 1] [1, 2, 1] : tensor<4x?x1xf32> to tensor<1xf32>
func.func @widened(%x: tensor<8xf32>, %y: tensor<4x?xf32>, %i: index) -> (tensor<1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) {
  %s = tensor.extract_slice %x[%i] [1] [1] : tensor<8xf32> to tensor<f32>
  %a = tensor.expand_shape %s [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %e = math.exp %s : tensor<f32>
  %b = tensor.expand_shape %e [] output_shape [1, 1, 1] : tensor<f32> into tensor<1x1x1xf32>
  %t = tensor.extract_slice %y[3, %i] [1, 1] [1, 2] : tensor<4x?xf32> to tensor<1xf32>
  %f = tensor.empty() : tensor<1x1x1xf32>
  %c = linalg.broadcast ins(%t : tensor<1xf32>) outs(%f : tensor<1x1x1xf32>) dimensions = [0, 2]
  return %a, %b, %c : tensor<1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>
}

// -----

// An element that stays within the rank of its source, one that becomes many, more than one element,
// what may be more than one, and a source without dimensions.
// CHECK-LABEL: @others(
// CHECK-NOT: tensor.expand_shape %arg
func.func @others(%x: tensor<8xf32>, %y: tensor<4x8xf32>, %z: tensor<f32>, %i: index, %n: index) -> (tensor<1x1xf32>, tensor<2x2xf32>, tensor<1x2xf32>, tensor<1x?xf32>, tensor<1xf32>) {
  %0 = tensor.extract_slice %y[%i, 0] [1, 1] [1, 1] : tensor<4x8xf32> to tensor<f32>
  %a = tensor.expand_shape %0 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %1 = tensor.extract_slice %x[%i] [1] [1] : tensor<8xf32> to tensor<f32>
  %e = tensor.empty() : tensor<2x2xf32>
  %b = linalg.broadcast ins(%1 : tensor<f32>) outs(%e : tensor<2x2xf32>) dimensions = [0, 1]
  %2 = tensor.extract_slice %x[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %c = tensor.expand_shape %2 [[0, 1]] output_shape [1, 2] : tensor<2xf32> into tensor<1x2xf32>
  %3 = tensor.extract_slice %x[%i] [%n] [1] : tensor<8xf32> to tensor<?xf32>
  %d = tensor.expand_shape %3 [[0, 1]] output_shape [1, %n] : tensor<?xf32> into tensor<1x?xf32>
  %4 = tensor.extract_slice %z[] [] [] : tensor<f32> to tensor<f32>
  %f = tensor.expand_shape %4 [] output_shape [1] : tensor<f32> into tensor<1xf32>
  return %a, %b, %c, %d, %f : tensor<1x1xf32>, tensor<2x2xf32>, tensor<1x2xf32>, tensor<1x?xf32>, tensor<1xf32>
}
