// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(accumulate-in-f32)' | FileCheck %s --check-prefixes=CHECK,ANY
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(accumulate-in-f32{target=cpu})' | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(accumulate-in-f32{target=sm_80})' | FileCheck %s --check-prefixes=CHECK,AMPERE
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(accumulate-in-f32{target=gfx942})' | FileCheck %s --check-prefixes=CHECK,FNUZ

// A zero fill stays one, in f32; one rounding after the sum. On cpu the operands
// are widened by their bits: an extf would be folded back into the matmul.
// CHECK-LABEL: func.func @matmul
// CPU: arith.bitcast %{{.*}} : bf16 to i16
// CPU: arith.shli
// CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<32x16xf32>)
// ANY: %[[ACC:.*]] = linalg.matmul ins(%arg0, %arg1 : tensor<32x64xbf16>, tensor<64x16xbf16>) outs(%[[ZERO]] : tensor<32x16xf32>)
// AMPERE: %[[ACC:.*]] = linalg.matmul ins(%arg0, %arg1 : tensor<32x64xbf16>, tensor<64x16xbf16>) outs(%[[ZERO]] : tensor<32x16xf32>)
// CPU: %[[ACC:.*]] = linalg.matmul {{.*}} : tensor<32x64xf32>, tensor<64x16xf32>) outs(%[[ZERO]] : tensor<32x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<32x16xf32>) outs(%{{.*}} : tensor<32x16xbf16>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @matmul(%a: tensor<32x64xbf16>, %b: tensor<64x16xbf16>) -> tensor<32x16xbf16> {
  %c = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<32x16xbf16>
  %z = linalg.fill ins(%c : bf16) outs(%e : tensor<32x16xbf16>) -> tensor<32x16xbf16>
  %y = linalg.matmul ins(%a, %b : tensor<32x64xbf16>, tensor<64x16xbf16>)
    outs(%z : tensor<32x16xbf16>) -> tensor<32x16xbf16>
  return %y : tensor<32x16xbf16>
}

// -----

