// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(fuse-scaled-matmul)' | FileCheck %s

// What becomes a scaled matmul. "Peer" numbers are those of XLA's own cases
// for its fp8 rewriter, written anew.

// Peer 6: fp8 operands and an fp8 result, no scales. The dot's own rounding
// does not saturate, so a quantize without clamp follows.
// CHECK-LABEL: func.func @peer_6
// CHECK-NOT: stablehlo
// CHECK: %[[M:.*]] = "headrace.matmul"(%arg0, %arg1)
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>
// CHECK-SAME: -> tensor<16x16xf32>
// CHECK: "headrace.quantize"(%[[M]]) {{.*}}saturate = false{{.*}} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
func.func @peer_6(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>) -> tensor<16x16xf8E4M3FN> {
  %d = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<16x16xf8E4M3FN>
  return %d : tensor<16x16xf8E4M3FN>
}

// The direct style of Flax: fp8 operands, wide result.
// CHECK-LABEL: func.func @direct
// CHECK: "headrace.matmul"(%arg0, %arg1) {{.*}}operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>
// CHECK-SAME: (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2>) -> tensor<16x16xbf16>
func.func @direct(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x16xf8E5M2>) -> tensor<16x16xbf16> {
  %d = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2>) -> tensor<16x16xbf16>
  return %d : tensor<16x16xbf16>
}

// Peer 9: dequantize by multiplication on both sides, f32.
// CHECK-LABEL: func.func @peer_9
// CHECK-NEXT: %[[M:.*]] = "headrace.matmul"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>
// CHECK-SAME: (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<16x16xf32>
// CHECK-NEXT: return %[[M]]
func.func @peer_9(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>, %sx: tensor<f32>, %sy: tensor<f32>) -> tensor<16x16xf32> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FN>, tensor<f32>) -> tensor<16x32xf32>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>, tensor<f32>) -> tensor<32x16xf32>
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Peer 10: sizes that are no multiple of 16. Nothing is padded here.
// CHECK-LABEL: func.func @peer_10
// CHECK-NEXT: "headrace.matmul"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: (tensor<13x17xf8E4M3FN>, tensor<17x31xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<13x31xf32>
func.func @peer_10(%x: tensor<13x17xf8E4M3FN>, %y: tensor<17x31xf8E4M3FN>, %sx: tensor<f32>, %sy: tensor<f32>) -> tensor<13x31xf32> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<13x17xf8E4M3FN>, tensor<f32>) -> tensor<13x17xf32>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<17x31xf8E4M3FN>, tensor<f32>) -> tensor<17x31xf32>
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<13x17xf32>, tensor<17x31xf32>) -> tensor<13x31xf32>
  return %d : tensor<13x31xf32>
}

// Peer 11: dequantize, then a reshape that merges dims.
// CHECK-LABEL: func.func @peer_11
// CHECK: %[[R:.*]] = stablehlo.reshape %arg0 : (tensor<2x8x16xf8E4M3FN>) -> tensor<16x16xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[R]], %arg1, %arg2, %arg3)
// CHECK-NOT: headrace.dequantize
func.func @peer_11(%x: tensor<2x8x16xf8E4M3FN>, %y: tensor<16x16xf8E4M3FN>, %sx: tensor<f32>, %sy: tensor<f32>) -> tensor<16x16xf32> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x8x16xf8E4M3FN>, tensor<f32>) -> tensor<2x8x16xf32>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<16x16xf8E4M3FN>, tensor<f32>) -> tensor<16x16xf32>
  %r = stablehlo.reshape %a : (tensor<2x8x16xf32>) -> tensor<16x16xf32>
  %d = stablehlo.dot_general %r, %b, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Peer 12: conversion only, no scale.
