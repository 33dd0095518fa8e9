// RUN: headrace-opt %s --pass-pipeline='builtin.module(raise-linalg,canonicalize)' --split-input-file | FileCheck %s

// torch.clamp(x / s, -448, 448).to(float8_e4m3fn), then back and times s, as
// torch-mlir writes it: a generic for each op.
#id = affine_map<(d0, d1) -> (d0, d1)>
#scalar = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: @torch(
// CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"(%arg0, %arg1) {{.*}}saturate = true, scale_mode = "divide"
// CHECK-NEXT: %[[D:.*]] = "headrace.dequantize"(%[[Q]], %arg1) {{.*}}scale_mode = "multiply"
// CHECK-NEXT: return %[[D]]
func.func @torch(%x: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4x8xf32> {
  %lo = arith.constant -448.0 : f32
  %hi = arith.constant 448.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %eq = tensor.empty() : tensor<4x8xf8E4M3FN>
  %0 = linalg.generic {indexing_maps = [#id, #scalar, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4x8xf32>, tensor<f32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf ult, %a, %lo : f32
    %v = arith.select %c, %lo, %a : f32
    %d = arith.cmpf ugt, %v, %hi : f32
    %w = arith.select %d, %hi, %v : f32
    linalg.yield %w : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x8xf32>) outs(%eq : tensor<4x8xf8E4M3FN>) {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %v = arith.truncf %a : f32 to f8E4M3FN
    linalg.yield %v : f8E4M3FN
  } -> tensor<4x8xf8E4M3FN>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4x8xf8E4M3FN>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f8E4M3FN, %o: f32):
    %v = arith.extf %a : f8E4M3FN to f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %4 = linalg.generic {indexing_maps = [#id, #scalar, #id], iterator_types = ["parallel", "parallel"]} ins(%3, %s : tensor<4x8xf32>, tensor<f32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// One body that does more on both sides: what is before the quantize and what
// follows the dequantize keeps a generic.
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#scalar = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: @fused_quantize(
// CHECK: %[[E:.*]] = linalg.generic {{.*}}ins(%arg0, %arg1 : tensor<4x8xbf16>, tensor<bf16>)
// CHECK: math.exp
// CHECK-NEXT: linalg.yield
// CHECK: "headrace.quantize"(%[[E]], %arg1) {{.*}}saturate = true, scale_mode = "multiply"{{.*}} : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4x8xf8E5M2>
func.func @fused_quantize(%x: tensor<4x8xbf16>, %s: tensor<bf16>) -> tensor<4x8xf8E5M2> {
  %lo = arith.constant -57344.0 : bf16
  %hi = arith.constant 57344.0 : bf16
  %eq = tensor.empty() : tensor<4x8xf8E5M2>
  %0 = linalg.generic {indexing_maps = [#id, #scalar, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4x8xbf16>, tensor<bf16>) outs(%eq : tensor<4x8xf8E5M2>) {
  ^bb0(%a: bf16, %b: bf16, %o: f8E5M2):
    %e = math.exp %a : bf16
    %m = arith.mulf %b, %e : bf16
    %c = arith.minimumf %hi, %m : bf16
    %d = arith.maximumf %c, %lo : bf16
    %v = arith.truncf %d : bf16 to f8E5M2
    linalg.yield %v : f8E5M2
  } -> tensor<4x8xf8E5M2>
  return %0 : tensor<4x8xf8E5M2>
}
// CHECK-LABEL: @fused_dequantize(
// CHECK-DAG: %[[S:.*]] = tensor.expand_shape %arg1 {{\[\[}}0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
// CHECK: %[[D:.*]] = "headrace.dequantize"(%arg0, %[[S]]) {{.*}}scale_mode = "divide"{{.*}} -> tensor<4x8xf32>
// CHECK: linalg.generic {{.*}}ins(%[[D]], %arg1, %arg2
// CHECK-NOT: arith.divf
// CHECK: arith.addf
func.func @fused_dequantize(%q: tensor<4x8xf8E4M3FN>, %s: tensor<8xf32>, %bias: tensor<8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %s, %bias : tensor<4x8xf8E4M3FN>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f8E4M3FN, %b: f32, %c: f32, %o: f32):
    %w = arith.extf %a : f8E4M3FN to f32
    %v = arith.divf %w, %b : f32
    %t = arith.addf %v, %c : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Arith ops on tensors; scales that are a constant and a scalar argument.
// CHECK-LABEL: @arith(
// CHECK-DAG: %[[C:.*]] = arith.constant dense<5.000000e-01> : tensor<bf16>
// CHECK: %[[Q:.*]] = "headrace.quantize"(%arg0, %[[C]]) {{.*}}saturate = true, scale_mode = "divide"
// CHECK: %[[S:.*]] = tensor.from_elements %arg1 : tensor<bf16>
// CHECK: "headrace.dequantize"(%[[Q]], %[[S]]) {{.*}}scale_mode = "multiply"
func.func @arith(%x: tensor<4x8xbf16>, %s: bf16) -> tensor<4x8xbf16> {
  %half = arith.constant dense<0.5> : tensor<4x8xbf16>
  %lo = arith.constant dense<-448.0> : tensor<4x8xbf16>
  %hi = arith.constant dense<448.0> : tensor<4x8xbf16>
  %0 = arith.divf %x, %half : tensor<4x8xbf16>
  %1 = arith.maximumf %lo, %0 : tensor<4x8xbf16>
  %2 = arith.minimumf %1, %hi : tensor<4x8xbf16>
  %3 = arith.truncf %2 : tensor<4x8xbf16> to tensor<4x8xf8E4M3FN>
  %4 = arith.extf %3 : tensor<4x8xf8E4M3FN> to tensor<4x8xbf16>
  %5 = tensor.splat %s : tensor<4x8xbf16>
  %6 = arith.mulf %5, %4 : tensor<4x8xbf16>
  return %6 : tensor<4x8xbf16>
}

// -----

// Scales of blocks: the widened value is reshaped before it is multiplied.
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#block = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: @blocks(
// CHECK-DAG: %[[Q:.*]] = tensor.expand_shape %arg0 {{.*}} : tensor<4x8xf8E4M3FN> into tensor<4x2x4xf8E4M3FN>
// CHECK-DAG: %[[S:.*]] = tensor.expand_shape %arg1 {{.*}} : tensor<4x2xf32> into tensor<4x2x1xf32>
// CHECK: %[[D:.*]] = "headrace.dequantize"(%[[Q]], %[[S]])
// CHECK-NEXT: tensor.collapse_shape %[[D]]
func.func @blocks(%q: tensor<4x8xf8E4M3FN>, %s: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %w = arith.extf %q : tensor<4x8xf8E4M3FN> to tensor<4x8xf32>
  %r = tensor.expand_shape %w [[0], [1, 2]] output_shape [4, 2, 4] : tensor<4x8xf32> into tensor<4x2x4xf32>
  %e = tensor.empty() : tensor<4x2x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #block, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r, %s : tensor<4x2x4xf32>, tensor<4x2xf32>) outs(%e : tensor<4x2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x2x4xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<4x2x4xf32> into tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Read transposed: the scale of the data's rows goes along columns of the result.
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#column = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: @turned(
// CHECK: %[[S:.*]] = tensor.expand_shape %arg1 {{.*}} : tensor<8xf32> into tensor<8x1xf32>
// CHECK: %[[D:.*]] = "headrace.dequantize"(%arg0, %[[S]]) {{.*}} -> tensor<8x4xf32>
// CHECK: linalg.generic {{.*}}ins(%[[D]]
func.func @turned(%q: tensor<8x4xf8E4M3FN>, %s: tensor<8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#turned, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %s : tensor<8x4xf8E4M3FN>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f8E4M3FN, %b: f32, %o: f32):
    %w = arith.extf %a : f8E4M3FN to f32
    %v = arith.mulf %w, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Dynamic sizes; a row's scale has the row's size.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: @dynamic(
// CHECK: %[[S:.*]] = tensor.expand_shape %arg1 {{.*}} : tensor<?xf32> into tensor<?x1xf32>
// CHECK: "headrace.dequantize"(%arg0, %[[S]]) {{.*}} -> tensor<?x?xf32>
func.func @dynamic(%q: tensor<?x?xf8E5M2>, %s: tensor<?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %s : tensor<?x?xf8E5M2>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f8E5M2, %b: f32, %o: f32):
    %w = arith.extf %a : f8E5M2 to f32
    %v = arith.mulf %w, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Two converts, by way of bf16: one dequantize. The fp8 value has another user.
// CHECK-LABEL: @twice(
// CHECK: %[[D:.*]] = "headrace.dequantize"(%arg0) {{.*}} -> tensor<8xf32>
// CHECK: return %[[D]], %arg0
func.func @twice(%q: tensor<8xf8E4M3FN>) -> (tensor<8xf32>, tensor<8xf8E4M3FN>) {
  %w = arith.extf %q : tensor<8xf8E4M3FN> to tensor<8xbf16>
  %v = arith.extf %w : tensor<8xbf16> to tensor<8xf32>
  return %v, %q : tensor<8xf32>, tensor<8xf8E4M3FN>
}

// -----

// A value that varies freely is no scale; a body that also stores the fp8
// value, or reduces, keeps it.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: @free(
// CHECK: %[[D:.*]] = "headrace.dequantize"(%arg0) {{.*}}-> tensor<4x8xf32>
// CHECK: arith.mulf %[[D]], %arg1
func.func @free(%q: tensor<4x8xf8E4M3FN>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = arith.extf %q : tensor<4x8xf8E4M3FN> to tensor<4x8xf32>
  %v = arith.mulf %w, %y : tensor<4x8xf32>
  return %v : tensor<4x8xf32>
}
// CHECK-LABEL: @reduced(
// CHECK-NOT: headrace
// CHECK: return
func.func @reduced(%q: tensor<4x8xf8E4M3FN>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%q : tensor<4x8xf8E4M3FN>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f8E4M3FN, %o: f32):
    %w = arith.extf %a : f8E4M3FN to f32
    %v = arith.addf %w, %o : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// Divided by the fp8 value: no scale of it.
// CHECK-LABEL: @reciprocal(
// CHECK: %[[D:.*]] = "headrace.dequantize"(%arg0) {operandSegmentSizes = array<i32: 1, 0>
// CHECK: arith.divf
func.func @reciprocal(%q: tensor<4x8xf8E4M3FN>, %s: f32) -> tensor<4x8xf32> {
  %t = tensor.splat %s : tensor<4x8xf32>
  %w = arith.extf %q : tensor<4x8xf8E4M3FN> to tensor<4x8xf32>
  %v = arith.divf %t, %w : tensor<4x8xf32>
  return %v : tensor<4x8xf32>
}
