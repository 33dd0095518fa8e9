// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=gfx942 estimate=false})' --split-input-file | FileCheck %s
//
// Numbers are those of IREE's own tests of set_encoding that ask for the same.

// 1: static sizes. The fill becomes one of a packed tensor (20).
// CHECK-DAG: #[[LHS:.*]] = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#[[A:.*]], #[[B:.*]], #[[C:.*]]], iteration_sizes = [96, 112, 80]>
// CHECK-DAG: #[[RHS:.*]] = #iree_encoding.encoding<operand_index = 1 : index, {{.*}}iteration_sizes = [96, 112, 80]>
// CHECK-DAG: #[[OUT:.*]] = #iree_encoding.encoding<operand_index = 2 : index, {{.*}}iteration_sizes = [96, 112, 80]>
// CHECK-LABEL: @static
// CHECK-DAG: %[[X:.*]] = iree_encoding.set_encoding %arg0 : tensor<96x80xf32> -> tensor<96x80xf32, #[[LHS]]>
// CHECK-DAG: %[[W:.*]] = iree_encoding.set_encoding %arg1 : tensor<80x112xf32> -> tensor<80x112xf32, #[[RHS]]>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<96x112xf32, #[[OUT]]>
// CHECK: %[[F:.*]] = linalg.fill {{.*}}outs(%[[E]]
// CHECK: %[[M:.*]] = linalg.matmul ins(%[[X]], %[[W]] {{.*}}outs(%[[F]]
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding %[[M]] : tensor<96x112xf32, #[[OUT]]> -> tensor<96x112xf32>
// CHECK: return %[[U]]
func.func @static(%x: tensor<96x80xf32>, %w: tensor<80x112xf32>) -> tensor<96x112xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x112xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x112xf32>) -> tensor<96x112xf32>
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32>, tensor<80x112xf32>) outs(%f : tensor<96x112xf32>) -> tensor<96x112xf32>
  return %m : tensor<96x112xf32>
}

// -----

// 2: dynamic sizes travel as encoding_dims, in loop order; something that is
// accumulated into is packed as well.
// CHECK: iteration_sizes = [?, ?, ?]
// CHECK-LABEL: @dynamic
// CHECK-DAG: %[[DM:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[DK:.*]] = tensor.dim %arg0, %c1
// CHECK-DAG: %[[DN:.*]] = tensor.dim %arg1, %c1
// CHECK-DAG: iree_encoding.set_encoding %arg0 encoding_dims{%[[DM]], %[[DN]], %[[DK]]}
// CHECK-DAG: iree_encoding.set_encoding %arg1 encoding_dims{%[[DM]], %[[DN]], %[[DK]]}
// CHECK-DAG: iree_encoding.set_encoding %arg2 encoding_dims{%[[DM]], %[[DN]], %[[DK]]}
// CHECK: iree_encoding.unset_encoding %{{.*}} encoding_dims{%[[DM]], %[[DN]], %[[DK]]} : {{.*}}-> tensor<?x?xf32>{
func.func @dynamic(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %init: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}

// -----

// 3: loops in another order: the sizes follow the op's loops.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: user_indexing_maps = [#[[A]], #[[B]], #[[C]]], iteration_sizes = [32, 64, 48]
// CHECK-LABEL: @reduction_in_the_middle
// CHECK-COUNT-2: iree_encoding.set_encoding
func.func @reduction_in_the_middle(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (k, n)>, affine_map<(m, k, n) -> (m, n)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<32x64xf32>, tensor<64x48xf32>) outs(%f : tensor<32x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %m : tensor<32x48xf32>
}

// -----

