// RUN: headrace-opt %s --pass-pipeline='builtin.module(accumulate-in-f32{target=gfx942},set-encodings{target=gfx942 estimate=false})' --split-input-file | FileCheck %s

// The rest of IREE's tests of set_encoding whose matmuls are packed, by their
// numbers there.

// 6, 8: sums in f16 and bf16 are made sums in f32 before, which the target has
// instructions for, and rounded before they are unpacked.
// CHECK-DAG: #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f16, f16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f16, f16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f16, f16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [bf16, bf16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [bf16, bf16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [bf16, bf16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [32, 48, 64]>
// CHECK-LABEL: @in_f16(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: arith.truncf
// CHECK: iree_encoding.unset_encoding
// CHECK-LABEL: @in_bf16(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: arith.truncf
// CHECK: iree_encoding.unset_encoding
func.func @in_f16(%x: tensor<32x64xf16>, %w: tensor<64x48xf16>, %y: tensor<32x48xf16>) -> tensor<32x48xf16> {
  %m = linalg.matmul ins(%x, %w : tensor<32x64xf16>, tensor<64x48xf16>) outs(%y : tensor<32x48xf16>) -> tensor<32x48xf16>
  return %m : tensor<32x48xf16>
}
func.func @in_bf16(%x: tensor<32x64xbf16>, %w: tensor<64x48xbf16>, %y: tensor<32x48xbf16>) -> tensor<32x48xbf16> {
  %m = linalg.matmul ins(%x, %w : tensor<32x64xbf16>, tensor<64x48xbf16>) outs(%y : tensor<32x48xbf16>) -> tensor<32x48xbf16>
  return %m : tensor<32x48xbf16>
}

// -----

// 9: batched, static.
// CHECK-DAG: #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-LABEL: @batch(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.set_encoding %arg2
// CHECK: iree_encoding.unset_encoding
func.func @batch(%x: tensor<3x32x64xf32>, %w: tensor<3x64x48xf32>, %y: tensor<3x32x48xf32>) -> tensor<3x32x48xf32> {
  %m = linalg.batch_matmul ins(%x, %w : tensor<3x32x64xf32>, tensor<3x64x48xf32>) outs(%y : tensor<3x32x48xf32>) -> tensor<3x32x48xf32>
  return %m : tensor<3x32x48xf32>
}

// -----

