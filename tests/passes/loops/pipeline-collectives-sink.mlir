// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives,canonicalize,cse)' | FileCheck %s
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{sink-below=17},canonicalize,cse)' | FileCheck %s --check-prefix=SMALL

// Small collectives whose results only go into outputs leave the loop.

#g = dense<[[0, 1]]> : tensor<1x2xi64>

// One loop fills a stack with what is to be reduced, one sum of it all, one
// loop stores it, trip by trip as before.
// CHECK-LABEL: func.func @store(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<9x4xf32>, %[[X:[a-z0-9]*]]: tensor<4xf32>, %[[Z:[a-z0-9]*]]: tensor<9x4xf32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : index
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = %[[C1]] to %[[C9]] step %[[C2]] iter_args(%[[A:.*]] = %[[X]], %[[S:.*]] = %[[E]])
// CHECK: %[[B:.*]] = arith.mulf %[[A]]
// CHECK: %[[SPAN:.*]] = arith.subi %[[I]], %[[C1]]
// CHECK: %[[TRIP:.*]] = arith.divui %[[SPAN]], %[[C2]]
// CHECK: %[[T:.*]] = tensor.insert_slice %[[B]] into %[[S]][%[[TRIP]], 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<4x4xf32>
// CHECK: scf.yield %[[B]], %[[T]]
// CHECK: %[[ALL:.*]] = "headrace.all_reduce"(%[[R]]#1) {pipelined = true, {{.*}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: %[[Q:.*]] = scf.for %[[J:.*]] = %[[C1]] to %[[C9]] step %[[C2]] iter_args(%[[O:.*]] = %[[Z]])
// CHECK: %[[ONE:.*]] = tensor.extract_slice %[[ALL]][%{{.*}}, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
// CHECK: %[[U:.*]] = tensor.insert_slice %[[ONE]] into %[[O]][%[[J]], 0]
// CHECK: scf.yield %[[U]]
// CHECK: return %[[R]]#0, %[[Q]]

