// Every op, with every optional part there and missing: accepted, printed the
// same twice, and accepted by iree-opt with the IRDL text.

// RUN: headrace-opt %s -o %t.mlir
// RUN: headrace-opt %t.mlir | FileCheck %s
// RUN: iree-opt --irdl-file=%S/../../docs/headrace.irdl.mlir %t.mlir | FileCheck %s

// CHECK-LABEL: func.func @quantization
func.func @quantization(%x: tensor<8x4xbf16>, %s: tensor<bf16>, %row: tensor<8x1xbf16>,
                        %block: tensor<4x2xbf16>, %one: tensor<1xbf16>) -> tensor<8x4xbf16> {
  // CHECK: "headrace.quantize"(%{{.*}}, %{{.*}}) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"}
  %0 = "headrace.quantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8x4xbf16>, tensor<bf16>) -> tensor<8x4xf8E4M3FN>
  // CHECK: "headrace.quantize"(%{{.*}}) {operandSegmentSizes = array<i32: 1, 0>, saturate = false, scale_mode = "divide"}
  %1 = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, saturate = false, scale_mode = "divide"} : (tensor<8x4xbf16>) -> tensor<8x4xf8E5M2>
  // CHECK: tensor<8x4xf8E4M3FNUZ>
  %2 = "headrace.quantize"(%x, %row) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "multiply"} : (tensor<8x4xbf16>, tensor<8x1xbf16>) -> tensor<8x4xf8E4M3FNUZ>
  // CHECK: tensor<8x4xf8E5M2FNUZ>
  %3 = "headrace.quantize"(%x, %block) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8x4xbf16>, tensor<4x2xbf16>) -> tensor<8x4xf8E5M2FNUZ>
  // CHECK: "headrace.dequantize"(%{{.*}}, %{{.*}}) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"}
  %4 = "headrace.dequantize"(%0, %one) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<1xbf16>) -> tensor<8x4xbf16>
  %5 = "headrace.dequantize"(%1) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "divide"} : (tensor<8x4xf8E5M2>) -> tensor<8x4xf64>
  %6 = "headrace.dequantize"(%3, %block) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide"} : (tensor<8x4xf8E5M2FNUZ>, tensor<4x2xbf16>) -> tensor<8x4xbf16>
  return %4 : tensor<8x4xbf16>
}

// CHECK-LABEL: func.func @collectives
func.func @collectives(%x: tensor<8x4xf32>, %q: tensor<?x4xf8E4M3FN>) -> tensor<16x4xf32> {
  // CHECK: "headrace.all_gather"
  %0 = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<8x4xf32>) -> tensor<16x4xf32>
  // CHECK: headrace.pipeline
  %1 = "headrace.all_gather"(%q) {dim = 0 : i64, headrace.pipeline, pipelined = true, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?x4xf8E4M3FN>) -> tensor<?x4xf8E4M3FN>
  // CHECK: "headrace.reduce_scatter"
  %2 = "headrace.reduce_scatter"(%x) {dim = 1 : i64, pipelined = false, reduction = "add", replica_groups = dense<[[3, 1]]> : tensor<1x2xi64>} : (tensor<8x4xf32>) -> tensor<8x2xf32>
  // CHECK: "headrace.all_reduce"
  %3 = "headrace.all_reduce"(%x) {pipelined = false, reduction = "max", replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: "headrace.all_to_all"
  %4 = "headrace.all_to_all"(%x) {concat_dim = 1 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_dim = 0 : i64} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  // CHECK: "headrace.collective_permute"
  %5 = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<16x4xf32>
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<2x8x4xf8E4M3FN>, %b: tensor<2x16x4xf8E5M2>, %s: tensor<f32>,
                  %row: tensor<2x8x1xf32>, %bias: tensor<1x1x16xf32>) -> tensor<2x8x16xbf16> {
  // CHECK: operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>
  %0 = "headrace.matmul"(%a, %b, %row, %s, %bias, %s) {epilogue = "relu", lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>} : (tensor<2x8x4xf8E4M3FN>, tensor<2x16x4xf8E5M2>, tensor<2x8x1xf32>, tensor<f32>, tensor<1x1x16xf32>, tensor<f32>) -> tensor<2x8x16xbf16>
  // CHECK: operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>
  %1 = "headrace.matmul"(%a, %b) {epilogue = "none", lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>} : (tensor<2x8x4xf8E4M3FN>, tensor<2x16x4xf8E5M2>) -> tensor<2x8x16xf8E4M3FN>
  return %0 : tensor<2x8x16xbf16>
}

// CHECK-LABEL: func.func @ids
func.func @ids() -> (tensor<i32>, tensor<i32>) {
  // CHECK: "headrace.partition_id"() : () -> tensor<i32>
  %0 = "headrace.partition_id"() : () -> tensor<i32>
  // CHECK: "headrace.replica_id"() : () -> tensor<i32>
  %1 = "headrace.replica_id"() : () -> tensor<i32>
  return %0, %1 : tensor<i32>, tensor<i32>
}

// CHECK-LABEL: func.func @encodings
func.func @encodings(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  // CHECK: "headrace.set_encoding"(%{{.*}}) : (tensor<16x32xf32>) -> tensor<16x32xf32, #{{.*}}>
  %0 = "headrace.set_encoding"(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32, #iree_encoding.testing<>>
  // CHECK: "headrace.unset_encoding"
  %1 = "headrace.unset_encoding"(%0) : (tensor<16x32xf32, #iree_encoding.testing<>>) -> tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}
