// RUN: headrace-opt %s --pass-pipeline='builtin.module(legalize-converts)' | FileCheck %s
// RUN: headrace-opt %s --pass-pipeline='builtin.module(legalize-converts,canonicalize)' | FileCheck %s --check-prefix=KEPT

// Eight bits are exact: the upper half of the f32.
// CHECK-LABEL: func.func @exact_in_bf16
// CHECK: %[[F:.*]] = arith.sitofp %{{.*}} : i8 to f32
// CHECK: %[[B:.*]] = arith.bitcast %[[F]] : f32 to i32
// CHECK: %[[S:.*]] = arith.shrui %[[B]], %{{.*}} : i32
// CHECK: %[[H:.*]] = arith.trunci %[[S]] : i32 to i16
// CHECK: arith.bitcast %[[H]] : i16 to bf16
// KEPT-NOT: arith.sitofp %{{.*}} to bf16
// KEPT: arith.bitcast %{{.*}} : i16 to bf16
func.func @exact_in_bf16(%x: tensor<4xi8>) -> tensor<4xbf16> {
  %y = arith.sitofp %x : tensor<4xi8> to tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// More bits are rounded, to f32 and to bf16, to nearest even.
// CHECK-LABEL: func.func @rounded
// CHECK: arith.uitofp %{{.*}} : i64 to f32
// CHECK: %[[ODD:.*]] = arith.andi
// CHECK: arith.addi %{{.*}}, %[[ODD]] : i32
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
func.func @rounded(%x: i64) -> bf16 {
  %y = arith.uitofp %x : i64 to bf16
  return %y : bf16
}

// True is 1, not -1.
// CHECK-LABEL: func.func @mask
// CHECK: arith.uitofp %arg0 : i1 to f32
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
func.func @mask(%x: i1) -> bf16 {
  %y = arith.uitofp %x : i1 to bf16
  return %y : bf16
}

// Through f32, as XLA.
// CHECK-LABEL: func.func @from_f64
// CHECK: %[[A:.*]] = arith.truncf %arg0 : f64 to f32
// CHECK: arith.truncf %[[A]] : f32 to f16
// CHECK: %[[B:.*]] = arith.truncf %arg0 : f64 to f32
// CHECK: arith.bitcast %[[B]] : f32 to i32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @from_f64(%x: f64) -> (f16, bf16) {
  %y = arith.truncf %x : f64 to f16
  %z = arith.truncf %x : f64 to bf16
  return %y, %z : f16, bf16
}

// Both bounds of i8 are f32s: clamped before.
// CHECK-LABEL: func.func @saturated
// CHECK: arith.extf %arg0 : f16 to f32
// CHECK: arith.cmpf ord
// CHECK: arith.constant -1.280000e+02 : f32
// CHECK: arith.cmpf ogt
// CHECK: arith.constant 1.270000e+02 : f32
// CHECK: arith.cmpf olt
// CHECK: arith.fptosi %{{.*}} : f32 to i8
// CHECK-NEXT: return
func.func @saturated(%x: f16) -> i8 {
  %y = arith.fptosi %x : f16 to i8
  return %y : i8
}

// The largest i32 is no f32: selected after.
// CHECK-LABEL: func.func @saturated_after
// CHECK: arith.cmpf oge, %arg0
// CHECK: %[[I:.*]] = arith.fptoui %{{.*}} : f32 to i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[I]] : i32
func.func @saturated_after(%x: f32) -> i32 {
  %y = arith.fptoui %x : f32 to i32
  return %y : i32
}

// Small unsigned ones by a signed convert.
// CHECK-LABEL: func.func @saturated_unsigned
// CHECK: arith.constant 0.000000e+00 : f32
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf olt
// CHECK: arith.fptosi %{{.*}} : f32 to i32
// CHECK: arith.trunci %{{.*}} : i32 to i8
func.func @saturated_unsigned(%x: f32) -> i8 {
  %y = arith.fptoui %x : f32 to i8
  return %y : i8
}

