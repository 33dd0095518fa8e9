// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{sink-below=0})' | FileCheck %s

// The three directions, values that both stages read, and what comes with a
// collective. Sinking has a file of its own.

#g = dense<[[0, 1]]> : tensor<1x2xi64>

// Backward: prologue, rotated body, peeled last trip.
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<9x2xf32>, %[[X:[a-z0-9]*]]: tensor<4xf32>
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[C9:.*]] = arith.constant 9 : index
// CHECK: %[[LAST:.*]] = arith.constant 8 : index
// CHECK: %[[V0:.*]] = tensor.extract_slice %[[W]][%[[C0]], 0]
// CHECK: %[[G0:.*]] = "headrace.all_gather"(%[[V0]]) {{{.*}}pipelined = true
// CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = %[[C0]] to %[[LAST]] step %[[C1]] iter_args(%[[A:.*]] = %[[X]], %[[G:.*]] = %[[G0]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %[[C1]] : index
// CHECK: %[[V:.*]] = tensor.extract_slice %[[W]][%[[NEXT]], 0]
// CHECK: %[[AHEAD:.*]] = "headrace.all_gather"(%[[V]]) {{{.*}}pipelined = true
// CHECK: %[[B:.*]] = arith.addf %[[A]], %[[G]]
// CHECK: scf.yield %[[B]], %[[AHEAD]]
// CHECK: } {test.kept = 3 : i64}
// CHECK-NOT: headrace
// CHECK: %[[END:.*]] = arith.addf %[[R]]#0, %[[R]]#1
// CHECK-NEXT: return %[[END]]
func.func @backward(%w: tensor<9x2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    %b = arith.addf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } {test.kept = 3 : i64}
  return %r : tensor<4xf32>
}

