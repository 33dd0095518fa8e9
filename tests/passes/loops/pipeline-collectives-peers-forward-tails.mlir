// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{sink-below=0},canonicalize,cse)' | FileCheck %s

// More of pipeline-collectives-peers-forward.mlir: what goes along with a
// collective, what it carries, and several that go together; by the numbers
// of XLA's collective pipeliner tests, each written anew.

#g = dense<[[0, 1]]> : tensor<1x2xi64>

// 17: a slice at a constant place goes along; by two.
// CHECK-LABEL: func.func @peer_17(
// CHECK: %[[AR:.*]] = "headrace.all_reduce"{{.*}}pipelined = true{{.*}}tensor<1x16xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[AR]][0, 4] [1, 8]
// CHECK: tensor.insert_slice %[[S]] into %{{.*}}[0, 0]
// CHECK: %[[L:.*]] = "headrace.all_reduce"
// CHECK: %[[T:.*]] = tensor.extract_slice %[[L]][0, 4] [1, 8]
// CHECK: tensor.insert_slice %[[T]] into %{{.*}}[2, 0]
func.func @peer_17(%x: tensor<1x16xf32>, %z: tensor<3x8xf32>) -> (tensor<1x16xf32>, tensor<3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c2 iter_args(%a = %x, %o = %z) -> (tensor<1x16xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x16xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x16xf32>) -> tensor<1x16xf32>
    %s = tensor.extract_slice %ar[0, %c4] [1, 8] [1, 1] : tensor<1x16xf32> to tensor<1x8xf32>
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x16xf32>
    scf.yield %next, %u : tensor<1x16xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x16xf32>, tensor<3x8xf32>
}

