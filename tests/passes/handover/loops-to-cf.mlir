// RUN: headrace-opt %s --pass-pipeline='builtin.module(loops-to-cf)' | FileCheck %s

// A loop of the function becomes blocks; a condition in a linalg op's body,
// which has one block, stays, with what is nested in it.
// CHECK-LABEL: @condition_in_a_body(
// CHECK: cf.br
// CHECK: cf.cond_br
// CHECK: linalg.generic
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK: %[[S:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK: scf.yield
// CHECK: } else {
// CHECK: linalg.yield %[[R]] : f32
// CHECK-NOT: headrace_body
func.func @condition_in_a_body(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<8xf32>) {
    %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : tensor<8xf32>) {
    ^bb0(%o: f32):
      %j = linalg.index 0 : index
      %p = arith.cmpi ult, %j, %c4 : index
      %v = scf.if %p -> (f32) {
        %q = arith.cmpi ult, %j, %c1 : index
        %w = scf.if %q -> (f32) {
          scf.yield %o : f32
        } else {
          %u = tensor.extract %y[%j] : tensor<8xf32>
          scf.yield %u : f32
        }
        scf.yield %w : f32
      } else {
        %t = tensor.extract %x[%j] : tensor<8xf32>
        scf.yield %t : f32
      }
      linalg.yield %v : f32
    } -> tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: @while(
// CHECK-NOT: scf
// CHECK: cf.cond_br
func.func @while(%n: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %r = scf.while (%a = %c1) : (i32) -> i32 {
    %p = arith.cmpi slt, %a, %n : i32
    scf.condition(%p) %a : i32
  } do {
  ^bb0(%a: i32):
    %b = arith.addi %a, %a : i32
    scf.yield %b : i32
  }
  return %r : i32
}