// It receives 16 bytes per trip, which is below 17 but not below 16.
// SMALL-LABEL: func.func @store(
// SMALL-COUNT-1: "headrace.all_reduce"
// SMALL-NOT: "headrace.all_reduce"
// SMALL: return
func.func @store(%w: tensor<9x4xf32>, %x: tensor<4xf32>, %z: tensor<9x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %i = %c1 to %c9 step %c2 iter_args(%a = %x, %o = %z) -> (tensor<4xf32>, tensor<9x4xf32>) {
    %v = tensor.extract_slice %w[%i, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    %b = arith.mulf %a, %v : tensor<4xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %u = tensor.insert_slice %ar into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    scf.yield %b, %u : tensor<4xf32>, tensor<9x4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<9x4xf32>
}

// Accumulation: the sums stay in the order of the trips. The dimensions of a
// collective move by one for the trips' own. A side operand gets a stack.
// CHECK-LABEL: func.func @accumulate(
// CHECK: scf.for
// CHECK-NOT: headrace
// CHECK: scf.yield
// CHECK: "headrace.reduce_scatter"(%{{.*}}) {dim = 2 : i64, pipelined = true, {{.*}} : (tensor<9x3x4xf32>) -> tensor<9x3x2xf32>
// CHECK: scf.for %{{.*}} iter_args(%[[O:.*]] = %{{.*}}) -> (tensor<3x2xf32>) : i32 {
// CHECK-DAG: %[[RS:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, 0, 0] [1, 3, 2] [1, 1, 1] : tensor<9x3x2xf32> to tensor<3x2xf32>
// CHECK-DAG: %[[P:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, 0, 0] [1, 3, 2] [1, 1, 1] : tensor<9x3x2xf32> to tensor<3x2xf32>
// CHECK: %[[M:.*]] = arith.mulf %[[RS]], %[[P]]
// CHECK: %[[N:.*]] = arith.addf %[[O]], %[[M]]
// CHECK: scf.yield %[[N]]

// SMALL-LABEL: func.func @accumulate(
// SMALL: scf.for
// SMALL: "headrace.reduce_scatter"(%{{.*}}) {dim = 1 : i64, pipelined = true
func.func @accumulate(%x: tensor<3x4xf32>, %p: tensor<3x2xf32>) -> (tensor<3x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %r:3 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %q = %p, %o = %p) -> (tensor<3x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>) : i32 {
    %b = arith.mulf %a, %a : tensor<3x4xf32>
    %s = arith.mulf %q, %q : tensor<3x2xf32>
    %rs = "headrace.reduce_scatter"(%b) {dim = 1 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<3x4xf32>) -> tensor<3x2xf32>
    %m = arith.mulf %rs, %q : tensor<3x2xf32>
    %n = arith.addf %o, %m : tensor<3x2xf32>
    scf.yield %b, %s, %n : tensor<3x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<3x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

// A chain of two: the first leaves, then, from the loop that was left, the
// second; the order stays.
// CHECK-LABEL: func.func @chain(
// CHECK-NOT: headrace
// CHECK: scf.for
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tensor.insert_slice
// CHECK-NEXT: scf.yield
// CHECK: %[[RS:.*]] = "headrace.reduce_scatter"(%{{.*}}) {dim = 1 : i64, pipelined = true{{.*}}tensor<9x2xf32>
// CHECK: scf.for
// CHECK-NEXT: tensor.extract_slice %[[RS]]
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tensor.insert_slice
// CHECK-NEXT: scf.yield
// CHECK: %[[AG:.*]] = "headrace.all_gather"(%{{.*}}) {dim = 1 : i64, pipelined = true{{.*}}tensor<9x4xf32>
// CHECK: scf.for
// CHECK-NEXT: tensor.extract_slice %[[AG]]
// CHECK-NEXT: tensor.insert_slice
// CHECK-NEXT: scf.yield
func.func @chain(%x: tensor<4xf32>, %z: tensor<9x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<4xf32>, tensor<9x4xf32>) {
    %b = arith.mulf %a, %a : tensor<4xf32>
    %rs = "headrace.reduce_scatter"(%b) {dim = 0 : i64, pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<2xf32>
    %s = arith.addf %rs, %rs : tensor<2xf32>
    %ag = "headrace.all_gather"(%s) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    %u = tensor.insert_slice %ag into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    scf.yield %b, %u : tensor<4xf32>, tensor<9x4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<9x4xf32>
}

// Two outputs, two collectives, one of which goes into both: one rewrite.
// CHECK-LABEL: func.func @two_together(
// CHECK: scf.for
// CHECK: scf.yield
// CHECK-DAG: "headrace.all_reduce"(%{{.*}}) {pipelined = true, {{.*}}tensor<9x4xf32>
// CHECK-DAG: "headrace.all_to_all"(%{{.*}}) {concat_dim = 1 : i64, pipelined = true, {{.*}}split_dim = 1 : i64}{{.*}}tensor<9x4xf32>
// CHECK: scf.for
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: return
func.func @two_together(%x: tensor<4xf32>, %z: tensor<9x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:3 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %z, %p = %x) -> (tensor<4xf32>, tensor<9x4xf32>, tensor<4xf32>) {
    %b = arith.mulf %a, %a : tensor<4xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %aa = "headrace.all_to_all"(%b) {concat_dim = 0 : i64, pipelined = false, replica_groups = #g, split_dim = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %s = arith.addf %ar, %aa : tensor<4xf32>
    %u = tensor.insert_slice %s into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    %q = arith.addf %p, %ar : tensor<4xf32>
    scf.yield %b, %u, %q : tensor<4xf32>, tensor<9x4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<9x4xf32>, tensor<4xf32>
}

// What cannot be stacked goes behind instead: a dynamic count, a scalar that
// the tail reads, a dynamic size.
// CHECK-LABEL: func.func @not_stacked(
// CHECK: scf.if
// CHECK: scf.for
// CHECK: "headrace.all_reduce"(%{{.*}}) {pipelined = true, {{.*}}: (tensor<4xf32>)
// CHECK: scf.for
// CHECK: "headrace.all_reduce"(%{{.*}}) {pipelined = true, {{.*}}: (tensor<4xf32>)
// CHECK: "test.scalar"
// CHECK: scf.for
// CHECK: "headrace.all_reduce"(%{{.*}}) {pipelined = true, {{.*}}: (tensor<?xf32>)
// CHECK: return
func.func @not_stacked(%x: tensor<4xf32>, %y: tensor<?xf32>, %z: tensor<9x4xf32>, %n: index) -> (tensor<9x4xf32>, tensor<9x4xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %o = %z) -> (tensor<4xf32>, tensor<9x4xf32>) {
    %b = arith.mulf %a, %a : tensor<4xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %u = tensor.insert_slice %ar into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    scf.yield %b, %u : tensor<4xf32>, tensor<9x4xf32>
  }
  %s:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %o = %z) -> (tensor<4xf32>, tensor<9x4xf32>) {
    %b = arith.mulf %a, %a : tensor<4xf32>
    %at = "test.scalar"() : () -> index
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<4xf32>) -> tensor<4xf32>
    %u = tensor.insert_slice %ar into %o[%at, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    scf.yield %b, %u : tensor<4xf32>, tensor<9x4xf32>
  }
  %t:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %y, %o = %y) -> (tensor<?xf32>, tensor<?xf32>) {
    %b = arith.mulf %a, %a : tensor<?xf32>
    %ar = "headrace.all_reduce"(%b) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<?xf32>) -> tensor<?xf32>
    %u = arith.addf %o, %ar : tensor<?xf32>
    scf.yield %b, %u : tensor<?xf32>, tensor<?xf32>
  }
  return %r#1, %s#1, %t#1 : tensor<9x4xf32>, tensor<9x4xf32>, tensor<?xf32>
}