// 18: a transpose and a reshape go along.
// CHECK-LABEL: func.func @peer_18(
// CHECK: %[[AR:.*]] = "headrace.all_reduce"{{.*}}pipelined = true{{.*}}tensor<4x2xf32>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[AR]]
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[T]]
// CHECK: tensor.insert_slice %[[R]] into %{{.*}}[0, 0]
// CHECK: "headrace.all_reduce"
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[2, 0]
func.func @peer_18(%x: tensor<4x2xf32>, %z: tensor<3x8xf32>) -> (tensor<4x2xf32>, tensor<3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c2 iter_args(%a = %x, %o = %z) -> (tensor<4x2xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<4x2xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %e = tensor.empty() : tensor<2x4xf32>
    %t = linalg.transpose ins(%ar : tensor<4x2xf32>) outs(%e : tensor<2x4xf32>) permutation = [1, 0]
    %s = tensor.collapse_shape %t [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<4x2xf32>
    scf.yield %next, %u : tensor<4x2xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<4x2xf32>, tensor<3x8xf32>
}

// 29: used twice, with a constant, which is not carried, and with its own operand, which is.
// CHECK-LABEL: func.func @peer_29(
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<5.000000e-01>
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (tensor<1x8xf32>, tensor<3x8xf32>, tensor<1x8xf32>)
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[P]]) {pipelined = true
// CHECK: %[[M:.*]] = arith.mulf %[[AR]], %[[HALF]]
// CHECK: %[[N:.*]] = arith.addf %[[AR]], %[[P]]
// CHECK: arith.addf %[[M]], %[[N]]
// CHECK: scf.yield
func.func @peer_29(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %half = arith.constant dense<0.5> : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %m = arith.mulf %ar, %half : tensor<1x8xf32>
    %n = arith.addf %ar, %b : tensor<1x8xf32>
    %s = arith.addf %m, %n : tensor<1x8xf32>
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 30: a diamond; the tail keeps the order of the body.
// CHECK-LABEL: func.func @peer_30(
// CHECK: scf.for
// CHECK: %[[AR:.*]] = "headrace.all_reduce"
// CHECK: %[[M:.*]] = arith.negf %[[AR]]
// CHECK: %[[N:.*]] = math.absf %[[AR]]
// CHECK: %[[S:.*]] = arith.divf %[[M]], %[[N]]
// CHECK: tensor.insert_slice %[[S]]
// CHECK: scf.yield
func.func @peer_30(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %m = arith.negf %ar : tensor<1x8xf32>
    %n = math.absf %ar : tensor<1x8xf32>
    %s = arith.divf %m, %n : tensor<1x8xf32>
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 31: times its own operand, which is carried once for both.
// CHECK-LABEL: func.func @peer_31(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (tensor<1x8xf32>, tensor<3x8xf32>, tensor<1x8xf32>)
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[P]])
// CHECK: arith.mulf %[[AR]], %[[P]]
func.func @peer_31(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %s = arith.mulf %ar, %b : tensor<1x8xf32>
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 39: two sums meet before one store: one rewrite for both.
// CHECK-LABEL: func.func @peer_39(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[P]])
// CHECK: %[[AS:.*]] = "headrace.all_reduce"(%[[Q]])
// CHECK: arith.mulf %[[AR]], %[[AS]]
// CHECK: scf.yield
// CHECK-COUNT-2: "headrace.all_reduce"
// CHECK-NOT: headrace
// CHECK-NOT: scf.for
// CHECK: return
func.func @peer_39(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %c = arith.addf %a, %b : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %as = "headrace.all_reduce"(%c) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %s = arith.mulf %ar, %as : tensor<1x8xf32>
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 40: a sum of a sum, both stored; a trip behind, not two.
// CHECK-LABEL: func.func @peer_40(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (tensor<1x8xf32>, tensor<3x8xf32>, tensor<1x8xf32>)
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[P]]){{.*}}pipelined = true
// CHECK: %[[AS:.*]] = "headrace.all_reduce"(%[[AR]]){{.*}}pipelined = true
// CHECK: arith.mulf %[[AR]], %[[AS]]
// CHECK: scf.yield
// CHECK-COUNT-2: "headrace.all_reduce"
// CHECK-NOT: headrace
// CHECK: return
func.func @peer_40(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %as = "headrace.all_reduce"(%ar) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %s = arith.mulf %ar, %as : tensor<1x8xf32>
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// 41: a broadcast before the sums, reductions behind them.
// CHECK-LABEL: func.func @peer_41(
// CHECK: linalg.broadcast
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}})
// CHECK: %[[AR:.*]] = "headrace.all_reduce"(%[[P]])
// CHECK: %[[AS:.*]] = "headrace.all_reduce"(%[[AR]])
// CHECK: linalg.reduce ins(%[[AR]]
// CHECK: linalg.reduce ins(%[[AS]]
// CHECK: linalg.broadcast
// CHECK: scf.yield
func.func @peer_41(%x: tensor<8xf32>, %z: tensor<3x8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<8xf32>, tensor<3x8xf32>) {
    %s = arith.mulf %a, %a : tensor<8xf32>
    %e = tensor.empty() : tensor<2x8xf32>
    %b = linalg.broadcast ins(%s : tensor<8xf32>) outs(%e : tensor<2x8xf32>) dimensions = [0]
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    %as = "headrace.all_reduce"(%ar) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    %c = arith.constant dense<0.0> : tensor<8xf32>
    %d = linalg.reduce ins(%ar : tensor<2x8xf32>) outs(%c : tensor<8xf32>) dimensions = [0]
      (%in: f32, %out: f32) {
        %1 = arith.addf %in, %out : f32
        linalg.yield %1 : f32
      }
    %f = linalg.reduce ins(%as : tensor<2x8xf32>) outs(%c : tensor<8xf32>) dimensions = [0]
      (%in: f32, %out: f32) {
        %1 = arith.addf %in, %out : f32
        linalg.yield %1 : f32
      }
    %g = arith.mulf %d, %f : tensor<8xf32>
    %u = tensor.insert_slice %g into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %s : tensor<8xf32>
    scf.yield %next, %u : tensor<8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<3x8xf32>
}

