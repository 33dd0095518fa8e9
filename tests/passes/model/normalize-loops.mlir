// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(normalize-loops,canonicalize,cse)' | FileCheck %s

// Each relation, by a loop that doubles %x: the count is what is checked.

// CHECK-LABEL: func.func @less
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[C4]] step %[[C1]] iter_args(
// CHECK-NOT: scf.while
func.func @less(%x: tensor<4xf32>) -> tensor<4xf32> {
  %start = arith.constant 1 : i32
  %end = arith.constant 5 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.while (%i = %start, %a = %x) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    %c = arith.cmpi slt, %i, %end : i32
    scf.condition(%c) %i, %a : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<4xf32>):
    %b = arith.addf %a, %a : tensor<4xf32>
    %n = arith.addi %i, %one : i32
    scf.yield %n, %b : i32, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// 1, 4, 7, 10: four trips.
// CHECK-LABEL: func.func @less_equal_with_a_step
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK: scf.for %{{.*}} to %[[C4]] step
func.func @less_equal_with_a_step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %start = arith.constant 1 : i64
  %end = arith.constant 10 : i64
  %three = arith.constant 3 : i64
  %r:2 = scf.while (%i = %start, %a = %x) : (i64, tensor<4xf32>) -> (i64, tensor<4xf32>) {
    %c = arith.cmpi sle, %i, %end : i64
    scf.condition(%c) %i, %a : i64, tensor<4xf32>
  } do {
  ^bb0(%i: i64, %a: tensor<4xf32>):
    %b = arith.addf %a, %a : tensor<4xf32>
    %n = arith.addi %i, %three : i64
    scf.yield %n, %b : i64, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// 10, 8, 6: the counter in the body is 10 - 2 * trip, after the loop it is 4.
// CHECK-LABEL: func.func @greater_downwards
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[TEN:.*]] = arith.constant 10 : i32
// CHECK-DAG: %[[MINUS2:.*]] = arith.constant -2 : i32
// CHECK-DAG: %[[AFTER:.*]] = arith.constant 4 : i32
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[C3]] step
// CHECK: %[[COUNT:.*]] = arith.index_castui %[[K]] : index to i32
// CHECK: %[[SCALED:.*]] = arith.muli %[[COUNT]], %[[MINUS2]] : i32
// CHECK: %[[I:.*]] = arith.addi %[[SCALED]], %[[TEN]] : i32
// CHECK: "test.use"(%[[I]])
// CHECK: return %{{.*}}, %[[AFTER]]
func.func @greater_downwards(%x: tensor<4xf32>) -> (tensor<4xf32>, i32) {
  %start = arith.constant 10 : i32
  %end = arith.constant 5 : i32
  %two = arith.constant 2 : i32
  %r:2 = scf.while (%a = %x, %i = %start) : (tensor<4xf32>, i32) -> (tensor<4xf32>, i32) {
    %c = arith.cmpi sgt, %i, %end : i32
    scf.condition(%c) %a, %i : tensor<4xf32>, i32
  } do {
  ^bb0(%a: tensor<4xf32>, %i: i32):
    "test.use"(%i) : (i32) -> ()
    %b = arith.addf %a, %a : tensor<4xf32>
    %n = arith.subi %i, %two : i32
    scf.yield %b, %n : tensor<4xf32>, i32
  }
  return %r#0, %r#1 : tensor<4xf32>, i32
}

