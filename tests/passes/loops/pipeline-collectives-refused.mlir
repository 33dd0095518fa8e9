// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{sink-below=0})' --verify-diagnostics | FileCheck %s

// Why a collective stays where it is. The reason is a remark and an attribute.

#g = dense<[[0, 1]]> : tensor<1x2xi64>

// As in tensor parallelism: the next trip waits for the sum.
// CHECK-LABEL: func.func @depends_on_carried(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}})
// CHECK: "headrace.all_reduce"(%{{.*}}) {headrace.pipeline_reason = "not ahead, since it depends on a value carried by the loop; not behind, since it depends on a value carried by the loop that depends on it", pipelined = false
func.func @depends_on_carried(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %b = arith.addf %a, %a : tensor<4xf32>
    // expected-remark @below {{not pipelined: not ahead, since it depends on a value carried by the loop; not behind, since it depends on a value carried by the loop that depends on it}}
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %ar : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The carried value itself, with nothing in between.
// CHECK-LABEL: func.func @reduces_the_carried(
func.func @reduces_the_carried(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    // expected-remark @below {{not behind, since it depends on a value carried by the loop that depends on it}}
    %ar = "headrace.all_reduce"(%a) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %ar : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Through the store: the output that the sum goes into is read in the loop.
// CHECK-LABEL: func.func @reads_its_output(
func.func @reads_its_output(%z: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%o = %z) -> tensor<9x4xf32> {
    %v = tensor.extract_slice %o[%i, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    // expected-remark @below {{not behind, since it depends on a value carried by the loop that depends on it}}
    %ar = "headrace.all_reduce"(%v) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %u = tensor.insert_slice %ar into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    scf.yield %u : tensor<9x4xf32>
  }
  return %r : tensor<9x4xf32>
}

// Slots that change places: what goes behind would be two trips old.
// CHECK-LABEL: func.func @rotates_slots(
func.func @rotates_slots(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:3 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %x, %p = %x) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %b = arith.addf %a, %a : tensor<4xf32>
    // expected-remark @below {{not behind, since its result is carried on to a further trip}}
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b, %ar, %o : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @not_used(
func.func @not_used(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %b = arith.addf %a, %a : tensor<4xf32>
    // expected-remark @below {{not behind, since its result is not used}}
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Walls: ops that may have effects, ops that are not known, and barriers, on
// the way to a collective and behind it.
// CHECK-LABEL: func.func @walls(
func.func @walls(%w: tensor<9x4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:3 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %x, %p = %x) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %v = tensor.extract_slice %w[%i, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    %b = util.optimization_barrier %v : tensor<4xf32>
    // expected-remark @below {{not ahead, since 'util.optimization_barrier' before it may have side effects}}
    %r1 = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    "test.use"(%r1) : (tensor<4xf32>) -> ()
    %u = "test.unknown"(%v) : (tensor<4xf32>) -> tensor<4xf32>
    // expected-remark @below {{not ahead, since 'test.unknown' before it may have side effects; not behind, since 'test.use' after it may have side effects}}
    %r2 = "headrace.all_reduce"(%u) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    "test.use"(%r2) : (tensor<4xf32>) -> ()
    %n = arith.addf %a, %v : tensor<4xf32>
    // expected-remark @below {{not behind, since 'util.optimization_barrier' after it may have side effects}}
    %r3 = "headrace.all_reduce"(%n) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %s = util.optimization_barrier %r3 : tensor<4xf32>
    // A branch with an effect in it is an effect.
    %c = arith.cmpi eq, %i, %c1 : index
    // expected-remark @below {{not behind, since 'scf.if' after it may have side effects}}
    %r4 = "headrace.all_reduce"(%n) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %t = scf.if %c -> tensor<4xf32> {
      "test.effect"() : () -> ()
      scf.yield %r4 : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    scf.yield %n, %s, %t : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Where a collective stands.
// CHECK-LABEL: func.func @places(
func.func @places(%w: tensor<9x4xf32>, %x: tensor<4xf32>, %n: i32, %p: i1) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  // expected-remark @below {{not pipelined: it is in no loop}}
  %r0 = "headrace.all_reduce"(%x) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
  %r = scf.while (%i = %n) : (i32) -> i32 {
    %c = "test.condition"(%i) : (i32) -> i1
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    // expected-remark @below {{not pipelined: its loop is not counted}}
    %r1 = "headrace.all_reduce"(%x) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    "test.use"(%r1) : (tensor<4xf32>) -> ()
    scf.yield %i : i32
  }
  scf.for %i = %c0 to %c9 step %c1 {
    %v = tensor.extract_slice %w[%i, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    scf.if %p {
      // expected-remark @below {{not pipelined: it is inside 'scf.if' in its loop}}
      %r2 = "headrace.all_reduce"(%v) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
      "test.use"(%r2) : (tensor<4xf32>) -> ()
    }
  }
  scf.if %p {
    // expected-remark @below {{not pipelined: it is in no loop}}
    %r3 = "headrace.all_reduce"(%x) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    "test.use"(%r3) : (tensor<4xf32>) -> ()
  }
  return %r0 : tensor<4xf32>
}

// Few trips, and indices that count nothing.
// CHECK-LABEL: func.func @trips(
// CHECK-NOT: pipelined = true
// CHECK: return
func.func @trips(%w: tensor<9x4xf32>, %true: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c1 to %c0 step %c1 {
    %v = tensor.extract_slice %w[%i, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    // expected-remark @below {{not pipelined: its loop has 0 trips}}
    %r = "headrace.all_reduce"(%v) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    "test.use"(%r) : (tensor<4xf32>) -> ()
  }
  scf.for %i = %c0 to %c2 step %c2 {
    %v = tensor.extract_slice %w[%i, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    // expected-remark @below {{not pipelined: its loop has 1 trip}}
    %r = "headrace.all_reduce"(%v) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    "test.use"(%r) : (tensor<4xf32>) -> ()
  }
  %f = arith.constant false
  scf.for %i = %f to %true step %true : i1 {
    %at = arith.index_castui %i : i1 to index
    %v = tensor.extract_slice %w[%at, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    // expected-remark @below {{not pipelined: its loop counts in i1}}
    %r = "headrace.all_reduce"(%v) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    "test.use"(%r) : (tensor<4xf32>) -> ()
  }
  scf.for %i = %c0 to %n step %c0 {
    %v = tensor.extract_slice %w[%i, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    // expected-remark @below {{not pipelined: its step is not positive}}
    %r = "headrace.all_reduce"(%v) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    "test.use"(%r) : (tensor<4xf32>) -> ()
  }
  return
}

// The copies that a rotation leaves outside of the loop have reasons, too: the
// sum in the last trip, and all in the loop that runs where there are too few.
// CHECK-LABEL: func.func @copies(
// CHECK: scf.if
// CHECK: scf.for
// CHECK: headrace.pipeline_reason = "not ahead
// CHECK: headrace.pipeline_reason = "not ahead
// CHECK: } else {
// CHECK: scf.for
// CHECK: headrace.pipeline_reason = "it runs where its loop has fewer than two trips"
// CHECK: headrace.pipeline_reason = "not ahead
// CHECK: } {headrace.peeled}
func.func @copies(%w: tensor<9x2xf32>, %x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    // expected-remark @below {{not pipelined: it runs where its loop has fewer than two trips}}
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    %b = arith.addf %a, %g : tensor<4xf32>
    // expected-remark @below {{not ahead, since it depends on a value carried by the loop}}
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %ar : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
