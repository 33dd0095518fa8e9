// RUN: headrace-opt %s --split-input-file --allow-unregistered-dialect --headrace-cse | FileCheck %s

// A whole chain of equal ops, native ones in between, in one run.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%arg0, %[[C]])
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[Q]]
// CHECK-NEXT: %[[D:.*]] = "headrace.dequantize"(%[[R]], %[[C]])
// CHECK-NEXT: return %[[D]], %[[D]]
func.func @chain(%x: tensor<4x2xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = stablehlo.constant dense<5.0> : tensor<f32>
  %c1 = stablehlo.constant dense<5.0> : tensor<f32>
  %q0 = "headrace.quantize"(%x, %c0) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf8E4M3FN>
  %q1 = "headrace.quantize"(%x, %c1) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf8E4M3FN>
  %r0 = stablehlo.reshape %q0 : (tensor<4x2xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  %r1 = stablehlo.reshape %q1 : (tensor<4x2xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  %d0 = "headrace.dequantize"(%r0, %c0) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>, tensor<f32>) -> tensor<8xf32>
  %d1 = "headrace.dequantize"(%r1, %c1) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8xf8E4M3FN>, tensor<f32>) -> tensor<8xf32>
  return %d0, %d1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Another scale, mode, saturation, result type or discardable attribute.
// CHECK-LABEL: func.func @different
// CHECK-COUNT-6: "headrace.quantize"
func.func @different(%x: tensor<8xf32>, %s: tensor<f32>, %t: tensor<f32>) -> (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>, tensor<8xf8E5M2>, tensor<8xf8E4M3FN>) {
  %0 = "headrace.quantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf8E4M3FN>
  %1 = "headrace.quantize"(%x, %t) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf8E4M3FN>
  %2 = "headrace.quantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "multiply"} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf8E4M3FN>
  %3 = "headrace.quantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = false, scale_mode = "divide"} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf8E4M3FN>
  %4 = "headrace.quantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf8E5M2>
  %5 = "headrace.quantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide", test.mark} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf8E4M3FN>
  return %0, %1, %2, %3, %4, %5 : tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>, tensor<8xf8E5M2>, tensor<8xf8E4M3FN>
}

// -----

// A loop body uses the gather and the quantize made before the loop, but
// keeps its own dequantize.
// CHECK-LABEL: func.func @loop
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0)
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[Q]])
// CHECK-NEXT: "headrace.dequantize"(%[[G]])
// CHECK: stablehlo.while
// CHECK-NOT: headrace.quantize
// CHECK-NOT: headrace.all_gather
// CHECK: "headrace.dequantize"(%[[G]])
// CHECK-NOT: headrace.dequantize
func.func @loop(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %q = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %g = "headrace.all_gather"(%q) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf8E5M2>) -> tensor<8xf8E5M2>
  %d = "headrace.dequantize"(%g) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E5M2>) -> tensor<8xf32>
  %r:2 = stablehlo.while(%i = %n, %a = %d) : tensor<i32>, tensor<8xf32>
  cond {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %t = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %q2 = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<4xf32>) -> tensor<4xf8E5M2>
    %g2 = "headrace.all_gather"(%q2) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf8E5M2>) -> tensor<8xf8E5M2>
    %d2 = "headrace.dequantize"(%g2) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E5M2>) -> tensor<8xf32>
    %d3 = "headrace.dequantize"(%g2) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<8xf8E5M2>) -> tensor<8xf32>
    %s = stablehlo.add %d2, %d3 : tensor<8xf32>
    %s2 = stablehlo.add %a, %s : tensor<8xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %s2 : tensor<i32>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// -----

// Neither of two branches dominates the other, nor does a loop body the code
// after the loop.
// CHECK-LABEL: func.func @siblings
// CHECK-COUNT-3: "headrace.partition_id"
// CHECK-NOT: "headrace.partition_id"
func.func @siblings(%p: i1) -> (tensor<i32>, tensor<i32>) {
  %r = scf.if %p -> tensor<i32> {
    %0 = "headrace.partition_id"() : () -> tensor<i32>
    scf.yield %0 : tensor<i32>
  } else {
    %1 = "headrace.partition_id"() : () -> tensor<i32>
    %2 = "headrace.partition_id"() : () -> tensor<i32>
    %3 = arith.addi %1, %2 : tensor<i32>
    scf.yield %3 : tensor<i32>
  }
  %4 = "headrace.partition_id"() : () -> tensor<i32>
  return %r, %4 : tensor<i32>, tensor<i32>
}

// -----

// Blocks: the entry dominates all, the others nobody here.
// CHECK-LABEL: func.func @blocks
// CHECK: %[[A:.*]] = "headrace.partition_id"
// CHECK: ^bb1:
// CHECK: "headrace.replica_id"
// CHECK: ^bb2:
// CHECK: "headrace.replica_id"
// CHECK-NEXT: return %[[A]]
func.func @blocks(%p: i1) -> (tensor<i32>, tensor<i32>) {
  %a = "headrace.partition_id"() : () -> tensor<i32>
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %r = "headrace.replica_id"() : () -> tensor<i32>
  return %a, %r : tensor<i32>, tensor<i32>
^bb2:
  %b = "headrace.partition_id"() : () -> tensor<i32>
  %s = "headrace.replica_id"() : () -> tensor<i32>
  return %b, %s : tensor<i32>, tensor<i32>
}

// -----

// Functions share nothing.
// CHECK-LABEL: func.func @one
// CHECK: headrace.partition_id
// CHECK-LABEL: func.func @two
// CHECK: headrace.partition_id
func.func @one() -> tensor<i32> {
  %a = "headrace.partition_id"() : () -> tensor<i32>
  return %a : tensor<i32>
}
func.func @two() -> tensor<i32> {
  %a = "headrace.partition_id"() : () -> tensor<i32>
  return %a : tensor<i32>
}

// -----

// Effects, regions and unknown ops are left alone, and so is the inside of a
// structured op.
// CHECK-LABEL: func.func @left_alone
// CHECK: "test.unknown"
// CHECK: "test.unknown"
// CHECK: stablehlo.custom_call @effect
// CHECK: stablehlo.custom_call @effect
// CHECK: stablehlo.rng
// CHECK: stablehlo.rng
// CHECK: linalg.generic
// CHECK: arith.constant 1.0
func.func @left_alone(%x: tensor<f32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = "test.unknown"(%x) : (tensor<f32>) -> tensor<f32>
  %b = "test.unknown"(%x) : (tensor<f32>) -> tensor<f32>
  %c = stablehlo.custom_call @effect(%a) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  %d = stablehlo.custom_call @effect(%a) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  %s = stablehlo.constant dense<4> : tensor<1xi64>
  %e = stablehlo.rng %c, %d, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %f = stablehlo.rng %c, %d, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %one = arith.constant 1.0 : f32
  %t = tensor.splat %one : tensor<4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%e : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = arith.constant 1.0 : f32
    %l = arith.addf %i, %k : f32
    linalg.yield %l : f32
  } -> tensor<4xf32>
  %h = arith.addf %g, %t : tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// The bindings have no class for complex constants; equal ones are one.
// CHECK-LABEL: func.func @complex_constants
// CHECK: %[[C:.*]] = stablehlo.constant dense<(1.{{0*}}e+00,2.{{0*}}e+00)>
// CHECK-NEXT: return %[[C]], %[[C]]
func.func @complex_constants() -> (tensor<complex<f32>>, tensor<complex<f32>>) {
  %a = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %b = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  return %a, %b : tensor<complex<f32>>, tensor<complex<f32>>
}
