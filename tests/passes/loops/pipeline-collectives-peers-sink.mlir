// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives,canonicalize,cse)' | FileCheck %s
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives,pipeline-collectives,canonicalize,cse)' | FileCheck %s

// The shapes of XLA's collective pipeliner tests that sink, by their numbers,
// each written anew. What follows a collective is stored by a loop of its own,
// in the order of the trips, not as one op on all of them: so any ops may
// follow (45), stores may be anywhere in an output (49, 50), and several may
// go to one (53), which XLA refuses.
//
// Not here:
// 47, 52, 55  markers of runs that are not the last: what left a loop is not
//     in it any more; the second run above finds nothing to do.
// 48  a size at which sinking is put off: pipeline-collectives-sink.mlir.
// 67  stores into tokens: there are no tokens.
// 33 is in pipeline-collectives-peers-modes.mlir.

#g = dense<[[0, 1]]> : tensor<1x2xi64>
#row = affine_map<(d0) -> (d0)>

// 32: transposed before, a side operand added and transposed back behind.
// CHECK-LABEL: func.func @peer_32(
// CHECK: scf.for
// CHECK: linalg.transpose
// CHECK: scf.yield
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true{{.*}}tensor<3x2x4xf32>
// CHECK: scf.for
// CHECK: %[[ADD:.*]] = arith.addf
// CHECK: linalg.transpose ins(%[[ADD]]
// CHECK: tensor.insert_slice
// CHECK: scf.yield
func.func @peer_32(%x: tensor<4x2xf32>, %c: tensor<2x4xf32>, %z: tensor<3x8xf32>) -> (tensor<4x2xf32>, tensor<3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<4x2xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<4x2xf32>
    %e = tensor.empty() : tensor<2x4xf32>
    %t = linalg.transpose ins(%b : tensor<4x2xf32>) outs(%e : tensor<2x4xf32>) permutation = [1, 0]
    %s = "headrace.all_reduce"(%t) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %d = arith.addf %s, %c : tensor<2x4xf32>
    %f = tensor.empty() : tensor<4x2xf32>
    %v = linalg.transpose ins(%d : tensor<2x4xf32>) outs(%f : tensor<4x2xf32>) permutation = [1, 0]
    %k = tensor.collapse_shape %v [[0, 1]] : tensor<4x2xf32> into tensor<8xf32>
    %u = tensor.insert_slice %k into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    scf.yield %b, %u : tensor<4x2xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<4x2xf32>, tensor<3x8xf32>
}

// 34, 35: a stack of vectors, fed by an op that is not known; one sum with the
// trips in front.
// CHECK-LABEL: func.func @peer_34_35(
// CHECK: scf.for
// CHECK: "test.unknown"
// CHECK: scf.yield
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true{{.*}}tensor<3x4097xf32>
func.func @peer_34_35(%x: tensor<4097xf32>, %z: tensor<3x4097xf32>) -> (tensor<4097xf32>, tensor<3x4097xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<4097xf32>, tensor<3x4097xf32>) {
    %b = "test.unknown"(%a) : (tensor<4097xf32>) -> tensor<4097xf32>
    %s = "headrace.reduce_scatter"(%b) {dim = 0 : i64, pipelined = false, reduction = "add", replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4097xf32>) -> tensor<4097xf32>
    %t = "headrace.all_reduce"(%s) {pipelined = false, reduction = "add", replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4097xf32>) -> tensor<4097xf32>
    %u = tensor.insert_slice %t into %o[%i, 0] [1, 4097] [1, 1] : tensor<4097xf32> into tensor<3x4097xf32>
    scf.yield %b, %u : tensor<4097xf32>, tensor<3x4097xf32>
  }
  return %r#0, %r#1 : tensor<4097xf32>, tensor<3x4097xf32>
}

// 45: slice, pad, broadcast and reduction behind the sum.
// CHECK-LABEL: func.func @peer_45(
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true{{.*}}tensor<3x8xf32>
// CHECK: scf.for
// CHECK: tensor.extract_slice
// CHECK: tensor.pad
// CHECK: linalg.broadcast
// CHECK: linalg.reduce
// CHECK: tensor.insert_slice
// CHECK: scf.yield
func.func @peer_45(%x: tensor<8xf32>, %z: tensor<3x8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f = arith.constant 0.0 : f32
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<8xf32>
    %s = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %t = tensor.extract_slice %s[0] [7] [1] : tensor<8xf32> to tensor<7xf32>
    %p = tensor.pad %t low[0] high[1] {
    ^bb0(%q: index):
      tensor.yield %f : f32
    } : tensor<7xf32> to tensor<8xf32>
    %e = tensor.empty() : tensor<2x8xf32>
    %v = linalg.broadcast ins(%p : tensor<8xf32>) outs(%e : tensor<2x8xf32>) dimensions = [0]
    %c = arith.constant dense<0.0> : tensor<8xf32>
    %d = linalg.reduce ins(%v : tensor<2x8xf32>) outs(%c : tensor<8xf32>) dimensions = [0]
      (%in: f32, %out: f32) {
        %1 = arith.addf %in, %out : f32
        linalg.yield %1 : f32
      }
    %u = tensor.insert_slice %d into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    scf.yield %b, %u : tensor<8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<3x8xf32>
}

// 46, 66: a sum of a sum; no sum is left in any loop.
// CHECK-LABEL: func.func @peer_46_66(
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: "headrace.all_reduce"{{.*}}tensor<3x8xf32>
// CHECK: scf.for
// CHECK-NOT: headrace
// CHECK: scf.yield
// CHECK: "headrace.all_reduce"{{.*}}tensor<3x8xf32>
// CHECK-NOT: headrace
// CHECK: return
func.func @peer_46_66(%x: tensor<8xf32>, %z: tensor<3x8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<8xf32>
    %s = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %m = arith.mulf %s, %s : tensor<8xf32>
    %t = "headrace.all_reduce"(%m) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %u = tensor.insert_slice %t into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    scf.yield %b, %u : tensor<8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<3x8xf32>
}

