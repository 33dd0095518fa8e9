// One case per reason the verifier gives.

// RUN: headrace-opt %s --split-input-file --verify-diagnostics

func.func @unknown_op() {
  // expected-error @+1 {{'headrace.nope' op is not an op of the headrace dialect}}
  "headrace.nope"() : () -> ()
  return
}

// -----

func.func @region() {
  // expected-error @+1 {{takes no regions}}
  %0 = "headrace.partition_id"() ({}) : () -> tensor<i32>
  return
}

// -----

func.func @missing_attribute(%x: tensor<8xf32>) {
  // expected-error @+1 {{requires attribute 'pipelined'}}
  %0 = "headrace.all_reduce"(%x) {reduction = "add", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @wrong_attribute_kind(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'dim' must be an integer, got "zero"}}
  %0 = "headrace.all_gather"(%x) {dim = "zero", pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xf32>) -> tensor<16xf32>
  return
}

// -----

func.func @unknown_attribute(%x: tensor<8xf32>) {
  // expected-error @+1 {{has no attribute 'axis'}}
  %0 = "headrace.all_gather"(%x) {axis = 0 : i64, dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xf32>) -> tensor<16xf32>
  return
}

// -----

func.func @operand_count(%x: tensor<8xf32>) {
  // expected-error @+1 {{expects 1 operands, got 2}}
  %0 = "headrace.all_gather"(%x, %x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return
}

// -----

func.func @result_count() {
  // expected-error @+1 {{expects 1 results, got 0}}
  "headrace.partition_id"() : () -> ()
  return
}

// -----

func.func @segments_missing(%x: tensor<8xf32>) {
  // expected-error @+1 {{requires attribute 'operandSegmentSizes'}}
  %0 = "headrace.quantize"(%x) {saturate = true, scale_mode = "divide"} : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return
}

// -----

func.func @segments_kind(%x: tensor<8xf32>) {
  // expected-error @+1 {{operandSegmentSizes must be array<i32: ...>}}
  %0 = "headrace.quantize"(%x) {operandSegmentSizes = 1 : i32, saturate = true, scale_mode = "divide"} : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return
}

// -----

func.func @segments_entries(%x: tensor<8xf32>) {
  // expected-error @+1 {{operandSegmentSizes must have 2 entries, got 1}}
  %0 = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return
}

// -----

func.func @segments_sizes(%x: tensor<8xf32>) {
  // expected-error @+1 {{operandSegmentSizes gives 0 operands for 'input'}}
  %0 = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 0, 1>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return
}

// -----

func.func @segments_disagree(%x: tensor<8xf32>) {
  // expected-error @+1 {{expects 2 operands, got 1}}
  %0 = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return
}

// -----

func.func @result_type(%x: tensor<8xf32>) {
  // expected-error @+1 {{result 'result' must be ranked tensor of an fp8 type, got tensor<8xi8>}}
  %0 = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>) -> tensor<8xi8>
  return
}

// -----

func.func @operand_type(%x: tensor<*xf32>) {
  // expected-error @+1 {{operand 'input' must be ranked tensor of bf16, f16, f32 or f64, got tensor<*xf32>}}
  %0 = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<*xf32>) -> tensor<8xf8E4M3FN>
  return
}

// -----

func.func @quantize_shape(%x: tensor<8xf32>) {
  // expected-error @+1 {{result shape [9] is not the input's [8]}}
  %0 = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>) -> tensor<9xf8E4M3FN>
  return
}

// -----

func.func @scale_element_type(%x: tensor<8xf32>, %s: tensor<bf16>) {
  // expected-error @+1 {{the scale's element type is not the input's}}
  %0 = "headrace.quantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>, tensor<bf16>) -> tensor<8xf8E4M3FN>
  return
}

// -----

func.func @scale_rank(%x: tensor<8x4xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{scale of shape [4] has neither one element nor the rank 2 of the data}}
  %0 = "headrace.quantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf8E4M3FN>
  return
}

// -----