// Sides swapped: 5 <= i is i >= 5. 10, 8, 6: three trips.
// CHECK-LABEL: func.func @swapped_sides
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK: scf.for %{{.*}} to %[[C3]] step
func.func @swapped_sides(%x: tensor<4xf32>) -> tensor<4xf32> {
  %start = arith.constant 10 : i8
  %end = arith.constant 5 : i8
  %two = arith.constant -2 : i8
  %r:2 = scf.while (%i = %start, %a = %x) : (i8, tensor<4xf32>) -> (i8, tensor<4xf32>) {
    %c = arith.cmpi sle, %end, %i : i8
    scf.condition(%c) %i, %a : i8, tensor<4xf32>
  } do {
  ^bb0(%i: i8, %a: tensor<4xf32>):
    %b = arith.addf %a, %a : tensor<4xf32>
    %n = arith.addi %i, %two : i8
    scf.yield %n, %b : i8, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @not_equal
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK: scf.for %{{.*}} to %[[C3]] step
func.func @not_equal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %start = arith.constant 0 : index
  %end = arith.constant 6 : index
  %two = arith.constant 2 : index
  %r:2 = scf.while (%i = %start, %a = %x) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %c = arith.cmpi ne, %i, %end : index
    scf.condition(%c) %i, %a : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %a: tensor<4xf32>):
    %b = arith.addf %a, %a : tensor<4xf32>
    %n = arith.addi %i, %two : index
    scf.yield %n, %b : index, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// A loop of one trip that canonicalize unfolds.
// CHECK-LABEL: func.func @equal
// CHECK-NEXT: %[[B:.*]] = arith.addf %arg0, %arg0
// CHECK-NEXT: return %[[B]]
func.func @equal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %start = arith.constant 3 : i32
  %end = arith.constant 3 : i32
  %two = arith.constant 2 : i32
  %r:2 = scf.while (%i = %start, %a = %x) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    %c = arith.cmpi eq, %i, %end : i32
    scf.condition(%c) %i, %a : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<4xf32>):
    %b = arith.addf %a, %a : tensor<4xf32>
    %n = arith.addi %i, %two : i32
    scf.yield %n, %b : i32, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// As unsigned, 250 is less than 254 and more than 3; as i8 it is -6.
// CHECK-LABEL: func.func @unsigned
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C247:.*]] = arith.constant 247 : index
// CHECK: scf.for %{{.*}} to %[[C4]] step
// CHECK: scf.for %{{.*}} to %[[C247]] step
func.func @unsigned(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %start = arith.constant 250 : i8
  %end = arith.constant 254 : i8
  %three = arith.constant 3 : i8
  %one = arith.constant 1 : i8
  %up:2 = scf.while (%i = %start, %a = %x) : (i8, tensor<4xf32>) -> (i8, tensor<4xf32>) {
    %c = arith.cmpi ult, %i, %end : i8
    scf.condition(%c) %i, %a : i8, tensor<4xf32>
  } do {
  ^bb0(%i: i8, %a: tensor<4xf32>):
    %b = arith.addf %a, %a : tensor<4xf32>
    %n = arith.addi %i, %one : i8
    scf.yield %n, %b : i8, tensor<4xf32>
  }
  %down:2 = scf.while (%i = %start, %a = %x) : (i8, tensor<4xf32>) -> (i8, tensor<4xf32>) {
    %c = arith.cmpi ugt, %i, %three : i8
    scf.condition(%c) %i, %a : i8, tensor<4xf32>
  } do {
  ^bb0(%i: i8, %a: tensor<4xf32>):
    %b = arith.mulf %a, %a : tensor<4xf32>
    %n = arith.subi %i, %one : i8
    scf.yield %n, %b : i8, tensor<4xf32>
  }
  return %up#1, %down#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @no_trip
// CHECK-NEXT: return %arg0
func.func @no_trip(%x: tensor<4xf32>) -> tensor<4xf32> {
  %start = arith.constant 5 : i32
  %end = arith.constant 5 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.while (%i = %start, %a = %x) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    %c = arith.cmpi slt, %i, %end : i32
    scf.condition(%c) %i, %a : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<4xf32>):
    %b = arith.addf %a, %a : tensor<4xf32>
    %n = arith.addi %i, %one : i32
    scf.yield %n, %b : i32, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// A dynamic bound: counted in i64, never less than nothing.
// CHECK-LABEL: func.func @dynamic_greater_equal(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[END:.*]]: i32)
// CHECK-DAG: %[[C10:.*]] = arith.constant 10 : i64
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK: %[[RUNS:.*]] = arith.cmpi sle, %[[END]], %{{.*}} : i32
// CHECK: %[[WIDE:.*]] = arith.extsi %[[END]] : i32 to i64
// CHECK: %[[SPAN:.*]] = arith.subi %[[C10]], %[[WIDE]] : i64
// CHECK: %[[STEPS:.*]] = arith.divui %[[SPAN]], %[[TWO]] : i64
// CHECK: %[[COUNT:.*]] = arith.addi %[[STEPS]], %[[ONE]] : i64
// CHECK: %[[TRIPS:.*]] = arith.select %[[RUNS]], %[[COUNT]], %[[ZERO]] : i64
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[TRIPS]] : i64 to index
// CHECK: scf.for %{{.*}} to %[[INDEX]] step
func.func @dynamic_greater_equal(%x: tensor<4xf32>, %end: i32) -> tensor<4xf32> {
  %start = arith.constant 10 : i32
  %two = arith.constant 2 : i32
  %r:2 = scf.while (%i = %start, %a = %x) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    %c = arith.cmpi sge, %i, %end : i32
    scf.condition(%c) %i, %a : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<4xf32>):
    %b = arith.addf %a, %a : tensor<4xf32>
    %n = arith.subi %i, %two : i32
    scf.yield %n, %b : i32, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// With NE the difference modulo the width is exact, whatever the counter does.
