// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{sink-below=0},canonicalize,cse,headrace-cse)' | FileCheck %s

// Public issues of XLA around its pipeliner, and what keeps them from happening
// here. By the numbers of the collection that this project started from, with
// XLA's issue or pull request:
//
//  1 (12866), 34  a dequantize and its matmul stay together, and what is
//     gathered is fp8: @dequantize_beside_matmul_ahead and _behind in
//     pipeline-collectives.mlir; @known_1 below.
//  2, 3 (15291)  reshapes and bitcasts behind a collective: @peer_18, @peer_42.
//  4 (14829)  loops in a copied body: @peer_43, @nested, @loop_in_a_chain.
//  5 (17453)  the exchange with dequantize comes first: pipeline-order.mlir.
//  7 (19363)  start and step in every combination, both directions on one
//     loop: @peer_20, and the grid in tests/python/test_pipeline_collectives.py.
//  8 (14332)  @known_8 below; what cannot be moved is left, never an abort.
//  9 (13254)  @peer_44.
// 10 (20399)  @known_10 below.
// 11 (32389)  barriers are walls: @walls in pipeline-collectives-refused.mlir.
// 12 (6695)  the pass has defaults for all: pipeline-collectives-sink.mlir.
// 13, 14, 16  attributes that number trips: there are none that passes write;
//     bounds are in the loop itself, and are those of the rotated one.
// 17 (21966)  @known_17 below.
// 19 (44228)  what is not pipelined has a reason, an unknown option is an error:
//     pipeline-collectives-refused.mlir, pipeline-collectives-options.mlir.
// 20 (45836)  on request only: pipeline-collectives-options.mlir.
// 21 (6353)  loops without results: @effects, @nested.
// 23 (15163)  one trip: @trips in pipeline-collectives-refused.mlir.
// 26 (28184)  only small ones leave the loop: pipeline-collectives-sink.mlir.
// 27 (49143)  a collective in a branch is not moved: @places in
//     pipeline-collectives-refused.mlir.
// 32 (marin 7507)  what was moved does run at once, in IREE's schedule:
//     tests/python/test_overlap.py, tests/tools/headrace-compile/overlap.test.
// The others are about other passes, schedulers, or targets.

#g = dense<[[0, 1]]> : tensor<1x2xi64>

// The fp8 weights of the next trip are gathered, and scaled beside the matmul
// that reads them: what the loop carries is one byte per element.
// CHECK-LABEL: func.func @known_1(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[Q:.*]] = %{{.*}}) -> (tensor<4x4xf32>, tensor<4x4xf8E4M3FN>)
// CHECK: "headrace.all_gather"{{.*}}pipelined = true{{.*}}tensor<4x4xf8E4M3FN>
// CHECK: %[[D:.*]] = "headrace.dequantize"(%[[Q]],
// CHECK: "headrace.matmul"(%{{.*}}, %[[D]])
func.func @known_1(%w: tensor<9x2x4xf32>, %s: tensor<f32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<4x4xf32> {
    %v = tensor.extract_slice %w[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<9x2x4xf32> to tensor<2x4xf32>
    %q = "headrace.quantize"(%v, %s) {operandSegmentSizes = array<i32: 1, 1>, saturate = true, scale_mode = "divide"} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf8E4M3FN>
    %g = "headrace.all_gather"(%q) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2x4xf8E4M3FN>) -> tensor<4x4xf8E4M3FN>
    %d = "headrace.dequantize"(%g, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
    %m = "headrace.matmul"(%a, %d) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %m : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// Gradient accumulation: an outer loop over microbatches that carries the
// accumulated gradients, an inner one over layers that gathers weights ahead
// and scatters gradients behind, and a sum over the microbatch's loss. (The
// gathers before the inner loop are the same in each microbatch: headrace-cse
// leaves those of the first.)
// CHECK-LABEL: func.func @known_8(
// CHECK-COUNT-2: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: "headrace.reduce_scatter"{{.*}}pipelined = true
// CHECK: scf.for
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: scf.for
// CHECK: "headrace.reduce_scatter"{{.*}}pipelined = true
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: scf.yield
// CHECK: "headrace.reduce_scatter"{{.*}}pipelined = true
// CHECK: scf.yield
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: return
func.func @known_8(%w: tensor<9x2xf32>, %x: tensor<4xf32>, %z: tensor<9x2xf32>) -> (tensor<9x2xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %j = %c0 to %c4 step %c1 iter_args(%grads = %z, %loss = %x) -> (tensor<9x2xf32>, tensor<4xf32>) {
    %s:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %grads) -> (tensor<4xf32>, tensor<9x2xf32>) {
      %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
      %g = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
      %b = arith.mulf %a, %g : tensor<4xf32>
      %rs = "headrace.reduce_scatter"(%b) {dim = 0 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<2xf32>
      %old = tensor.extract_slice %o[%i, 0] [1, 2] [1, 1] : tensor<9x2xf32> to tensor<2xf32>
      %sum = arith.addf %old, %rs : tensor<2xf32>
      %u = tensor.insert_slice %sum into %o[%i, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<9x2xf32>
      scf.yield %b, %u : tensor<4xf32>, tensor<9x2xf32>
    }
    %ar = "headrace.all_reduce"(%s#0) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %l = arith.addf %loss, %ar : tensor<4xf32>
    scf.yield %s#1, %l : tensor<9x2xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<9x2xf32>, tensor<4xf32>
}

// dot, sum, slice, times a scale of the trip, store: the scale is carried with
// the product.
// CHECK-LABEL: func.func @known_10(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[P]]){{.*}}pipelined = true
// CHECK: %[[V:.*]] = tensor.extract_slice %[[AR]]
// CHECK: %[[M:.*]] = arith.mulf %[[V]], %[[S]]
// CHECK: tensor.insert_slice %[[M]]
// CHECK: "headrace.matmul"
// CHECK: scf.yield
func.func @known_10(%x: tensor<4x4xf32>, %z: tensor<9x2x4xf32>) -> (tensor<4x4xf32>, tensor<9x2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<4x4xf32>, tensor<9x2x4xf32>) {
    %scale = "test.scale"(%a) : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %p = "headrace.matmul"(%a, %x) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %b = arith.addf %a, %p : tensor<4x4xf32>
    %ar = "headrace.all_reduce"(%p) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %v = tensor.extract_slice %ar[0, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
    %m = arith.mulf %v, %scale : tensor<2x4xf32>
    %u = tensor.insert_slice %m into %o[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<9x2x4xf32>
    scf.yield %b, %u : tensor<4x4xf32>, tensor<9x2x4xf32>
  }
  return %r#0, %r#1 : tensor<4x4xf32>, tensor<9x2x4xf32>
}

// headrace-cse makes one of two equal collectives, but not of one that is
// pipelined and one that is not.
// CHECK-LABEL: func.func @known_17(
// CHECK: %[[A:.*]] = "headrace.all_reduce"(%{{.*}}){{.*}}pipelined = true
// CHECK: %[[B:.*]] = "headrace.all_reduce"(%{{.*}}){{.*}}pipelined = false
// CHECK: return %[[A]], %[[A]], %[[B]], %[[B]]
func.func @known_17(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = "headrace.all_reduce"(%x) {pipelined = true, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "headrace.all_reduce"(%x) {pipelined = true, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "headrace.all_reduce"(%x) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
  %d = "headrace.all_reduce"(%x) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
