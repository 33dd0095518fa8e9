// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-scaled-matmul)' | FileCheck %s

// Each op of linalg, tensor and arith that moves data, on its way from a
// dequantize to a contraction.

// Dims merged.
// CHECK-LABEL: func.func @collapse
// CHECK: %[[R:.*]] = tensor.collapse_shape %arg1 {{\[}}[0, 1], [2]] : tensor<2x4x8xf8E4M3FN> into tensor<8x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[R]], %arg0
// CHECK-NOT: headrace.dequantize
func.func @collapse(%x: tensor<8xf8E4M3FN>, %y: tensor<2x4x8xf8E4M3FN>, %s: tensor<bf16>) -> tensor<8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x4x8xf8E4M3FN>, tensor<bf16>) -> tensor<2x4x8xbf16>
  %r = tensor.collapse_shape %b [[0, 1], [2]] : tensor<2x4x8xbf16> into tensor<8x8xbf16>
  %c0 = arith.constant dense<0.0> : tensor<8xf32>
  %d = linalg.matvec ins(%r, %a : tensor<8x8xbf16>, tensor<8xbf16>) outs(%c0 : tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}

// Dims split.
// CHECK-LABEL: func.func @expand
// CHECK: %[[R:.*]] = tensor.expand_shape %arg1 {{\[}}[0, 1]] output_shape [4, 8] : tensor<32xf8E4M3FN> into tensor<4x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[R]], %arg0
// CHECK-NOT: headrace.dequantize
func.func @expand(%x: tensor<8xf8E4M3FN>, %y: tensor<32xf8E4M3FN>, %s: tensor<bf16>) -> tensor<4xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32xf8E4M3FN>, tensor<bf16>) -> tensor<32xbf16>
  %r = tensor.expand_shape %b [[0, 1]] output_shape [4, 8] : tensor<32xbf16> into tensor<4x8xbf16>
  %c0 = arith.constant dense<0.0> : tensor<4xf32>
  %d = linalg.matvec ins(%r, %a : tensor<4x8xbf16>, tensor<8xbf16>) outs(%c0 : tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// A slice, with an offset from the run, that drops a dim.
// CHECK-LABEL: func.func @slice
// CHECK: %[[R:.*]] = tensor.extract_slice %arg1[%arg3, 0, 2] [1, 4, 4] [1, 1, 1] : tensor<2x4x8xf8E4M3FN> to tensor<4x4xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[R]], %arg0
// CHECK-NOT: headrace.dequantize
func.func @slice(%x: tensor<4xf8E4M3FN>, %y: tensor<2x4x8xf8E4M3FN>, %s: tensor<bf16>, %i: index) -> tensor<4xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x4x8xf8E4M3FN>, tensor<bf16>) -> tensor<2x4x8xbf16>
  %r = tensor.extract_slice %b[%i, 0, 2] [1, 4, 4] [1, 1, 1] : tensor<2x4x8xbf16> to tensor<4x4xbf16>
  %c0 = arith.constant dense<0.0> : tensor<4xf32>
  %d = linalg.matvec ins(%r, %a : tensor<4x4xbf16>, tensor<4xbf16>) outs(%c0 : tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// A cast between static and dynamic sizes.
// CHECK-LABEL: func.func @cast
// CHECK: tensor.cast %arg1 : tensor<4x8xf8E4M3FN> to tensor<?x8xf8E4M3FN>
// CHECK: %[[R:.*]] = tensor.cast {{.*}} : tensor<?x8xf8E4M3FN> to tensor<4x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[R]], %arg0
// CHECK-NOT: headrace.dequantize
func.func @cast(%x: tensor<8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>) -> tensor<4xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %0 = tensor.cast %b : tensor<4x8xbf16> to tensor<?x8xbf16>
  %r = tensor.cast %0 : tensor<?x8xbf16> to tensor<4x8xbf16>
  %c0 = arith.constant dense<0.0> : tensor<4xf32>
  %d = linalg.matvec ins(%r, %a : tensor<4x8xbf16>, tensor<8xbf16>) outs(%c0 : tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// Padding with 0.
// CHECK-LABEL: func.func @pad
// CHECK: %[[Z:.*]] = arith.constant 0.000000e+00 : f8E4M3FN
// CHECK: %[[R:.*]] = tensor.pad %arg1 low[1, 0] high[0, 2] {
// CHECK: tensor.yield %[[Z]] : f8E4M3FN
// CHECK: } : tensor<4x8xf8E4M3FN> to tensor<5x10xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[R]], %arg0
func.func @pad(%x: tensor<10xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>) -> tensor<5xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<10xf8E4M3FN>) -> tensor<10xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %z = arith.constant 0.0 : bf16
  %r = tensor.pad %b low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : bf16
  } : tensor<4x8xbf16> to tensor<5x10xbf16>
  %c0 = arith.constant dense<0.0> : tensor<5xf32>
  %d = linalg.matvec ins(%r, %a : tensor<5x10xbf16>, tensor<10xbf16>) outs(%c0 : tensor<5xf32>) -> tensor<5xf32>
  return %d : tensor<5xf32>
}