// CHECK-LABEL: func.func @scale
// CHECK: arith.bitcast %arg0 : f8E8M0FNU to i8
// CHECK: arith.bitcast %{{.*}} : i32 to f32
// CHECK: arith.trunci %{{.*}} : i32 to i8
// CHECK: arith.bitcast %{{.*}} : i8 to f8E8M0FNU
func.func @scale(%x: f8E8M0FNU, %z: f32) -> (bf16, f8E8M0FNU) {
  %y = arith.extf %x : f8E8M0FNU to bf16
  %w = arith.truncf %z : f32 to f8E8M0FNU
  return %y, %w : bf16, f8E8M0FNU
}

// Arithmetic is in f32; to fp8 it goes by a convert of f32, which legalize-fp8 lowers.
// CHECK-LABEL: func.func @arithmetic
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.bitcast %{{.*}} : i4 to f4E2M1FN
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
func.func @arithmetic(%x: f4E2M1FN, %y: f4E2M1FN) -> (f4E2M1FN, f8E4M3FN) {
  %z = arith.mulf %x, %y : f4E2M1FN
  %w = arith.extf %x : f4E2M1FN to f8E4M3FN
  return %z, %w : f4E2M1FN, f8E4M3FN
}

// What every target has stays: so do moves, and the bodies of scaled contractions.
// CHECK-LABEL: func.func @untouched
// CHECK-NEXT: arith.sitofp %arg0 : i32 to f32
// CHECK-NEXT: arith.uitofp %arg0 : i32 to f16
// CHECK-NEXT: arith.truncf %arg1 : f32 to bf16
// CHECK-NEXT: arith.extf %arg2 : bf16 to f64
// CHECK-NEXT: arith.select %{{.*}} : f8E8M0FNU
// CHECK-NEXT: return
func.func @untouched(%i: i32, %f: f32, %b: bf16, %c: i1, %s: f8E8M0FNU, %t: f8E8M0FNU)
    -> (f32, f16, bf16, f64, f8E8M0FNU) {
  %0 = arith.sitofp %i : i32 to f32
  %1 = arith.uitofp %i : i32 to f16
  %2 = arith.truncf %f : f32 to bf16
  %3 = arith.extf %b : bf16 to f64
  %4 = arith.select %c, %s, %t : f8E8M0FNU
  return %0, %1, %2, %3, %4 : f32, f16, bf16, f64, f8E8M0FNU
}

#x = affine_map<(m, n, k, b) -> (m, k, b)>
#y = affine_map<(m, n, k, b) -> (n, k, b)>
#xs = affine_map<(m, n, k, b) -> (m, k)>
#ys = affine_map<(m, n, k, b) -> (n, k)>
#out = affine_map<(m, n, k, b) -> (m, n)>
// CHECK-LABEL: func.func @scaled_contraction
// CHECK: arith.scaling_extf
func.func @scaled_contraction(%x: tensor<4x2x32xf4E2M1FN>, %y: tensor<8x2x32xf4E2M1FN>,
    %xs: tensor<4x2xf8E8M0FNU>, %ys: tensor<8x2xf8E8M0FNU>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = linalg.generic {indexing_maps = [#x, #y, #xs, #ys, #out],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %y, %xs, %ys : tensor<4x2x32xf4E2M1FN>, tensor<8x2x32xf4E2M1FN>,
        tensor<4x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) outs(%o : tensor<4x8xf32>) {
  ^bb0(%p: f4E2M1FN, %q: f4E2M1FN, %ps: f8E8M0FNU, %qs: f8E8M0FNU, %acc: f32):
    %0 = arith.scaling_extf %p, %ps : f4E2M1FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %q, %qs : f4E2M1FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// The bodies of named ops are fixed by their names.
// CHECK-LABEL: func.func @named
// CHECK: linalg.pooling_nhwc_sum {{.*}} ins(%arg0, %arg1 : tensor<1x4x4x2xi8>, tensor<2x2xbf16>)
func.func @named(%x: tensor<1x4x4x2xi8>, %k: tensor<2x2xbf16>, %o: tensor<1x3x3x2xbf16>)
    -> tensor<1x3x3x2xbf16> {
  %y = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %k : tensor<1x4x4x2xi8>, tensor<2x2xbf16>) outs(%o : tensor<1x3x3x2xbf16>) -> tensor<1x3x3x2xbf16>
  return %y : tensor<1x3x3x2xbf16>
}