// CHECK-LABEL: func.func @peer_12
// CHECK-NEXT: "headrace.matmul"(%arg0, %arg1) {{.*}}operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>
// CHECK-NEXT: return
func.func @peer_12(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>) -> tensor<16x16xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xf32>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>) -> tensor<32x16xf32>
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Peer 13: pad, broadcast, slice, reshape in a row.
// CHECK-LABEL: func.func @peer_13
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f8E4M3FN>
// CHECK: %[[P:.*]] = stablehlo.pad %arg0, %[[Z]], low = [13], high = [0], interior = [0] : (tensor<3xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<16xf8E4M3FN>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[P]], dims = [1] : (tensor<16xf8E4M3FN>) -> tensor<64x16xf8E4M3FN>
// CHECK: %[[S:.*]] = stablehlo.slice %[[B]] [0:64:2, 0:16] : (tensor<64x16xf8E4M3FN>) -> tensor<32x16xf8E4M3FN>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[S]] : (tensor<32x16xf8E4M3FN>) -> tensor<16x32xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[R]], %arg1, %arg2, %arg3)
// CHECK-NEXT: return
func.func @peer_13(%x: tensor<3xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>, %sx: tensor<f32>, %sy: tensor<f32>) -> tensor<16x16xf32> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<3xf8E4M3FN>, tensor<f32>) -> tensor<3xf32>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>, tensor<f32>) -> tensor<32x16xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %a, %z, low = [13], high = [0], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<16xf32>
  %br = stablehlo.broadcast_in_dim %p, dims = [1] : (tensor<16xf32>) -> tensor<64x16xf32>
  %sl = stablehlo.slice %br [0:64:2, 0:16] : (tensor<64x16xf32>) -> tensor<32x16xf32>
  %r = stablehlo.reshape %sl : (tensor<32x16xf32>) -> tensor<16x32xf32>
  %d = stablehlo.dot_general %r, %b, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Peer 14: pad, broadcast, slice, reshape in a row, without scales.
// CHECK-LABEL: func.func @peer_14
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f8E4M3FN>
// CHECK: %[[P:.*]] = stablehlo.pad %arg0, %[[Z]], low = [13], high = [0], interior = [0] : (tensor<3xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<16xf8E4M3FN>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[P]], dims = [1] : (tensor<16xf8E4M3FN>) -> tensor<64x16xf8E4M3FN>
// CHECK: %[[S:.*]] = stablehlo.slice %[[B]] [0:64:2, 0:16] : (tensor<64x16xf8E4M3FN>) -> tensor<32x16xf8E4M3FN>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[S]] : (tensor<32x16xf8E4M3FN>) -> tensor<16x32xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[R]], %arg1)
// CHECK-NEXT: return
func.func @peer_14(%x: tensor<3xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>) -> tensor<16x16xf32> {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>) -> tensor<32x16xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %a, %z, low = [13], high = [0], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<16xf32>
  %br = stablehlo.broadcast_in_dim %p, dims = [1] : (tensor<16xf32>) -> tensor<64x16xf32>
  %sl = stablehlo.slice %br [0:64:2, 0:16] : (tensor<64x16xf32>) -> tensor<32x16xf32>
  %r = stablehlo.reshape %sl : (tensor<32x16xf32>) -> tensor<16x32xf32>
  %d = stablehlo.dot_general %r, %b, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Peer 15: dynamic slice; the start indices stay what they are.
// CHECK-LABEL: func.func @peer_15
// CHECK: %[[S:.*]] = stablehlo.dynamic_slice %arg0, %arg4, %arg4, sizes = [16, 32] : (tensor<32x32xf8E4M3FN>, tensor<i32>, tensor<i32>) -> tensor<16x32xf8E4M3FN>
// CHECK: "headrace.matmul"(%[[S]], %arg1, %arg2, %arg3)
func.func @peer_15(%x: tensor<32x32xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>, %sx: tensor<f32>, %sy: tensor<f32>, %i: tensor<i32>) -> tensor<16x16xf32> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x32xf8E4M3FN>, tensor<f32>) -> tensor<32x32xf32>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>, tensor<f32>) -> tensor<32x16xf32>
  %s = stablehlo.dynamic_slice %a, %i, %i, sizes = [16, 32] : (tensor<32x32xf32>, tensor<i32>, tensor<i32>) -> tensor<16x32xf32>
  %d = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Peer 16: select between the data and zeros, on either side. The zeros of JAX
