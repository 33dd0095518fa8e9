// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(inline,raise-stablehlo,canonicalize,cse,headrace-cse,headrace-dce)' | FileCheck %s

// What frameworks write, whole.

// Flax's QDQ style: scale f32[1] rounded to bf16 for both halves, clip in a
// private function, bf16 arithmetic.
// CHECK-LABEL: func.func @flax_qdq
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xbf16>, %[[S:.*]]: tensor<1xf32>)
// CHECK-NEXT: %[[B:.*]] = stablehlo.convert %[[S]] : (tensor<1xf32>) -> tensor<1xbf16>
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%[[X]], %[[B]]) {{.*}}saturate = true, scale_mode = "divide"} : (tensor<4x8xbf16>, tensor<1xbf16>) -> tensor<4x8xf8E4M3FN>
// CHECK-NEXT: %[[D:.*]] = "headrace.dequantize"(%[[Q]], %[[B]]) {{.*}}scale_mode = "multiply"} : (tensor<4x8xf8E4M3FN>, tensor<1xbf16>) -> tensor<4x8xbf16>
// CHECK-NEXT: return %[[D]]
func.func @flax_qdq(%x: tensor<4x8xbf16>, %s: tensor<1xf32>) -> tensor<4x8xbf16> {
  %0 = stablehlo.convert %s : (tensor<1xf32>) -> tensor<1xbf16>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<1xbf16>) -> tensor<4x8xbf16>
  %2 = stablehlo.divide %x, %1 : tensor<4x8xbf16>
  %lo = stablehlo.constant dense<-4.480000e+02> : tensor<bf16>
  %hi = stablehlo.constant dense<4.480000e+02> : tensor<bf16>
  %3 = func.call @clip(%2, %lo, %hi) : (tensor<4x8xbf16>, tensor<bf16>, tensor<bf16>) -> tensor<4x8xbf16>
  %4 = stablehlo.convert %3 : (tensor<4x8xbf16>) -> tensor<4x8xf8E4M3FN>
  %5 = stablehlo.convert %4 : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xbf16>
  %6 = stablehlo.convert %s : (tensor<1xf32>) -> tensor<1xbf16>
  %7 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<1xbf16>) -> tensor<4x8xbf16>
  %8 = stablehlo.multiply %5, %7 : tensor<4x8xbf16>
  return %8 : tensor<4x8xbf16>
}
func.func private @clip(%x: tensor<4x8xbf16>, %lo: tensor<bf16>, %hi: tensor<bf16>) -> tensor<4x8xbf16> {
  %0 = stablehlo.broadcast_in_dim %lo, dims = [] : (tensor<bf16>) -> tensor<4x8xbf16>
  %1 = stablehlo.maximum %0, %x : tensor<4x8xbf16>
  %2 = stablehlo.broadcast_in_dim %hi, dims = [] : (tensor<bf16>) -> tensor<4x8xbf16>
  %3 = stablehlo.minimum %2, %1 : tensor<4x8xbf16>
  return %3 : tensor<4x8xbf16>
}

// -----

// Flax's direct style: quantized operands, an fp8 dot, the scales' product
// after it. No dequantize.
// CHECK-LABEL: func.func @flax_direct
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %{{.*}})
// CHECK: stablehlo.dot_general %[[Q]], %arg1
// CHECK-SAME: (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>) -> tensor<4x4xbf16>
// CHECK-NOT: headrace.dequantize
func.func @flax_direct(%x: tensor<4x8xbf16>, %k: tensor<8x4xf8E4M3FN>, %sx: tensor<1xf32>, %sk: tensor<1xf32>) -> tensor<4x4xbf16> {
  %0 = stablehlo.convert %sx : (tensor<1xf32>) -> tensor<1xbf16>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<1xbf16>) -> tensor<4x8xbf16>
  %2 = stablehlo.divide %x, %1 : tensor<4x8xbf16>
  %3 = stablehlo.convert %2 : (tensor<4x8xbf16>) -> tensor<4x8xf8E4M3FN>
  %4 = stablehlo.dot_general %3, %k, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>) -> tensor<4x4xbf16>
  %5 = stablehlo.multiply %sx, %sk : tensor<1xf32>
  %6 = stablehlo.convert %5 : (tensor<1xf32>) -> tensor<1xbf16>
  %7 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<1xbf16>) -> tensor<4x4xbf16>
  %8 = stablehlo.multiply %4, %7 : tensor<4x4xbf16>
  return %8 : tensor<4x4xbf16>
}

// -----

// Scales that multiply on the way in and divide on the way out, in f32, with
// one scale per row and a rounding to bf16 at the end.
// CHECK-LABEL: func.func @rowwise
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1) {{.*}}saturate = true, scale_mode = "multiply"} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf8E5M2>
// CHECK-NEXT: %[[D:.*]] = "headrace.dequantize"(%[[Q]], %arg1) {{.*}}scale_mode = "divide"} : (tensor<4x8xf8E5M2>, tensor<4x1xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: stablehlo.convert %[[D]] : (tensor<4x8xf32>) -> tensor<4x8xbf16>
func.func @rowwise(%x: tensor<4x8xf32>, %s: tensor<4x1xf32>) -> tensor<4x8xbf16> {
  %lo = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
  %hi = stablehlo.constant dense<5.734400e+04> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<4x8xf32>
  %2 = stablehlo.clamp %lo, %1, %hi : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = stablehlo.convert %2 : (tensor<4x8xf32>) -> tensor<4x8xf8E5M2>
  %4 = stablehlo.convert %3 : (tensor<4x8xf8E5M2>) -> tensor<4x8xf32>
  %5 = stablehlo.divide %4, %0 : tensor<4x8xf32>
  %6 = stablehlo.convert %5 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %6 : tensor<4x8xbf16>
}

// -----

// A scale computed from the data: the amax over the devices is exact, and
// stays wide; the quantize takes its quotient.
// CHECK-LABEL: func.func @dynamic_scale
// CHECK: %[[M:.*]] = "headrace.all_reduce"(%{{.*}}) {{.*}}reduction = "max"
// CHECK: %[[S:.*]] = stablehlo.divide %[[M]]
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %[[S]])
// CHECK: "headrace.dequantize"(%[[Q]], %[[S]])
func.func @dynamic_scale(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.constant dense<4.480000e+02> : tensor<f32>
  %0 = stablehlo.abs %x : tensor<4x8xf32>
  %1 = stablehlo.reduce(%0 init: %inf) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  %2 = "stablehlo.all_reduce"(%1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  %3 = stablehlo.divide %2, %max : tensor<f32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %5 = stablehlo.divide %x, %4 : tensor<4x8xf32>
  %6 = stablehlo.negate %max : tensor<f32>
  %7 = stablehlo.clamp %6, %5, %max : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %8 = stablehlo.convert %7 : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
  %9 = stablehlo.convert %8 : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %10 = stablehlo.multiply %9, %4 : tensor<4x8xf32>
  return %10 : tensor<4x8xf32>
}
