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