// Forward: peeled first trip, tail of the trip before in the body, tail of the
// last trip after it. The index of the tail is the one of its own trip, and
// what it reads of the first stage is carried; a constant is made again.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<9x4xf32>, %[[X:[a-z0-9]*]]: tensor<4xf32>, %[[Z:[a-z0-9]*]]: tensor<9x4xf32>
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : i32
// CHECK-NOT: headrace
// CHECK: %[[V0:.*]] = tensor.extract_slice %[[W]]
// CHECK: %[[B0:.*]] = arith.mulf %[[X]], %[[V0]]
// CHECK: %[[C5:.*]] = arith.constant 5 : i32
// CHECK: %[[R:.*]]:3 = scf.for %[[I:.*]] = %[[C5]] to %[[C9]] step %[[C3]] iter_args(%[[A:.*]] = %[[B0]], %[[O:.*]] = %[[Z]], %[[P:.*]] = %[[B0]])
// CHECK: %[[BEFORE:.*]] = arith.subi %[[I]], %[[C3]] : i32
// CHECK: %[[AT:.*]] = arith.index_cast %[[BEFORE]]
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01>
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[P]]) {pipelined = true
// CHECK: %[[S:.*]] = arith.mulf %[[AR]], %[[HALF]]
// CHECK: %[[U:.*]] = tensor.insert_slice %[[S]] into %[[O]][%[[AT]], 0]
// CHECK: %[[NOW:.*]] = arith.index_cast %[[I]]
// CHECK: %[[V:.*]] = tensor.extract_slice %[[W]][%[[NOW]], 0]
// CHECK: %[[B:.*]] = arith.mulf %[[A]], %[[V]]
// CHECK: scf.yield %[[B]], %[[U]], %[[B]]
// CHECK: %[[C8:.*]] = arith.constant 8 : i32
// CHECK: %[[LAST:.*]] = arith.index_cast %[[C8]]
// CHECK: %[[ARE:.*]] = "headrace.all_reduce"(%[[R]]#2) {pipelined = true
// CHECK: %[[SE:.*]] = arith.mulf %[[ARE]]
// CHECK: %[[UE:.*]] = tensor.insert_slice %[[SE]] into %[[R]]#1[%[[LAST]], 0]
// CHECK: return %[[R]]#0, %[[UE]]
func.func @forward(%w: tensor<9x4xf32>, %x: tensor<4xf32>, %z: tensor<9x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c9 = arith.constant 9 : i32
  %r:2 = scf.for %i = %c2 to %c9 step %c3 iter_args(%a = %x, %o = %z) -> (tensor<4xf32>, tensor<9x4xf32>) : i32 {
    %at = arith.index_cast %i : i32 to index
    %half = arith.constant dense<0.5> : tensor<4xf32>
    %v = tensor.extract_slice %w[%at, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    %b = arith.mulf %a, %v : tensor<4xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %s = arith.mulf %ar, %half : tensor<4xf32>
    %u = tensor.insert_slice %s into %o[%at, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    scf.yield %b, %u : tensor<4xf32>, tensor<9x4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<9x4xf32>
}

// Backward, then forward, on one loop: each rewrite once, whatever it moves.
// The steady body gathers ahead and reduces behind, and neither depends on the
// addition between them.
// CHECK-LABEL: func.func @both(
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK-NOT: headrace
// CHECK: scf.for %{{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}}, %[[G:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
// CHECK-DAG: %[[AR:.*]] = "headrace.all_reduce"(%[[P]]) {pipelined = true
// CHECK-DAG: %[[B:.*]] = arith.addf %[[A]], %[[G]]
// CHECK-DAG: %[[NEXT:.*]] = "headrace.all_gather"(%{{.*}}) {{{.*}}pipelined = true
// CHECK: scf.yield %[[B]], %{{.*}}, %[[NEXT]], %[[B]]
// CHECK: "headrace.all_reduce"
// CHECK: arith.addf
// CHECK: "headrace.all_reduce"
// CHECK-NOT: scf.for
// CHECK: return
func.func @both(%w: tensor<9x2xf32>, %x: tensor<4xf32>, %z: tensor<9x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<4xf32>, tensor<9x4xf32>) {
    %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    %b = arith.addf %a, %g : tensor<4xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %u = tensor.insert_slice %ar into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    scf.yield %b, %u : tensor<4xf32>, tensor<9x4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<9x4xf32>
}

// Several gathers in one rewrite; one feeds another, and is read by the body
// too. The slice is made again, the sum of it is carried, and the gather in
// the middle, read on both sides, too: each gather runs once per trip.
// CHECK-LABEL: func.func @several_ahead(
// CHECK-COUNT-3: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[D:.*]] = %{{.*}}, %[[G:.*]] = %{{.*}}, %[[H:.*]] = %{{.*}}, %[[K:.*]] = %{{.*}}) -> (tensor<8xf32>, tensor<2xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>)
// CHECK-COUNT-3: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK-NOT: headrace
// CHECK: "test.use"(%[[S]], %[[D]], %[[G]], %[[K]])
// CHECK: scf.yield
// CHECK-NOT: headrace
// CHECK: return
func.func @several_ahead(%w: tensor<9x2xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %s = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    %d = arith.addf %s, %s : tensor<2xf32>
    %g = "headrace.all_gather"(%d) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    %e = arith.mulf %g, %g : tensor<4xf32>
    %h = "headrace.all_gather"(%e) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<4xf32>) -> tensor<8xf32>
    %k = "headrace.all_gather"(%s) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    "test.use"(%s, %d, %g, %k) : (tensor<2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
    %b = arith.addf %a, %h : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// An op that is read in the chain and made from a gather is not made again in
// the body, which would gather twice per trip.
// CHECK-LABEL: func.func @gathers_once(
// CHECK-COUNT-2: "headrace.all_gather"
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[E:.*]] = %{{.*}}, %[[H:.*]] = %{{.*}})
// CHECK-COUNT-2: "headrace.all_gather"
// CHECK-NOT: headrace
// CHECK: "test.use"(%[[E]])
// CHECK: scf.yield
// CHECK-NOT: headrace
// CHECK: return
func.func @gathers_once(%w: tensor<9x2xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %s = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%s) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    %e = arith.mulf %g, %g : tensor<4xf32>
    %h = "headrace.all_gather"(%e) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<4xf32>) -> tensor<8xf32>
    "test.use"(%e) : (tensor<4xf32>) -> ()
    %b = arith.addf %a, %h : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A dequantize is never carried wide away from its matmul: what is carried is
// what it reads. Ahead: the body dequantizes the gathered q for itself.
// CHECK-LABEL: func.func @dequantize_beside_matmul_ahead(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[Q:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<4x4xf32>, tensor<4x4xf8E4M3FN>, tensor<8x4xf32>)
// CHECK: "headrace.all_gather"
// CHECK: "headrace.all_gather"
// CHECK: %[[D:.*]] = "headrace.dequantize"(%[[Q]],
// CHECK: "headrace.matmul"(%{{.*}}, %[[D]])
// CHECK: scf.yield
func.func @dequantize_beside_matmul_ahead(%w: tensor<9x2x4xf8E4M3FN>, %s: tensor<f32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<4x4xf32> {
    %v = tensor.extract_slice %w[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<9x2x4xf8E4M3FN> to tensor<2x4xf8E4M3FN>
    %q = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2x4xf8E4M3FN>) -> tensor<4x4xf8E4M3FN>
    %d = "headrace.dequantize"(%q, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
    %h = "headrace.all_gather"(%d) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<4x4xf32>) -> tensor<8x4xf32>
    "test.use"(%h) : (tensor<8x4xf32>) -> ()
    %m = "headrace.matmul"(%a, %d) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %m : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// Behind: the matmul in the tail has its own dequantize of a carried q, and the
// transpose between them.
// CHECK-LABEL: func.func @dequantize_beside_matmul_behind(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}}) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf8E4M3FN>)
// CHECK: %[[D:.*]] = "headrace.dequantize"(%[[Q]],
// CHECK: %[[V:.*]] = linalg.transpose ins(%[[D]]
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[B]])
// CHECK: "headrace.matmul"(%[[AR]], %[[V]])
// CHECK: %[[T:.*]] = "test.trip"
// CHECK: %[[E:.*]] = "headrace.dequantize"(%[[T]],
// CHECK: "headrace.matmul"(%{{.*}}, %[[E]])
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %[[T]]
func.func @dequantize_beside_matmul_behind(%s: tensor<f32>, %x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %x) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %q = "test.trip"(%i) : (index) -> tensor<4x4xf8E4M3FN>
    %d = "headrace.dequantize"(%q, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
    %b = "headrace.matmul"(%a, %d) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e = tensor.empty() : tensor<4x4xf32>
    %t = linalg.transpose ins(%d : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %m = "headrace.matmul"(%ar, %t) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %n = arith.addf %o, %m : tensor<4x4xf32>
    scf.yield %b, %n : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// A tail that reads its slot at the top of the body, before the collective;
// an op of it captures values of both stages in a branch.
// CHECK-LABEL: func.func @tail_from_the_top(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[O:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[OLD:.*]] = arith.mulf %[[O]], %[[O]]
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[B]]) {pipelined = true
// CHECK: %[[IF:.*]] = scf.if
// CHECK: arith.addf %[[AR]], %[[B]]
// CHECK: scf.yield %[[OLD]]
// CHECK: %[[NEXT:.*]] = arith.addf
// CHECK: scf.yield %[[NEXT]], %[[IF]], %[[NEXT]]
func.func @tail_from_the_top(%x: tensor<4xf32>, %p: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %old = arith.mulf %o, %o : tensor<4xf32>
    %b = arith.addf %a, %a : tensor<4xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %n = scf.if %p -> tensor<4xf32> {
      %c = arith.addf %ar, %b : tensor<4xf32>
      scf.yield %c : tensor<4xf32>
    } else {
      scf.yield %old : tensor<4xf32>
    }
    scf.yield %b, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// One result yielded in two slots; the slots' first values are read elsewhere.
// CHECK-LABEL: func.func @result_in_two_slots(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[X:.*]], %{{.*}} = %[[X]], %[[B:.*]] = %{{.*}})
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[B]])
// CHECK: %[[N:.*]] = arith.addf
// CHECK: scf.yield %[[N]], %[[AR]], %[[AR]], %[[N]]
// CHECK: %[[LAST:.*]] = "headrace.all_reduce"
// CHECK: return %{{.*}}, %[[LAST]], %[[LAST]], %[[X]]
func.func @result_in_two_slots(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:3 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %x, %o2 = %x) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %b = arith.addf %a, %a : tensor<4xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b, %ar, %ar : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Effects keep their order: all of them are in the first stage, or are left
// in the rotated body.
// CHECK-LABEL: func.func @effects(
// CHECK: "headrace.all_gather"
// CHECK: scf.for
// CHECK: "headrace.all_gather"
// CHECK: "test.first"
// CHECK: "test.second"
// CHECK: scf.yield
// CHECK: "test.first"
// CHECK: "test.second"
// CHECK: return
func.func @effects(%w: tensor<9x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    "test.first"() : () -> ()
    %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
    %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    "test.second"(%g) : (tensor<4xf32>) -> ()
  }
  return
}

// All kinds of collectives, ahead; attributes of the collectives stay.
// CHECK-LABEL: func.func @kinds(
// CHECK: scf.for
// CHECK: "headrace.all_to_all"(%{{.*}}) {{{.*}}pipelined = true, {{.*}}test.kept}
// CHECK: "headrace.collective_permute"(%{{.*}}) {pipelined = true,
// CHECK: "headrace.reduce_scatter"(%{{.*}}) {{{.*}}pipelined = true,
// CHECK: "headrace.all_reduce"(%{{.*}}) {pipelined = true,
// CHECK: scf.yield
func.func @kinds(%w: tensor<9x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %v = tensor.extract_slice %w[%i, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    %a = "headrace.all_to_all"(%v) {concat_dim = 0 : i64, pipelined = false, replica_groups = #g, split_dim = 0 : i64, test.kept} : (tensor<4xf32>) -> tensor<4xf32>
    %b = "headrace.collective_permute"(%v) {pipelined = false, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %c = "headrace.reduce_scatter"(%v) {dim = 0 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<2xf32>
    %d = "headrace.all_reduce"(%v) {pipelined = false, reduction = "max", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    "test.use"(%a, %b, %c, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>) -> ()
  }
  return
}
