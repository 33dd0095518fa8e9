// A failing pipeline leaves a file that fails in the same way.

// RUN: not headrace-opt %s --load-module=%S/Inputs/test_passes.py --cse --test-fail=how=error -o %t.out --mlir-pass-pipeline-crash-reproducer=%t.whole.mlir
// RUN: FileCheck %s --input-file=%t.whole.mlir --check-prefix=WHOLE
// WHOLE: // pipeline: builtin.module(cse,test-fail{how=error})
// WHOLE-NEXT: // verify-each: true
// WHOLE: arith.addi
// WHOLE: arith.addi
// WHOLE-NOT: test.half

// RUN: not headrace-opt --run-reproducer %t.whole.mlir --load-module=%S/Inputs/test_passes.py 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: reproducer.mlir:{{[0-9]+}}:1: error: this function cannot be done

// Local: the failing pass alone, and the IR it was given.
// RUN: not headrace-opt %s --load-module=%S/Inputs/test_passes.py --cse --test-fail=how=error --verify-each=0 --mlir-pass-pipeline-crash-reproducer=%t.local.mlir --mlir-pass-pipeline-local-reproducer
// RUN: FileCheck %s --input-file=%t.local.mlir --check-prefix=LOCAL
// LOCAL: // pipeline: builtin.module(test-fail{how=error})
// LOCAL-NEXT: // verify-each: false
// LOCAL: arith.addi
// LOCAL-NOT: arith.addi

// Native code that dies takes only the worker with it.
// RUN: rm -f %t.out %t.crash.mlir
// RUN: not headrace-opt %s --load-module=%S/Inputs/test_passes.py --test-fail=how=abort -o %t.out --mlir-pass-pipeline-crash-reproducer=%t.crash.mlir 2>&1 | FileCheck %s --check-prefix=CRASH
// CRASH: error: headrace-opt crashed (SIGABRT) in pass 'test-fail'
// CRASH-NEXT: note: the reproducer was written
// RUN: not test -e %t.out && not headrace-opt --run-reproducer %t.crash.mlir --load-module=%S/Inputs/test_passes.py

// No failure, no file; MLIR's own form of reproducers is read too.
// RUN: rm -f %t.none.mlir && headrace-opt %s --cse --mlir-pass-pipeline-crash-reproducer=%t.none.mlir -o %t.out && not test -e %t.none.mlir
// RUN: headrace-opt --run-reproducer %s | FileCheck %s --check-prefix=NATIVE
// NATIVE: arith.addi
// NATIVE-NOT: arith.addi

func.func @f(%a: i32) -> (i32, i32) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  return %0, %1 : i32, i32
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(func.func(cse))",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
