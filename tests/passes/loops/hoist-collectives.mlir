// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(hoist-collectives)' --split-input-file --verify-diagnostics | FileCheck %s

// With all that it is computed from; what else reads the chain reads the copy
// before the loop.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<2xf32>
// CHECK: %[[D:.*]] = arith.addf %[[W]], %[[W]]
// CHECK: %[[G:.*]] = "headrace.all_gather"(%[[D]]) {{{.*}}pipelined = false
// CHECK: scf.for
// CHECK-NOT: arith.addf
// CHECK-NOT: headrace.all_gather
// CHECK: "test.use"(%[[G]], %[[D]])
// CHECK: return
func.func @chain(%w: tensor<2xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %d = arith.addf %w, %w : tensor<2xf32>
    %g = "headrace.all_gather"(%d) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g, %d) : (tensor<4xf32>, tensor<2xf32>) -> ()
  }
  return
}

// -----

// A dequantize stays beside what reads it, though its collective leaves.

// CHECK-LABEL: func.func @dequantize_stays(
// CHECK: "headrace.dequantize"
// CHECK: %[[G:.*]] = "headrace.all_gather"
// CHECK: scf.for
// CHECK: %[[D:.*]] = "headrace.dequantize"
// CHECK: "test.use"(%[[G]], %[[D]])
func.func @dequantize_stays(%q: tensor<2xf8E4M3FN>, %s: tensor<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %d = "headrace.dequantize"(%q, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<2xf8E4M3FN>, tensor<f32>) -> tensor<2xf32>
    %g = "headrace.all_gather"(%d) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g, %d) : (tensor<4xf32>, tensor<2xf32>) -> ()
  }
  return
}

// -----

// Two loops deep, and through a collective that reads another; a carried value
// that never changes is its initial value.

// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<2xf32>
// CHECK: %[[R:.*]] = "headrace.all_reduce"(%[[W]])
// CHECK: %[[G:.*]] = "headrace.all_gather"(%[[R]])
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: headrace
// CHECK: "test.use"(%[[G]])
func.func @nested(%w: tensor<2xf32>, %x: tensor<4xf32>, %n: index) -> (tensor<2xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %w, %a = %x) -> (tensor<2xf32>, tensor<4xf32>) {
    %s:2 = scf.for %j = %c0 to %n step %c1 iter_args(%u = %v, %b = %a) -> (tensor<2xf32>, tensor<4xf32>) {
      %ar = "headrace.all_reduce"(%u) {pipelined = false, reduction = "add", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
      %g = "headrace.all_gather"(%ar) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
      "test.use"(%g) : (tensor<4xf32>) -> ()
      %c = arith.addf %b, %g : tensor<4xf32>
      scf.yield %u, %c : tensor<2xf32>, tensor<4xf32>
    }
    scf.yield %v, %s#1 : tensor<2xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<4xf32>
}

// -----

// Out of the inner loop only: it depends on the outer index.

// CHECK-LABEL: func.func @depends_on_outer_index(
// CHECK: scf.for %[[I:.*]] =
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], 0]
// CHECK: %[[G:.*]] = "headrace.all_gather"
// CHECK: scf.for
// CHECK-NOT: headrace
// CHECK: "test.use"(%[[G]])
func.func @depends_on_outer_index(%w: tensor<8x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<8x2xf32> to tensor<2xf32>
      %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
      "test.use"(%g) : (tensor<4xf32>) -> ()
    }
  }
  return
}

// -----

// Depends on the index, on a carried value, on an op that is not known, on a
// barrier: stays.

// CHECK-LABEL: func.func @stay(
// CHECK: scf.for
// CHECK-COUNT-4: headrace.all_gather
// CHECK: scf.yield
func.func @stay(%w: tensor<8x2xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> tensor<2xf32> {
    %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<8x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    %h = "headrace.all_gather"(%a) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    %u = "test.unknown"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %k = "headrace.all_gather"(%u) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    %b = util.optimization_barrier %x : tensor<2xf32>
    %l = "headrace.all_gather"(%b) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g, %h, %k, %l) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
    %c = arith.addf %a, %v : tensor<2xf32>
    scf.yield %c : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

// A slice at a place that is only right where the loop runs: with no trip the
// program never makes it. Where the loop is known to run it goes.

// CHECK-LABEL: func.func @may_have_no_trip(
// CHECK-NOT: headrace
// CHECK: scf.for
// CHECK: headrace.all_gather
// CHECK: headrace.all_gather
// CHECK: scf.for
// CHECK-NOT: headrace
// CHECK: return
func.func @may_have_no_trip(%w: tensor<8x2xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c1 {
    %last = arith.subi %n, %c1 : index
    %v = tensor.extract_slice %w[%last, 0] [1, 2] [1, 1] : tensor<8x2xf32> to tensor<2xf32>
    // expected-remark @below {{not hoisted: 'tensor.extract_slice' before it may be undefined, and the loop may have no trip}}
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g) : (tensor<4xf32>) -> ()
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %last = arith.subi %n, %c1 : index
    %v = tensor.extract_slice %w[%last, 0] [1, 2] [1, 1] : tensor<8x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g) : (tensor<4xf32>) -> ()
  }
  return
}

// -----

// The result is yielded, in two slots; the loop has nothing else to do.

// CHECK-LABEL: func.func @yielded_twice(
// CHECK: %[[G:.*]] = "headrace.all_gather"
// CHECK: scf.for
// CHECK: scf.yield %[[G]], %[[G]]
func.func @yielded_twice(%w: tensor<2xf32>, %x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    scf.yield %g, %g : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A pure branch that captures what it reads goes along as a whole.

// CHECK-LABEL: func.func @branch_in_the_chain(
// CHECK: %[[V:.*]] = scf.if
// CHECK: %[[G:.*]] = "headrace.all_gather"(%[[V]])
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: "test.use"(%[[G]])
func.func @branch_in_the_chain(%w: tensor<2xf32>, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = scf.if %p -> tensor<2xf32> {
      %d = arith.addf %w, %w : tensor<2xf32>
      scf.yield %d : tensor<2xf32>
    } else {
      scf.yield %w : tensor<2xf32>
    }
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g) : (tensor<4xf32>) -> ()
  }
  return
}
