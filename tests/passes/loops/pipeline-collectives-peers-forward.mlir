// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{sink-below=0},canonicalize,cse)' | FileCheck %s

// The shapes of XLA's collective pipeliner tests that move forward (a trip
// behind), by their numbers in its test file, each written anew. The index
// may be any function of the loop's index here: a tail is stored in the order
// of the trips, so nothing has to be proved about it (9).
//
// Not here:
//  5  host transfers: there are none.
// 14  levels and markers of runs: what is pipelined is marked, and a second
//     run leaves it; pipeline-collectives-loops.mlir runs the pass twice.
// 15, 16  pushing a gather over a sum that an earlier run has moved: all that
//     a moved collective feeds goes with it in the first run.
// 37, 38  send and recv: there are none.
// 59, 60, 61, 62  scheduling annotations: there are none; a request is the
//     attribute headrace.pipeline (pipeline-collectives-options.mlir).
// 67  stores into tokens: there are no tokens. An op with an effect behind a
//     collective is a wall (pipeline-collectives-refused.mlir).
// 68  host offloading: there is none.
// In 3 and 4 XLA shifts the trips in which a permute is valid; a permute has
// no such attribute here, and runs in each trip.

#g = dense<[[0, 1]]> : tensor<1x2xi64>

// 1: stored from the back; the last trip stores row 0.
// CHECK-LABEL: func.func @peer_1(
// CHECK: arith.mulf
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[O:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[P]]) {pipelined = true
// CHECK: tensor.insert_slice %[[AR]] into %[[O]]
// CHECK: scf.yield
// CHECK: %[[LAST:.*]] = "headrace.all_reduce"(%{{.*}}) {pipelined = true
// CHECK-NEXT: tensor.insert_slice %[[LAST]] into %{{.*}}[0, 0]
// CHECK-NOT: headrace
// CHECK: return
func.func @peer_1(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %c2 = arith.constant 2 : index
    %k = arith.subi %c2, %i : index
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ar into %o[%k, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 2: the plain index.
// CHECK-LABEL: func.func @peer_2(
// CHECK: arith.mulf
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[O:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[P]]) {pipelined = true
// CHECK: tensor.insert_slice %[[AR]] into %[[O]]
// CHECK: scf.yield
// CHECK: %[[LAST:.*]] = "headrace.all_reduce"(%{{.*}}) {pipelined = true
// CHECK-NEXT: tensor.insert_slice %[[LAST]] into %{{.*}}[2, 0]
// CHECK-NOT: headrace
// CHECK: return
func.func @peer_2(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ar into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 3: a permute in the first stage, 14 trips.
// CHECK-LABEL: func.func @peer_3(
// CHECK: "headrace.collective_permute"(%{{.*}}) {{.*}}"not ahead, since it depends on a value carried by the loop;
// CHECK: scf.for
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: "headrace.collective_permute"{{.*}}pipelined = false
// CHECK: scf.yield
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK-NOT: headrace
// CHECK: return
func.func @peer_3(%w: tensor<14x8xf32>, %x: tensor<1x8xf32>, %z: tensor<14x8xf32>) -> (tensor<1x8xf32>, tensor<14x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 14 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<14x8xf32>) {
    %p = "headrace.collective_permute"(%a) {pipelined = false, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %b = arith.mulf %a, %p : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ar into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<14x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<14x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<14x8xf32>
}

// 4: the same, the other way round.
// CHECK-LABEL: func.func @peer_4(
// CHECK: "headrace.collective_permute"(%{{.*}}) {{.*}}"not ahead, since it depends on a value carried by the loop;
// CHECK: scf.for
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: "headrace.collective_permute"{{.*}}pipelined = false
// CHECK: scf.yield
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK-NOT: headrace
// CHECK: return
func.func @peer_4(%w: tensor<14x8xf32>, %x: tensor<1x8xf32>, %z: tensor<14x8xf32>) -> (tensor<1x8xf32>, tensor<14x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 14 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<14x8xf32>) {
    %p = "headrace.collective_permute"(%a) {pipelined = false, source_target_pairs = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %b = arith.mulf %a, %p : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ar into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<14x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<14x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<14x8xf32>
}

// 6: the raw value is carried by itself, not in the output.
// CHECK-LABEL: func.func @peer_6(
// CHECK: scf.for %{{.*}} -> (tensor<1x8xf32>, tensor<3x8xf32>, tensor<1x8xf32>)
func.func @peer_6(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ar into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 7: the output is sliced in its second dimension.
// CHECK-LABEL: func.func @peer_7(
// CHECK: scf.for
// CHECK: %[[AR:.*]] = "headrace.all_reduce"
// CHECK: tensor.insert_slice %[[AR]] into %{{.*}}[0, %{{.*}}, 0] [8, 1, 4] [1, 1, 1]
// CHECK: scf.yield
// CHECK: %[[L:.*]] = "headrace.all_reduce"
// CHECK: tensor.insert_slice %[[L]] into %{{.*}}[0, 2, 0] [8, 1, 4] [1, 1, 1]
func.func @peer_7(%x: tensor<8x4xf32>, %z: tensor<8x3x4xf32>) -> (tensor<8x4xf32>, tensor<8x3x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<8x4xf32>, tensor<8x3x4xf32>) {
    %b = arith.mulf %a, %a : tensor<8x4xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %u = tensor.insert_slice %ar into %o[0, %i, 0] [8, 1, 4] [1, 1, 1] : tensor<8x4xf32> into tensor<8x3x4xf32>
    %next = arith.addf %a, %b : tensor<8x4xf32>
    scf.yield %next, %u : tensor<8x4xf32>, tensor<8x3x4xf32>
  }
  return %r#0, %r#1 : tensor<8x4xf32>, tensor<8x3x4xf32>
}

// 8: by two, below an odd bound: two trips, of which none is left to loop.
// CHECK-LABEL: func.func @peer_8(
// CHECK-NOT: scf.for
// CHECK: %[[A:.*]] = "headrace.all_reduce"(%{{.*}}) {pipelined = true
// CHECK: tensor.insert_slice %[[A]] into %{{.*}}[0, 0]
// CHECK: %[[L:.*]] = "headrace.all_reduce"(%{{.*}}) {pipelined = true
// CHECK: tensor.insert_slice %[[L]] into %{{.*}}[2, 0]
// CHECK-NOT: headrace
// CHECK: return
func.func @peer_8(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 2 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ar into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 9: an index that may wrap; refused by XLA, the same in any order here.
// CHECK-LABEL: func.func @peer_9(
// CHECK: scf.for
// CHECK: arith.select
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: tensor.insert_slice
// CHECK: scf.yield
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0]
func.func @peer_9(%w: tensor<4x8xf32>, %x: tensor<1x8xf32>, %z: tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<4x8xf32>) {
  %lower = arith.constant -1 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<4x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %d = arith.subi %c2, %i : index
    %n = arith.addi %d, %c3 : index
    %neg = arith.cmpi slt, %d, %zero : index
    %k = arith.select %neg, %n, %d : index
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ar into %o[%k, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<4x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<4x8xf32>
}

// 10: from -3 to -1.
// CHECK-LABEL: func.func @peer_10(
// CHECK: arith.mulf
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[O:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[P]]) {pipelined = true
// CHECK: tensor.insert_slice %[[AR]] into %[[O]]
// CHECK: scf.yield
// CHECK: %[[LAST:.*]] = "headrace.all_reduce"(%{{.*}}) {pipelined = true
// CHECK-NEXT: tensor.insert_slice %[[LAST]] into %{{.*}}[2, 0]
// CHECK-NOT: headrace
// CHECK: return
func.func @peer_10(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant -3 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 0 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %c3 = arith.constant 3 : index
    %k = arith.addi %i, %c3 : index
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ar into %o[%k, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 11: the output is read by what is summed.
// CHECK-LABEL: func.func @peer_11(
// CHECK-NOT: pipelined = true
// CHECK: "headrace.all_reduce"{{.*}}it depends on a value carried by the loop that depends on it
// CHECK-NOT: pipelined = true
// CHECK: return
func.func @peer_11(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %c1 = arith.constant 1 : index
    %s = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<1x8xf32>
    %t = tensor.extract_slice %o[%c1, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<1x8xf32>
    %b = arith.mulf %s, %t : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ar into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 12: a scatter feeds a gather; both go, the first with the second behind it. (With
// gathers alone on, only the small scattered value is carried: see pipeline-collectives-peers-modes.mlir.)
// CHECK-LABEL: func.func @peer_12(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[O:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
// CHECK: %[[RS:.*]] = "headrace.reduce_scatter"(%[[P]]){{.*}}pipelined = true
// CHECK: %[[AG:.*]] = "headrace.all_gather"(%[[RS]]){{.*}}pipelined = true
// CHECK: tensor.insert_slice %[[AG]] into %[[O]]
// CHECK: scf.yield
// CHECK: "headrace.reduce_scatter"{{.*}}pipelined = true
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK-NOT: headrace
// CHECK: return
func.func @peer_12(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %rs = "headrace.reduce_scatter"(%b) {dim = 1 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x4xf32>
    %ag = "headrace.all_gather"(%rs) {dim = 1 : i64, pipelined = false, replica_groups = #g} : (tensor<1x4xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ag into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 13: a pad before the scatter, a slice after the gather.
// CHECK-LABEL: func.func @peer_13(
// CHECK: tensor.pad
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[O:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
// CHECK: %[[RS:.*]] = "headrace.reduce_scatter"(%[[P]])
// CHECK: %[[AG:.*]] = "headrace.all_gather"(%[[RS]])
// CHECK: %[[S:.*]] = tensor.extract_slice %[[AG]]
// CHECK: tensor.insert_slice %[[S]] into %[[O]]
// CHECK: tensor.pad
// CHECK: scf.yield
func.func @peer_13(%x: tensor<1x7xf32>, %z: tensor<3x7xf32>) -> (tensor<1x7xf32>, tensor<3x7xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f = arith.constant 0.0 : f32
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<1x7xf32>, tensor<3x7xf32>) {
    %s = arith.mulf %a, %a : tensor<1x7xf32>
    %b = tensor.pad %s low[0, 0] high[0, 1] {
    ^bb0(%p: index, %q: index):
      tensor.yield %f : f32
    } : tensor<1x7xf32> to tensor<1x8xf32>
    %rs = "headrace.reduce_scatter"(%b) {dim = 1 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x4xf32>
    %ag = "headrace.all_gather"(%rs) {dim = 1 : i64, pipelined = false, replica_groups = #g} : (tensor<1x4xf32>) -> tensor<1x8xf32>
    %t = tensor.extract_slice %ag[0, 0] [1, 7] [1, 1] : tensor<1x8xf32> to tensor<1x7xf32>
    %u = tensor.insert_slice %t into %o[%i, 0] [1, 7] [1, 1] : tensor<1x7xf32> into tensor<3x7xf32>
    %next = arith.addf %a, %s : tensor<1x7xf32>
    scf.yield %next, %u : tensor<1x7xf32>, tensor<3x7xf32>
  }
  return %r#0, %r#1 : tensor<1x7xf32>, tensor<3x7xf32>
}