// 4, 5, 7: element types of a target with instructions for them.
// CHECK-DAG: element_types = [i8, i8, i32]
// CHECK-DAG: element_types = [f16, f16, f32]
// CHECK-DAG: element_types = [bf16, bf16, f32]
// CHECK-DAG: element_types = [f8E4M3FNUZ, f8E5M2FNUZ, f32]
// CHECK-LABEL: @types
func.func @types(%a: tensor<32x32xi8>, %b: tensor<32x32xf16>, %c: tensor<32x32xbf16>, %d: tensor<32x32xf8E4M3FNUZ>,
    %e: tensor<32x32xf8E5M2FNUZ>, %i: tensor<32x32xi32>, %f: tensor<32x32xf32>)
    -> (tensor<32x32xi32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
  %0 = linalg.matmul ins(%a, %a : tensor<32x32xi8>, tensor<32x32xi8>) outs(%i : tensor<32x32xi32>) -> tensor<32x32xi32>
  %1 = linalg.matmul ins(%b, %b : tensor<32x32xf16>, tensor<32x32xf16>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = linalg.matmul ins(%c, %c : tensor<32x32xbf16>, tensor<32x32xbf16>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %3 = linalg.matmul ins(%d, %e : tensor<32x32xf8E4M3FNUZ>, tensor<32x32xf8E5M2FNUZ>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0, %1, %2, %3 : tensor<32x32xi32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// Batched, one size dynamic.
// CHECK: iteration_sizes = [?, 32, 48, 64]
// CHECK-LABEL: @batched
// CHECK: %[[D:.*]] = tensor.dim %arg0, %c0
// CHECK: iree_encoding.set_encoding %arg0 encoding_dims{%[[D]]}
// CHECK: linalg.batch_matmul
func.func @batched(%x: tensor<?x32x64xf32>, %w: tensor<?x64x48xf32>, %init: tensor<?x32x48xf32>) -> tensor<?x32x48xf32> {
  %m = linalg.batch_matmul ins(%x, %w : tensor<?x32x64xf32>, tensor<?x64x48xf32>) outs(%init : tensor<?x32x48xf32>) -> tensor<?x32x48xf32>
  return %m : tensor<?x32x48xf32>
}

// -----

// 28 to 31: transposed operands are in the maps.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK: user_indexing_maps = [#[[A]], #[[B]], #[[C]]], iteration_sizes = [3, 32, 48, 64]
// CHECK-LABEL: @transposed
func.func @transposed(%x: tensor<3x64x32xf32>, %w: tensor<3x48x64xf32>, %init: tensor<3x32x48xf32>) -> tensor<3x32x48xf32> {
  %m = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, k, m)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%x, %w : tensor<3x64x32xf32>, tensor<3x48x64xf32>) outs(%init : tensor<3x32x48xf32>) -> tensor<3x32x48xf32>
  return %m : tensor<3x32x48xf32>
}

// -----

// One packed copy for two matmuls that read it alike.
// CHECK-LABEL: @shared
// CHECK: %[[X:.*]] = iree_encoding.set_encoding %arg0
// CHECK-NOT: set_encoding %arg0
// CHECK-COUNT-2: linalg.matmul ins(%[[X]],
func.func @shared(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>, %v: tensor<64x48xf32>, %init: tensor<32x48xf32>) -> (tensor<32x48xf32>, tensor<32x48xf32>) {
  %m = linalg.matmul ins(%x, %w : tensor<32x64xf32>, tensor<64x48xf32>) outs(%init : tensor<32x48xf32>) -> tensor<32x48xf32>
  %n = linalg.matmul ins(%x, %v : tensor<32x64xf32>, tensor<64x48xf32>) outs(%init : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %m, %n : tensor<32x48xf32>, tensor<32x48xf32>
}

// -----

// What a loop does not change is packed before it, but not before a conditional.
// CHECK-LABEL: @loop
// CHECK: %[[W:.*]] = iree_encoding.set_encoding %arg1
// CHECK: scf.for
// CHECK: iree_encoding.set_encoding %arg
// CHECK: linalg.matmul ins(%{{.*}}, %[[W]]
// CHECK: scf.if
// CHECK: iree_encoding.set_encoding %arg2
// CHECK: linalg.matmul
func.func @loop(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>, %v: tensor<32x32xf32>, %c: i1) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%y = %x) -> tensor<32x32xf32> {
    %m = linalg.matmul ins(%y, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%x : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %m : tensor<32x32xf32>
  }
  %s = scf.if %c -> tensor<32x32xf32> {
    %m = linalg.matmul ins(%v, %v : tensor<32x32xf32>, tensor<32x32xf32>) outs(%x : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %m : tensor<32x32xf32>
  } else {
    scf.yield %v : tensor<32x32xf32>
  }
  return %r, %s : tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// A constant weight is packed once, when the program is loaded; a splat stays.
// Number 4 of set_encoding_pipeline.
// CHECK: util.global private @headrace.packed.0 : tensor<16x16xf32, #[[RHS:.*]]>
// CHECK-LABEL: @constant
// CHECK-DAG: %[[W:.*]] = util.global.load @headrace.packed.0
// CHECK-DAG: linalg.matmul ins(%{{.*}}, %[[W]]
// CHECK-DAG: iree_encoding.set_encoding %cst{{.*}} : tensor<16x16xf32>
// CHECK: util.initializer
// CHECK: %[[P:.*]] = iree_encoding.set_encoding %{{.*}} -> tensor<16x16xf32, #[[RHS]]>
// CHECK: util.global.store %[[P]], @headrace.packed.0
func.func @constant(%x: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %w = arith.constant dense_resource<weight> : tensor<16x16xf32>
  %ones = arith.constant dense<1.0> : tensor<16x16xf32>
  %m = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%x : tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = linalg.matmul ins(%x, %ones : tensor<16x16xf32>, tensor<16x16xf32>) outs(%x : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %m, %n : tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// 22, and an operand that somebody packed already, and a region: untouched.
// CHECK-LABEL: @left_alone
// CHECK-NOT: encoding
// CHECK: return
func.func @left_alone(%x: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %0 = linalg.matmul {lowering_config = #iree_codegen.lowering_config<tile_sizes = [[8, 8, 8]]>} ins(%x, %x : tensor<32x32xf32>, tensor<32x32xf32>) outs(%x : tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = flow.dispatch.region -> (tensor<32x32xf32>) {
    %m = linalg.matmul ins(%x, %x : tensor<32x32xf32>, tensor<32x32xf32>) outs(%x : tensor<32x32xf32>) -> tensor<32x32xf32>
    flow.return %m : tensor<32x32xf32>
  }
  return %0, %1 : tensor<32x32xf32>, tensor<32x32xf32>
}
