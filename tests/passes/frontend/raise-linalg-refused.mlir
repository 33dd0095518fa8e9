// RUN: headrace-opt %s --pass-pipeline='builtin.module(raise-linalg)' --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @bounds(
// CHECK: arith.truncf
func.func @bounds(%x: tensor<8xf32>) -> tensor<8xf8E4M3FN> {
  %lo = arith.constant dense<-240.0> : tensor<8xf32>
  %hi = arith.constant dense<240.0> : tensor<8xf32>
  %1 = arith.maximumf %x, %lo : tensor<8xf32>
  %2 = arith.minimumf %1, %hi : tensor<8xf32>
  // expected-remark@+1 {{not raised to headrace.quantize: the value is clamped to [-240, 240], f8E4M3FN needs [-448, 448]}}
  %3 = arith.truncf %2 : tensor<8xf32> to tensor<8xf8E4M3FN>
  return %3 : tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: @one_bound(
// CHECK: arith.truncf
func.func @one_bound(%x: tensor<8xf32>) -> tensor<8xf8E4M3FN> {
  %hi = arith.constant dense<448.0> : tensor<8xf32>
  %2 = arith.minimumf %x, %hi : tensor<8xf32>
  // expected-remark@+1 {{not raised to headrace.quantize: the value has only an upper bound (448)}}
  %3 = arith.truncf %2 : tensor<8xf32> to tensor<8xf8E4M3FN>
  return %3 : tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: @drops_nan(
// CHECK: arith.truncf
func.func @drops_nan(%x: tensor<8xf32>) -> tensor<8xf8E4M3FN> {
  %lo = arith.constant dense<-448.0> : tensor<8xf32>
  %hi = arith.constant dense<448.0> : tensor<8xf32>
  %1 = arith.maxnumf %x, %lo : tensor<8xf32>
  %2 = arith.minnumf %1, %hi : tensor<8xf32>
  // expected-remark@+1 {{not raised to headrace.quantize: 'arith.minnumf' turns NaN into a number, arith.maximumf and minimumf keep it}}
  %3 = arith.truncf %2 : tensor<8xf32> to tensor<8xf8E4M3FN>
  return %3 : tensor<8xf8E4M3FN>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: @turned(
// CHECK: arith.truncf
func.func @turned(%x: tensor<8x4xf32>) -> tensor<4x8xf8E4M3FN> {
  %e = tensor.empty() : tensor<4x8xf8E4M3FN>
  // expected-remark@+1 {{not raised to headrace.quantize: the value to be converted is read transposed or broadcast}}
  %0 = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%e : tensor<4x8xf8E4M3FN>) {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %w = arith.truncf %a : f32 to f8E4M3FN
    linalg.yield %w : f8E4M3FN
  } -> tensor<4x8xf8E4M3FN>
  return %0 : tensor<4x8xf8E4M3FN>
}

// -----

// A relu before the convert is no saturation.
// CHECK-LABEL: @relu(
// CHECK: %[[R:.*]] = arith.maximumf
// CHECK: "headrace.quantize"(%[[R]]) {{.*}}saturate = false
func.func @relu(%x: tensor<8xf32>) -> tensor<8xf8E4M3FN> {
  %lo = arith.constant dense<0.0> : tensor<8xf32>
  %1 = arith.maximumf %x, %lo : tensor<8xf32>
  %3 = arith.truncf %1 : tensor<8xf32> to tensor<8xf8E4M3FN>
  return %3 : tensor<8xf8E4M3FN>
}
