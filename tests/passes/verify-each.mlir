// Native and headrace verifiers run on the input and after each pass, unless
// told not to.

// RUN: not headrace-opt %s --load-module=%S/../tools/headrace-opt/Inputs/test_passes.py --test-fail=how=invalid --cse -o %t 2>&1 | FileCheck %s --check-prefix=EACH
// EACH: verify-each.mlir:[[LINE:[0-9]+]]:1: error: 'func.func' op entry block must have 0 arguments to match function signature
// EACH-NEXT: note: in pass 'test-fail'

// RUN: headrace-opt %s --load-module=%S/../tools/headrace-opt/Inputs/test_passes.py --test-fail=how=invalid --verify-each=0 | FileCheck %s --check-prefix=OFF
// RUN: headrace-opt %s --load-module=%S/../tools/headrace-opt/Inputs/test_passes.py --test-fail=how=invalid --verify-each=false --mlir-print-ir-after-change -o %t 2>&1 | FileCheck %s --check-prefix=OFF
// OFF: "func.func"() <{function_type = () -> ()
// OFF-NEXT: ^bb0(%{{.*}}: i32)

func.func @f(%a: i32) {
  return
}
