// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(legalize-fp8)' | FileCheck %s --check-prefixes=CHECK,INT
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(legalize-fp8{target=gfx950})' | FileCheck %s --check-prefixes=CHECK,OCP
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(legalize-fp8{target=gfx942})' | FileCheck %s --check-prefixes=CHECK,FNUZ
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(legalize-fp8{target=sm_89})' | FileCheck %s --check-prefixes=CHECK,INT

// Division in the source's own type, rounded to it in a way that IREE keeps; then
// a clamp and the chip's convert, or one encode in integers.
// CHECK-LABEL: func.func @quantize
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<4x8xbf16>, tensor<bf16>) outs(%{{.*}} : tensor<4x8xf8E4M3FN>)
// CHECK: arith.divf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// OCP: arith.maximumf
// OCP: arith.minimumf
// OCP: arith.truncf %{{.*}} : f32 to f8E4M3FN
// INT-NOT: f32 to f8E4M3FN
// INT: arith.addf %{{.*}} : f32
// INT: arith.trunci %{{.*}} : i32 to i8
// INT: arith.bitcast %{{.*}} : i8 to f8E4M3FN
// FNUZ: arith.bitcast %{{.*}} : i8 to f8E4M3FN
// CHECK-NOT: headrace.
func.func @quantize(%x: tensor<4x8xbf16>, %s: tensor<bf16>) -> tensor<4x8xf8E4M3FN> {
  %q = "headrace.quantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "divide", saturate = true}
    : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4x8xf8E4M3FN>
  return %q : tensor<4x8xf8E4M3FN>
}

// -----

// Without a clamp, overflow is NaN: never clamped.
// CHECK-LABEL: func.func @quantize_unsaturated
// CHECK-NOT: arith.minimumf
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// FNUZ: arith.truncf %{{.*}} : f32 to f8E4M3FNUZ
// OCP: arith.bitcast %{{.*}} : i8 to f8E4M3FNUZ
// INT: arith.bitcast %{{.*}} : i8 to f8E4M3FNUZ
func.func @quantize_unsaturated(%x: tensor<4xf32>, %s: tensor<1xf32>) -> tensor<4xf8E4M3FNUZ> {
  %q = "headrace.quantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "multiply", saturate = false}
    : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf8E4M3FNUZ>
  return %q : tensor<4xf8E4M3FNUZ>
}

// -----

// f64 is encoded in 64-bit integers everywhere: through f32 it would round twice.
// CHECK-LABEL: func.func @quantize_f64
// CHECK: arith.bitcast %{{.*}} : f64 to i64
// CHECK: arith.trunci %{{.*}} : i64 to i8
func.func @quantize_f64(%x: tensor<4xf64>) -> tensor<4xf8E5M2> {
  %q = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>,
    scale_mode = "divide", saturate = true} : (tensor<4xf64>) -> tensor<4xf8E5M2>
  return %q : tensor<4xf8E5M2>
}

// -----

// CHECK-LABEL: func.func @dequantize
// OCP: %[[X:.*]] = arith.extf %{{.*}} : f8E5M2 to f32
// OCP: arith.mulf %[[X]], %{{.*}} : f32
// INT: arith.bitcast %{{.*}} : f8E5M2 to i8
// INT: %[[X:.*]] = arith.bitcast %{{.*}} : i32 to f32
// INT: arith.mulf %[[X]], %{{.*}} : f32
func.func @dequantize(%q: tensor<4xf8E5M2>, %s: tensor<f32>) -> tensor<4xf32> {
  %x = "headrace.dequantize"(%q, %s) {operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "multiply"} : (tensor<4xf8E5M2>, tensor<f32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// A scale per row, and one per block of 16 columns: the blocks become a dimension.
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[BLOCK:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @per_axis
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %arg1 {{\[}}[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[ROWS]] : tensor<?x64xf8E5M2>, tensor<?xf32>)
// CHECK-LABEL: func.func @per_block
// CHECK: %[[DATA:.*]] = tensor.expand_shape %arg0 {{\[}}[0], [1, 2]] output_shape {{\[}}%{{.*}}, 4, 16] : tensor<?x64xf8E5M2> into tensor<?x4x16xf8E5M2>
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[BLOCK]], #[[ALL]]]{{.*}} ins(%[[DATA]], %arg1 : tensor<?x4x16xf8E5M2>, tensor<?x4xf32>)
// CHECK: tensor.collapse_shape %[[R]] {{\[}}[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
func.func @per_axis(%q: tensor<?x64xf8E5M2>, %s: tensor<?x1xf32>) -> tensor<?x64xf32> {
  %x = "headrace.dequantize"(%q, %s) {operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "divide"} : (tensor<?x64xf8E5M2>, tensor<?x1xf32>) -> tensor<?x64xf32>
  return %x : tensor<?x64xf32>
}
func.func @per_block(%q: tensor<?x64xf8E5M2>, %s: tensor<?x4xf32>) -> tensor<?x64xf32> {
  %x = "headrace.dequantize"(%q, %s) {operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "multiply"} : (tensor<?x64xf8E5M2>, tensor<?x4xf32>) -> tensor<?x64xf32>
  return %x : tensor<?x64xf32>
}

// -----

// A dynamic size with four scales: blocks of a size known at run time. A size that
// only the result's type knows is a cast.
// CHECK-LABEL: func.func @dynamic_blocks
// CHECK: %[[SIZE:.*]] = tensor.dim %arg0
// CHECK: %[[LENGTH:.*]] = arith.divui %[[SIZE]], %{{.*}} : index
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0, 1]] output_shape [4, %[[LENGTH]]] : tensor<?xf8E5M2> into tensor<4x?xf8E5M2>
// CHECK: tensor.collapse_shape %{{.*}} : tensor<4x?xf32> into tensor<?xf32>
// CHECK: tensor.cast %{{.*}} : tensor<?xf32> to tensor<32xf32>
func.func @dynamic_blocks(%q: tensor<?xf8E5M2>, %s: tensor<4xf32>) -> tensor<32xf32> {
  %x = "headrace.dequantize"(%q, %s) {operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "multiply"} : (tensor<?xf8E5M2>, tensor<4xf32>) -> tensor<32xf32>
  return %x : tensor<32xf32>
}

