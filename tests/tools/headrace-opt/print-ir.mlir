// RUN: headrace-opt %s --mlir-print-ir-before=cse --mlir-print-ir-after=headrace-dce --pass-pipeline='builtin.module(func.func(cse),headrace-dce)' -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAMED
// NAMED: // -----// IR Dump Before cse ('func.func' operation: @changes) //----- //
// NAMED-NEXT: func.func @changes
// NAMED: // -----// IR Dump Before cse ('func.func' operation: @stays) //----- //
// NAMED-NEXT: func.func @stays
// NAMED-NOT: IR Dump After cse
// NAMED: // -----// IR Dump After headrace-dce //----- //
// NAMED-NEXT: module
// NAMED-NOT: IR Dump

// RUN: headrace-opt %s --mlir-print-ir-before-all --mlir-print-ir-after-all --mlir-print-ir-module-scope --pass-pipeline='builtin.module(func.func(cse),headrace-dce)' -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALL
// ALL: IR Dump Before cse //
// ALL-NEXT: module
// ALL: IR Dump After cse //
// ALL: IR Dump Before headrace-dce //
// ALL: IR Dump After headrace-dce //

// RUN: headrace-opt %s --mlir-print-ir-after-change --pass-pipeline='builtin.module(func.func(cse),headrace-dce)' -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CHANGE
// CHANGE: IR Dump After cse ('func.func' operation: @changes)
// CHANGE-NOT: IR Dump

// RUN: not headrace-opt %s --mlir-print-ir-after-failure --load-module=%S/Inputs/test_passes.py --cse --test-fail=how=error -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAILURE
// FAILURE-NOT: IR Dump After cse
// FAILURE: IR Dump After test-fail Failed
// FAILURE: test.half
// FAILURE: print-ir.mlir:{{[0-9]+}}:1: error: this function cannot be done

// RUN: rm -rf %t.tree && headrace-opt %s --mlir-print-ir-tree-dir=%t.tree --mlir-print-op-generic --pass-pipeline='builtin.module(func.func(cse),headrace-dce)' -o %t
// RUN: cat %t.tree/builtin_module_no-symbol-name/1_headrace-dce.mlir %t.tree/builtin_module_no-symbol-name/func_func_stays/0_cse.mlir \
// RUN:   | FileCheck %s --check-prefix=TREE
// TREE: "builtin.module"()
// TREE: "func.func"() <{{.*}}sym_name = "changes"
// TREE: {{^}}"func.func"() <{{.*}}sym_name = "stays"

func.func @changes(%a: i32) -> (i32, i32) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  return %0, %1 : i32, i32
}

func.func @stays(%a: i32) -> i32 {
  return %a : i32
}
