// Native and Python passes mixed, nested anchors, the order of flags, and the
// pipeline printed back.

// RUN: headrace-opt %s --pass-pipeline='builtin.module(func.func(cse), headrace-dce,func.func(canonicalize{max-iterations=3 test-convergence},cse), any(cse) )' \
// RUN:   --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=DUMP
// DUMP: {{^}}builtin.module(func.func(cse),headrace-dce,func.func(canonicalize{max-iterations=3 test-convergence=true},cse),any(cse)){{$}}
// DUMP: func.func @both

// RUN: headrace-opt %s --load-module=%S/Inputs/test_passes.py --cse --test-rewrite --test-remarks="on=arith.muli texts=a,b times=2" \
// RUN:   --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=FLAGS
// FLAGS: builtin.module(cse,test-rewrite,test-remarks{on=arith.muli texts=a,b times=2})
// FLAGS: %[[V:.*]] = arith.muli %arg0, %arg0
// FLAGS-NEXT: return %[[V]], %[[V]]

// The other order: nothing is equal yet when cse runs.
// RUN: headrace-opt %s --load-module=%S/Inputs/test_passes.py --test-rewrite --cse -dump-pass-pipeline 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ORDER
// ORDER: builtin.module(test-rewrite,cse)
// ORDER: arith.muli %arg0, %arg0
// ORDER-NOT: arith.muli

// No passes at all.
// RUN: headrace-opt %s --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: builtin.module()
// EMPTY: arith.addi
// EMPTY: arith.addi

func.func @both(%a: i32) -> (i32, i32) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  return %0, %1 : i32, i32
}