// Values with one scale, and zeros.
// CHECK-LABEL: func.func @concat
// CHECK: %[[Z:.*]] = tensor.splat %{{.*}} : tensor<2x8xf8E4M3FN>
// CHECK: %[[R:.*]] = tensor.concat dim(0) %arg1, %[[Z]] : (tensor<4x8xf8E4M3FN>, tensor<2x8xf8E4M3FN>) -> tensor<6x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[R]], %arg0
// CHECK-NOT: headrace.dequantize
func.func @concat(%x: tensor<8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>) -> tensor<6xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %c = arith.constant 0.0 : bf16
  %z = tensor.splat %c : tensor<2x8xbf16>
  %r = tensor.concat dim(0) %b, %z : (tensor<4x8xbf16>, tensor<2x8xbf16>) -> tensor<6x8xbf16>
  %c0 = arith.constant dense<0.0> : tensor<6xf32>
  %d = linalg.matvec ins(%r, %a : tensor<6x8xbf16>, tensor<8xbf16>) outs(%c0 : tensor<6xf32>) -> tensor<6xf32>
  return %d : tensor<6xf32>
}

// A select between whole tensors.
// CHECK-LABEL: func.func @select
// CHECK: %[[Z:.*]] = tensor.splat %{{.*}} : tensor<4x8xf8E4M3FN>
// CHECK: %[[R:.*]] = arith.select %arg3, %[[Z]], %arg1 : tensor<4x8xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[R]], %arg0
// CHECK-NOT: headrace.dequantize
func.func @select(%x: tensor<8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>, %p: i1) -> tensor<4xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %c = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4x8xbf16>
  %z = linalg.fill ins(%c : bf16) outs(%e : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %r = arith.select %p, %z, %b : tensor<4x8xbf16>
  %c0 = arith.constant dense<0.0> : tensor<4xf32>
  %d = linalg.matvec ins(%r, %a : tensor<4x8xbf16>, tensor<8xbf16>) outs(%c0 : tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// A transpose writes into a new tensor.
// CHECK-LABEL: func.func @transpose
// CHECK: %[[E:.*]] = tensor.empty() : tensor<8x4xf8E4M3FN>
// CHECK: %[[R:.*]] = linalg.transpose ins(%arg1 : tensor<4x8xf8E4M3FN>) outs(%[[E]] : tensor<8x4xf8E4M3FN>) permutation = [1, 0]
// CHECK: "headrace.matmul"(%[[R]], %arg0
// CHECK-NOT: headrace.dequantize
func.func @transpose(%x: tensor<4xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>) -> tensor<8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %e = tensor.empty() : tensor<8x4xbf16>
  %r = linalg.transpose ins(%b : tensor<4x8xbf16>) outs(%e : tensor<8x4xbf16>) permutation = [1, 0]
  %c0 = arith.constant dense<0.0> : tensor<8xf32>
  %d = linalg.matvec ins(%r, %a : tensor<8x4xbf16>, tensor<4xbf16>) outs(%c0 : tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}

// So does a broadcast, and a copy.
// CHECK-LABEL: func.func @broadcast
// CHECK: %[[B:.*]] = linalg.broadcast ins(%arg1 : tensor<4xf8E4M3FN>) outs(%{{.*}} : tensor<8x4xf8E4M3FN>) dimensions = [0]
// CHECK: %[[R:.*]] = linalg.copy ins(%[[B]] : tensor<8x4xf8E4M3FN>) outs(%{{.*}} : tensor<8x4xf8E4M3FN>)
// CHECK: "headrace.matmul"(%[[R]], %arg0
// CHECK-NOT: headrace.dequantize
func.func @broadcast(%x: tensor<4xf8E4M3FN>, %y: tensor<4xf8E4M3FN>, %s: tensor<bf16>) -> tensor<8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4xf8E4M3FN>, tensor<bf16>) -> tensor<4xbf16>
  %e = tensor.empty() : tensor<8x4xbf16>
  %0 = linalg.broadcast ins(%b : tensor<4xbf16>) outs(%e : tensor<8x4xbf16>) dimensions = [0]
  %r = linalg.copy ins(%0 : tensor<8x4xbf16>) outs(%e : tensor<8x4xbf16>) -> tensor<8x4xbf16>
  %c0 = arith.constant dense<0.0> : tensor<8xf32>
  %d = linalg.matvec ins(%r, %a : tensor<8x4xbf16>, tensor<4xbf16>) outs(%c0 : tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}

// A generic that yields its input: here a diagonal band, read backwards.
// CHECK-LABEL: func.func @generic
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<11xf8E4M3FN>) outs(%{{.*}} : tensor<8x4xf8E4M3FN>)
// CHECK: "headrace.matmul"(%[[R]], %arg0
// CHECK-NOT: headrace.dequantize
func.func @generic(%x: tensor<4xf8E4M3FN>, %y: tensor<11xf8E4M3FN>, %s: tensor<bf16>) -> tensor<8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<11xf8E4M3FN>, tensor<bf16>) -> tensor<11xbf16>
  %e = tensor.empty() : tensor<8x4xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<11xbf16>) outs(%e : tensor<8x4xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<8x4xbf16>
  %c0 = arith.constant dense<0.0> : tensor<8xf32>
  %d = linalg.matvec ins(%r, %a : tensor<8x4xbf16>, tensor<4xbf16>) outs(%c0 : tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}

// A generic that selects between its input and 0.
// CHECK-LABEL: func.func @generic_select
// CHECK: %[[Z:.*]] = arith.constant 0.000000e+00 : f8E4M3FN
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%arg1, %arg3 : tensor<4x8xf8E4M3FN>, tensor<8x4xi1>) outs(%{{.*}} : tensor<8x4xf8E4M3FN>)
// CHECK: ^bb0(%[[IN:.*]]: f8E4M3FN, %[[Q:.*]]: i1, %{{.*}}: f8E4M3FN):
// CHECK: %[[S:.*]] = arith.select %[[Q]], %[[Z]], %[[IN]] : f8E4M3FN
// CHECK: linalg.yield %[[S]] : f8E4M3FN
// CHECK: "headrace.matmul"(%[[R]], %arg0
func.func @generic_select(%x: tensor<4xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<bf16>, %p: tensor<8x4xi1>) -> tensor<8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<bf16>) -> tensor<4x8xbf16>
  %e = tensor.empty() : tensor<8x4xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%b, %p : tensor<4x8xbf16>, tensor<8x4xi1>) outs(%e : tensor<8x4xbf16>) {
  ^bb0(%in: bf16, %q: i1, %out: bf16):
    %z = arith.constant 0.0 : bf16
    %0 = arith.select %q, %z, %in : bf16
    linalg.yield %0 : bf16
  } -> tensor<8x4xbf16>
  %c0 = arith.constant dense<0.0> : tensor<8xf32>
  %d = linalg.matvec ins(%r, %a : tensor<8x4xbf16>, tensor<4xbf16>) outs(%c0 : tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}

