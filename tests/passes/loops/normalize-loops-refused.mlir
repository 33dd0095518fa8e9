// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(normalize-loops)' --split-input-file --verify-diagnostics | FileCheck %s

// What stays scf.while, and why.

// CHECK-LABEL: func.func @wraps_around
// CHECK: scf.while
func.func @wraps_around(%x: i32) -> i32 {
  %start = arith.constant 100 : i8
  %end = arith.constant 127 : i8
  %two = arith.constant 2 : i8
  // expected-remark @below {{loop not counted: the loop's counter wraps around its type before the loop ends}}
  %r:2 = scf.while (%i = %start, %a = %x) : (i8, i32) -> (i8, i32) {
    %c = arith.cmpi slt, %i, %end : i8
    scf.condition(%c) %i, %a : i8, i32
  } do {
  ^bb0(%i: i8, %a: i32):
    %b = arith.muli %a, %a : i32
    %n = arith.addi %i, %two : i8
    scf.yield %n, %b : i8, i32
  }
  return %r#1 : i32
}

// -----

// As unsigned, 0 - 1 is the largest number of all.
// CHECK-LABEL: func.func @wraps_below_zero
// CHECK: scf.while
func.func @wraps_below_zero(%x: i32) -> i32 {
  %start = arith.constant 3 : i32
  %end = arith.constant 0 : i32
  %minus = arith.constant -1 : i32
  // expected-remark @below {{wraps around its type before the loop ends}}
  %r:2 = scf.while (%i = %start, %a = %x) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi uge, %i, %end : i32
    scf.condition(%c) %i, %a : i32, i32
  } do {
  ^bb0(%i: i32, %a: i32):
    %b = arith.muli %a, %a : i32
    %n = arith.addi %i, %minus : i32
    scf.yield %n, %b : i32, i32
  }
  return %r#1 : i32
}

// -----

// 0, 2, 4, 6, ... never meets 5.
// CHECK-LABEL: func.func @steps_over
// CHECK: scf.while
func.func @steps_over(%x: i32, %n: i32) -> i32 {
  %start = arith.constant 0 : i32
  %end = arith.constant 5 : i32
  %two = arith.constant 2 : i32
  // expected-remark @below {{wraps around its type before the loop ends}}
  %r:2 = scf.while (%i = %start, %a = %x) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi ne, %i, %end : i32
    scf.condition(%c) %i, %a : i32, i32
  } do {
  ^bb0(%i: i32, %a: i32):
    %b = arith.muli %a, %a : i32
    %m = arith.addi %i, %two : i32
    scf.yield %m, %b : i32, i32
  }
  // expected-remark @below {{the loop's counter may step over its bound}}
  %s:2 = scf.while (%i = %start, %a = %x) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi ne, %i, %n : i32
    scf.condition(%c) %i, %a : i32, i32
  } do {
  ^bb0(%i: i32, %a: i32):
    %b = arith.muli %a, %a : i32
    %m = arith.addi %i, %two : i32
    scf.yield %m, %b : i32, i32
  }
  return %s#1 : i32
}

// -----

// CHECK-LABEL: func.func @moves_away
// CHECK: scf.while
func.func @moves_away(%x: i32, %n: i32) -> i32 {
  %start = arith.constant 0 : i32
  %minus = arith.constant -1 : i32
  // expected-remark @below {{the loop's counter moves away from its bound}}
  %r:2 = scf.while (%i = %start, %a = %x) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %i, %a : i32, i32
  } do {
  ^bb0(%i: i32, %a: i32):
    %b = arith.muli %a, %a : i32
    %m = arith.addi %i, %minus : i32
    scf.yield %m, %b : i32, i32
  }
  return %r#1 : i32
}

// -----

