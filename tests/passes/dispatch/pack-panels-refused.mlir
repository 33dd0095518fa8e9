// RUN: headrace-opt %s --pass-pipeline='builtin.module(pack-panels{target=cpu})' --split-input-file --verify-diagnostics | FileCheck %s
// RUN: headrace-opt %s --pass-pipeline='builtin.module(pack-panels{target=gfx950})' --split-input-file --remarks 2>&1 | FileCheck %s --check-prefix=OTHER

// A target without panels gives no reasons.
// OTHER-NOT: remark

// Too few rows, rows that leave some over, columns that fill no panel, a dynamic size, other
// types, a turned activation, a batch, constant, decoded and computed weights. What decodes and
// computes them is no product: nothing is said of it.
// CHECK-LABEL: @refused(
// CHECK-NOT: compilation_info
func.func @refused(%few: tensor<64x64xf32>, %odd: tensor<508x64xf32>, %x: tensor<128x64xf32>, %w: tensor<64x64xf32>, %w72: tensor<64x72xf32>, %any: tensor<?x64xf32>, %xb: tensor<128x64xbf16>, %wb: tensor<64x64xbf16>,
    %xt: tensor<64x128xf32>, %x3: tensor<2x128x64xf32>, %w3: tensor<2x64x64xf32>, %q: tensor<64x64xi8>,
    %ifew: tensor<64x64xf32>, %iodd: tensor<508x64xf32>, %i: tensor<128x64xf32>, %i72: tensor<128x72xf32>, %iany: tensor<?x64xf32>, %i3: tensor<2x128x64xf32>)
    -> (tensor<64x64xf32>, tensor<508x64xf32>, tensor<128x72xf32>, tensor<?x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>, tensor<2x128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>) {
  // expected-remark @+1 {{weight not packed in panels: its weight meets 64 rows, from 128 on it pays}}
  %0 = linalg.matmul ins(%few, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%ifew : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-remark @+1 {{weight not packed in panels: 508 rows do not divide into workgroups of 32 to 64, a multiple of 4 each}}
  %1 = linalg.matmul ins(%odd, %w : tensor<508x64xf32>, tensor<64x64xf32>) outs(%iodd : tensor<508x64xf32>) -> tensor<508x64xf32>
  // expected-remark @+1 {{weight not packed in panels: 72 columns fill no panels of 16}}
  %2 = linalg.matmul ins(%x, %w72 : tensor<128x64xf32>, tensor<64x72xf32>) outs(%i72 : tensor<128x72xf32>) -> tensor<128x72xf32>
  // expected-remark @+1 {{weight not packed in panels: a size is dynamic}}
  %3 = linalg.matmul ins(%any, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%iany : tensor<?x64xf32>) -> tensor<?x64xf32>
  // expected-remark @+1 {{weight not packed in panels: only those of f32 products are}}
  %4 = linalg.matmul ins(%xb, %wb : tensor<128x64xbf16>, tensor<64x64xbf16>) outs(%i : tensor<128x64xf32>) -> tensor<128x64xf32>
  // expected-remark @+1 {{weight not packed in panels: the op is no product of two matrices, the first of rows}}
  %5 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%xt, %w : tensor<64x128xf32>, tensor<64x64xf32>) outs(%i : tensor<128x64xf32>) -> tensor<128x64xf32>
  // expected-remark @+1 {{weight not packed in panels: the op is no product of two matrices, the first of rows}}
  %6 = linalg.batch_matmul ins(%x3, %w3 : tensor<2x128x64xf32>, tensor<2x64x64xf32>) outs(%i3 : tensor<2x128x64xf32>) -> tensor<2x128x64xf32>
  %c = arith.constant dense_resource<weight> : tensor<64x64xf32>
  // expected-remark @+1 {{weight not packed in panels: it is a constant or a global: set-encodings packs it once}}
  %7 = linalg.matmul ins(%x, %c : tensor<128x64xf32>, tensor<64x64xf32>) outs(%i : tensor<128x64xf32>) -> tensor<128x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<64x64xi8>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%in: i8, %o: f32):
    %t = arith.sitofp %in : i8 to f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  // expected-remark @+1 {{weight not packed in panels: it is decoded or spread where it is read, and written nowhere}}
  %8 = linalg.matmul ins(%x, %d : tensor<128x64xf32>, tensor<64x64xf32>) outs(%i : tensor<128x64xf32>) -> tensor<128x64xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%in: f32, %o: f32):
    %t = math.absf %in : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  // expected-remark @+1 {{weight not packed in panels: it is computed for products alone, where set-encodings packs it}}
  %9 = linalg.matmul ins(%x, %a : tensor<128x64xf32>, tensor<64x64xf32>) outs(%i : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<64x64xf32>, tensor<508x64xf32>, tensor<128x72xf32>, tensor<?x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>, tensor<2x128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>
}

