// RUN: headrace-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// Directives of every place and both forms; errors of the parser, of MLIR's
// verifier and of headrace's own.

// CHECK-LABEL: func.func @fine
func.func @fine(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}

// -----

func.func @unknown_op(%a: tensor<2xf32>) {
  // expected-error @below {{'headrace.bogus' op is not an op of the headrace dialect}}
  %0 = "headrace.bogus"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @same_line(%a: tensor<2xf32>) { return a } // expected-error {{custom op 'a' is unknown}}

// -----

// expected-error-re @+1 {{use of {{un[a-z]+}} SSA}}
func.func @regex(%a: tensor<2xf32>) { return %b : tensor<2xf32> }

// -----

func.func @above(%a: i32) -> i32 {
  func.return
  // expected-error @above {{has 0 operands, but enclosing function (@above) returns 1}}
}

// -----

func.func @minus(%a: i32) -> i32 {
  func.return

  // expected-error @-2 {{has 0 operands}}
}

// -----

// Chunks after faulty ones are processed too.
// CHECK-LABEL: func.func @last
func.func @last() { return }