// CHECK-LABEL: func.func @dynamic_not_equal(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[START:.*]]: i8, %[[END:.*]]: i8)
// CHECK: %[[SPAN:.*]] = arith.subi %[[START]], %[[END]] : i8
// CHECK: %[[WIDE:.*]] = arith.extui %[[SPAN]] : i8 to i64
// CHECK: %[[TRIPS:.*]] = arith.index_cast %[[WIDE]] : i64 to index
// CHECK: scf.for %{{.*}} to %[[TRIPS]] step
func.func @dynamic_not_equal(%x: tensor<4xf32>, %start: i8, %end: i8) -> tensor<4xf32> {
  %one = arith.constant -1 : i8
  %r:2 = scf.while (%i = %start, %a = %x) : (i8, tensor<4xf32>) -> (i8, tensor<4xf32>) {
    %c = arith.cmpi ne, %i, %end : i8
    scf.condition(%c) %i, %a : i8, tensor<4xf32>
  } do {
  ^bb0(%i: i8, %a: tensor<4xf32>):
    %b = arith.addf %a, %a : tensor<4xf32>
    %n = arith.addi %i, %one : i8
    scf.yield %n, %b : i8, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// The bound is computed in the condition, from a carried value that stays; the
// counter is compared a step ahead of itself: i + 2 < n - 1 from 0 by 1.
// CHECK-LABEL: func.func @bound_computed_in_the_condition(
// CHECK-SAME: %[[N:[a-z0-9]*]]: tensor<i32>)
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[SCALAR:.*]] = tensor.extract %[[N]][] : tensor<i32>
// CHECK: %[[END:.*]] = arith.subi %[[SCALAR]], %[[ONE]] : i32
// CHECK: %[[RUNS:.*]] = arith.cmpi sgt, %[[END]], %{{.*}} : i32
// CHECK: scf.for
func.func @bound_computed_in_the_condition(%x: tensor<4xf32>, %end: tensor<i32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %r:3 = scf.while (%i = %zero, %n = %end, %a = %x) : (i32, tensor<i32>, tensor<4xf32>) -> (i32, tensor<i32>, tensor<4xf32>) {
    %s = tensor.extract %n[] : tensor<i32>
    %e = arith.subi %s, %one : i32
    %j = arith.addi %i, %two : i32
    %c = arith.cmpi slt, %j, %e : i32
    scf.condition(%c) %i, %n, %a : i32, tensor<i32>, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %n: tensor<i32>, %a: tensor<4xf32>):
    %b = arith.addf %a, %a : tensor<4xf32>
    %next = arith.addi %i, %one : i32
    scf.yield %next, %n, %b : i32, tensor<i32>, tensor<4xf32>
  }
  return %r#2 : tensor<4xf32>
}

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