// 42: a scatter, transposed and reshaped into a stack with a row to spare.
// CHECK-LABEL: func.func @peer_42(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (tensor<4096x1536xbf16>, tensor<10x512x3x2048xbf16>, tensor<4096x1536xbf16>)
// CHECK: %[[RS:.*]] = "headrace.reduce_scatter"(%[[P]]){{.*}}pipelined = true
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[RS]]
// CHECK: %[[E:.*]] = tensor.expand_shape %[[T]]
// CHECK: tensor.insert_slice %[[E]]
// CHECK: scf.yield
func.func @peer_42(%x: tensor<4096x1536xbf16>, %z: tensor<10x512x3x2048xbf16>) -> (tensor<4096x1536xbf16>, tensor<10x512x3x2048xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<4096x1536xbf16>, tensor<10x512x3x2048xbf16>) {
    %b = arith.mulf %a, %a : tensor<4096x1536xbf16>
    %rs = "headrace.reduce_scatter"(%b) {dim = 0 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4096x1536xbf16>) -> tensor<2048x1536xbf16>
    %e = tensor.empty() : tensor<1536x2048xbf16>
    %t = linalg.transpose ins(%rs : tensor<2048x1536xbf16>) outs(%e : tensor<1536x2048xbf16>) permutation = [1, 0]
    %s = tensor.expand_shape %t [[0, 1, 2], [3]] output_shape [1, 512, 3, 2048] : tensor<1536x2048xbf16> into tensor<1x512x3x2048xbf16>
    %u = tensor.insert_slice %s into %o[%i, 0, 0, 0] [1, 512, 3, 2048] [1, 1, 1, 1] : tensor<1x512x3x2048xbf16> into tensor<10x512x3x2048xbf16>
    %next = arith.addf %a, %b : tensor<4096x1536xbf16>
    scf.yield %next, %u : tensor<4096x1536xbf16>, tensor<10x512x3x2048xbf16>
  }
  return %r#0, %r#1 : tensor<4096x1536xbf16>, tensor<10x512x3x2048xbf16>
}

// 43: a loop in the body is copied with it, regions and all.
// CHECK-LABEL: func.func @peer_43(
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N:.*]] step
// CHECK: scf.for
// CHECK: "headrace.reduce_scatter"{{.*}}pipelined = true
// CHECK: scf.for %{{.*}} to %[[N]] step
// CHECK: scf.yield
// CHECK: scf.yield
// CHECK: "headrace.reduce_scatter"{{.*}}pipelined = true
// CHECK-NOT: scf.for
// CHECK: return
func.func @peer_43(%x: tensor<1x8xf32>, %z: tensor<3x4xf32>, %n: index) -> (tensor<1x8xf32>, tensor<3x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x4xf32>) {
    %b = scf.for %j = %c0 to %n step %c1 iter_args(%s = %a) -> tensor<1x8xf32> {
      %t = arith.mulf %s, %s : tensor<1x8xf32>
      scf.yield %t : tensor<1x8xf32>
    }
    %rs = "headrace.reduce_scatter"(%b) {dim = 1 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x4xf32>
    %u = tensor.insert_slice %rs into %o[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<3x4xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x4xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x4xf32>
}

// 58: scatter, sum and gather in a row go together.
// CHECK-LABEL: func.func @peer_58(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}})
// CHECK: "headrace.reduce_scatter"(%[[P]]){{.*}}pipelined = true
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK: scf.yield
// CHECK: "headrace.reduce_scatter"{{.*}}pipelined = true
// CHECK: "headrace.all_reduce"{{.*}}pipelined = true
// CHECK: "headrace.all_gather"{{.*}}pipelined = true
// CHECK-NOT: headrace
// CHECK: return
func.func @peer_58(%w: tensor<3x8xf32>, %x: tensor<1x8xf32>, %z: tensor<3x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.constant 3 : index
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %x, %o = %z) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
    %b = arith.mulf %a, %a : tensor<1x8xf32>
    %rs = "headrace.reduce_scatter"(%b) {dim = 1 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x8xf32>) -> tensor<1x4xf32>
    %ar = "headrace.all_reduce"(%rs) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %ag = "headrace.all_gather"(%ar) {dim = 1 : i64, pipelined = false, replica_groups = #g} : (tensor<1x4xf32>) -> tensor<1x8xf32>
    %u = tensor.insert_slice %ag into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<3x8xf32>
    %next = arith.addf %a, %b : tensor<1x8xf32>
    scf.yield %next, %u : tensor<1x8xf32>, tensor<3x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<3x8xf32>
}