// -----

// Conversions that nobody raised are legalized as well; a truncf does not saturate.
// CHECK-LABEL: func.func @native_converts
// OCP: arith.extf %{{.*}} : f8E4M3FN to f32
// OCP: arith.truncf %{{.*}} : f32 to f8E4M3FN
// INT-NOT: arith.extf %{{.*}} : f8E4M3FN
// INT-NOT: to f8E4M3FN
// INT: arith.bitcast %{{.*}} : f8E4M3FN to i8
// INT: arith.bitcast %{{.*}} : i8 to f8E4M3FN
func.func @native_converts(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %e = tensor.empty() : tensor<4xf8E4M3FN>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<4xf8E4M3FN>) outs(%e : tensor<4xf8E4M3FN>) {
  ^bb0(%a: f8E4M3FN, %out: f8E4M3FN):
    %w = arith.extf %a : f8E4M3FN to f32
    %m = math.exp %w : f32
    %n = arith.truncf %m : f32 to f8E4M3FN
    linalg.yield %n : f8E4M3FN
  } -> tensor<4xf8E4M3FN>
  return %y : tensor<4xf8E4M3FN>
}

// -----

// Arithmetic on fp8 values is done in f32; moving them needs nothing.
// CHECK-LABEL: func.func @fp8_arithmetic
// OCP: arith.maximumf %{{.*}} : f8E4M3FN
// INT: arith.maximumf %{{.*}} : f32
// FNUZ: arith.maximumf %{{.*}} : f32
// CHECK: arith.select %{{.*}} : f8E4M3FN
// On tensors, too:
// INT: arith.addf %{{.*}} : f32
// FNUZ: arith.addf %{{.*}} : f32
func.func @fp8_arithmetic(%x: tensor<4xf8E4M3FN>, %c: i1) -> tensor<4xf8E4M3FN> {
  %e = tensor.empty() : tensor<4xf8E4M3FN>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<4xf8E4M3FN>) outs(%e : tensor<4xf8E4M3FN>) {
  ^bb0(%a: f8E4M3FN, %out: f8E4M3FN):
    %one = arith.constant 1.0 : f8E4M3FN
    %m = arith.maximumf %a, %one : f8E4M3FN
    %n = arith.select %c, %m, %a : f8E4M3FN
    linalg.yield %n : f8E4M3FN
  } -> tensor<4xf8E4M3FN>
  %z = arith.addf %y, %x : tensor<4xf8E4M3FN>
  return %z : tensor<4xf8E4M3FN>
}

// -----

// The operand types of a contraction were chosen for the target: left alone.
// CHECK-LABEL: func.func @contraction
// CHECK: arith.extf %{{.*}} : f8E4M3FN to f32
// CHECK: arith.extf %{{.*}} : f8E4M3FN to f32
// CHECK-NEXT: arith.mulf
func.func @contraction(%a: tensor<8x16xf8E4M3FN>, %b: tensor<8x16xf8E4M3FN>,
                       %init: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x16xf8E4M3FN>, tensor<8x16xf8E4M3FN>) outs(%init : tensor<8x8xf32>) {
  ^bb0(%l: f8E4M3FN, %r: f8E4M3FN, %acc: f32):
    %lw = arith.extf %l : f8E4M3FN to f32
    %rw = arith.extf %r : f8E4M3FN to f32
    %p = arith.mulf %lw, %rw : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