// CHECK-LABEL: func.func @while_equal
// CHECK: scf.while
func.func @while_equal(%x: i32, %n: i32) -> i32 {
  %start = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-remark @below {{the loop runs while its counter equals a bound that is not known}}
  %r:2 = scf.while (%i = %start, %a = %x) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi eq, %i, %n : i32
    scf.condition(%c) %i, %a : i32, i32
  } do {
  ^bb0(%i: i32, %a: i32):
    %b = arith.muli %a, %a : i32
    %m = arith.addi %i, %one : i32
    scf.yield %m, %b : i32, i32
  }
  return %r#1 : i32
}

// -----

// CHECK-LABEL: func.func @bound_changes
// CHECK: scf.while
func.func @bound_changes(%x: i32) -> i32 {
  %start = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-remark @below {{the loop's bound changes in the loop}}
  %r:2 = scf.while (%i = %start, %n = %x) : (i32, i32) -> (i32, i32) {
    %e = arith.muli %n, %n : i32
    %c = arith.cmpi slt, %i, %e : i32
    scf.condition(%c) %i, %n : i32, i32
  } do {
  ^bb0(%i: i32, %n: i32):
    %m = arith.addi %i, %one : i32
    %p = arith.subi %n, %one : i32
    scf.yield %m, %p : i32, i32
  }
  return %r#1 : i32
}

// -----

// CHECK-LABEL: func.func @no_constant_step
// CHECK: scf.while
func.func @no_constant_step(%x: i32, %d: i32) -> i32 {
  %start = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %half = arith.constant 128 : i8
  %zero = arith.constant 0 : i8
  // expected-remark @below {{the loop's counter does not advance by a constant}}
  %r:2 = scf.while (%i = %start, %a = %x) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi slt, %i, %x : i32
    scf.condition(%c) %i, %a : i32, i32
  } do {
  ^bb0(%i: i32, %a: i32):
    %m = arith.addi %i, %d : i32
    scf.yield %m, %a : i32, i32
  }
  // 128 and 128 again is no step at all for an i8.
  // expected-remark @below {{the loop's counter does not advance by a constant}}
  %s = scf.while (%i = %zero) : (i8) -> i8 {
    %c = arith.cmpi eq, %i, %zero : i8
    scf.condition(%c) %i : i8
  } do {
  ^bb0(%i: i8):
    %m = arith.addi %i, %half : i8
    %n = arith.addi %m, %half : i8
    scf.yield %n : i8
  }
  return %r#1 : i32
}

// -----

// CHECK-LABEL: func.func @other_conditions
// CHECK-COUNT-3: scf.while
func.func @other_conditions(%x: i32, %f: f32, %p: i1) -> (i32, f32, i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %true = arith.constant true
  %limit = arith.constant 10.0 : f32
  // expected-remark @below {{the loop's condition is not a comparison of integers}}
  %r = scf.while (%a = %f) : (f32) -> f32 {
    %c = arith.cmpf olt, %a, %limit : f32
    scf.condition(%c) %a : f32
  } do {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    scf.yield %b : f32
  }
  // expected-remark @below {{the loop's condition is not a comparison of integers}}
  %s:2 = scf.while (%i = %zero, %q = %p) : (i32, i1) -> (i32, i1) {
    %c = arith.cmpi slt, %i, %x : i32
    %d = arith.andi %c, %q : i1
    scf.condition(%d) %i, %q : i32, i1
  } do {
  ^bb0(%i: i32, %q: i1):
    %n = arith.addi %i, %one : i32
    scf.yield %n, %q : i32, i1
  }
  // A flag is compared, not a counter.
  // expected-remark @below {{the loop's counter does not advance by a constant}}
  %t = scf.while (%q = %p) : (i1) -> i1 {
    %c = arith.cmpi eq, %q, %true : i1
    scf.condition(%c) %q : i1
  } do {
  ^bb0(%q: i1):
    %n = "test.flag"(%q) : (i1) -> i1
    scf.yield %n : i1
  }
  return %s#0, %r, %t : i32, f32, i1
}

// -----

// CHECK-LABEL: func.func @condition_does_more
// CHECK-COUNT-2: scf.while
func.func @condition_does_more(%x: i32) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-remark @below {{the loop's condition has side effects}}
  %r = scf.while (%i = %zero) : (i32) -> i32 {
    "test.effect"() : () -> ()
    %c = arith.cmpi slt, %i, %x : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %n = arith.addi %i, %one : i32
    scf.yield %n : i32
  }
  // expected-remark @below {{the loop's condition region computes values that the body reads}}
  %s = scf.while (%i = %zero) : (i32) -> i32 {
    %j = arith.addi %i, %one : i32
    %c = arith.cmpi slt, %i, %x : i32
    scf.condition(%c) %j : i32
  } do {
  ^bb0(%j: i32):
    scf.yield %j : i32
  }
  return %r, %s : i32, i32
}

// -----

// CHECK-LABEL: func.func @wider_than_any_index
// CHECK: scf.while
func.func @wider_than_any_index(%x: i128) -> i128 {
  %zero = arith.constant 0 : i128
  %one = arith.constant 1 : i128
  // expected-remark @below {{the loop's counter has more than 64 bits}}
  %r = scf.while (%i = %zero) : (i128) -> i128 {
    %c = arith.cmpi slt, %i, %x : i128
    scf.condition(%c) %i : i128
  } do {
  ^bb0(%i: i128):
    %n = arith.addi %i, %one : i128
    scf.yield %n : i128
  }
  return %r : i128
}

// -----

// A counter of unknown start in a resource is no constant, and no crash.
// CHECK-LABEL: func.func @resource
// CHECK: scf.for
func.func @resource(%x: i32) -> tensor<i32> {
  %start = arith.constant dense_resource<start> : tensor<i32>
  %one = arith.constant 1 : i32
  %end = arith.constant 5 : i32
  %r = scf.while (%i = %start) : (tensor<i32>) -> tensor<i32> {
    %s = tensor.extract %i[] : tensor<i32>
    %c = arith.cmpi slt, %s, %end : i32
    scf.condition(%c) %i : tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>):
    %s = tensor.extract %i[] : tensor<i32>
    %n = arith.addi %s, %one : i32
    %t = tensor.from_elements %n : tensor<i32>
    scf.yield %t : tensor<i32>
  }
  return %r : tensor<i32>
}

{-#
  dialect_resources: { builtin: { start: "0x0400000003000000" } }
#-}

// -----

// Generics that are no arithmetic on rank-0 integers stay, and so do reads of
// inits.
// CHECK-LABEL: func.func @other_generics
// CHECK-COUNT-2: linalg.generic
#scalar = affine_map<() -> ()>
#row = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
func.func @other_generics(%x: tensor<4xi32>, %y: tensor<i32>) -> (i32, i32) {
  %a = linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]} ins(%x : tensor<4xi32>) outs(%y : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %1 = arith.addi %in, %out : i32
    linalg.yield %1 : i32
  } -> tensor<i32>
  %b = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%y : tensor<i32>) outs(%y : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %1 = arith.addi %in, %out : i32
    linalg.yield %1 : i32
  } -> tensor<i32>
  %c = tensor.extract %a[] : tensor<i32>
  %d = tensor.extract %b[] : tensor<i32>
  return %c, %d : i32, i32
}

// -----

// Constants of all widths become scalars.
// CHECK-LABEL: func.func @widths
// CHECK-DAG: arith.constant 3 : i4
// CHECK-DAG: arith.constant 5 : i128
// CHECK-DAG: arith.constant true
// CHECK-DAG: arith.constant -7 : index
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @widths() -> (i4, i128, i1, index) {
  %a = arith.constant dense<3> : tensor<i4>
  %b = arith.constant dense<5> : tensor<i128>
  %c = arith.constant dense<true> : tensor<i1>
  %d = arith.constant dense<-7> : tensor<index>
  %0 = tensor.extract %a[] : tensor<i4>
  %1 = tensor.extract %b[] : tensor<i128>
  %2 = tensor.extract %c[] : tensor<i1>
  %3 = tensor.extract %d[] : tensor<index>
  return %0, %1, %2, %3 : i4, i128, i1, index
}