// are a converted, broadcast integer.
// CHECK-LABEL: func.func @peer_16
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<16x32xf8E4M3FN>
// CHECK: %[[A:.*]] = stablehlo.select %arg4, %arg0, %[[Z]] : tensor<16x32xi1>, tensor<16x32xf8E4M3FN>
// CHECK: %[[Y:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf8E5M2>
// CHECK: %[[B:.*]] = stablehlo.select %arg5, %[[Y]], %arg1 : tensor<i1>, tensor<32x16xf8E5M2>
// CHECK: "headrace.matmul"(%[[A]], %[[B]], %arg2, %arg3)
func.func @peer_16(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x16xf8E5M2>, %sx: tensor<f32>, %sy: tensor<f32>, %p: tensor<16x32xi1>, %q: tensor<i1>) -> tensor<16x16xf32> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FN>, tensor<f32>) -> tensor<16x32xf32>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x16xf8E5M2>, tensor<f32>) -> tensor<32x16xf32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %f = stablehlo.convert %c : (tensor<i32>) -> tensor<f32>
  %z = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  %w = stablehlo.constant dense<0.0> : tensor<32x16xf32>
  %s = stablehlo.select %p, %a, %z : tensor<16x32xi1>, tensor<16x32xf32>
  %u = stablehlo.select %q, %w, %b : tensor<i1>, tensor<32x16xf32>
  %d = stablehlo.dot_general %s, %u, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Peer 18: a batch dim.
// CHECK-LABEL: func.func @peer_18
// CHECK-NEXT: "headrace.matmul"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>
// CHECK-SAME: rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>
// CHECK-SAME: -> tensor<10x16x16xf32>
func.func @peer_18(%x: tensor<10x16x32xf8E4M3FN>, %y: tensor<10x32x16xf8E4M3FN>, %sx: tensor<f32>, %sy: tensor<f32>) -> tensor<10x16x16xf32> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<10x16x32xf8E4M3FN>, tensor<f32>) -> tensor<10x16x32xf32>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<10x32x16xf8E4M3FN>, tensor<f32>) -> tensor<10x32x16xf32>
  %d = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<10x16x32xf32>, tensor<10x32x16xf32>) -> tensor<10x16x16xf32>
  return %d : tensor<10x16x16xf32>
}

// Peer 23: dequantize by division. Each reciprocal is computed once, in f32.
// CHECK-LABEL: func.func @peer_23
// CHECK: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[R:.*]] = stablehlo.divide %[[ONE]], %arg2 : tensor<f32>
// CHECK: %[[ONE2:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[R2:.*]] = stablehlo.divide %[[ONE2]], %arg3 : tensor<f32>
// CHECK: "headrace.matmul"(%arg0, %arg1, %[[R]], %[[R2]])
func.func @peer_23(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>, %sx: tensor<f32>, %sy: tensor<f32>) -> tensor<16x16xf32> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide"} : (tensor<16x32xf8E4M3FN>, tensor<f32>) -> tensor<16x32xf32>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide"} : (tensor<32x16xf8E4M3FN>, tensor<f32>) -> tensor<32x16xf32>
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// A bf16 scale that divides is widened first, then inverted; one that
// multiplies is only widened, and the type that the source rounds to is kept. The
// result of the dot is rounded once.
// CHECK-LABEL: func.func @narrow_scales
// CHECK: %[[F:.*]] = stablehlo.convert %arg2 : (tensor<bf16>) -> tensor<f32>
// CHECK: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[R:.*]] = stablehlo.divide %[[ONE]], %[[F]] : tensor<f32>
// CHECK: %[[G:.*]] = stablehlo.convert %arg3 : (tensor<1xbf16>) -> tensor<1xf32>
// CHECK: "headrace.matmul"(%arg0, %arg1, %[[R]], %[[G]])
// CHECK-SAME: headrace.rhs_rounding = bf16
// CHECK-SAME: (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<f32>, tensor<1xf32>) -> tensor<16x16xbf16>
func.func @narrow_scales(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>, %sx: tensor<bf16>, %sy: tensor<1xbf16>) -> tensor<16x16xbf16> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide"} : (tensor<16x32xf8E4M3FN>, tensor<bf16>) -> tensor<16x32xbf16>
  %b = "headrace.dequantize"(%y, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>, tensor<1xbf16>) -> tensor<32x16xbf16>
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  return %d : tensor<16x16xbf16>
}

