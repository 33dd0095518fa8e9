// RUN: headrace-opt %s --trim-windows | FileCheck %s

// One window of three along a row of four.
// CHECK-LABEL: func.func @one_window
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[0, 0, 0] [1, 2, 3] [1, 1, 1]
// CHECK: linalg.conv_1d_ncw_fcw {{.*}} ins(%[[S]], %arg1
func.func @one_window(%x: tensor<1x2x4xf32>, %k: tensor<5x2x3xf32>, %i: tensor<1x5x1xf32>) -> tensor<1x5x1xf32> {
  %y = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%x, %k : tensor<1x2x4xf32>, tensor<5x2x3xf32>) outs(%i : tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
  return %y : tensor<1x5x1xf32>
}

// Windows of one element, every other one; of dynamic batch.
// CHECK-LABEL: func.func @steps
// CHECK: tensor.extract_slice %arg0[0, 0, 0] [%{{.*}}, 3, 2] [1, 1, 1] : tensor<?x4x2xf32> to tensor<?x3x2xf32>
func.func @steps(%x: tensor<?x4x2xf32>, %k: tensor<1x2xf32>, %i: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
  %y = linalg.depthwise_conv_1d_nwc_wc {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%x, %k : tensor<?x4x2xf32>, tensor<1x2xf32>) outs(%i : tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  return %y : tensor<?x2x2xf32>
}

// A pooling as a generic op, in two dimensions of which one is read whole.
// CHECK-LABEL: func.func @pooling
// CHECK: tensor.extract_slice %arg0[0, 0] [3, 3] [1, 1]
func.func @pooling(%x: tensor<4x3xf32>, %w: tensor<3x3xf32>, %i: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a * 2 + c, b + d)>,
      affine_map<(a, b, c, d) -> (c, d)>, affine_map<(a, b, c, d) -> (a, b)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<4x3xf32>, tensor<3x3xf32>) outs(%i : tensor<1x1xf32>) {
  ^bb0(%in: f32, %u: f32, %out: f32):
    %m = arith.maximumf %out, %in : f32
    linalg.yield %m : f32
  } -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// Negative: several windows of several elements, which IREE reads as they are; and all is read.
// CHECK-LABEL: func.func @several
// CHECK-NOT: extract_slice
func.func @several(%x: tensor<1x2x6xf32>, %k: tensor<5x2x3xf32>, %i: tensor<1x5x2xf32>,
    %z: tensor<1x2x3xf32>, %j: tensor<1x5x1xf32>) -> (tensor<1x5x2xf32>, tensor<1x5x1xf32>) {
  %y = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%x, %k : tensor<1x2x6xf32>, tensor<5x2x3xf32>) outs(%i : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  %w = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%z, %k : tensor<1x2x3xf32>, tensor<5x2x3xf32>) outs(%j : tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
  return %y, %w : tensor<1x5x2xf32>, tensor<1x5x1xf32>
}

// Negative: how many windows there are is not known.
// CHECK-LABEL: func.func @dynamic
// CHECK-NOT: extract_slice
func.func @dynamic(%x: tensor<1x2x?xf32>, %k: tensor<5x2x3xf32>, %i: tensor<1x5x?xf32>) -> tensor<1x5x?xf32> {
  %y = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%x, %k : tensor<1x2x?xf32>, tensor<5x2x3xf32>) outs(%i : tensor<1x5x?xf32>) -> tensor<1x5x?xf32>
  return %y : tensor<1x5x?xf32>
}

// Negative: an op without loops of its own.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: extract_slice
func.func @softmax(%x: tensor<4x4xf32>, %e: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = linalg.softmax dimension(1) ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}
