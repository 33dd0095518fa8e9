// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(lower-matmul)' | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(lower-matmul{target=gfx950})' | FileCheck %s --check-prefixes=CHECK,OCP
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(lower-matmul{target=gfx942})' | FileCheck %s --check-prefixes=CHECK,FNUZ
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(lower-matmul{target=sm_89})' | FileCheck %s --check-prefixes=CHECK,ADA
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(lower-matmul{target=sm_80})' | FileCheck %s --check-prefixes=CHECK,AMPERE

// One matmul accumulating in f32 from zero, then one elementwise op: scales one
// after the other, and one rounding.
// CHECK-LABEL: func.func @scaled
// CPU: "headrace.dequantize"(%arg0) {{.*}} -> tensor<32x64xf32>
// CPU: "headrace.dequantize"(%arg1) {{.*}} -> tensor<64x16xf32>
// CPU: linalg.matmul {{.*}} : tensor<32x64xf32>, tensor<64x16xf32>) outs(%{{.*}} : tensor<32x16xf32>)
// OCP-NOT: headrace.dequantize
// OCP: linalg.matmul {{.*}}ins(%arg0, %arg1 : tensor<32x64xf8E4M3FN>, tensor<64x16xf8E4M3FN>) outs(%{{.*}} : tensor<32x16xf32>)
// ADA: linalg.matmul {{.*}}ins(%arg0, %arg1 : tensor<32x64xf8E4M3FN>, tensor<64x16xf8E4M3FN>) outs(%{{.*}} : tensor<32x16xf32>)
// AMPERE-COUNT-2: "headrace.dequantize"
// AMPERE: linalg.matmul {{.*}} : tensor<32x64xf16>, tensor<64x16xf16>) outs(%{{.*}} : tensor<32x16xf32>)
// FNUZ: arith.bitcast %{{.*}} : i8 to f8E4M3FNUZ
// FNUZ: arith.bitcast %{{.*}} : i8 to f8E4M3FNUZ
// FNUZ: linalg.matmul {{.*}} : tensor<32x64xf8E4M3FNUZ>, tensor<64x16xf8E4M3FNUZ>) outs(%{{.*}} : tensor<32x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg2, %arg3 : tensor<32x16xf32>, tensor<f32>, tensor<f32>) outs(%{{.*}} : tensor<32x16xf16>)
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[SA:.*]]: f32, %[[SB:.*]]: f32, %{{.*}}: f16):
// Half the value per converted operand, so the sum is a quarter.
// FNUZ: %[[FOUR:.*]] = arith.constant 4.000000e+00 : f32
// FNUZ-NEXT: arith.mulf %[[ACC]], %[[FOUR]] : f32
// CHECK: %[[M1:.*]] = arith.mulf %{{.*}}, %[[SA]] : f32
// CHECK-NEXT: %[[M2:.*]] = arith.mulf %[[M1]], %[[SB]] : f32
// CHECK-NEXT: %[[T:.*]] = arith.truncf %[[M2]] : f32 to f16
// CHECK-NEXT: linalg.yield %[[T]] : f16
func.func @scaled(%a: tensor<32x64xf8E4M3FN>, %b: tensor<64x16xf8E4M3FN>, %sa: tensor<f32>,
                  %sb: tensor<f32>) -> tensor<32x16xf16> {
  %y = "headrace.matmul"(%a, %b, %sa, %sb) {
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, epilogue = "none",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<32x64xf8E4M3FN>, tensor<64x16xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<32x16xf16>
  return %y : tensor<32x16xf16>
}

// -----

// FNUZ's NaN is OCP's -0, and OCP's NaN is a number there.
// CHECK-LABEL: func.func @twin_codes
// FNUZ: %[[CODE:.*]] = arith.bitcast %{{.*}} : f8E5M2 to i8
// FNUZ: %[[MAGNITUDE:.*]] = arith.andi %[[CODE]], %{{.*}} : i8
// FNUZ: %[[IS_ZERO:.*]] = arith.cmpi eq, %[[MAGNITUDE]], %{{.*}} : i8
// FNUZ: %[[A:.*]] = arith.select %[[IS_ZERO]], %{{.*}}, %[[CODE]] : i8
// FNUZ: %[[FINITE:.*]] = arith.constant 123 : i8
// FNUZ: %[[IS_NAN:.*]] = arith.cmpi ugt, %[[MAGNITUDE]], %[[FINITE]] : i8
// FNUZ: %[[B:.*]] = arith.select %[[IS_NAN]], %{{.*}}, %[[A]] : i8
// FNUZ: arith.bitcast %[[B]] : i8 to f8E5M2FNUZ
// One converted operand of two: the other is FNUZ as it came.
// FNUZ: linalg.matmul {{.*}}, %arg1 : tensor<16x32xf8E5M2FNUZ>, tensor<32x16xf8E5M2FNUZ>)
// FNUZ: arith.constant 2.000000e+00 : f32
func.func @twin_codes(%a: tensor<16x32xf8E5M2>, %b: tensor<32x16xf8E5M2FNUZ>) -> tensor<16x16xf32> {
  %y = "headrace.matmul"(%a, %b) {
    operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, epilogue = "none",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<16x32xf8E5M2>, tensor<32x16xf8E5M2FNUZ>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// -----

// A row: too small for mma.sync, whose absence IREE's CUDA backend does not survive.
// CHECK-LABEL: func.func @row
// ADA-COUNT-2: "headrace.dequantize"
// ADA: linalg.matmul {{.*}} : tensor<1x64xf16>, tensor<64x16xf16>)
// OCP: linalg.matmul {{.*}}ins(%arg0, %arg1 : tensor<1x64xf8E4M3FN>, tensor<64x16xf8E4M3FN>)
func.func @row(%a: tensor<1x64xf8E4M3FN>, %b: tensor<64x16xf8E4M3FN>) -> tensor<1x16xf32> {
  %y = "headrace.matmul"(%a, %b) {
    operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, epilogue = "none",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<1x64xf8E4M3FN>, tensor<64x16xf8E4M3FN>) -> tensor<1x16xf32>
  return %y : tensor<1x16xf32>
}

// -----

// Two different fp8 types: native on AMD where the sizes fit an instruction, not on NVIDIA.
// CHECK-LABEL: func.func @mixed
// OCP: linalg.matmul {{.*}} : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2>)
// ADA: linalg.matmul {{.*}} : tensor<16x32xf16>, tensor<32x16xf16>)
// CHECK-LABEL: func.func @mixed_odd
// OCP: linalg.matmul {{.*}} : tensor<16x32xf16>, tensor<32x15xf16>)
func.func @mixed(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x16xf8E5M2>) -> tensor<16x16xf32> {
  %y = "headrace.matmul"(%a, %b) {
    operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, epilogue = "none",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
func.func @mixed_odd(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x15xf8E5M2>) -> tensor<16x15xf32> {
  %y = "headrace.matmul"(%a, %b) {
    operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, epilogue = "none",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<16x32xf8E4M3FN>, tensor<32x15xf8E5M2>) -> tensor<16x15xf32>
  return %y : tensor<16x15xf32>
}

// -----

// fp8 against a wide type: decoded to that type, which holds every code.
// CHECK-LABEL: func.func @weight_only
// CPU: linalg.matmul {{.*}} : tensor<16x32xf32>, tensor<32x16xf32>)
// OCP: linalg.matmul {{.*}}ins(%arg0, %{{.*}} : tensor<16x32xbf16>, tensor<32x16xbf16>)
// AMPERE: linalg.matmul {{.*}}ins(%arg0, %{{.*}} : tensor<16x32xbf16>, tensor<32x16xbf16>)
// A bf16 result is rounded in integers, where IREE leaves the rounding in.
// CHECK: arith.addi
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @weight_only(%a: tensor<16x32xbf16>, %b: tensor<32x16xf8E5M2>) -> tensor<16x16xbf16> {
  %y = "headrace.matmul"(%a, %b) {
    operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, epilogue = "none",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<16x32xbf16>, tensor<32x16xf8E5M2>) -> tensor<16x16xbf16>
  return %y : tensor<16x16xbf16>
}

// -----

// f64 stays f64, scales are widened.
// CHECK-LABEL: func.func @double
// CHECK: linalg.matmul {{.*}} : tensor<4x8xf64>, tensor<8x4xf64>) outs(%{{.*}} : tensor<4x4xf64>)
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: arith.mulf %{{.*}} : f64
func.func @double(%a: tensor<4x8xf64>, %b: tensor<8x4xf32>, %s: tensor<1xf32>) -> tensor<4x4xf64> {
  %y = "headrace.matmul"(%a, %b, %s) {
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, epilogue = "none",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<4x8xf64>, tensor<8x4xf32>, tensor<1xf32>) -> tensor<4x4xf64>
  return %y : tensor<4x4xf64>
}

// -----

// Batch and contracting dims in any place become a generic contraction; scales and
// bias are read along the dims they have; steps in the order of the op's definition.
// OCP-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>
// OCP-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2, d0)>
// OCP-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// OCP-DAG: #[[BATCH_ROW:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// OCP-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: func.func @everything
// OCP: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// OCP: tensor.collapse_shape %arg2 {{\[}}[0], [1, 2]] : tensor<8x3x1xf32> into tensor<8x3xf32>
// OCP: linalg.generic {indexing_maps = [#{{.*}}, #[[BATCH_ROW]], #[[COLUMN]], #[[COLUMN]], #{{.*}}, #{{.*}}]
// OCP: arith.mulf
// OCP-NEXT: arith.mulf
// OCP-NEXT: arith.addf
// OCP: math.tanh
// OCP: arith.mulf %{{.*}}, %in_{{.*}} : f32
// OCP: arith.maximumf
// OCP: arith.minimumf
// OCP: arith.truncf %{{.*}} : f32 to f8E4M3FN
func.func @everything(%a: tensor<8x3x16xf8E4M3FN>, %b: tensor<16x12x3xf8E4M3FN>,
    %sa: tensor<8x3x1xf32>, %sb: tensor<1x12x1xf32>, %bias: tensor<1x1x12xf32>,
    %sr: tensor<f32>) -> tensor<3x8x12xf8E4M3FN> {
  %y = "headrace.matmul"(%a, %b, %sa, %sb, %bias, %sr) {
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>, epilogue = "gelu_tanh",
    lhs_batch = array<i64: 1>, rhs_batch = array<i64: 2>,
    lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 0>}
    : (tensor<8x3x16xf8E4M3FN>, tensor<16x12x3xf8E4M3FN>, tensor<8x3x1xf32>, tensor<1x12x1xf32>,
       tensor<1x1x12xf32>, tensor<f32>) -> tensor<3x8x12xf8E4M3FN>
  return %y : tensor<3x8x12xf8E4M3FN>
}

// -----

// Sums over nothing, and of one product each, are no contractions.
// CHECK-LABEL: func.func @empty_sum
// CHECK: linalg.fill
// CHECK-NOT: linalg.matmul
// CHECK-LABEL: func.func @outer
// CHECK-NOT: linalg.matmul
// CHECK: iterator_types = ["parallel", "parallel"]
func.func @empty_sum(%a: tensor<4x0xf32>, %b: tensor<0x4xf32>) -> tensor<4x4xf32> {
  %y = "headrace.matmul"(%a, %b) {
    operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, epilogue = "none",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<4x0xf32>, tensor<0x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
func.func @outer(%a: tensor<4x1xf32>, %b: tensor<1x4xf32>) -> tensor<4x4xf32> {
  %y = "headrace.matmul"(%a, %b) {
    operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, epilogue = "none",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// Sizes of the result that only the type knows.
// CHECK-LABEL: func.func @cast_result
// CHECK: tensor.cast %{{.*}} : tensor<?x4xf32> to tensor<8x4xf32>
func.func @cast_result(%a: tensor<?x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %y = "headrace.matmul"(%a, %b) {
    operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, epilogue = "none",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