// f16 arithmetic; the dot widens to f32.
// CHECK-LABEL: func.func @f16
// CHECK: %[[F:.*]] = stablehlo.convert %arg2 : (tensor<f16>) -> tensor<f32>
// CHECK: "headrace.matmul"(%arg0, %arg1, %[[F]])
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>
// CHECK-SAME: -> tensor<16x16xf32>
func.func @f16(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x16xf8E4M3FN>, %sx: tensor<f16>) -> tensor<16x16xf32> {
  %a = "headrace.dequantize"(%x, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FN>, tensor<f16>) -> tensor<16x32xf16>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>) -> tensor<32x16xf16>
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x32xf16>, tensor<32x16xf16>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Peer 46: every precision; the accumulation is in f32 anyway. So is a dot
// algorithm that asks for no more than that.
// CHECK-LABEL: func.func @peer_46
// CHECK-COUNT-4: "headrace.matmul"(%arg0, %arg1)
// CHECK-NOT: stablehlo
func.func @peer_46(%x: tensor<160x320xf8E4M3FN>, %y: tensor<320x160xf8E4M3FN>) -> (tensor<160x160xf32>, tensor<160x160xf32>, tensor<160x160xf32>, tensor<160x160xf32>) {
  %a = "headrace.dequantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<160x320xf8E4M3FN>) -> tensor<160x320xf32>
  %b = "headrace.dequantize"(%y) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<320x160xf8E4M3FN>) -> tensor<320x160xf32>
  %d0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<160x320xf32>, tensor<320x160xf32>) -> tensor<160x160xf32>
  %d1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<160x320xf32>, tensor<320x160xf32>) -> tensor<160x160xf32>
  %d2 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<160x320xf32>, tensor<320x160xf32>) -> tensor<160x160xf32>
  %d3 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<160x320xf32>, tensor<320x160xf32>) -> tensor<160x160xf32>
  return %d0, %d1, %d2, %d3 : tensor<160x160xf32>, tensor<160x160xf32>, tensor<160x160xf32>, tensor<160x160xf32>
}

