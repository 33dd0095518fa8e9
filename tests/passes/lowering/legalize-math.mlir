// RUN: headrace-opt %s --pass-pipeline='builtin.module(legalize-math)' | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: headrace-opt %s --pass-pipeline='builtin.module(legalize-math{target=sm_80})' | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: headrace-opt %s --pass-pipeline='builtin.module(legalize-math{target=vmvx})' | FileCheck %s --check-prefixes=CHECK,GPU

// CHECK-LABEL: func.func @trunc
// CPU: %[[N:.*]] = arith.negf %arg0 : f32
// CPU: %[[F:.*]] = math.floor %[[N]] : f32
// CPU: %[[C:.*]] = arith.negf %[[F]] : f32
// CPU: %[[G:.*]] = math.floor %arg0 : f32
// CPU: arith.select %{{.*}}, %[[C]], %[[G]] : f32
// GPU-NEXT: math.trunc
func.func @trunc(%x: f32) -> f32 {
  %y = math.trunc %x : f32
  return %y : f32
}

// On tensors, too; in f32 a CPU has it.
// CHECK-LABEL: func.func @ceil
// CPU: linalg.generic
// CPU: math.floor %{{.*}} : f64
// GPU: math.ceil %arg0
// CPU: math.ceil %{{.*}} : f32
// GPU: math.ceil %arg1
func.func @ceil(%x: tensor<4xf64>, %z: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xf32>) {
  %y = math.ceil %x : tensor<4xf64>
  %w = math.ceil %z : tensor<4xf32>
  return %y, %w : tensor<4xf64>, tensor<4xf32>
}

// CHECK-LABEL: func.func @two_results
// CPU: %[[S:.*]] = math.sin %arg0 : f32
// CPU: %[[C:.*]] = math.cos %arg0 : f32
// CPU: return %[[S]], %[[C]]
// GPU-NEXT: math.sincos
func.func @two_results(%x: f32) -> (f32, f32) {
  %s, %c = math.sincos %x : f32
  return %s, %c : f32, f32
}

// Logarithms of halves in f32.
// CHECK-LABEL: func.func @log10
// CPU: arith.extf %arg0 : f16 to f32
// CPU: math.log %{{.*}} : f32
// CPU: arith.divf %{{.*}} : f32
// CPU: arith.truncf %{{.*}} : f32 to f16
// GPU-NEXT: math.log10
func.func @log10(%x: f16) -> f16 {
  %y = math.log10 %x : f16
  return %y : f16
}

// CHECK-LABEL: func.func @classes
// CPU: arith.cmpf oeq, %{{.*}} : f64
// CPU: arith.cmpf oge, %{{.*}} : f16
// CPU: arith.cmpf olt, %{{.*}} : f16
// CPU: arith.andi
// GPU-NEXT: math.isinf
func.func @classes(%x: f64, %z: f16) -> (i1, i1) {
  %y = math.isinf %x : f64
  %w = math.isnormal %z : f16
  return %y, %w : i1, i1
}

// What a CPU has stays.
// CHECK-LABEL: func.func @untouched
// CHECK-NEXT: math.tanh %arg0 : f32
// CHECK-NEXT: math.log2 %arg0 : f32
// CHECK-NEXT: arith.maxnumf %arg0, %arg0 : f32
// CHECK-NEXT: arith.remf %arg0, %arg0 : f32
// CHECK-NEXT: math.expm1 %arg1 : f64
// CHECK-NEXT: return
func.func @untouched(%x: f32, %z: f64) -> (f32, f32, f32, f32, f64) {
  %0 = math.tanh %x : f32
  %1 = math.log2 %x : f32
  %2 = arith.maxnumf %x, %x : f32
  %3 = arith.remf %x, %x : f32
  %4 = math.expm1 %z : f64
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f64
}
