// RUN: headrace-opt %s --pass-pipeline='builtin.module(keep-integer-converts)' | FileCheck %s
// RUN: headrace-opt %s --pass-pipeline='builtin.module(keep-integer-converts,iree-stablehlo-input-transformation-pipeline)' | FileCheck %s --check-prefix=IREE

// IREE would multiply 200 as -56, and sum up in bf16.
// CHECK-LABEL: func.func @unsigned
// CHECK: %[[B:.*]] = stablehlo.bitcast_convert %arg1 : (tensor<8x4xui8>) -> tensor<8x4xi8>
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<8x4xi8>) outs(%{{.*}} : tensor<8x4xbf16>)
// CHECK: arith.uitofp %{{.*}} : i8 to bf16
// CHECK: stablehlo.dot_general %arg0, %[[C]]
// IREE-LABEL: func.func @unsigned
// IREE: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<2x8xbf16>, tensor<8x4xbf16>)
func.func @unsigned(%x: tensor<2x8xbf16>, %w: tensor<8x4xui8>) -> tensor<2x4xbf16> {
  %c = stablehlo.convert %w : (tensor<8x4xui8>) -> tensor<8x4xbf16>
  %y = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0]
    : (tensor<2x8xbf16>, tensor<8x4xbf16>) -> tensor<2x4xbf16>
  return %y : tensor<2x4xbf16>
}

// And true as -1.
// CHECK-LABEL: func.func @mask
// CHECK: arith.uitofp %{{.*}} : i1 to f32
// IREE-LABEL: func.func @mask
// IREE: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<2x8xf32>, tensor<8x4xf32>)
func.func @mask(%m: tensor<2x8xi1>, %w: tensor<8x4xf32>) -> tensor<2x4xf32> {
  %c = stablehlo.convert %m : (tensor<2x8xi1>) -> tensor<2x8xf32>
  %y = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0]
    : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Both operands, each of dynamic size.
// CHECK-LABEL: func.func @signed
// CHECK-COUNT-2: arith.sitofp %{{.*}} : i8 to bf16
// IREE-LABEL: func.func @signed
// IREE: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<?x8xbf16>, tensor<8x?xbf16>)
func.func @signed(%x: tensor<?x8xi8>, %w: tensor<8x?xi8>) -> tensor<?x?xbf16> {
  %a = stablehlo.convert %x : (tensor<?x8xi8>) -> tensor<?x8xbf16>
  %b = stablehlo.convert %w : (tensor<8x?xi8>) -> tensor<8x?xbf16>
  %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<?x8xbf16>, tensor<8x?xbf16>) -> tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}

// Unsigned products: signless between two bitcasts.
// CHECK-LABEL: func.func @unsigned_result
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<2x8xi32>) -> tensor<2x8xui32>
// CHECK: arith.extui %{{.*}} : i8 to i32
// IREE-LABEL: func.func @unsigned_result
// IREE: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<2x8xi32>, tensor<8x4xi32>)
func.func @unsigned_result(%x: tensor<2x8xui8>, %w: tensor<8x4xui8>) -> tensor<2x4xui32> {
  %a = stablehlo.convert %x : (tensor<2x8xui8>) -> tensor<2x8xui32>
  %b = stablehlo.convert %w : (tensor<8x4xui8>) -> tensor<8x4xui32>
  %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<2x8xui32>, tensor<8x4xui32>) -> tensor<2x4xui32>
  return %y : tensor<2x4xui32>
}

// CHECK-LABEL: func.func @convolution
// CHECK: arith.uitofp %{{.*}} : i8 to f32
func.func @convolution(%x: tensor<1x8x8x4xui8>, %w: tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32> {
  %c = stablehlo.convert %x : (tensor<1x8x8x4xui8>) -> tensor<1x8x8x4xf32>
  %y = stablehlo.convolution(%c, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32>
  return %y : tensor<1x6x6x5xf32>
}

// Products of signed integers as integers are the chips' own: folded, and right.
// CHECK-LABEL: func.func @integers
// CHECK-COUNT-2: stablehlo.convert
// IREE-LABEL: func.func @integers
// IREE: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<2x8xi8>, tensor<8x4xi8>)
func.func @integers(%x: tensor<2x8xi8>, %w: tensor<8x4xi8>) -> tensor<2x4xi32> {
  %a = stablehlo.convert %x : (tensor<2x8xi8>) -> tensor<2x8xi32>
  %b = stablehlo.convert %w : (tensor<8x4xi8>) -> tensor<8x4xi32>
  %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<2x8xi32>, tensor<8x4xi32>) -> tensor<2x4xi32>
  return %y : tensor<2x4xi32>
}

// Floats, which fold exactly, and converts that no product uses.
// CHECK-LABEL: func.func @others
// CHECK: stablehlo.convert %arg0
// CHECK: stablehlo.convert %arg1
func.func @others(%x: tensor<2x8xbf16>, %w: tensor<8x4xui8>) -> (tensor<2x2xf32>, tensor<8x4xf32>) {
  %a = stablehlo.convert %x : (tensor<2x8xbf16>) -> tensor<2x8xf32>
  %b = stablehlo.convert %w : (tensor<8x4xui8>) -> tensor<8x4xf32>
  %y = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1]
    : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x2xf32>
  return %y, %b : tensor<2x2xf32>, tensor<8x4xf32>
}