// Peer 47: all four orders of contraction.
// CHECK-LABEL: func.func @peer_47
// CHECK: "headrace.matmul"(%arg0, %arg2, %arg4, %arg5) {{.*}}lhs_contracting = array<i64: 0>{{.*}}rhs_contracting = array<i64: 0>
// CHECK: "headrace.matmul"(%arg0, %arg3, %arg4, %arg5) {{.*}}lhs_contracting = array<i64: 0>{{.*}}rhs_contracting = array<i64: 1>
// CHECK: "headrace.matmul"(%arg1, %arg2, %arg4, %arg5) {{.*}}lhs_contracting = array<i64: 1>{{.*}}rhs_contracting = array<i64: 0>
// CHECK: "headrace.matmul"(%arg1, %arg3, %arg4, %arg5) {{.*}}lhs_contracting = array<i64: 1>{{.*}}rhs_contracting = array<i64: 1>
func.func @peer_47(%x0: tensor<32x64xf8E4M3FN>, %x1: tensor<64x32xf8E4M3FN>, %y0: tensor<32x16xf8E4M3FN>, %y1: tensor<16x32xf8E4M3FN>, %sx: tensor<f32>, %sy: tensor<f32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) {
  %a00 = "headrace.dequantize"(%x0, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x64xf8E4M3FN>, tensor<f32>) -> tensor<32x64xf32>
  %b00 = "headrace.dequantize"(%y0, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>, tensor<f32>) -> tensor<32x16xf32>
  %d00 = stablehlo.dot_general %a00, %b00, contracting_dims = [0] x [0] : (tensor<32x64xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %a01 = "headrace.dequantize"(%x0, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x64xf8E4M3FN>, tensor<f32>) -> tensor<32x64xf32>
  %b01 = "headrace.dequantize"(%y1, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FN>, tensor<f32>) -> tensor<16x32xf32>
  %d01 = stablehlo.dot_general %a01, %b01, contracting_dims = [0] x [1] : (tensor<32x64xf32>, tensor<16x32xf32>) -> tensor<64x16xf32>
  %a10 = "headrace.dequantize"(%x1, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<64x32xf8E4M3FN>, tensor<f32>) -> tensor<64x32xf32>
  %b10 = "headrace.dequantize"(%y0, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>, tensor<f32>) -> tensor<32x16xf32>
  %d10 = stablehlo.dot_general %a10, %b10, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %a11 = "headrace.dequantize"(%x1, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<64x32xf8E4M3FN>, tensor<f32>) -> tensor<64x32xf32>
  %b11 = "headrace.dequantize"(%y1, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FN>, tensor<f32>) -> tensor<16x32xf32>
  %d11 = stablehlo.dot_general %a11, %b11, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<16x32xf32>) -> tensor<64x16xf32>
  return %d00, %d01, %d10, %d11 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
}

// Peer 48: the same with a leading batch dim.
// CHECK-LABEL: func.func @peer_48
// CHECK: "headrace.matmul"(%arg0, %arg2, %arg4, %arg5) {{.*}}lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>{{.*}}rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>
// CHECK: "headrace.matmul"(%arg0, %arg3, %arg4, %arg5) {{.*}}lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>{{.*}}rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>
// CHECK: "headrace.matmul"(%arg1, %arg2, %arg4, %arg5) {{.*}}lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>{{.*}}rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>
// CHECK: "headrace.matmul"(%arg1, %arg3, %arg4, %arg5) {{.*}}lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>{{.*}}rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>
func.func @peer_48(%x1: tensor<2x32x64xf8E4M3FN>, %x2: tensor<2x64x32xf8E4M3FN>, %y1: tensor<2x32x16xf8E4M3FN>, %y2: tensor<2x16x32xf8E4M3FN>, %sx: tensor<f32>, %sy: tensor<f32>) -> (tensor<2x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>) {
  %a11 = "headrace.dequantize"(%x1, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x32x64xf8E4M3FN>, tensor<f32>) -> tensor<2x32x64xf32>
  %b11 = "headrace.dequantize"(%y1, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x32x16xf8E4M3FN>, tensor<f32>) -> tensor<2x32x16xf32>
  %d11 = stablehlo.dot_general %a11, %b11, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x32x64xf32>, tensor<2x32x16xf32>) -> tensor<2x64x16xf32>
  %a12 = "headrace.dequantize"(%x1, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x32x64xf8E4M3FN>, tensor<f32>) -> tensor<2x32x64xf32>
  %b12 = "headrace.dequantize"(%y2, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x16x32xf8E4M3FN>, tensor<f32>) -> tensor<2x16x32xf32>
  %d12 = stablehlo.dot_general %a12, %b12, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<2x32x64xf32>, tensor<2x16x32xf32>) -> tensor<2x64x16xf32>
  %a21 = "headrace.dequantize"(%x2, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x64x32xf8E4M3FN>, tensor<f32>) -> tensor<2x64x32xf32>
  %b21 = "headrace.dequantize"(%y1, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x32x16xf8E4M3FN>, tensor<f32>) -> tensor<2x32x16xf32>
  %d21 = stablehlo.dot_general %a21, %b21, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x64x32xf32>, tensor<2x32x16xf32>) -> tensor<2x64x16xf32>
  %a22 = "headrace.dequantize"(%x2, %sx) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x64x32xf8E4M3FN>, tensor<f32>) -> tensor<2x64x32xf32>
  %b22 = "headrace.dequantize"(%y2, %sy) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2x16x32xf8E4M3FN>, tensor<f32>) -> tensor<2x16x32xf32>
  %d22 = stablehlo.dot_general %a22, %b22, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x64x32xf32>, tensor<2x16x32xf32>) -> tensor<2x64x16xf32>
  return %d11, %d12, %d21, %d22 : tensor<2x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>
}

