// RUN: headrace-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(legalize-math)'

func.func @sine(%x: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @+1 {{IREE has no f64 'math.sin' for CPUs; compute it in f32}}
  %y = math.sin %x : tensor<4xf64>
  return %y : tensor<4xf64>
}

// -----

func.func @remainder(%x: f64) -> f64 {
  // expected-error @+1 {{IREE has no f64 'arith.remf' for CPUs; compute it in f32}}
  %y = arith.remf %x, %x : f64
  return %y : f64
}

// -----

func.func @integer_power(%x: i32) -> i32 {
  // expected-error @+1 {{IREE has no 'math.ipowi' for CPUs; compute it from other ops}}
  %y = math.ipowi %x, %x : i32
  return %y : i32
}
