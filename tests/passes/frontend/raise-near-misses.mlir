// RUN: headrace-opt %s --split-input-file --raise-stablehlo --verify-diagnostics | FileCheck %s

// Each way to be almost a quantize or a dequantize: the convert stays, and a
// remark gives the reason.

// CHECK-LABEL: func.func @wrong_bounds
// CHECK-NOT: headrace
// CHECK: return
func.func @wrong_bounds(%x: tensor<8xbf16>) -> tensor<8xf8E4M3FN> {
  %lo = stablehlo.constant dense<-447.0> : tensor<f32>
  %hi = stablehlo.constant dense<446.0> : tensor<f32>
  %lo1 = stablehlo.convert %lo : (tensor<f32>) -> tensor<bf16>
  %hi1 = stablehlo.convert %hi : (tensor<f32>) -> tensor<bf16>
  %n = stablehlo.clamp %lo1, %x, %hi1 : (tensor<bf16>, tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  // expected-remark @below {{not raised to headrace.quantize: the value is clamped to [-448, 446], f8E4M3FN needs [-448, 448]}}
  %q = stablehlo.convert %n : (tensor<8xbf16>) -> tensor<8xf8E4M3FN>
  return %q : tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @bounds_of_another_format
// CHECK-NOT: headrace
// CHECK: return
func.func @bounds_of_another_format(%x: tensor<8xf32>) -> (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FNUZ>, tensor<8xf8E5M2>) {
  %l0 = stablehlo.constant dense<-57344.0> : tensor<f32>
  %h0 = stablehlo.constant dense<57344.0> : tensor<f32>
  %l1 = stablehlo.constant dense<-448.0> : tensor<f32>
  %h1 = stablehlo.constant dense<448.0> : tensor<f32>
  %a = stablehlo.clamp %l0, %x, %h0 : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = stablehlo.clamp %l1, %x, %h1 : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  // expected-remark @below {{clamped to [-57344, 57344], f8E4M3FN needs [-448, 448]}}
  %p = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  // expected-remark @below {{clamped to [-448, 448], f8E4M3FNUZ needs [-240, 240]}}
  %q = stablehlo.convert %b : (tensor<8xf32>) -> tensor<8xf8E4M3FNUZ>
  // expected-remark @below {{clamped to [-448, 448], f8E5M2 needs [-57344, 57344]}}
  %r = stablehlo.convert %b : (tensor<8xf32>) -> tensor<8xf8E5M2>
  return %p, %q, %r : tensor<8xf8E4M3FN>, tensor<8xf8E4M3FNUZ>, tensor<8xf8E5M2>
}

// -----

// Bounds in exchanged roles, and not a number.
// CHECK-LABEL: func.func @exchanged
// CHECK-NOT: headrace
// CHECK: return
func.func @exchanged(%x: tensor<8xf32>) -> (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>) {
  %lo = stablehlo.constant dense<-448.0> : tensor<8xf32>
  %hi = stablehlo.constant dense<448.0> : tensor<8xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<8xf32>
  %a = stablehlo.minimum %x, %lo : tensor<8xf32>
  %b = stablehlo.maximum %a, %hi : tensor<8xf32>
  // expected-remark @below {{clamped to [448, -448], f8E4M3FN needs [-448, 448]}}
  %q = stablehlo.convert %b : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %c = stablehlo.clamp %lo, %x, %nan : tensor<8xf32>
  // expected-remark @below {{clamped to [-448, nan]}}
  %r = stablehlo.convert %c : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return %q, %r : tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @one_bound
// CHECK-NOT: headrace
// CHECK: return
func.func @one_bound(%x: tensor<8xf32>) -> (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>) {
  %lo = stablehlo.constant dense<-448.0> : tensor<8xf32>
  %hi = stablehlo.constant dense<448.0> : tensor<8xf32>
  %a = stablehlo.minimum %x, %hi : tensor<8xf32>
  // expected-remark @below {{the value has only an upper bound (448)}}
  %p = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %b = stablehlo.maximum %lo, %x : tensor<8xf32>
  // expected-remark @below {{the value has only a lower bound (-448)}}
  %q = stablehlo.convert %b : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %c = stablehlo.minimum %a, %hi : tensor<8xf32>
  // expected-remark @below {{the value has only an upper bound (448)}}
  %r = stablehlo.convert %c : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return %p, %q, %r : tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @unknown_bounds
// CHECK-NOT: headrace
// CHECK: return
func.func @unknown_bounds(%x: tensor<2xf32>, %m: tensor<f32>) -> (tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>) {
  %lo = stablehlo.constant dense<-448.0> : tensor<2xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %v = stablehlo.constant dense<[448.0, 447.0]> : tensor<2xf32>
  %0 = stablehlo.clamp %lo, %x, %b : tensor<2xf32>
  // expected-remark @below {{a bound of the clamp is not a constant}}
  %p = stablehlo.convert %0 : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %1 = stablehlo.maximum %lo, %x : tensor<2xf32>
  %2 = stablehlo.minimum %b, %1 : tensor<2xf32>
  // expected-remark @below {{a bound of the clamp is not a constant}}
  %q = stablehlo.convert %2 : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %3 = stablehlo.clamp %lo, %x, %v : tensor<2xf32>
  // expected-remark @below {{a bound of the clamp is not the same for all elements}}
  %r = stablehlo.convert %3 : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %4 = stablehlo.minimum %x, %v : tensor<2xf32>
  %5 = stablehlo.maximum %lo, %4 : tensor<2xf32>
  // expected-remark @below {{a bound of the clamp is not the same for all elements}}
  %s = stablehlo.convert %5 : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  return %p, %q, %r, %s : tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @clamp_in_another_type
// CHECK-NOT: headrace
// CHECK: return
func.func @clamp_in_another_type(%x: tensor<8xf32>) -> tensor<8xf8E4M3FN> {
  %lo = stablehlo.constant dense<-448.0> : tensor<f32>
  %hi = stablehlo.constant dense<448.0> : tensor<f32>
  %n = stablehlo.clamp %lo, %x, %hi : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = stablehlo.convert %n : (tensor<8xf32>) -> tensor<8xbf16>
  // expected-remark @below {{the clamp is in f32, but bf16 is converted to f8E4M3FN}}
  %q = stablehlo.convert %b : (tensor<8xbf16>) -> tensor<8xf8E4M3FN>
  return %q : tensor<8xf8E4M3FN>
}

// -----

// The clamp and the convert are a quantize; only the scale stays outside.
// CHECK-LABEL: func.func @scale_in_another_type
// CHECK: %[[D:.*]] = stablehlo.divide
// CHECK: %[[B:.*]] = stablehlo.convert %[[D]] : (tensor<8xf32>) -> tensor<8xbf16>
// CHECK: "headrace.quantize"(%[[B]]) {operandSegmentSizes = array<i32: 1, 0>, saturate = true
func.func @scale_in_another_type(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf8E4M3FN> {
  %lo = stablehlo.constant dense<-448.0> : tensor<bf16>
  %hi = stablehlo.constant dense<448.0> : tensor<bf16>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %d = stablehlo.divide %x, %b : tensor<8xf32>
  %c = stablehlo.convert %d : (tensor<8xf32>) -> tensor<8xbf16>
  %n = stablehlo.clamp %lo, %c, %hi : (tensor<bf16>, tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  // expected-remark @below {{the scale stays outside headrace.quantize: it is applied in f32, the rest is in bf16}}
  %q = stablehlo.convert %n : (tensor<8xbf16>) -> tensor<8xf8E4M3FN>
  return %q : tensor<8xf8E4M3FN>
}

// -----

// A scale that differs from element to element is no scale of ours.
// CHECK-LABEL: func.func @scale_of_full_shape
// CHECK: %[[D:.*]] = stablehlo.divide
// CHECK: "headrace.quantize"(%[[D]]) {operandSegmentSizes = array<i32: 1, 0>
// CHECK: %[[W:.*]] = "headrace.dequantize"(%{{.*}}) {operandSegmentSizes = array<i32: 1, 0>
// CHECK: stablehlo.multiply %[[W]]
func.func @scale_of_full_shape(%x: tensor<2xf32>) -> tensor<2xf32> {
  %v = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %d = stablehlo.divide %x, %v : tensor<2xf32>
  // expected-remark @below {{the scale stays outside headrace.quantize: it is not a broadcast}}
  %q = stablehlo.convert %d : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %w = stablehlo.convert %q : (tensor<2xf8E4M3FN>) -> tensor<2xf32>
  // expected-remark @below {{not taken into headrace.dequantize: the scale is not a broadcast}}
  %m = stablehlo.multiply %w, %v : tensor<2xf32>
  return %m : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @other_converts
// CHECK-NOT: headrace
// CHECK: return
func.func @other_converts(%x: tensor<8xf8E5M2>, %i: tensor<8xi32>) -> (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>, tensor<8xi32>) {
  // expected-remark @below {{not raised to headrace.quantize: a value that is f8E5M2 already is converted to f8E4M3FN}}
  %q = stablehlo.convert %x : (tensor<8xf8E5M2>) -> tensor<8xf8E4M3FN>
  // expected-remark @below {{not raised to headrace.quantize: a value of i32, not of bf16, f16, f32 or f64, is converted to f8E4M3FN}}
  %r = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf8E4M3FN>
  // expected-remark @below {{not raised to headrace.dequantize: f8E5M2 is converted to i32}}
  %s = stablehlo.convert %x : (tensor<8xf8E5M2>) -> tensor<8xi32>
  return %q, %r, %s : tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>, tensor<8xi32>
}

// -----

// CHECK-LABEL: func.func @bitcasts
// CHECK-NOT: headrace
// CHECK: return
func.func @bitcasts(%x: tensor<8xf8E5M2>, %i: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xf8E4M3FN>) {
  // expected-remark @below {{bitcast_convert from f8E5M2 to i8 keeps the bits; stablehlo.convert keeps the value}}
  %q = stablehlo.bitcast_convert %x : (tensor<8xf8E5M2>) -> tensor<8xi8>
  // expected-remark @below {{bitcast_convert from i8 to f8E4M3FN keeps the bits}}
  %r = stablehlo.bitcast_convert %i : (tensor<8xi8>) -> tensor<8xf8E4M3FN>
  return %q, %r : tensor<8xi8>, tensor<8xf8E4M3FN>
}

// -----

// Converts that have nothing to do with fp8 pass without a word.
// CHECK-LABEL: func.func @unrelated
// CHECK-NOT: headrace
// CHECK: return
func.func @unrelated(%x: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<8xbf16>, tensor<8xf32>) {
  %a = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xbf16>
  %b = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf32>
  %c = stablehlo.multiply %b, %x : tensor<8xf32>
  return %a, %c : tensor<8xbf16>, tensor<8xf32>
}
