// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(normalize-loops,canonicalize,cse)' | FileCheck %s

// As IREE's input pipeline leaves them: counters are rank-0 tensors, the
// condition and the step linalg.generic. The second counter goes by 3 from 5,
// and both are read after the loop.
// CHECK-LABEL: func.func @rank_0_tensors
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[I:.*]] = arith.constant dense<8> : tensor<i32>
// CHECK-DAG: %[[K:.*]] = arith.constant dense<17> : tensor<i32>
// CHECK: %[[R:.*]] = scf.for %{{.*}} = %{{.*}} to %[[C4]] step %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<4xf32>) {
// CHECK: %[[THREE:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: %[[SECOND:.*]] = arith.addi %[[THREE]], %{{.*}} : i32
// CHECK: %[[AT:.*]] = arith.index_cast %[[SECOND]] : i32 to index
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]], %[[I]], %[[K]]
#scalar = affine_map<() -> ()>
func.func @rank_0_tensors(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>, tensor<i32>) {
  %start = arith.constant dense<0> : tensor<i32>
  %second = arith.constant dense<5> : tensor<i32>
  %end = arith.constant 7 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %r:3 = scf.while (%i = %start, %k = %second, %a = %x) : (tensor<i32>, tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<i32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<i1>
    %c = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %1 = arith.cmpi slt, %in, %end : i32
      linalg.yield %1 : i1
    } -> tensor<i1>
    %go = tensor.extract %c[] : tensor<i1>
    scf.condition(%go) %i, %k, %a : tensor<i32>, tensor<i32>, tensor<4xf32>
  } do {
  ^bb0(%i: tensor<i32>, %k: tensor<i32>, %a: tensor<4xf32>):
    %s = tensor.extract %k[] : tensor<i32>
    %at = arith.index_cast %s : i32 to index
    "test.use"(%at) : (index) -> ()
    %b = arith.addf %a, %a : tensor<4xf32>
    %e0 = tensor.empty() : tensor<i32>
    %n = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%i : tensor<i32>) outs(%e0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %1 = arith.addi %in, %two : i32
      linalg.yield %1 : i32
    } -> tensor<i32>
    %e1 = tensor.empty() : tensor<i32>
    %m = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%k : tensor<i32>) outs(%e1 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %1 = arith.addi %in, %three : i32
      linalg.yield %1 : i32
    } -> tensor<i32>
    scf.yield %n, %m, %b : tensor<i32>, tensor<i32>, tensor<4xf32>
  }
  return %r#2, %r#0, %r#1 : tensor<4xf32>, tensor<i32>, tensor<i32>
}

// Counters carried by a scf.for: one that counts down, one that stays, in a
// loop with a start and a step of its own. Attributes of loops stay.
// CHECK-LABEL: func.func @counters_of_for(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[N:.*]]: i64)
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK: scf.for %[[I:.*]] = %[[C3]] to %[[C9]] step %[[C2]] iter_args(%{{.*}} = %[[X]]) -> (tensor<4xf32>) : i32 {
// CHECK: %[[SPAN:.*]] = arith.subi %[[I]], %[[C3]] : i32
// CHECK: %[[TRIP:.*]] = arith.divui %[[SPAN]], %[[C2]] : i32
// CHECK: %[[WIDE:.*]] = arith.extui %[[TRIP]] : i32 to i64
// CHECK: %[[DOWN:.*]] = arith.subi %[[N]], %[[WIDE]] : i64
// CHECK: "test.use"(%[[DOWN]], %[[N]])
// CHECK: } {test.kept}
func.func @counters_of_for(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
  %lower = arith.constant 3 : i32
  %upper = arith.constant 9 : i32
  %step = arith.constant 2 : i32
  %one = arith.constant 1 : i64
  %r:3 = scf.for %i = %lower to %upper step %step iter_args(%k = %n, %s = %n, %a = %x) -> (i64, i64, tensor<4xf32>) : i32 {
    "test.use"(%k, %s) : (i64, i64) -> ()
    %b = arith.addf %a, %a : tensor<4xf32>
    %k1 = arith.subi %k, %one : i64
    scf.yield %k1, %s, %b : i64, i64, tensor<4xf32>
  } {test.kept}
  return %r#2 : tensor<4xf32>
}

// Loops in loops, in branches of loops: every one is found.
// CHECK-LABEL: func.func @nested
// CHECK-NOT: scf.while
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.while
// CHECK: return
func.func @nested(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.constant 6 : i32
  %r:2 = scf.while (%i = %zero, %a = %x) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    %c = arith.cmpi sle, %i, %end : i32
    scf.condition(%c) %i, %a : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<4xf32>):
    %d = scf.if %p -> (tensor<4xf32>) {
      %s:2 = scf.while (%j = %i, %b = %a) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
        %c = arith.cmpi ult, %j, %end : i32
        scf.condition(%c) %j, %b : i32, tensor<4xf32>
      } do {
      ^bb0(%j: i32, %b: tensor<4xf32>):
        %t:2 = scf.for %l = %zero to %j step %one iter_args(%k = %zero, %g = %b) -> (i32, tensor<4xf32>) : i32 {
          "test.use"(%k) : (i32) -> ()
          %h = arith.addf %g, %g : tensor<4xf32>
          %k1 = arith.addi %k, %one : i32
          scf.yield %k1, %h : i32, tensor<4xf32>
        }
        %n = arith.addi %j, %one : i32
        scf.yield %n, %t#1 : i32, tensor<4xf32>
      }
      scf.yield %s#1 : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    %n = arith.addi %i, %one : i32
    scf.yield %n, %d : i32, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// What is computed before a loop is not computed in it: the generic of the
// bound becomes scalar code at its own place, once for both that read it.
// CHECK-LABEL: func.func @invariant_scalars(
// CHECK-SAME: %[[N:[^:]*]]: tensor<i32>
// CHECK: %[[S:.*]] = tensor.extract %[[N]][] : tensor<i32>
// CHECK: %[[D:.*]] = arith.addi %[[S]], %[[S]] : i32
// CHECK: scf.for
// CHECK-NOT: arith.addi
// CHECK: "test.use"(%[[D]])
// CHECK: "test.use"(%[[D]])
// CHECK: return
func.func @invariant_scalars(%x: tensor<i32>) {
  %e = tensor.empty() : tensor<i32>
  %d = linalg.generic {indexing_maps = [#scalar, #scalar, #scalar], iterator_types = []} ins(%x, %x : tensor<i32>, tensor<i32>) outs(%e : tensor<i32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %1 = arith.addi %a, %b : i32
    linalg.yield %1 : i32
  } -> tensor<i32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 6 : index
  scf.for %i = %zero to %end step %one {
    %s = tensor.extract %d[] : tensor<i32>
    "test.use"(%s) : (i32) -> ()
    %t = tensor.extract %d[] : tensor<i32>
    "test.use"(%t) : (i32) -> ()
  }
  return
}
