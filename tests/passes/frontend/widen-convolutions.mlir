// RUN: headrace-opt %s --pass-pipeline='builtin.module(widen-convolutions)' | FileCheck %s

// CHECK-LABEL: func.func @grouped
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<1x3x4xbf16>) -> tensor<1x3x4xf32>
// CHECK: %[[KX:.*]] = stablehlo.optimization_barrier %[[X]]
// CHECK: %[[W:.*]] = stablehlo.convert %arg1 : (tensor<3x1x2xbf16>) -> tensor<3x1x2xf32>
// CHECK: %[[KW:.*]] = stablehlo.optimization_barrier %[[W]]
// CHECK: stablehlo.convolution(%[[KX]], %[[KW]])
func.func @grouped(%x: tensor<1x3x4xbf16>, %w: tensor<3x1x2xbf16>) -> tensor<1x3x3xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x3x4xbf16>, tensor<3x1x2xbf16>) -> tensor<1x3x3xf32>
  return %0 : tensor<1x3x3xf32>
}

// One group, and groups of one type, stay.
// CHECK-LABEL: func.func @others
// CHECK-NOT: stablehlo.convert
func.func @others(%x: tensor<1x3x4xbf16>, %w: tensor<3x3x2xbf16>, %g: tensor<3x1x2xbf16>) -> (tensor<1x3x3xf32>, tensor<1x3x3xbf16>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x4xbf16>, tensor<3x3x2xbf16>) -> tensor<1x3x3xf32>
  %1 = stablehlo.convolution(%x, %g) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x3x4xbf16>, tensor<3x1x2xbf16>) -> tensor<1x3x3xbf16>
  return %0, %1 : tensor<1x3x3xf32>, tensor<1x3x3xbf16>
}
