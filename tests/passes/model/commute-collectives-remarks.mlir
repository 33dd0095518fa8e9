// RUN: headrace-opt %s --pass-pipeline='builtin.module(commute-collectives)' --verify-diagnostics

// The reason is a remark at the collective, too; a narrowed collective and one
// without fp8 have none.

module attributes {headrace.num_partitions = 4 : i32} {
func.func @f(%x: tensor<8x4xf8E4M3FN>, %y: tensor<8x4xbf16>) -> (tensor<32x4xbf16>, tensor<32x4xbf16>, tensor<32x4xbf16>, tensor<32x4xbf16>) {
  %w = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16>
  %a = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  %b = "headrace.all_gather"(%y) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  %n = "stablehlo.custom_call"(%w) {call_target_name = "unknown"} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  // expected-remark@+1 {{'headrace.all_gather' stays wide: 'stablehlo.custom_call' between the dequantize and the collective is not data movement}}
  %c = "headrace.all_gather"(%n) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xbf16>) -> tensor<32x4xbf16>
  // expected-remark@+1 {{'headrace.all_reduce' stays wide: reductions are never narrowed: a sum in fp8 would lose bits}}
  %d = "headrace.all_reduce"(%c) {pipelined = false, reduction = "add", replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<32x4xbf16>) -> tensor<32x4xbf16>
  return %a, %b, %c, %d : tensor<32x4xbf16>, tensor<32x4xbf16>, tensor<32x4xbf16>, tensor<32x4xbf16>
}
}
