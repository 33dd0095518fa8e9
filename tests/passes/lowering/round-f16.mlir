// RUN: headrace-opt %s --pass-pipeline='builtin.module(round-f16{target=cpu+no-f16c})' | FileCheck %s
// RUN: headrace-opt %s --pass-pipeline='builtin.module(round-f16{target=cpu})' | FileCheck %s --check-prefix=KEPT
// RUN: headrace-opt %s --pass-pipeline='builtin.module(round-f16{target=gfx942})' | FileCheck %s --check-prefix=KEPT

// Tensors become linalg ops first.
// CHECK-LABEL: func.func @sum
// CHECK: linalg.generic
// CHECK: %[[A:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: %[[B:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]] fastmath<nnan> : f32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[S]] : f32 to i32
// CHECK-NOT: arith.truncf
// CHECK: %[[H:.*]] = arith.trunci %{{.*}} : i32 to i16
// CHECK: %[[R:.*]] = arith.bitcast %[[H]] : i16 to f16
// CHECK: linalg.yield %[[R]] : f16
// KEPT-LABEL: func.func @sum
// KEPT: arith.addf %arg0, %arg1 fastmath<nnan> : tensor<4xf16>
func.func @sum(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %s = arith.addf %x, %y fastmath<nnan> : tensor<4xf16>
  return %s : tensor<4xf16>
}

// CHECK-LABEL: func.func @converts
// CHECK: arith.bitcast %arg0 : f32 to i32
// CHECK: arith.sitofp %arg1 : i8 to f32
// CHECK: arith.uitofp %arg2 : i1 to f32
// CHECK: arith.extf %arg3 : bf16 to f32
// CHECK-NOT: {{(truncf|sitofp|uitofp).*to f16}}
// CHECK: return
func.func @converts(%x: f32, %i: i8, %b: i1, %c: bf16) -> (i16, i16, i16, i16) {
  %0 = arith.truncf %x : f32 to f16
  %1 = arith.sitofp %i : i8 to f16
  %2 = arith.uitofp %b : i1 to f16
  %w = arith.extf %c : bf16 to f32
  %3 = arith.truncf %w : f32 to f16
  %4 = arith.bitcast %0 : f16 to i16
  %5 = arith.bitcast %1 : f16 to i16
  %6 = arith.bitcast %2 : f16 to i16
  %7 = arith.bitcast %3 : f16 to i16
  return %4, %5, %6, %7 : i16, i16, i16, i16
}

// Only operands in f16 are widened.
// CHECK-LABEL: func.func @power
// CHECK: %[[W:.*]] = arith.extf %arg0 : f16 to f32
// CHECK: math.fpowi %[[W]], %arg1 : f32, i32
func.func @power(%x: f16, %n: i32) -> f16 {
  %y = math.fpowi %x, %n : f16, i32
  return %y : f16
}

// The greater one by its bits: nothing is widened, which LLVM would take back.
// CHECK-LABEL: func.func @choices
// CHECK-NOT: arith.extf
// CHECK: arith.cmpi sgt
// CHECK: arith.select %{{.*}}, %arg0, %arg1 : f16
// CHECK: arith.cmpi slt
// CHECK: arith.select %{{.*}}, %arg0, %arg1 : f16
// CHECK-NOT: arith.extf
// CHECK: return
func.func @choices(%x: f16, %y: f16) -> (f16, f16) {
  %a = arith.maximumf %x, %y : f16
  %b = arith.minimumf %x, %y : f16
  return %a, %b : f16, f16
}

// Negative: nothing is rounded.
// CHECK-LABEL: func.func @exact
// CHECK-NEXT: arith.constant 1.000000e+00 : f16
// CHECK-NEXT: arith.cmpf olt, %arg0, %{{.*}} : f16
// CHECK-NEXT: arith.select %{{.*}}, %arg0, %{{.*}} : f16
// CHECK-NEXT: arith.extf %arg1 : f8E5M2 to f16
// CHECK-NEXT: arith.addf %arg2, %arg2 : bf16
// CHECK-NEXT: return
func.func @exact(%x: f16, %q: f8E5M2, %b: bf16) -> (f16, f16, bf16) {
  %one = arith.constant 1.0 : f16
  %c = arith.cmpf olt, %x, %one : f16
  %y = arith.select %c, %x, %one : f16
  %w = arith.extf %q : f8E5M2 to f16
  %s = arith.addf %b, %b : bf16
  return %y, %w, %s : f16, f16, bf16
}

// Negative: the body is what the name says.
// CHECK-LABEL: func.func @named
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: return
func.func @named(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  %y = linalg.matmul ins(%x, %x : tensor<4x4xf16>, tensor<4x4xf16>) outs(%x : tensor<4x4xf16>) -> tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}
