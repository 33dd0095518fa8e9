// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=cpu estimate=false})' --split-input-file | FileCheck %s
// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=cpu})' --split-input-file --remarks 2>&1 | FileCheck %s --check-prefix=ESTIMATE
// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=gfx942 estimate=false})' --split-input-file --remarks 2>&1 | FileCheck %s --check-prefix=CDNA

// Few rows or columns, or none, by the numbers of IREE's own tests of
// set_encoding. For CPUs sizes are in the encoding, since tiles depend on them;
// but by the estimate, for which dynamic sizes are large, none is packed. On a
// GPU IREE fails to compile encoded vectors (its issue 23046).
// ESTIMATE-NOT: {{ }}iree_encoding
// CDNA-NOT: {{ }}iree_encoding

// 16, 17: one row, one column.
// CHECK-DAG: element_types = [f32, f32, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [112, 80]>
// CHECK-DAG: element_types = [f32, f32, f32], user_indexing_maps = [{{.*}}], iteration_sizes = [?, ?]>
// CHECK-LABEL: @vecmat(
// CHECK: iree_encoding.set_encoding %arg0 : tensor<80xf32>
// CHECK: iree_encoding.set_encoding %arg1 : tensor<80x112xf32>
// CHECK: linalg.vecmat
// CHECK-LABEL: @matvec(
// CHECK: iree_encoding.set_encoding %arg0 encoding_dims{%{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}} : tensor<?x?xf32>
// CHECK: linalg.matvec
// ESTIMATE: remark: not encoded: tiling pays from 128 multiply-adds per element that is written for it, here are 0 (8960 for 9152)
// ESTIMATE: remark: not encoded: tiling pays from {{[0-9]*}} multiply-adds per element that is written for it, here are 0 (4294967296 for 4295098368, dynamic sizes taken for 65536)
// CDNA-COUNT-2: remark: not encoded: 1 rows or columns do not fill a tile of 16
func.func @vecmat(%x: tensor<80xf32>, %w: tensor<80x112xf32>, %y: tensor<112xf32>) -> tensor<112xf32> {
  %m = linalg.vecmat ins(%x, %w : tensor<80xf32>, tensor<80x112xf32>) outs(%y : tensor<112xf32>) -> tensor<112xf32>
  return %m : tensor<112xf32>
}
func.func @matvec(%x: tensor<?x?xf32>, %w: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %m = linalg.matvec ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %m : tensor<?xf32>
}

// -----

// 18, 19: batched, dynamic.
// CHECK: iteration_sizes = [?, ?, ?]
// CHECK-LABEL: @batch_vecmat(
// CHECK: iree_encoding.set_encoding %arg1 encoding_dims{%{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}} : tensor<?x?x?xf32>
// CHECK: linalg.batch_vecmat
// CHECK-LABEL: @batch_matvec(
// CHECK: iree_encoding.set_encoding %arg0 encoding_dims{%{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}} : tensor<?x?x?xf32>
// CHECK: linalg.batch_matvec
// ESTIMATE-COUNT-2: remark: not encoded: tiling pays from {{[0-9]*}} multiply-adds per element that is written for it, here are 0
// CDNA-COUNT-2: remark: not encoded: 1 rows or columns do not fill a tile of 16
func.func @batch_vecmat(%x: tensor<?x?xf32>, %w: tensor<?x?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %m = linalg.batch_vecmat ins(%x, %w : tensor<?x?xf32>, tensor<?x?x?xf32>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}
func.func @batch_matvec(%x: tensor<?x?x?xf32>, %w: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %m = linalg.batch_matvec ins(%x, %w : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}

// -----

// 26, 27: two rows; four rows and two columns. Four rows of dynamic length.
// CHECK-DAG: iteration_sizes = [2, 112, 80]
// CHECK-DAG: iteration_sizes = [4, 2, 80]
// CHECK-DAG: iteration_sizes = [4, ?, ?]
// CHECK-LABEL: @two_rows(
// CHECK: iree_encoding.set_encoding
// CHECK-LABEL: @four_by_two(
// CHECK: iree_encoding.set_encoding
// CHECK-LABEL: @four_rows(
// CHECK: iree_encoding.set_encoding
// ESTIMATE: remark: not encoded: tiling pays from 128 multiply-adds per element that is written for it, here are 1 (17920 for 9344)
// ESTIMATE: remark: not encoded: tiling pays from 20 multiply-adds per element that is written for it, here are 1 (640 for 488)
// ESTIMATE: remark: not encoded: tiling pays from 128 multiply-adds per element that is written for it, here are 3
// CDNA: remark: not encoded: 2 rows or columns do not fill a tile of 16
// CDNA: remark: not encoded: 2 rows or columns do not fill a tile of 16
// CDNA: remark: not encoded: 4 rows or columns do not fill a tile of 16
func.func @two_rows(%x: tensor<2x80xf32>, %w: tensor<80x112xf32>, %y: tensor<2x112xf32>) -> tensor<2x112xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<2x80xf32>, tensor<80x112xf32>) outs(%y : tensor<2x112xf32>) -> tensor<2x112xf32>
  return %m : tensor<2x112xf32>
}
func.func @four_by_two(%x: tensor<4x80xf32>, %w: tensor<80x2xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<4x80xf32>, tensor<80x2xf32>) outs(%y : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %m : tensor<4x2xf32>
}
func.func @four_rows(%x: tensor<4x?xf32>, %w: tensor<?x?xf32>, %y: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<4x?xf32>, tensor<?x?xf32>) outs(%y : tensor<4x?xf32>) -> tensor<4x?xf32>
  return %m : tensor<4x?xf32>
}

// -----

// 32: no CPU has instructions for such types; IREE packs for kernels of its own.
// CHECK-LABEL: @mixed_types(
// CHECK-NOT: {{ }}iree_encoding
// CHECK: return
// ESTIMATE: remark: not encoded: the target has no tiles for i16 x ui4 to i32
// CDNA: remark: not encoded: the target has no tiles for i16 x ui4 to i32
func.func @mixed_types(%x: tensor<80xi16>, %w: tensor<80x112xi4>, %y: tensor<112xi32>) -> tensor<112xi32> {
  %m = linalg.generic {indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (k, n)>, affine_map<(n, k) -> (n)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<80xi16>, tensor<80x112xi4>) outs(%y : tensor<112xi32>) {
  ^bb0(%a: i16, %b: i4, %c: i32):
    %0 = arith.extsi %a : i16 to i32
    %1 = arith.extui %b : i4 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %c, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<112xi32>
  return %m : tensor<112xi32>
}
