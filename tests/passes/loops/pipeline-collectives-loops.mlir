// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{sink-below=0},canonicalize,cse)' | FileCheck %s
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{sink-below=0},pipeline-collectives{sink-below=0},canonicalize,cse)' | FileCheck %s

// Bounds: static and dynamic, all index types, few trips; loops in loops. A
// second run of the pass changes nothing.

#g = dense<[[0, 1]]> : tensor<1x2xi64>

// Two trips: one is left in the loop, which canonicalize unfolds.
// CHECK-LABEL: func.func @two_trips(
// CHECK-NOT: scf.for
// CHECK-COUNT-2: "headrace.all_gather"{{.*}}pipelined = true
// CHECK-NOT: headrace.all_gather
// CHECK: return
func.func @two_trips(%w: tensor<9x2xf32>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c1 to %c6 step %c3 {
    %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g) : (tensor<4xf32>) -> ()
  }
  return
}

// A dynamic bound: the loop as it was where it has fewer than two trips. The
// count is that of an unsigned difference, none where the bounds are reversed.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<9x2xf32>, %[[L:[a-z0-9]*]]: i32, %[[U:[a-z0-9]*]]: i32, %[[S:[a-z0-9]*]]: i32)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[L]], %[[U]] : i32
// CHECK: %[[SPAN:.*]] = arith.subi %[[U]], %[[L]] : i32
// CHECK: %[[COUNT:.*]] = arith.ceildivui %[[SPAN]], %[[S]] : i32
// CHECK: %[[TRIPS:.*]] = arith.select %[[RUNS]], %[[COUNT]], %[[ZERO]] : i32
// CHECK: %[[ENOUGH:.*]] = arith.cmpi uge, %[[TRIPS]], %{{.*}} : i32
// CHECK: scf.if %[[ENOUGH]] {
// CHECK: %[[BEFORE:.*]] = arith.subi %[[TRIPS]], %[[ONE]] : i32
// CHECK: %[[WAY:.*]] = arith.muli %[[BEFORE]], %[[S]] : i32
// CHECK: %[[LAST:.*]] = arith.addi %[[L]], %[[WAY]] : i32
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: scf.for %{{.*}} = %[[L]] to %[[LAST]] step %[[S]]
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %[[L]] to %[[U]] step %[[S]]
// CHECK: "headrace.all_gather"{{.*}}pipelined = false
// CHECK: return
func.func @dynamic(%w: tensor<9x2xf32>, %l: i32, %u: i32, %s: i32) {
  scf.for %i = %l to %u step %s : i32 {
    %at = arith.index_cast %i : i32 to index
    %v = tensor.extract_slice %w[%at, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g) : (tensor<4xf32>) -> ()
  }
  return
}

// 200 trips, more than an i8 can say: 99 is the last index.
// CHECK-LABEL: func.func @wider_than_its_type(
// CHECK-DAG: %[[L:.*]] = arith.constant -100 : i8
// CHECK-DAG: %[[LAST:.*]] = arith.constant 99 : i8
// CHECK: scf.for %{{.*}} = %[[L]] to %[[LAST]] step %{{.*}} iter_args
// CHECK: pipelined = true
func.func @wider_than_its_type(%w: tensor<256x2xf32>) {
  %l = arith.constant -100 : i8
  %u = arith.constant 100 : i8
  %c1 = arith.constant 1 : i8
  scf.for %i = %l to %u step %c1 : i8 {
    %at = arith.index_castui %i : i8 to index
    %v = tensor.extract_slice %w[%at, 0] [1, 2] [1, 1] : tensor<256x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g) : (tensor<4xf32>) -> ()
  }
  return
}

// Unsigned bounds, and a step of 150, which is negative as i8: 10, 160.
// CHECK-LABEL: func.func @unsigned(
// CHECK: tensor.extract_slice %{{.*}}[10, 0]
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: tensor.extract_slice %{{.*}}[160, 0]
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK-NOT: headrace
func.func @unsigned(%w: tensor<256x2xf32>) {
  %l = arith.constant 10 : i8
  %u = arith.constant -5 : i8
  %c150 = arith.constant -106 : i8
  scf.for unsigned %i = %l to %u step %c150 : i8 {
    %at = arith.index_castui %i : i8 to index
    %v = tensor.extract_slice %w[%at, 0] [1, 2] [1, 1] : tensor<256x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g) : (tensor<4xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @unsigned_dynamic(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<9x2xf32>, %[[L:[a-z0-9]*]]: i64, %[[U:[a-z0-9]*]]: i64)
// CHECK: arith.cmpi ult, %[[L]], %[[U]] : i64
// CHECK: scf.if
// CHECK: scf.for unsigned
// CHECK: } else {
// CHECK: scf.for unsigned
func.func @unsigned_dynamic(%w: tensor<9x2xf32>, %l: i64, %u: i64) {
  %c2 = arith.constant 2 : i64
  scf.for unsigned %i = %l to %u step %c2 : i64 {
    %at = arith.index_castui %i : i64 to index
    %v = tensor.extract_slice %w[%at, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g) : (tensor<4xf32>) -> ()
  }
  return
}

// Inner loops first; then the outer one, whose last trip holds a copy of the
// rotated inner one.
// CHECK-LABEL: func.func @nested(
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: scf.for
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: scf.for
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: "test.use"
// CHECK: }
// CHECK: "test.use"
// CHECK: scf.yield
// CHECK: }
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: scf.for
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK-NOT: headrace
// CHECK: return
func.func @nested(%w: tensor<9x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    scf.for %j = %c0 to %c9 step %c1 {
      %u = tensor.extract_slice %w[%j, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
      %r = "headrace.all_reduce"(%u) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<2xf32>) -> tensor<2xf32>
      "test.use"(%r, %g) : (tensor<2xf32>, tensor<4xf32>) -> ()
    }
  }
  return
}

// A whole inner loop in a chain, with a collective of its own, goes ahead as
// one op, and what is in it is marked.
// CHECK-LABEL: func.func @loop_in_a_chain(
// CHECK: scf.for %{{.*}} iter_args
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: scf.for
// CHECK: scf.for %{{.*}} iter_args
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: "test.use"
// CHECK: scf.yield
// CHECK-NOT: headrace
// CHECK: return
func.func @loop_in_a_chain(%w: tensor<9x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    %u = scf.for %j = %c0 to %c9 step %c1 iter_args(%a = %v) -> tensor<2xf32> {
      %r = "headrace.all_reduce"(%a) {pipelined = false, reduction = "max", replica_groups = #g} : (tensor<2xf32>) -> tensor<2xf32>
      %s = arith.addf %r, %v : tensor<2xf32>
      scf.yield %s : tensor<2xf32>
    }
    %g = "headrace.all_gather"(%u) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g) : (tensor<4xf32>) -> ()
  }
  return
}

// A carried value that never changes is the collective's operand.
// CHECK-LABEL: func.func @carried_invariant(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<2xf32>
// CHECK: "headrace.all_gather"(%[[W]])
// CHECK: scf.for
// CHECK: "headrace.all_gather"(%[[W]])
// CHECK-NOT: headrace
// CHECK: return
func.func @carried_invariant(%w: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%v = %w) -> tensor<2xf32> {
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%g) : (tensor<4xf32>) -> ()
    scf.yield %v : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