// -----

// The depth may be dynamic in the weight's type alone.
// CHECK-LABEL: @dynamic_depth(
// CHECK-NOT: flow.dispatch.region
func.func @dynamic_depth(%x: tensor<128x64xf32>, %w: tensor<?x64xf32>, %i: tensor<128x64xf32>) -> tensor<128x64xf32> {
  // expected-remark @+1 {{weight not packed in panels: a size is dynamic}}
  %0 = linalg.matmul ins(%x, %w : tensor<128x64xf32>, tensor<?x64xf32>) outs(%i : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}

// -----

// Activations that products alone read, which are packed for all of them, and that are decoded.
// CHECK-LABEL: @activations(
// CHECK-NOT: flow.dispatch.region
func.func @activations(%x: tensor<128x64xf32>, %q: tensor<128x64xi8>, %w: tensor<64x64xf32>, %i: tensor<128x64xf32>) -> (tensor<128x64xf32>, tensor<128x64xf32>) {
  %e = tensor.empty() : tensor<128x64xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<128x64xf32>) outs(%e : tensor<128x64xf32>) {
  ^bb0(%in: f32, %o: f32):
    %t = math.absf %in : f32
    linalg.yield %t : f32
  } -> tensor<128x64xf32>
  // expected-remark @+1 {{weight not packed in panels: its activation is computed for products alone, where set-encodings packs it}}
  %0 = linalg.matmul ins(%a, %w : tensor<128x64xf32>, tensor<64x64xf32>) outs(%i : tensor<128x64xf32>) -> tensor<128x64xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<128x64xi8>) outs(%e : tensor<128x64xf32>) {
  ^bb0(%in: i8, %o: f32):
    %t = arith.sitofp %in : i8 to f32
    linalg.yield %t : f32
  } -> tensor<128x64xf32>
  // expected-remark @+1 {{weight not packed in panels: its activation is decoded or spread where it is read, and written nowhere}}
  %1 = linalg.matmul ins(%d, %w : tensor<128x64xf32>, tensor<64x64xf32>) outs(%i : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %0, %1 : tensor<128x64xf32>, tensor<128x64xf32>
}

// -----

// What somebody has decided on stays, and nothing is said of it; nor of what is packed.
// CHECK-LABEL: @decided(
// CHECK: linalg.matmul {lowering_config = "mine"}
// CHECK: flow.dispatch.region
func.func @decided(%x: tensor<128x64xf32>, %w: tensor<64x64xf32>, %i: tensor<128x64xf32>) -> (tensor<128x64xf32>, tensor<128x64xf32>) {
  %0 = linalg.matmul {lowering_config = "mine"} ins(%x, %w : tensor<128x64xf32>, tensor<64x64xf32>) outs(%i : tensor<128x64xf32>) -> tensor<128x64xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<128x64xf32>, tensor<64x64xf32>) outs(%i : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %0, %1 : tensor<128x64xf32>, tensor<128x64xf32>
}