// 10: all four sizes are dynamic.
// CHECK-DAG: #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [?, ?, ?, ?]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [?, ?, ?, ?]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [?, ?, ?, ?]>
// CHECK-LABEL: @batch_dynamic(
// CHECK-DAG: %[[B:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[M:.*]] = tensor.dim %arg0, %c1
// CHECK-DAG: %[[K:.*]] = tensor.dim %arg0, %c2
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg1, %c2
// CHECK: iree_encoding.set_encoding %arg0 encoding_dims{%[[B]], %[[M]], %[[N]], %[[K]]}
// CHECK: iree_encoding.set_encoding %arg1 encoding_dims{%[[B]], %[[M]], %[[N]], %[[K]]}
// CHECK: iree_encoding.set_encoding %arg2 encoding_dims{%[[B]], %[[M]], %[[N]], %[[K]]}
// CHECK: iree_encoding.unset_encoding
func.func @batch_dynamic(%x: tensor<?x?x?xf32>, %w: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %m = linalg.batch_matmul ins(%x, %w : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%y : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %m : tensor<?x?x?xf32>
}

// -----

// 11 to 15: batched, of other types. 11 and 13 sum in the narrow type: as 6 and 8.
// CHECK-DAG: #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f16, f16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f16, f16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f16, f16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [bf16, bf16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [bf16, bf16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [bf16, bf16, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [i8, i8, i32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [i8, i8, i32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-DAG: #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [i8, i8, i32], user_indexing_maps = [{{.*}}], iteration_sizes = [3, 32, 48, 64]>
// CHECK-LABEL: @batch_f16(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.unset_encoding
// CHECK-LABEL: @batch_f16f32(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.unset_encoding
// CHECK-LABEL: @batch_bf16(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.unset_encoding
// CHECK-LABEL: @batch_bf16f32(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.unset_encoding
// CHECK-LABEL: @batch_i8(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.unset_encoding
func.func @batch_f16(%x: tensor<3x32x64xf16>, %w: tensor<3x64x48xf16>, %y: tensor<3x32x48xf16>) -> tensor<3x32x48xf16> {
  %m = linalg.batch_matmul ins(%x, %w : tensor<3x32x64xf16>, tensor<3x64x48xf16>) outs(%y : tensor<3x32x48xf16>) -> tensor<3x32x48xf16>
  return %m : tensor<3x32x48xf16>
}
func.func @batch_f16f32(%x: tensor<3x32x64xf16>, %w: tensor<3x64x48xf16>, %y: tensor<3x32x48xf32>) -> tensor<3x32x48xf32> {
  %m = linalg.batch_matmul ins(%x, %w : tensor<3x32x64xf16>, tensor<3x64x48xf16>) outs(%y : tensor<3x32x48xf32>) -> tensor<3x32x48xf32>
  return %m : tensor<3x32x48xf32>
}
func.func @batch_bf16(%x: tensor<3x32x64xbf16>, %w: tensor<3x64x48xbf16>, %y: tensor<3x32x48xbf16>) -> tensor<3x32x48xbf16> {
  %m = linalg.batch_matmul ins(%x, %w : tensor<3x32x64xbf16>, tensor<3x64x48xbf16>) outs(%y : tensor<3x32x48xbf16>) -> tensor<3x32x48xbf16>
  return %m : tensor<3x32x48xbf16>
}
func.func @batch_bf16f32(%x: tensor<3x32x64xbf16>, %w: tensor<3x64x48xbf16>, %y: tensor<3x32x48xf32>) -> tensor<3x32x48xf32> {
  %m = linalg.batch_matmul ins(%x, %w : tensor<3x32x64xbf16>, tensor<3x64x48xbf16>) outs(%y : tensor<3x32x48xf32>) -> tensor<3x32x48xf32>
  return %m : tensor<3x32x48xf32>
}
func.func @batch_i8(%x: tensor<3x32x64xi8>, %w: tensor<3x64x48xi8>, %y: tensor<3x32x48xi32>) -> tensor<3x32x48xi32> {
  %m = linalg.batch_matmul ins(%x, %w : tensor<3x32x64xi8>, tensor<3x64x48xi8>) outs(%y : tensor<3x32x48xi32>) -> tensor<3x32x48xi32>
  return %m : tensor<3x32x48xi32>
}

// -----

// 21: operands that are padded, and a fill of the padded result.
// CHECK-LABEL: @padded(
// CHECK: %[[X:.*]] = tensor.pad %arg0
// CHECK: %[[P:.*]] = iree_encoding.set_encoding %[[X]]
// CHECK-NOT: set_encoding %{{[0-9]+}} : tensor<32x48xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<32x48xf32, #
// CHECK: %[[F:.*]] = linalg.fill {{.*}} outs(%[[E]] :
// CHECK: linalg.matmul ins(%[[P]], {{.*}} outs(%[[F]] :
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding
// CHECK: tensor.extract_slice %[[U]][0, 0] [30, 48]
func.func @padded(%x: tensor<30x61xf32>, %w: tensor<64x48xf32>) -> tensor<30x48xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0] high[2, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<30x61xf32> to tensor<32x64xf32>
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %m = linalg.matmul ins(%p, %w : tensor<32x64xf32>, tensor<64x48xf32>) outs(%f : tensor<32x48xf32>) -> tensor<32x48xf32>
  %s = tensor.extract_slice %m[0, 0] [30, 48] [1, 1] : tensor<32x48xf32> to tensor<30x48xf32>
  return %s : tensor<30x48xf32>
}

// -----

