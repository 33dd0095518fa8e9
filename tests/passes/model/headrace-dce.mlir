// RUN: headrace-opt %s --split-input-file --allow-unregistered-dialect --headrace-dce | FileCheck %s

// A whole chain with what feeds it, in one run.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: return %arg0
func.func @chain(%x: tensor<8x4xbf16>) -> tensor<8x4xbf16> {
  %c = stablehlo.constant dense<5.0> : tensor<bf16>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x4xbf16>) -> tensor<4x8xbf16>
  %q = "headrace.quantize"(%t, %c) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4x8xf8E4M3FN>
  %g = "headrace.all_gather"(%q) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x8xf8E4M3FN>) -> tensor<8x8xf8E4M3FN>
  %d = "headrace.dequantize"(%g, %c) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x8xf8E4M3FN>, tensor<bf16>) -> tensor<8x8xbf16>
  %m = stablehlo.dot_general %d, %d, contracting_dims = [1] x [0] : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
  return %x : tensor<8x4xbf16>
}

// -----

// What has another user stays.
// CHECK-LABEL: func.func @shared
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"
// CHECK-NEXT: return %[[Q]]
func.func @shared(%x: tensor<8xf32>) -> tensor<8xf8E4M3FN> {
  %q = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %d = "headrace.dequantize"(%q) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  return %q : tensor<8xf8E4M3FN>
}

// -----

// Inside loops and branches, and what those ops used outside.
// CHECK-LABEL: func.func @nested
// CHECK-NOT: headrace
// CHECK-NOT: stablehlo.constant
// CHECK: scf.for
// CHECK-NEXT: scf.yield
func.func @nested(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %s = stablehlo.constant dense<2.0> : tensor<f32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<8xf32> {
    %q = "headrace.quantize"(%a, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf8E4M3FN>
    %d = "headrace.dequantize"(%q, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>, tensor<f32>) -> tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Ops with pure regions go, with what their regions used.
// CHECK-LABEL: func.func @regions
// CHECK-NEXT: return %arg0
func.func @regions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %k = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %l = arith.addf %i, %k : f32
    linalg.yield %l : f32
  } -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// Calls, unknown ops, writes to memory and what feeds them stay.
// CHECK-LABEL: func.func @effects
// CHECK: %[[A:.*]] = "headrace.quantize"
// CHECK: "test.unknown"(%[[A]])
// CHECK: stablehlo.custom_call @effect
// CHECK: call @effects
// CHECK: linalg.fill
func.func @effects(%x: tensor<8xf32>, %m: memref<4xf32>) {
  %q = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %u = "test.unknown"(%q) : (tensor<8xf8E4M3FN>) -> tensor<f32>
  %c = stablehlo.custom_call @effect(%x) : (tensor<8xf32>) -> tensor<8xf32>
  func.call @effects(%x, %m) : (tensor<8xf32>, memref<4xf32>) -> ()
  %k = arith.constant 3.0 : f32
  linalg.fill ins(%k : f32) outs(%m : memref<4xf32>)
  return
}

// Loops that end and branches go with what is in them, but not where an op in
// them may have effects, and not a loop that may never end.
// CHECK-LABEL: func.func @control_flow(
// CHECK-NOT: scf.for
// CHECK-NOT: headrace
// CHECK: scf.while
// CHECK: scf.if
// CHECK: "test.effect"
// CHECK: return
func.func @control_flow(%x: tensor<2xf32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<2xf32> {
    %s = "headrace.all_reduce"(%a) {pipelined = false, reduction = "add", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    %b = scf.if %p -> tensor<2xf32> {
      scf.yield %s : tensor<2xf32>
    } else {
      scf.yield %a : tensor<2xf32>
    }
    scf.yield %b : tensor<2xf32>
  }
  %w = scf.while (%q = %p) : (i1) -> i1 {
    scf.condition(%q) %q : i1
  } do {
  ^bb0(%q: i1):
    scf.yield %q : i1
  }
  %e = scf.if %p -> tensor<2xf32> {
    "test.effect"() : () -> ()
    scf.yield %x : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  return
}