// A scale per axis is transposed with the data.
// CHECK-LABEL: func.func @scale_transpose
// CHECK: %[[F:.*]] = arith.extf %arg2 : tensor<1x8xbf16> to tensor<1x8xf32>
// CHECK: %[[R:.*]] = linalg.transpose ins(%arg1 : tensor<4x8xf8E4M3FN>)
// CHECK: %[[S:.*]] = linalg.transpose ins(%[[F]] : tensor<1x8xf32>) outs(%{{.*}} : tensor<8x1xf32>) permutation = [1, 0]
// CHECK: "headrace.matmul"(%[[R]], %arg0, %[[S]])
func.func @scale_transpose(%x: tensor<4xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<1x8xbf16>) -> tensor<8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<1x8xbf16>) -> tensor<4x8xbf16>
  %e = tensor.empty() : tensor<8x4xbf16>
  %r = linalg.transpose ins(%b : tensor<4x8xbf16>) outs(%e : tensor<8x4xbf16>) permutation = [1, 0]
  %c0 = arith.constant dense<0.0> : tensor<8xf32>
  %d = linalg.matvec ins(%r, %a : tensor<8x4xbf16>, tensor<4xbf16>) outs(%c0 : tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}

// It is split with the data; a slice along another dim leaves it.
// CHECK-LABEL: func.func @scale_expand
// CHECK-DAG: %[[F:.*]] = arith.extf %arg2 : tensor<4x1xbf16> to tensor<4x1xf32>
// CHECK-DAG: %[[E:.*]] = tensor.expand_shape %[[F]] {{\[}}[0, 1], [2]] output_shape [4, 1, 1] : tensor<4x1xf32> into tensor<4x1x1xf32>
// CHECK-DAG: %[[S:.*]] = tensor.collapse_shape %[[E]] {{\[}}[0, 1], [2]] : tensor<4x1x1xf32> into tensor<4x1xf32>
// CHECK: "headrace.matmul"(%{{.*}}, %arg0, %[[S]])
func.func @scale_expand(%x: tensor<4xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<4x1xbf16>) -> tensor<4xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<4x1xbf16>) -> tensor<4x8xbf16>
  %0 = tensor.expand_shape %b [[0, 1], [2]] output_shape [4, 1, 8] : tensor<4x8xbf16> into tensor<4x1x8xbf16>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<4x1x8xbf16> into tensor<4x8xbf16>
  %r = tensor.extract_slice %1[0, 2] [4, 4] [1, 1] : tensor<4x8xbf16> to tensor<4x4xbf16>
  %c0 = arith.constant dense<0.0> : tensor<4xf32>
  %d = linalg.matvec ins(%r, %a : tensor<4x4xbf16>, tensor<4xbf16>) outs(%c0 : tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// Dynamic sizes: zeros and targets are made with the sizes of the old ones.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[Z:.*]] = tensor.splat %{{.*}}[%{{.*}}] : tensor<?x8xf8E4M3FN>
// CHECK: %[[S:.*]] = arith.select %arg1, %arg0, %[[Z]] : tensor<?x8xf8E4M3FN>
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<8x?xf8E4M3FN>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[S]] : tensor<?x8xf8E4M3FN>) outs(%[[E]] : tensor<8x?xf8E4M3FN>)
// CHECK: "headrace.matmul"(%[[T]], %arg0) {{.*}} -> tensor<8x8xf32>
func.func @dynamic(%y: tensor<?x8xf8E4M3FN>, %p: i1, %n: index) -> tensor<8x8xf32> {
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<?x8xf8E4M3FN>) -> tensor<?x8xbf16>
  %c = arith.constant 0.0 : bf16
  %z = tensor.splat %c[%n] : tensor<?x8xbf16>
  %s = arith.select %p, %b, %z : tensor<?x8xbf16>
  %e = tensor.empty(%n) : tensor<8x?xbf16>
  %t = linalg.transpose ins(%s : tensor<?x8xbf16>) outs(%e : tensor<8x?xbf16>) permutation = [1, 0]
  %i = arith.constant dense<0.0> : tensor<8x8xf32>
  %d = linalg.matmul ins(%t, %b : tensor<8x?xbf16>, tensor<?x8xbf16>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}