// Peers 49, 50 and 5: all pairs of fp8 types. What a target has no instruction
// for (f8E5M2 x f8E5M2 on CUDA, OCP with FNUZ anywhere) is decoded in lowering.
// CHECK-LABEL: func.func @peer_49_50
// CHECK: "headrace.matmul"(%arg0, %arg4) {{.*}} : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg0, %arg5) {{.*}} : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg0, %arg6) {{.*}} : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FNUZ>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg0, %arg7) {{.*}} : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2FNUZ>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg1, %arg4) {{.*}} : (tensor<16x32xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg1, %arg5) {{.*}} : (tensor<16x32xf8E5M2>, tensor<32x16xf8E5M2>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg1, %arg6) {{.*}} : (tensor<16x32xf8E5M2>, tensor<32x16xf8E4M3FNUZ>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg1, %arg7) {{.*}} : (tensor<16x32xf8E5M2>, tensor<32x16xf8E5M2FNUZ>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg2, %arg4) {{.*}} : (tensor<16x32xf8E4M3FNUZ>, tensor<32x16xf8E4M3FN>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg2, %arg5) {{.*}} : (tensor<16x32xf8E4M3FNUZ>, tensor<32x16xf8E5M2>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg2, %arg6) {{.*}} : (tensor<16x32xf8E4M3FNUZ>, tensor<32x16xf8E4M3FNUZ>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg2, %arg7) {{.*}} : (tensor<16x32xf8E4M3FNUZ>, tensor<32x16xf8E5M2FNUZ>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg3, %arg4) {{.*}} : (tensor<16x32xf8E5M2FNUZ>, tensor<32x16xf8E4M3FN>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg3, %arg5) {{.*}} : (tensor<16x32xf8E5M2FNUZ>, tensor<32x16xf8E5M2>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg3, %arg6) {{.*}} : (tensor<16x32xf8E5M2FNUZ>, tensor<32x16xf8E4M3FNUZ>) -> tensor<16x16xbf16>
// CHECK: "headrace.matmul"(%arg3, %arg7) {{.*}} : (tensor<16x32xf8E5M2FNUZ>, tensor<32x16xf8E5M2FNUZ>) -> tensor<16x16xbf16>
func.func @peer_49_50(%x0: tensor<16x32xf8E4M3FN>, %x1: tensor<16x32xf8E5M2>, %x2: tensor<16x32xf8E4M3FNUZ>, %x3: tensor<16x32xf8E5M2FNUZ>, %y0: tensor<32x16xf8E4M3FN>, %y1: tensor<32x16xf8E5M2>, %y2: tensor<32x16xf8E4M3FNUZ>, %y3: tensor<32x16xf8E5M2FNUZ>) -> (tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>) {
  %a00 = "headrace.dequantize"(%x0) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %b00 = "headrace.dequantize"(%y0) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>) -> tensor<32x16xbf16>
  %d00 = stablehlo.dot_general %a00, %b00, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a01 = "headrace.dequantize"(%x0) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %b01 = "headrace.dequantize"(%y1) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E5M2>) -> tensor<32x16xbf16>
  %d01 = stablehlo.dot_general %a01, %b01, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a02 = "headrace.dequantize"(%x0) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %b02 = "headrace.dequantize"(%y2) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FNUZ>) -> tensor<32x16xbf16>
  %d02 = stablehlo.dot_general %a02, %b02, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a03 = "headrace.dequantize"(%x0) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FN>) -> tensor<16x32xbf16>
  %b03 = "headrace.dequantize"(%y3) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E5M2FNUZ>) -> tensor<32x16xbf16>
  %d03 = stablehlo.dot_general %a03, %b03, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a10 = "headrace.dequantize"(%x1) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E5M2>) -> tensor<16x32xbf16>
  %b10 = "headrace.dequantize"(%y0) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>) -> tensor<32x16xbf16>
  %d10 = stablehlo.dot_general %a10, %b10, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a11 = "headrace.dequantize"(%x1) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E5M2>) -> tensor<16x32xbf16>
  %b11 = "headrace.dequantize"(%y1) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E5M2>) -> tensor<32x16xbf16>
  %d11 = stablehlo.dot_general %a11, %b11, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a12 = "headrace.dequantize"(%x1) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E5M2>) -> tensor<16x32xbf16>
  %b12 = "headrace.dequantize"(%y2) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FNUZ>) -> tensor<32x16xbf16>
  %d12 = stablehlo.dot_general %a12, %b12, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a13 = "headrace.dequantize"(%x1) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E5M2>) -> tensor<16x32xbf16>
  %b13 = "headrace.dequantize"(%y3) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E5M2FNUZ>) -> tensor<32x16xbf16>
  %d13 = stablehlo.dot_general %a13, %b13, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a20 = "headrace.dequantize"(%x2) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FNUZ>) -> tensor<16x32xbf16>
  %b20 = "headrace.dequantize"(%y0) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>) -> tensor<32x16xbf16>
  %d20 = stablehlo.dot_general %a20, %b20, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a21 = "headrace.dequantize"(%x2) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FNUZ>) -> tensor<16x32xbf16>
  %b21 = "headrace.dequantize"(%y1) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E5M2>) -> tensor<32x16xbf16>
  %d21 = stablehlo.dot_general %a21, %b21, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a22 = "headrace.dequantize"(%x2) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FNUZ>) -> tensor<16x32xbf16>
  %b22 = "headrace.dequantize"(%y2) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FNUZ>) -> tensor<32x16xbf16>
  %d22 = stablehlo.dot_general %a22, %b22, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a23 = "headrace.dequantize"(%x2) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E4M3FNUZ>) -> tensor<16x32xbf16>
  %b23 = "headrace.dequantize"(%y3) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E5M2FNUZ>) -> tensor<32x16xbf16>
  %d23 = stablehlo.dot_general %a23, %b23, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a30 = "headrace.dequantize"(%x3) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E5M2FNUZ>) -> tensor<16x32xbf16>
  %b30 = "headrace.dequantize"(%y0) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>) -> tensor<32x16xbf16>
  %d30 = stablehlo.dot_general %a30, %b30, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a31 = "headrace.dequantize"(%x3) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E5M2FNUZ>) -> tensor<16x32xbf16>
  %b31 = "headrace.dequantize"(%y1) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E5M2>) -> tensor<32x16xbf16>
  %d31 = stablehlo.dot_general %a31, %b31, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a32 = "headrace.dequantize"(%x3) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E5M2FNUZ>) -> tensor<16x32xbf16>
  %b32 = "headrace.dequantize"(%y2) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FNUZ>) -> tensor<32x16xbf16>
  %d32 = stablehlo.dot_general %a32, %b32, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  %a33 = "headrace.dequantize"(%x3) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<16x32xf8E5M2FNUZ>) -> tensor<16x32xbf16>
  %b33 = "headrace.dequantize"(%y3) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x16xf8E5M2FNUZ>) -> tensor<32x16xbf16>
  %d33 = stablehlo.dot_general %a33, %b33, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
  return %d00, %d01, %d02, %d03, %d10, %d11, %d12, %d13, %d20, %d21, %d22, %d23, %d30, %d31, %d32, %d33 : tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16>
}
