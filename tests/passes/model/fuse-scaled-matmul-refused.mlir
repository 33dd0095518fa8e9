// RUN: headrace-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(fuse-scaled-matmul)' | FileCheck %s

// Every reason why a dot near an fp8 value stays wide. The same text is in the
// attribute headrace.wide_reason.

// Peer 17: a select with something other than zeros.
// CHECK-LABEL: func.func @peer_17
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.select' fills in a constant that is not the literal +0"
func.func @peer_17(%x: tensor<8x8xf8E4M3FN>, %p: tensor<8x8xi1>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %o = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
  %r = stablehlo.select %p, %a, %o : tensor<8x8xi1>, tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.select' fills in a constant that is not the literal +0}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// -0 is not +0: two of the four types have none.
// CHECK-LABEL: func.func @select_minus_zero
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "lhs stays wide: 'stablehlo.select' fills in a constant that is not the literal +0"
func.func @select_minus_zero(%x: tensor<8x8xf8E4M3FN>, %p: tensor<8x8xi1>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %o = stablehlo.constant dense<-0.0> : tensor<8x8xf32>
  %r = stablehlo.select %p, %o, %a : tensor<8x8xi1>, tensor<8x8xf32>
  // expected-remark @below {{lhs stays wide: 'stablehlo.select' fills in a constant that is not the literal +0}}
  %d = stablehlo.dot_general %r, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A select between the data and a value that is no fp8 value.
// CHECK-LABEL: func.func @select_other
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: a function argument stands between the dequantize and the dot"
func.func @select_other(%x: tensor<8x8xf8E4M3FN>, %p: tensor<8x8xi1>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %r = stablehlo.select %p, %a, %o : tensor<8x8xi1>, tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: a function argument stands between the dequantize and the dot}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Padding with a number.
// CHECK-LABEL: func.func @pad_one
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.pad' pads with something other than the literal +0"
func.func @pad_one(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %s = stablehlo.slice %a [0:7, 0:8] : (tensor<8x8xf32>) -> tensor<7x8xf32>
  %r = stablehlo.pad %s, %c, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<7x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.pad' pads with something other than the literal +0}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Padding with -0.
// CHECK-LABEL: func.func @pad_minus_zero
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.pad' pads with something other than the literal +0"
func.func @pad_minus_zero(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %c = stablehlo.constant dense<-0.0> : tensor<f32>
  %r = stablehlo.pad %a, %c, low = [1, 0], high = [-1, 0], interior = [0, 0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.pad' pads with something other than the literal +0}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Padding with a value that only the run knows.
// CHECK-LABEL: func.func @pad_unknown
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.pad' pads with something other than the literal +0"
func.func @pad_unknown(%x: tensor<8x8xf8E4M3FN>, %c: tensor<f32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %r = stablehlo.pad %a, %c, low = [1, 0], high = [-1, 0], interior = [0, 0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.pad' pads with something other than the literal +0}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Arithmetic.
// CHECK-LABEL: func.func @add
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.add' stands between the dequantize and the dot"
func.func @add(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %s = stablehlo.add %a, %a : tensor<8x8xf32>
  %r = stablehlo.transpose %s, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.add' stands between the dequantize and the dot}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A reason for each side.
// CHECK-LABEL: func.func @both
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "lhs stays wide: 'stablehlo.negate' stands between the dequantize and the dot; rhs stays wide: 'stablehlo.tanh' stands between the dequantize and the dot"
func.func @both(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %l = stablehlo.negate %a : tensor<8x8xf32>
  %r = stablehlo.tanh %a : tensor<8x8xf32>
  // expected-remark @below {{lhs stays wide: 'stablehlo.negate' stands between the dequantize and the dot; rhs stays wide: 'stablehlo.tanh' stands between the dequantize and the dot}}
  %d = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// One side is no fp8 value at all: weights in fp8, activations in bf16.
// CHECK-LABEL: func.func @one_side
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "lhs stays wide: it comes from 'stablehlo.tanh', not from an fp8 value"
func.func @one_side(%x: tensor<8x8xf8E4M3FN>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %l = stablehlo.tanh %o : tensor<8x8xf32>
  // expected-remark @below {{lhs stays wide: it comes from 'stablehlo.tanh', not from an fp8 value}}
  %d = stablehlo.dot_general %l, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// The same with an argument.
// CHECK-LABEL: func.func @argument
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "lhs stays wide: it comes from a function argument, not from an fp8 value"
func.func @argument(%x: tensor<8x8xf8E4M3FN>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  // expected-remark @below {{lhs stays wide: it comes from a function argument, not from an fp8 value}}
  %d = stablehlo.dot_general %o, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Two roundings.
// CHECK-LABEL: func.func @second_rounding
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "lhs stays wide: its dequantize is rounded to bf16, and then to f16
func.func @second_rounding(%x: tensor<8x8xf8E4M3FN>, %s: tensor<f32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<f32>) -> tensor<8x8xf32>
  %b = stablehlo.convert %a : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %r = stablehlo.convert %b : (tensor<8x8xbf16>) -> tensor<8x8xf16>
  // expected-remark @below {{lhs stays wide: its dequantize is rounded to bf16, and then to f16; rhs stays wide: its dequantize is rounded to bf16, and then to f16}}
  %d = stablehlo.dot_general %r, %r, contracting_dims = [1] x [0] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// One scale, but parts that were rounded to different types.
// CHECK-LABEL: func.func @rounded_apart
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "lhs stays wide: 'stablehlo.concatenate' joins values that were rounded to different types"
func.func @rounded_apart(%x: tensor<8x8xf8E4M3FN>, %y: tensor<16x8xf8E4M3FN>, %s: tensor<f32>) -> tensor<16x8xf32> {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<f32>) -> tensor<8x8xf32>
  %b = stablehlo.convert %a : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %c = stablehlo.convert %b : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %j = stablehlo.concatenate %a, %c, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<f32>) -> tensor<8x8xf32>
  // expected-remark @below {{lhs stays wide: 'stablehlo.concatenate' joins values that were rounded to different types}}
  %d = stablehlo.dot_general %j, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// A rounding that is not to the nearest.
// CHECK-LABEL: func.func @rounded_down
// CHECK: linalg.matmul {{.*}}headrace.wide_reason = "lhs stays wide: 'arith.truncf' stands between the dequantize and the dot
func.func @rounded_down(%x: tensor<8x8xf8E4M3FN>, %s: tensor<f32>, %i: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<f32>) -> tensor<8x8xf32>
  %b = arith.truncf %a to_nearest_even : tensor<8x8xf32> to tensor<8x8xbf16>
  %c = arith.truncf %a downward : tensor<8x8xf32> to tensor<8x8xbf16>
  // expected-remark @below {{lhs stays wide: 'arith.truncf' stands between the dequantize and the dot; rhs stays wide: 'arith.truncf' stands between the dequantize and the dot}}
  %d = linalg.matmul ins(%c, %c : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A bitcast reads other bits.
// CHECK-LABEL: func.func @bitcast
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.bitcast_convert' stands between the dequantize and the dot"
func.func @bitcast(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %r = stablehlo.bitcast_convert %a : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.bitcast_convert' stands between the dequantize and the dot}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A conversion of an fp8 value that the front end did not take for a dequantize.
// CHECK-LABEL: func.func @not_raised
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.convert' of an fp8 value is no dequantize"
func.func @not_raised(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %r = stablehlo.convert %x : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.convert' of an fp8 value is no dequantize}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A collective that stayed wide.
// CHECK-LABEL: func.func @gather
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'headrace.all_gather' stands between the dequantize and the dot"
func.func @gather(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %s = stablehlo.slice %a [0:4, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %r = "headrace.all_gather"(%s) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'headrace.all_gather' stands between the dequantize and the dot}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A dot algorithm that asks for more than f32.
// CHECK-LABEL: func.func @algorithm
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "the dot stays wide: its algorithm asks for accumulation in f64"
func.func @algorithm(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  // expected-remark @below {{the dot stays wide: its algorithm asks for accumulation in f64}}
  %d = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f64, rhs_precision_type = f64, accumulation_type = f64, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// An f64 result.
// CHECK-LABEL: func.func @f64_result
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "the dot stays wide: f64 arithmetic would lose bits in f32 accumulation"
func.func @f64_result(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf64> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  // expected-remark @below {{the dot stays wide: f64 arithmetic would lose bits in f32 accumulation}}
  %d = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf64>
  return %d : tensor<8x8xf64>
}

// -----

// f64 arithmetic.
// CHECK-LABEL: func.func @f64
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "lhs stays wide: its dequantize computes in f64; rhs stays wide: its dequantize computes in f64"
func.func @f64(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf64> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf64>
  // expected-remark @below {{lhs stays wide: its dequantize computes in f64; rhs stays wide: its dequantize computes in f64}}
  %d = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
  return %d : tensor<8x8xf64>
}

// -----

// A scale along the contracting dim cannot leave the sum.
// CHECK-LABEL: func.func @contracting_scale
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: its scale varies along contracting dimension 0"
func.func @contracting_scale(%x: tensor<8x8xf8E4M3FN>, %s: tensor<8x1xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<8x1xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: its scale varies along contracting dimension 0}}
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Nor can a scale per block.
// CHECK-LABEL: func.func @block_scale
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: its scale is per block along dimension 1"
func.func @block_scale(%x: tensor<8x8xf8E4M3FN>, %s: tensor<1x4xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<1x4xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: its scale is per block along dimension 1}}
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// And it is not moved.
// CHECK-LABEL: func.func @moved_block_scale
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: a per-block scale does not follow 'stablehlo.transpose'"
func.func @moved_block_scale(%x: tensor<8x8xf8E4M3FN>, %s: tensor<4x1xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<4x1xf32>) -> tensor<8x8xf32>
  %r = stablehlo.transpose %b, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: a per-block scale does not follow 'stablehlo.transpose'}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A reshape that merges the scaled dim with another.
// CHECK-LABEL: func.func @reshaped_scale
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.reshape' merges or splits the dimension of a per-axis scale"
func.func @reshaped_scale(%x: tensor<8x8xf8E4M3FN>, %s: tensor<8x1xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %m = stablehlo.reshape %b : (tensor<8x8xf32>) -> tensor<64xf32>
  %r = stablehlo.reshape %m : (tensor<64xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.reshape' merges or splits the dimension of a per-axis scale}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Padding along the scaled dim.
// CHECK-LABEL: func.func @padded_scale
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.pad' pads the dimension of a per-axis scale"
func.func @padded_scale(%x: tensor<8x8xf8E4M3FN>, %s: tensor<1x8xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.pad %b, %c, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.pad' pads the dimension of a per-axis scale}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Concatenation along the scaled dim.
// CHECK-LABEL: func.func @concatenated_scale
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.concatenate' joins along the dimension of a per-axis scale"
func.func @concatenated_scale(%x: tensor<8x8xf8E4M3FN>, %s: tensor<1x8xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %h = stablehlo.slice %b [0:8, 0:8] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = stablehlo.constant dense<0.0> : tensor<8x0xf32>
  %r = stablehlo.concatenate %h, %z, dim = 1 : (tensor<8x8xf32>, tensor<8x0xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.concatenate' joins along the dimension of a per-axis scale}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Rows picked by index take a scale per row with them; not supported.
// CHECK-LABEL: func.func @gathered_scale
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: a per-axis scale does not follow 'stablehlo.dynamic_update_slice'"
func.func @gathered_scale(%x: tensor<8x8xf8E4M3FN>, %s: tensor<1x8xf32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %r = stablehlo.dynamic_update_slice %z, %b, %i, %i : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: a per-axis scale does not follow 'stablehlo.dynamic_update_slice'}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Concatenation of values with scales that may differ.
// CHECK-LABEL: func.func @two_scales
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.concatenate' joins values with scales that are not provably the same"
func.func @two_scales(%x: tensor<8x8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<f32>, %u: tensor<f32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %c = "headrace.dequantize"(%y, %u) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %r = stablehlo.concatenate %b, %c, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.concatenate' joins values with scales that are not provably the same}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Once divided, once multiplied.
// CHECK-LABEL: func.func @two_modes
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.concatenate' joins values with scales that are not provably the same"
func.func @two_modes(%x: tensor<8x8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %s: tensor<f32>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %c = "headrace.dequantize"(%y, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide"} : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %r = stablehlo.concatenate %b, %c, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.concatenate' joins values with scales that are not provably the same}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Two fp8 types.
// CHECK-LABEL: func.func @two_types
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason = "rhs stays wide: 'stablehlo.concatenate' joins values of f8E4M3FN and f8E5M2"
func.func @two_types(%x: tensor<8x8xf8E4M3FN>, %y: tensor<4x8xf8E4M3FN>, %z: tensor<4x8xf8E5M2>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %c = "headrace.dequantize"(%z) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<4x8xf8E5M2>) -> tensor<4x8xf32>
  %r = stablehlo.concatenate %b, %c, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // expected-remark @below {{rhs stays wide: 'stablehlo.concatenate' joins values of f8E4M3FN and f8E5M2}}
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A wide value that a loop carries.
// CHECK-LABEL: func.func @carried
// CHECK: stablehlo.dot_general {{.*}}headrace.wide_reason
func.func @carried(%x: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %o:2 = stablehlo.while(%w = %a, %p = %true) : tensor<8x8xf32>, tensor<i1>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    // expected-remark @below {{lhs stays wide: a value that 'stablehlo.while' carries stands between the dequantize and the dot; rhs stays wide: a value that 'stablehlo.while' carries stands}}
    %d = stablehlo.dot_general %w, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %d, %p : tensor<8x8xf32>, tensor<i1>
  }
  return %o#0 : tensor<8x8xf32>
}
