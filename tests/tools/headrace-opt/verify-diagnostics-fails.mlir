// RUN: not headrace-opt %s --split-input-file --verify-diagnostics --load-module=%S/Inputs/test_passes.py --test-remarks -o %t 2>&1 | FileCheck %s
// RUN: headrace-opt %s --split-input-file --verify-diagnostics=only-expected --load-module=%S/Inputs/test_passes.py --test-remarks='on=func.return' | FileCheck %s --check-prefix=ONLY

// CHECK: fails.mlir:13:8: error: unexpected remark: arith.addi seen
// CHECK: fails.mlir:14:1: error: expected remark "return seen" on line 15 was not produced
// CHECK: fails.mlir:21:1: error: expected remark "return seen" on line 22 was not produced
// CHECK-NOT: error:

// ONLY: func.func @unexpected
// ONLY: func.func @missing

func.func @unexpected(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  // expected-remark @below {{return seen}}
  return %0 : i32
}

// -----

func.func @missing() {
  // expected-remark @below {{return seen}}
  return
}