func.func @scale_block(%q: tensor<8x4xf8E5M2>, %s: tensor<3x1xf32>) {
  // expected-error @+1 {{scale size 3 does not divide the data's size 8 in dimension 0}}
  %0 = "headrace.dequantize"(%q, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E5M2>, tensor<3x1xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scale_mode(%q: tensor<8x4xf8E5M2>) {
  // expected-error @+1 {{scale_mode must be one of multiply, divide, got 'times'}}
  %0 = "headrace.dequantize"(%q) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "times"} : (tensor<8x4xf8E5M2>) -> tensor<8x4xf32>
  return
}

// -----

func.func @gather_shape(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{result shape [8, 4] should be [32, 4] for groups of 4}}
  %0 = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @gather_dim(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{dim = 2 is outside the input's rank 2}}
  %0 = "headrace.all_gather"(%x) {dim = 2 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x4xf32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @gather_element_type(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{the result's element type is not the input's}}
  %0 = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x4xf32>) -> tensor<16x4xbf16>
  return
}

// -----

func.func @groups_shape(%x: tensor<8xf32>) {
  // expected-error @+1 {{replica_groups must be a non-empty two-dimensional tensor}}
  %0 = "headrace.all_reduce"(%x) {pipelined = false, reduction = "add", replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @groups_negative(%x: tensor<8xf32>) {
  // expected-error @+1 {{replica_groups holds a negative device id}}
  %0 = "headrace.all_reduce"(%x) {pipelined = false, reduction = "add", replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @groups_twice(%x: tensor<8xf32>) {
  // expected-error @+1 {{a device occurs twice in replica_groups}}
  %0 = "headrace.all_reduce"(%x) {pipelined = false, reduction = "add", replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduction(%x: tensor<8xf32>) {
  // expected-error @+1 {{reduction must be one of add, mul, max, min, umax, umin, and, or, xor, got 'sum'}}
  %0 = "headrace.all_reduce"(%x) {pipelined = false, reduction = "sum", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @integer_reduction(%x: tensor<8xbf16>) {
  // expected-error @+1 {{reduction 'and' is for integers}}
  %0 = "headrace.all_reduce"(%x) {pipelined = false, reduction = "and", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xbf16>) -> tensor<8xbf16>
  return
}

// -----

func.func @scatter_divisible(%x: tensor<7xf32>) {
  // expected-error @+1 {{size 7 in dimension 0 is not divisible by 2}}
  %0 = "headrace.reduce_scatter"(%x) {dim = 0 : i64, pipelined = false, reduction = "add", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<7xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @all_to_all_shape(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{result shape [8, 4] should be [4, 8] for groups of 2}}
  %0 = "headrace.all_to_all"(%x) {concat_dim = 1 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_dim = 0 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @pairs_shape(%x: tensor<8xf32>) {
  // expected-error @+1 {{source_target_pairs must have shape n x 2, got [1, 3]}}
  %0 = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @pairs_target_twice(%x: tensor<8xf32>) {
  // expected-error @+1 {{a device is a target twice in source_target_pairs}}
  %0 = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @matmul_element_type(%a: tensor<4x4xi8>) {
  // expected-error @+1 {{lhs must have a float element type, got i8}}
  %0 = "headrace.matmul"(%a, %a) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_epilogue(%a: tensor<4x4xf8E4M3FN>) {
  // expected-error @+1 {{epilogue must be one of none, relu, gelu_tanh, got 'silu'}}
  %0 = "headrace.matmul"(%a, %a) {epilogue = "silu", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_dim_counts(%a: tensor<4x4xf8E4M3FN>) {
  // expected-error @+1 {{lhs and rhs have different numbers of contracting dims}}
  %0 = "headrace.matmul"(%a, %a) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64>} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_dims(%a: tensor<4x4xf8E4M3FN>) {
  // expected-error @+1 {{dims [0, 0] of lhs are not distinct dims of rank 2}}
  %0 = "headrace.matmul"(%a, %a) {epilogue = "none", lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_sizes(%a: tensor<4x4xf8E4M3FN>, %b: tensor<5x4xf8E4M3FN>) {
  // expected-error @+1 {{contracting sizes differ: 4 and 5}}
  %0 = "headrace.matmul"(%a, %b) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf8E4M3FN>, tensor<5x4xf8E4M3FN>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_result(%a: tensor<4x4xf8E4M3FN>) {
  // expected-error @+1 {{result shape [4, 5] should be [4, 4]}}
  %0 = "headrace.matmul"(%a, %a) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x5xf32>
  return
}

// -----

func.func @matmul_contracting_scale(%a: tensor<4x4xf8E4M3FN>, %s: tensor<1x4xf32>) {
  // expected-error @+1 {{lhs_scale varies along dimension 1, which cannot leave the sum}}
  %0 = "headrace.matmul"(%a, %a, %s) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>, tensor<1x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_scale_type(%a: tensor<4x4xf8E4M3FN>, %s: tensor<bf16>) {
  // expected-error @+1 {{operand 'lhs_scale' must be ranked tensor of f32, got tensor<bf16>}}
  %0 = "headrace.matmul"(%a, %a, %s) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>, tensor<bf16>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_result_scale(%a: tensor<4x4xf8E4M3FN>, %s: tensor<4x1xf32>) {
  // expected-error @+1 {{result_scale must have one element}}
  %0 = "headrace.matmul"(%a, %a, %s) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>, tensor<4x1xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_bias(%a: tensor<4x4xf8E4M3FN>, %s: tensor<4xf32>) {
  // expected-error @+1 {{bias of shape [4] does not broadcast to [4, 4]}}
  %0 = "headrace.matmul"(%a, %a, %s) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>, tensor<4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @id_type() {
  // expected-error @+1 {{result 'result' must be tensor<i32>, got tensor<ui32>}}
  %0 = "headrace.partition_id"() : () -> tensor<ui32>
  return
}

// -----

func.func @encoding_missing(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{expected an #iree_encoding encoding, got None}}
  %0 = "headrace.set_encoding"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @encoding_twice(%x: tensor<8x4xf32, #iree_encoding.testing<>>) {
  // expected-error @+1 {{the input already has an encoding}}
  %0 = "headrace.set_encoding"(%x) : (tensor<8x4xf32, #iree_encoding.testing<>>) -> tensor<8x4xf32, #iree_encoding.testing<>>
  return
}

// -----

func.func @encoding_kept(%x: tensor<8x4xf32, #iree_encoding.testing<>>) {
  // expected-error @+1 {{the result still has an encoding}}
  %0 = "headrace.unset_encoding"(%x) : (tensor<8x4xf32, #iree_encoding.testing<>>) -> tensor<8x4xf32, #iree_encoding.testing<>>
  return
}

// -----

func.func @encoding_shape(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{shapes [8, 4] and [8, 5] differ}}
  %0 = "headrace.set_encoding"(%x) : (tensor<8x4xf32>) -> tensor<8x5xf32, #iree_encoding.testing<>>
  return
}

// -----

// Several faults in one module: all are told.
func.func @two(%x: tensor<8xf32>) {
  // expected-error @+1 {{requires attribute 'reduction'}}
  %0 = "headrace.all_reduce"(%x) {pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{is not an op of the headrace dialect}}
  "headrace.other"() : () -> ()
  return
}
