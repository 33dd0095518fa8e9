// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=gfx950 estimate=false},form-dispatch-regions{target=gfx950},fuse-encodings{target=gfx950})' --split-input-file | FileCheck %s
// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=gfx950 estimate=false},form-dispatch-regions{target=gfx950},fuse-encodings{target=gfx950},func.func(iree-dispatch-creation-form-dispatch-regions{aggressive-fusion=true}))' --split-input-file | FileCheck %s --check-prefix=IREE

// One case for each kind of op that our passes have no reason to touch, and
// IREE's own pass then makes regions of. Numbers are those of its tests of
// form_dispatch_regions and, with c, of clone_producers_into_dispatch_regions.
// CHECK-NOT: flow.dispatch.region
// CHECK-NOT: {{ }}iree_encoding

// 1 to 3, 9, 11, 19, 29, 44, 70: tensors that are packed by linalg's ops are so
// after IREE's global data tiling, which headrace leaves off.
// CHECK-LABEL: @packs(
// CHECK: linalg.pack
// CHECK: linalg.unpack
// CHECK: linalg.batch_mmt4d
// CHECK: return
// IREE-LABEL: @packs(
// IREE: flow.dispatch.region
// IREE: math.tanh
// IREE: linalg.pack
// IREE: flow.return
// IREE: flow.dispatch.region
// IREE: linalg.unpack
// IREE: math.absf
// IREE: flow.return
// IREE: flow.dispatch.region
// IREE: linalg.batch_mmt4d
// IREE: flow.return
#whole = affine_map<(i, j) -> (i, j)>
func.func @packs(%x: tensor<64x48xf32>, %y: tensor<8x6x8x8xf32>, %a: tensor<2x4x6x8x1xf32>, %b: tensor<2x5x6x4x1xf32>, %c: tensor<2x4x5x8x4xf32>)
    -> (tensor<8x6x8x8xf32>, tensor<64x48xf32>, tensor<2x4x5x8x4xf32>) {
  %e = tensor.empty() : tensor<64x48xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.tanh %i : f32
    linalg.yield %0 : f32
  } -> tensor<64x48xf32>
  %pe = tensor.empty() : tensor<8x6x8x8xf32>
  %p = linalg.pack %t inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %pe : tensor<64x48xf32> -> tensor<8x6x8x8xf32>
  %u = linalg.unpack %y inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %e : tensor<8x6x8x8xf32> -> tensor<64x48xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.absf %i : f32
    linalg.yield %0 : f32
  } -> tensor<64x48xf32>
  %m = linalg.batch_mmt4d ins(%a, %b : tensor<2x4x6x8x1xf32>, tensor<2x5x6x4x1xf32>) outs(%c : tensor<2x4x5x8x4xf32>) -> tensor<2x4x5x8x4xf32>
  return %p, %s, %m : tensor<8x6x8x8xf32>, tensor<64x48xf32>, tensor<2x4x5x8x4xf32>
}

// -----

// 20 to 22, 24, 25: an op with a body of its own.
// CHECK-LABEL: @custom(
// CHECK: math.exp
// CHECK: iree_linalg_ext.custom_op
// CHECK: math.absf
// CHECK: return
// IREE-LABEL: @custom(
// IREE: flow.dispatch.region
// IREE: iree_linalg_ext.custom_op
// IREE: flow.return
#whole = affine_map<(i, j) -> (i, j)>
func.func @custom(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.exp %i : f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  %c = iree_linalg_ext.custom_op {indexing_maps = [affine_map<(i, j)[k] -> (i, k)>, affine_map<(i, j)[k] -> (i, j)>], iterator_types = [#iree_linalg_ext.iterator_type<parallel>, #iree_linalg_ext.iterator_type<parallel>]}
      ins(%t : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>):
    %1 = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) {
    ^bb0(%i: f32, %o: f32):
      %0 = math.sin %i : f32
      linalg.yield %0 : f32
    } -> tensor<?x?xf32>
    iree_linalg_ext.yield %1 : tensor<?x?xf32>
  } -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.absf %i : f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

// -----

// 26, 27, 34, 66, c12, c15: attention, with the mask and the widened key that go into it.
// CHECK-LABEL: @attention(
// CHECK: arith.extf
// CHECK: linalg.index
// CHECK: iree_linalg_ext.attention
// CHECK: return
// IREE-LABEL: @attention(
// IREE: flow.dispatch.region
// IREE: iree_linalg_ext.attention
// IREE: flow.return
#q = affine_map<(b, m, n, k, l) -> (b, m, k)>
#k = affine_map<(b, m, n, k, l) -> (b, l, k)>
#v = affine_map<(b, m, n, k, l) -> (b, l, n)>
#s = affine_map<(b, m, n, k, l) -> ()>
#mask = affine_map<(b, m, n, k, l) -> (m, l)>
#o = affine_map<(b, m, n, k, l) -> (b, m, n)>
#all = affine_map<(i, j, k) -> (i, j, k)>
func.func @attention(%x: tensor<6x32x16xf32>, %y: tensor<6x48x16xbf16>, %scale: f32) -> tensor<6x32x16xf32> {
  %ke = tensor.empty() : tensor<6x48x16xf32>
  %key = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<6x48x16xbf16>) outs(%ke : tensor<6x48x16xf32>) {
  ^bb0(%i: bf16, %z: f32):
    %0 = arith.extf %i : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<6x48x16xf32>
  %me = tensor.empty() : tensor<32x48xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%me : tensor<32x48xi1>) {
  ^bb0(%z: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %0 = arith.cmpi sge, %i, %j : index
    linalg.yield %0 : i1
  } -> tensor<32x48xi1>
  %e = tensor.empty() : tensor<6x32x16xf32>
  %a = iree_linalg_ext.attention <indexing_maps = [#q, #k, #v, #s, #mask, #o]>
      ins(%x, %key, %key, %scale, %mask : tensor<6x32x16xf32>, tensor<6x48x16xf32>, tensor<6x48x16xf32>, f32, tensor<32x48xi1>)
      outs(%e : tensor<6x32x16xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<6x32x16xf32>
  return %a : tensor<6x32x16xf32>
}

// -----

// 28, 36, 65, c14, c20 to c24: a scatter, with what makes the values and the places.
// CHECK-LABEL: @scatter(
// CHECK: math.exp
// CHECK: arith.addi
// CHECK: iree_linalg_ext.scatter
// CHECK: return
// IREE-LABEL: @scatter(
// IREE: flow.dispatch.region
// IREE: iree_linalg_ext.scatter
// IREE: flow.return
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i) -> (i)>
func.func @scatter(%x: tensor<24x40xf32>, %rows: tensor<24xi32>, %y: tensor<100x40xf32>) -> tensor<100x40xf32> {
  %e = tensor.empty() : tensor<24x40xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.exp %i : f32
    linalg.yield %0 : f32
  } -> tensor<24x40xf32>
  %ie = tensor.empty() : tensor<24xi32>
  %places = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%rows : tensor<24xi32>) outs(%ie : tensor<24xi32>) {
  ^bb0(%i: i32, %o: i32):
    %0 = arith.addi %i, %i : i32
    linalg.yield %0 : i32
  } -> tensor<24xi32>
  %s = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%t, %places : tensor<24x40xf32>, tensor<24xi32>) outs(%y : tensor<100x40xf32>) {
  ^bb0(%new: f32, %old: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<100x40xf32>
  return %s : tensor<100x40xf32>
}
