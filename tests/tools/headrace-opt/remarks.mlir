// RUN: headrace-opt %s --load-module=%S/Inputs/test_passes.py --test-rewrite --remarks 2>&1 | FileCheck %s
// RUN: headrace-opt %s --load-module=%S/Inputs/test_passes.py --test-rewrite -o %t 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// RUN: headrace-opt %s --load-module=%S/Inputs/test_passes.py --test-rewrite --verify-diagnostics -o %t
// RUN: headrace-opt %s --load-module=%S/Inputs/test_passes.py --test-rewrite --mlir-pass-statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS

// CHECK: remarks.mlir:[[LINE:[0-9]+]]:8: remark: operands differ
// QUIET-NOT: remark
// STATISTICS: test-rewrite
// STATISTICS-NEXT: (S) 5 ops before, 5 after
// STATISTICS-NEXT: (S) 1 _AddToMul misses
// STATISTICS-NEXT: (S) 1 _AddToMul rewrites

func.func @f(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.addi %a, %a : i32
  // expected-remark @below {{operands differ}}
  %1 = arith.addi %a, %b : i32
  return %0, %1 : i32, i32
}
