// RUN: headrace-opt %s --pass-pipeline='builtin.module(pipeline-collectives{modes=all:off,all-gather:on sink-below=0})' | FileCheck %s --check-prefix=AHEAD
// RUN: headrace-opt %s --pass-pipeline='builtin.module(pipeline-collectives{modes=reduce-scatter:off})' | FileCheck %s --check-prefix=SINK

// Peers whose outcome depends on which kinds are pipelined.

#g = dense<[[0, 1]]> : tensor<1x2xi64>

// 12: a scatter feeds a gather, which alone moves: the small result of the scatter is
// carried.
// AHEAD-LABEL: func.func @peer_12(
// AHEAD: "headrace.reduce_scatter"{{.*}}pipelined = false
// AHEAD: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[O:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (tensor<1x8xf32>, tensor<3x8xf32>, tensor<1x4xf32>)
// AHEAD: %[[AG:.*]] = "headrace.all_gather"(%[[P]]){{.*}}pipelined = true
// AHEAD: tensor.insert_slice %[[AG]] into %[[O]]
// AHEAD: %[[RS:.*]] = "headrace.reduce_scatter"(%{{.*}}){{.*}}pipelined = false
// AHEAD: scf.yield %{{.*}}, %{{.*}}, %[[RS]]
// AHEAD: "headrace.all_gather"{{.*}}pipelined = true
// AHEAD: return
func.func @peer_12(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %rs = "headrace.reduce_scatter"(%b) {dim = 1 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x4xf32>
    %ag = "headrace.all_gather"(%rs) {dim = 1 : i64, pipelined = false, replica_groups = #g} : (tensor<1x4xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ag into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    scf.yield %b, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 33: the scatter stays, the sum leaves the loop and feeds a gather of all trips.
// SINK-LABEL: func.func @peer_33(
// SINK: scf.for
// SINK: "headrace.reduce_scatter"{{.*}}pipelined = false
// SINK: scf.yield
// SINK: "headrace.all_reduce"{{.*}}pipelined = true{{.*}}tensor<3x1x4xf32>
// SINK: "headrace.all_gather"(%{{.*}}) {dim = 2 : i64, pipelined = true{{.*}}tensor<3x1x8xf32>
// SINK: return
func.func @peer_33(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %rs = "headrace.reduce_scatter"(%b) {dim = 1 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x4xf32>
    %ar = "headrace.all_reduce"(%rs) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %ag = "headrace.all_gather"(%ar) {dim = 1 : i64, pipelined = false, replica_groups = #g} : (tensor<1x4xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ag into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    scf.yield %b, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}