// Any other initial value is widened.
// CHECK-LABEL: func.func @with_init
// CHECK: %[[INIT:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<3x8x8xf16>) outs(%{{.*}} : tensor<3x8x8xf32>)
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: linalg.batch_matmul {{.*}} outs(%{{.*}} : tensor<3x8x8xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @with_init(%a: tensor<3x8x16xf16>, %b: tensor<3x16x8xf16>,
                     %init: tensor<3x8x8xf16>) -> tensor<3x8x8xf16> {
  %y = linalg.batch_matmul ins(%a, %b : tensor<3x8x16xf16>, tensor<3x16x8xf16>)
    outs(%init : tensor<3x8x8xf16>) -> tensor<3x8x8xf16>
  return %y : tensor<3x8x8xf16>
}

// -----

// A generic contraction keeps its maps; f32 accumulation of bf16 is what is wanted
// already, but for cpu's operands.
// CHECK-LABEL: func.func @generic
// ANY: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<8x16xbf16>, tensor<8x16xbf16>) outs(%arg2 : tensor<8x8xf32>)
// CPU: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<8x16xf32>, tensor<8x16xf32>) outs(%arg2 : tensor<8x8xf32>)
// CHECK-NOT: arith.truncf
func.func @generic(%a: tensor<8x16xbf16>, %b: tensor<8x16xbf16>,
                   %init: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x16xbf16>, tensor<8x16xbf16>) outs(%init : tensor<8x8xf32>) {
  ^bb0(%l: bf16, %r: bf16, %acc: f32):
    %lw = arith.extf %l : bf16 to f32
    %rw = arith.extf %r : bf16 to f32
    %p = arith.mulf %lw, %rw : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// fp8 operands go the way of headrace.matmul's. The factor of FNUZ twins would
// multiply the initial value, too: decoded where that is not zero.
// CHECK-LABEL: func.func @fp8_operands
// ANY: linalg.matmul {{.*}} : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>)
// CPU: linalg.matmul {{.*}} : tensor<16x32xf32>, tensor<32x16xf32>)
// AMPERE: linalg.matmul {{.*}} : tensor<16x32xf16>, tensor<32x16xf16>)
// FNUZ: linalg.matmul {{.*}} : tensor<16x32xf8E4M3FNUZ>, tensor<32x16xf8E4M3FNUZ>)
// FNUZ: arith.constant 4.000000e+00 : f32
// FNUZ-NEXT: arith.mulf
// CHECK-LABEL: func.func @fp8_operands_with_init
// FNUZ: linalg.matmul {{.*}} : tensor<16x32xf16>, tensor<32x16xf16>) outs(%arg2 : tensor<16x16xf32>)
// FNUZ-NOT: arith.mulf
func.func @fp8_operands(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x16xf8E4M3FN>) -> tensor<16x16xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %y = linalg.matmul ins(%a, %b : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>)
    outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
func.func @fp8_operands_with_init(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x16xf8E4M3FN>,
                                  %init: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>)
    outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// -----

// Not contractions of floats: integers, a sum, a maximum of products.
// CHECK-LABEL: func.func @others
// CHECK: linalg.matmul ins(%arg0, %arg1 : tensor<4x8xi8>, tensor<8x4xi8>) outs(%arg2 : tensor<4x4xi32>)
// CHECK: linalg.generic {{.*}} ins(%arg3 : tensor<4x8xbf16>) outs(%arg4 : tensor<4xbf16>)
// CHECK: linalg.generic {{.*}} ins(%arg3, %arg3 : tensor<4x8xbf16>, tensor<4x8xbf16>) outs(%arg4 : tensor<4xbf16>)
// CHECK-NOT: f32
func.func @others(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %c: tensor<4x4xi32>,
    %x: tensor<4x8xbf16>, %init: tensor<4xbf16>) -> (tensor<4x4xi32>, tensor<4xbf16>, tensor<4xbf16>) {
  %y = linalg.matmul ins(%a, %b : tensor<4x8xi8>, tensor<8x4xi8>)
    outs(%c : tensor<4x4xi32>) -> tensor<4x4xi32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xbf16>) outs(%init : tensor<4xbf16>) {
  ^bb0(%l: bf16, %acc: bf16):
    %n = arith.addf %acc, %l : bf16
    linalg.yield %n : bf16
  } -> tensor<4xbf16>
  %m = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>,
      affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<4x8xbf16>, tensor<4x8xbf16>) outs(%init : tensor<4xbf16>) {
  ^bb0(%l: bf16, %r: bf16, %acc: bf16):
    %p = arith.mulf %l, %r : bf16
    %n = arith.maximumf %acc, %p : bf16
    linalg.yield %n : bf16
  } -> tensor<4xbf16>
  return %y, %s, %m : tensor<4x4xi32>, tensor<4xbf16>, tensor<4xbf16>
}

// -----

// Integers are converted before the product, which is then one of floats.
// CHECK-LABEL: func.func @integer_operand
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<8x4xi8>) outs(%{{.*}} : tensor<8x4xbf16>)
// CHECK: arith.sitofp %{{.*}} : i8 to bf16
// ANY: linalg.matmul ins(%arg0, %{{.*}} : tensor<4x8xbf16>, tensor<8x4xbf16>) outs(%{{.*}} : tensor<4x4xf32>)
// CPU: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x4xf32>) outs(%{{.*}} : tensor<4x4xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @integer_operand(%x: tensor<4x8xbf16>, %w: tensor<8x4xi8>, %o: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  %y = linalg.matmul ins(%x, %w : tensor<4x8xbf16>, tensor<8x4xi8>) outs(%o : tensor<4x4xbf16>)
    -> tensor<4x4xbf16>
  return %y : tensor<4x4xbf16>
}

// -----

// In a generic, without a sign.
// CHECK-LABEL: func.func @unsigned_operands
// CHECK-COUNT-2: arith.uitofp %{{.*}} : i8 to f32
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x4xf32>)
// CHECK-NOT: uitofp
func.func @unsigned_operands(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<4x8xi8>, tensor<8x4xi8>) outs(%o : tensor<4x4xf32>) {
  ^bb0(%a: i8, %b: i8, %acc: f32):
    %0 = arith.uitofp %a : i8 to f32
    %1 = arith.uitofp %b : i8 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