// 49, 50: an output with more rows than trips, and one that is sliced in its
// second dimension.
// CHECK-LABEL: func.func @peer_49_50(
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true{{.*}}tensor<3x8xf32>
// CHECK: scf.for
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0] [1, 8]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, %{{.*}}] [8, 1]
// CHECK: scf.yield
func.func @peer_49_50(%x: tensor<8xf32>, %z: tensor<5x8xf32>, %y: tensor<8x3xf32>) -> (tensor<8xf32>, tensor<5x8xf32>, tensor<8x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z, %p = %y) -> (tensor<8xf32>, tensor<5x8xf32>, tensor<8x3xf32>) {
    %b = arith.mulf %a, %a : tensor<8xf32>
    %s = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<5x8xf32>
    %v = tensor.insert_slice %s into %p[0, %i] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x3xf32>
    scf.yield %b, %u, %v : tensor<8xf32>, tensor<5x8xf32>, tensor<8x3xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<5x8xf32>, tensor<8x3xf32>
}

// 51, 53: one sum, two stores, into two outputs and into one.
// CHECK-LABEL: func.func @peer_51_53(
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true{{.*}}tensor<3x8xf32>
// CHECK-NOT: headrace
// CHECK: scf.for
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[U:.*]] = tensor.insert_slice %[[S]]
// CHECK: %[[V:.*]] = tensor.insert_slice %[[S]]
// CHECK: %[[W:.*]] = tensor.insert_slice %[[S]] into %[[V]]
// CHECK: scf.yield %[[U]], %[[W]]
func.func @peer_51_53(%x: tensor<8xf32>, %z: tensor<6x8xf32>) -> (tensor<8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z, %p = %z) -> (tensor<8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
    %b = arith.mulf %a, %a : tensor<8xf32>
    %s = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %k = arith.addi %i, %c3 : index
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<6x8xf32>
    %v = tensor.insert_slice %s into %p[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<6x8xf32>
    %w = tensor.insert_slice %s into %v[%k, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<6x8xf32>
    scf.yield %b, %u, %w : tensor<8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
}

// 54: two sums, four stores, one of both.
// CHECK-LABEL: func.func @peer_54(
// CHECK-COUNT-2: "headrace.all_reduce"{{.*}}pipelined = true{{.*}}tensor<3x8xf32>
// CHECK: scf.for
// CHECK-COUNT-4: tensor.insert_slice
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: return
func.func @peer_54(%x: tensor<8xf32>, %z: tensor<3x8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:5 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z, %p = %z, %q = %z, %r = %z) -> (tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<8xf32>
    %c = arith.addf %a, %b : tensor<8xf32>
    %s = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %t = "headrace.all_reduce"(%c) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %d = arith.mulf %s, %t : tensor<8xf32>
    %e = arith.negf %s : tensor<8xf32>
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    %v = tensor.insert_slice %t into %p[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    %w = tensor.insert_slice %d into %q[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    %y = tensor.insert_slice %e into %r[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    scf.yield %b, %u, %v, %w, %y : tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
}

// 56: four sums that share three stores crosswise: one group.
// CHECK-LABEL: func.func @peer_56(
// CHECK: scf.for
// CHECK: scf.yield
// CHECK-COUNT-4: "headrace.all_reduce"{{.*}}pipelined = true{{.*}}tensor<3x8xf32>
// CHECK: scf.for
// CHECK-COUNT-3: tensor.insert_slice
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: return
func.func @peer_56(%x: tensor<8xf32>, %z: tensor<3x8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:4 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z, %p = %z, %q = %z) -> (tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<8xf32>
    %c = arith.addf %a, %b : tensor<8xf32>
    %d = arith.subf %a, %b : tensor<8xf32>
    %e = arith.mulf %c, %d : tensor<8xf32>
    %s = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %t = "headrace.all_reduce"(%c) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %u = "headrace.all_reduce"(%d) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %v = "headrace.all_reduce"(%e) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %st = arith.mulf %s, %t : tensor<8xf32>
    %tu = arith.mulf %t, %u : tensor<8xf32>
    %uv = arith.mulf %u, %v : tensor<8xf32>
    %o1 = tensor.insert_slice %st into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    %p1 = tensor.insert_slice %tu into %p[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    %q1 = tensor.insert_slice %uv into %q[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    scf.yield %b, %o1, %p1, %q1 : tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
}

// 57: a broadcast of the trip's value that two groups read is stacked once, and
// no loop makes it twice.
// CHECK-LABEL: func.func @peer_57(
// CHECK: scf.for %{{.*}} -> (tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>)
// CHECK-COUNT-1: linalg.broadcast
// CHECK-NOT: linalg.broadcast
// CHECK: return
func.func @peer_57(%x: tensor<8xf32>, %z: tensor<3x8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z, %p = %z) -> (tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<8xf32>
    %n = "test.scale"(%b) : (tensor<8xf32>) -> tensor<f32>
    %e = tensor.empty() : tensor<8xf32>
    %k = linalg.broadcast ins(%n : tensor<f32>) outs(%e : tensor<8xf32>) dimensions = [0]
    %s = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    %t = "headrace.all_to_all"(%b) {concat_dim = 0 : i64, pipelined = false, replica_groups = #g, split_dim = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %d = arith.mulf %s, %k : tensor<8xf32>
    %f = arith.mulf %t, %k : tensor<8xf32>
    %u = tensor.insert_slice %d into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    %v = tensor.insert_slice %f into %p[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    scf.yield %b, %u, %v : tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
}
