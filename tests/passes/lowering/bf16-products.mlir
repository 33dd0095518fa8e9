// RUN: headrace-opt %s --pass-pipeline='builtin.module(accumulate-in-f32{target=cpu+bf16},lower-matmul{target=cpu+bf16},legalize-fp8{target=cpu+bf16})' --split-input-file | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: headrace-opt %s --pass-pipeline='builtin.module(accumulate-in-f32{target=cpu},lower-matmul{target=cpu},legalize-fp8{target=cpu})' --split-input-file | FileCheck %s --check-prefixes=CHECK,F32

// On a CPU with bf16 instructions products stay in bf16.
// CHECK-LABEL: @large
// BF16: linalg.matmul ins(%arg0, %arg1 : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%{{.*}} : tensor<256x256xf32>)
// F32: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<256x256xf32>, tensor<256x256xf32>)
func.func @large(%a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

// Nobody knows how many rows.
// CHECK-LABEL: @dynamic
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<?x256xf32>, tensor<256x256xf32>)
func.func @dynamic(%a: tensor<?x256xbf16>, %b: tensor<256x256xbf16>, %c: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x256xbf16>, tensor<256x256xbf16>) outs(%c : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

// -----

// f16 has numbers that bf16 has not; so has f32.
// CHECK-LABEL: @f16
// CHECK: linalg.contract {{.*}}ins(%{{.*}}, %{{.*}} : tensor<256x256xf32>, tensor<256x256xf32>)
func.func @f16(%a: tensor<256x256xf16>, %b: tensor<256x256xbf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<256x256xf16>, tensor<256x256xbf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

// Every fp8 code is a bf16.
// CHECK-LABEL: @fp8
// BF16: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<256x256xbf16>, tensor<256x256xbf16>)
// F32: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<256x256xf32>, tensor<256x256xf32>)
func.func @fp8(%a: tensor<256x256xf8E4M3FN>, %b: tensor<256x256xf8E5M2>, %s: tensor<f32>, %t: tensor<f32>) -> tensor<256x256xf32> {
  %0 = "headrace.matmul"(%a, %b, %s, %t) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, lhs_batch = array<i64>,
    rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>, epilogue = "none"}
    : (tensor<256x256xf8E4M3FN>, tensor<256x256xf8E5M2>, tensor<f32>, tensor<f32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

// Scaled and rounded to bf16 before the product: still a bf16.
// CHECK-LABEL: @rounded
// BF16: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<256x256xbf16>, tensor<256x256xbf16>)
// F32: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<256x256xf32>, tensor<256x256xf32>)
func.func @rounded(%a: tensor<256x256xf8E4M3FN>, %b: tensor<256x256xf8E4M3FN>, %s: tensor<f32>, %t: tensor<f32>) -> tensor<256x256xf32> {
  %0 = "headrace.matmul"(%a, %b, %s, %t) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, lhs_batch = array<i64>,
    rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>, epilogue = "none",
    headrace.lhs_rounding = bf16}
    : (tensor<256x256xf8E4M3FN>, tensor<256x256xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

// Rounded to f16 it is none.
// CHECK-LABEL: @rounded_to_f16
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<256x256xf32>, tensor<256x256xf32>)
func.func @rounded_to_f16(%a: tensor<256x256xf8E4M3FN>, %b: tensor<256x256xf8E4M3FN>, %s: tensor<f32>, %t: tensor<f32>) -> tensor<256x256xf32> {
  %0 = "headrace.matmul"(%a, %b, %s, %t) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, lhs_batch = array<i64>,
    rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>, epilogue = "none",
    headrace.lhs_rounding = f16}
    : (tensor<256x256xf8E4M3FN>, tensor<256x256xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
