// RUN: headrace-opt %s --pass-pipeline='builtin.module(collapse-contractions,set-encodings{target=cpu estimate=false})' --split-input-file | FileCheck %s

// More shapes that IREE's own tests of set_encoding and of its pipeline have,
// written anew, by their numbers there.

// Pipeline 1: several loops of depth become one, which is then packed.
// CHECK-LABEL: @several_depths
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{.*}} into tensor<96x128xf32>
// CHECK: %[[W:.*]] = tensor.collapse_shape %arg1 {{.*}} into tensor<112x128xf32>
// CHECK-DAG: iree_encoding.set_encoding %[[X]]
// CHECK-DAG: iree_encoding.set_encoding %[[W]]
// CHECK: iree_encoding.unset_encoding
func.func @several_depths(%x: tensor<96x64x2xf32>, %w: tensor<112x64x2xf32>, %y: tensor<96x112xf32>) -> tensor<96x112xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k, l) -> (m, k, l)>, affine_map<(m, n, k, l) -> (n, k, l)>, affine_map<(m, n, k, l) -> (m, n)>]
    ins(%x, %w : tensor<96x64x2xf32>, tensor<112x64x2xf32>) outs(%y : tensor<96x112xf32>) -> tensor<96x112xf32>
  return %r : tensor<96x112xf32>
}

// -----

// Pipeline 2: several batch loops.
// CHECK-LABEL: @several_batches
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{.*}} into tensor<32x96x80xf32>
// CHECK: iree_encoding.set_encoding %[[X]]
// CHECK: iree_encoding.unset_encoding {{.*}} -> tensor<32x96x112xf32>
func.func @several_batches(%x: tensor<4x8x96x80xf32>, %w: tensor<4x8x80x112xf32>, %y: tensor<4x8x96x112xf32>) -> tensor<4x8x96x112xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(a, b, m, n, k) -> (a, b, m, k)>, affine_map<(a, b, m, n, k) -> (a, b, k, n)>, affine_map<(a, b, m, n, k) -> (a, b, m, n)>]
    ins(%x, %w : tensor<4x8x96x80xf32>, tensor<4x8x80x112xf32>) outs(%y : tensor<4x8x96x112xf32>) -> tensor<4x8x96x112xf32>
  return %r : tensor<4x8x96x112xf32>
}

// -----

// Pipeline 3: one weight for all batches: batches are rows.
// CHECK-LABEL: @shared_weight
// CHECK: tensor.collapse_shape %arg0 {{.*}} into tensor<512x80xf32>
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.unset_encoding {{.*}} -> tensor<512x112xf32>
func.func @shared_weight(%x: tensor<16x32x80xf32>, %w: tensor<112x80xf32>, %y: tensor<16x32x112xf32>) -> tensor<16x32x112xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
    ins(%x, %w : tensor<16x32x80xf32>, tensor<112x80xf32>) outs(%y : tensor<16x32x112xf32>) -> tensor<16x32x112xf32>
  return %r : tensor<16x32x112xf32>
}

// -----

// 20: what a product is added to is a fill: a packed tensor is filled, none is packed.
// CHECK-LABEL: @fill
// CHECK-COUNT-2: iree_encoding.set_encoding
// CHECK-NOT: iree_encoding.set_encoding
// CHECK: %[[E:.*]] = tensor.empty() : tensor<96x112xf32, #{{.*}}>
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[E]] :
func.func @fill(%x: tensor<96x80xf32>, %w: tensor<80x112xf32>) -> tensor<96x112xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x112xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x112xf32>) -> tensor<96x112xf32>
  %r = linalg.matmul ins(%x, %w : tensor<96x80xf32>, tensor<80x112xf32>) outs(%f : tensor<96x112xf32>) -> tensor<96x112xf32>
  return %r : tensor<96x112xf32>
}

// -----

// 25: operands of single bits are packed after they are widened.
// CHECK-LABEL: @bits
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<96x80xi1>)
// CHECK: iree_encoding.set_encoding %[[X]] : tensor<96x80xf32>
func.func @bits(%x: tensor<96x80xi1>, %w: tensor<80x112xf32>, %y: tensor<96x112xf32>) -> tensor<96x112xf32> {
  %e = tensor.empty() : tensor<96x80xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<96x80xi1>) outs(%e : tensor<96x80xf32>) {
  ^bb0(%a: i1, %o: f32):
    %0 = arith.uitofp %a : i1 to f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %r = linalg.matmul ins(%wide, %w : tensor<96x80xf32>, tensor<80x112xf32>) outs(%y : tensor<96x112xf32>) -> tensor<96x112xf32>
  return %r : tensor<96x112xf32>
}

// -----

// 39 and 45 to 47: scalars and convolutions have no matmul to pack; 40: nor
// does a region that somebody gave a workgroup count.
// CHECK-LABEL: @left_alone
// CHECK-NOT: iree_encoding
func.func @left_alone(%x: tensor<f32>, %i: tensor<1x16x16x4xf32>, %k: tensor<3x3x4x16xf32>, %c: tensor<1x14x14x16xf32>,
    %nchw: tensor<1x4x16x16xf32>, %fchw: tensor<16x4x3x3xf32>, %d: tensor<1x16x14x14xf32>, %fhwc: tensor<16x3x3x4xf32>,
    %a: tensor<96x80xf32>, %b: tensor<80x112xf32>, %y: tensor<96x112xf32>, %w: index)
    -> (tensor<f32>, tensor<1x14x14x16xf32>, tensor<1x16x14x14xf32>, tensor<1x14x14x16xf32>, tensor<96x112xf32>) {
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%x : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%s: f32, %o: f32):
    %1 = arith.mulf %s, %s : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %2 = linalg.conv_2d_nhwc_hwcf ins(%i, %k : tensor<1x16x16x4xf32>, tensor<3x3x4x16xf32>) outs(%c : tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  %5 = linalg.conv_2d_nchw_fchw ins(%nchw, %fchw : tensor<1x4x16x16xf32>, tensor<16x4x3x3xf32>) outs(%d : tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32>
  %6 = linalg.conv_2d_nhwc_fhwc ins(%i, %fhwc : tensor<1x16x16x4xf32>, tensor<16x3x3x4xf32>) outs(%c : tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  %3 = flow.dispatch.region[%w] -> (tensor<96x112xf32>) {
    %4 = linalg.matmul ins(%a, %b : tensor<96x80xf32>, tensor<80x112xf32>) outs(%y : tensor<96x112xf32>) -> tensor<96x112xf32>
    flow.return %4 : tensor<96x112xf32>
  } count(%n: index) -> (index, index, index) {
    flow.return %n, %n, %n : index, index, index
  }
  return %0, %2, %5, %6, %3 : tensor<f32>, tensor<1x14x14x16xf32>, tensor<1x16x14x14xf32>, tensor<1x14x14x16xf32>, tensor<96x112xf32>
}