// 22: somebody said already how it is compiled.
// CHECK-LABEL: @compiled_already(
// CHECK-NOT: iree_encoding
// CHECK: return
func.func @compiled_already(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>, %y: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %m = linalg.matmul {compilation_info = #iree_codegen.compilation_info<lowering_config = #iree_codegen.lowering_config<tile_sizes = [[16, 16, 16]]>, translation_info = <pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>}
      ins(%x, %w : tensor<32x64xf32>, tensor<64x48xf32>) outs(%y : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %m : tensor<32x48xf32>
}

// -----

// 23: operands that are rounded before: the rounded values are packed.
// CHECK-LABEL: @rounded(
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%arg0 :
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%arg1 :
// CHECK-DAG: iree_encoding.set_encoding %[[X]] : tensor<3x32x64xf16>
// CHECK-DAG: iree_encoding.set_encoding %[[W]] : tensor<3x64x48xf16>
// CHECK: linalg.batch_matmul
func.func @rounded(%x: tensor<3x32x64xf32>, %w: tensor<3x64x48xf32>, %y: tensor<3x32x48xf32>) -> tensor<3x32x48xf32> {
  %pe = tensor.empty() : tensor<3x32x64xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<3x32x64xf32>) outs(%pe : tensor<3x32x64xf16>) {
  ^bb0(%i: f32, %z: f16):
    %0 = arith.truncf %i : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<3x32x64xf16>
  %qe = tensor.empty() : tensor<3x64x48xf16>
  %q = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<3x64x48xf32>) outs(%qe : tensor<3x64x48xf16>) {
  ^bb0(%i: f32, %z: f16):
    %0 = arith.truncf %i : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<3x64x48xf16>
  %m = linalg.batch_matmul ins(%p, %q : tensor<3x32x64xf16>, tensor<3x64x48xf16>) outs(%y : tensor<3x32x48xf32>) -> tensor<3x32x48xf32>
  return %m : tensor<3x32x48xf32>
}

// -----

// 24: single bits, widened by an op on tensors.
// CHECK-LABEL: @bits(
// CHECK: %[[X:.*]] = arith.uitofp %arg0 : tensor<32x64xi1> to tensor<32x64xf32>
// CHECK: iree_encoding.set_encoding %[[X]]
func.func @bits(%x: tensor<32x64xi1>, %w: tensor<64x48xf32>, %y: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %wide = arith.uitofp %x : tensor<32x64xi1> to tensor<32x64xf32>
  %m = linalg.matmul ins(%wide, %w : tensor<32x64xf32>, tensor<64x48xf32>) outs(%y : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %m : tensor<32x48xf32>
}

// -----

// 28: one operand is transposed: its map says so.
// CHECK: #[[L:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK: #[[R:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: user_indexing_maps = [#[[L]], #[[R]], #
// CHECK-LABEL: @transposed_lhs(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.set_encoding %arg2
// CHECK: iree_encoding.unset_encoding
func.func @transposed_lhs(%x: tensor<64x32xf32>, %w: tensor<64x48xf32>, %y: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %m = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<64x32xf32>, tensor<64x48xf32>) outs(%y : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %m : tensor<32x48xf32>
}

// -----

// 29: one operand is transposed: its map says so.
// CHECK: #[[L:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #[[R:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: user_indexing_maps = [#[[L]], #[[R]], #
// CHECK-LABEL: @transposed_rhs(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.set_encoding %arg2
// CHECK: iree_encoding.unset_encoding
func.func @transposed_rhs(%x: tensor<32x64xf32>, %w: tensor<48x64xf32>, %y: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %m = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<32x64xf32>, tensor<48x64xf32>) outs(%y : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %m : tensor<32x48xf32>
}

// -----

// 30: one operand is transposed: its map says so.
// CHECK: #[[L:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
// CHECK: #[[R:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK: user_indexing_maps = [#[[L]], #[[R]], #
// CHECK-LABEL: @transposed_lhs_batch(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.set_encoding %arg2
// CHECK: iree_encoding.unset_encoding
func.func @transposed_lhs_batch(%x: tensor<3x64x32xf32>, %w: tensor<3x64x48xf32>, %y: tensor<3x32x48xf32>) -> tensor<3x32x48xf32> {
  %m = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, k, m)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>] ins(%x, %w : tensor<3x64x32xf32>, tensor<3x64x48xf32>) outs(%y : tensor<3x32x48xf32>) -> tensor<3x32x48xf32>
  return %m : tensor<3x32x48xf32>
}

// -----

// 31: one operand is transposed: its map says so.
// CHECK: #[[L:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK: #[[R:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK: user_indexing_maps = [#[[L]], #[[R]], #
// CHECK-LABEL: @transposed_rhs_batch(
// CHECK: iree_encoding.set_encoding %arg0
// CHECK: iree_encoding.set_encoding %arg1
// CHECK: iree_encoding.set_encoding %arg2
// CHECK: iree_encoding.unset_encoding
func.func @transposed_rhs_batch(%x: tensor<3x32x64xf32>, %w: tensor<3x48x64xf32>, %y: tensor<3x32x48xf32>) -> tensor<3x32x48xf32> {
  %m = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>] ins(%x, %w : tensor<3x32x64xf32>, tensor<3x48x64xf32>) outs(%y : tensor<3x32x48xf32>) -> tensor<3x32x48xf32>
  return %m : tensor<3x32x48xf32>
}

// -----

// 38: a decode that repeats its scales along the depth, of dynamic sizes: bytes and
// scales are packed, with the sizes of all four loops.
// CHECK-LABEL: @scales(
// CHECK-DAG: %[[B:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[M:.*]] = tensor.dim %arg0, %c1
// CHECK-DAG: %[[K:.*]] = tensor.dim %arg0, %c2
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg1, %c1
// CHECK-DAG: iree_encoding.set_encoding %arg1 encoding_dims{%[[B]], %[[M]], %[[N]], %[[K]]} : tensor<?x?x?xi8>
// CHECK-DAG: iree_encoding.set_encoding %arg2 encoding_dims{%[[B]], %[[M]], %[[N]], %[[K]]} : tensor<?x?xf32>
// CHECK: linalg.generic
// CHECK: linalg.batch_matmul
#wide = affine_map<(b, i, j) -> (b, i, j)>
func.func @scales(%x: tensor<?x?x?xf32>, %q: tensor<?x?x?xi8>, %s: tensor<?x?xf32>, %y: tensor<?x?x?xf32>, %b: index, %n: index, %k: index) -> tensor<?x?x?xf32> {
  %e = tensor.empty(%b, %n, %k) : tensor<?x?x?xf32>
  %w = linalg.generic {indexing_maps = [#wide, affine_map<(b, i, j) -> (b, i)>, #wide], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %s : tensor<?x?x?xi8>, tensor<?x?xf32>) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%i: i8, %c: f32, %z: f32):
    %0 = arith.sitofp %i : i8 to f32
    %1 = arith.mulf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<?x?x?xf32>
  %m = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%x, %w : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%y : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %m : tensor<?x?x?xf32>
}
