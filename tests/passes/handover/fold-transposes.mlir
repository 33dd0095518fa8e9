// RUN: headrace-opt %s --pass-pipeline='builtin.module(fold-transposes)' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>

// The body does not read what it writes over: a new tensor of that shape will do.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @elementwise
// CHECK: %[[E:.*]] = tensor.empty() : tensor<3x5xf32>
// CHECK: %[[T:.*]] = tensor.empty() : tensor<5x3xf32>
// CHECK: %[[R:.*]]:2 = linalg.generic {indexing_maps = [#[[ID]], #[[ID]], #[[SWAP]]]
// CHECK-SAME: outs(%[[E]], %[[T]] : tensor<3x5xf32>, tensor<5x3xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @elementwise(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<5x3xf32>) {
  %e = tensor.empty() : tensor<3x5xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%e, %e : tensor<3x5xf32>, tensor<3x5xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s, %a : f32, f32
  } -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %f = tensor.empty() : tensor<5x3xf32>
  %t = linalg.transpose ins(%r#1 : tensor<3x5xf32>) outs(%f : tensor<5x3xf32>) permutation = [1, 0]
  return %r#0, %t : tensor<3x5xf32>, tensor<5x3xf32>
}

// A transpose that is a linalg.generic, and sizes that are not known.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[D1:.*]] = tensor.dim %{{.*}}, %c1
// CHECK: %[[D0:.*]] = tensor.dim %{{.*}}, %c0
// CHECK: %[[T:.*]] = tensor.empty(%[[D1]], %[[D0]]) : tensor<?x?xf32>
// CHECK: %[[R:.*]]:2 = linalg.generic {indexing_maps = [#[[ID]], #[[SWAP]], #[[ID]]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @dynamic(%x: tensor<?x?xf32>, %e: tensor<?x?xf32>, %f: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%e, %e : tensor<?x?xf32>, tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s, %a : f32, f32
  } -> (tensor<?x?xf32>, tensor<?x?xf32>)
  %t = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]} ins(%r#0 : tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %t, %r#1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// A reduction starts at what it is given: the same, transposed.
// CHECK-LABEL: func.func @reduce
// CHECK-SAME: %{{.*}}, %{{.*}}, %[[B:.*]]: tensor<4x6xi32>)
// CHECK: %[[F:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<6x4xf32>)
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction", "parallel"]
// CHECK-SAME: outs(%[[F]], %[[B]] : tensor<6x4xf32>, tensor<4x6xi32>)
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @reduce(%a: tensor<4x5x6xf32>, %b: tensor<4x5x6xi32>, %init: tensor<4x6xi32>) -> (tensor<6x4xf32>, tensor<4x6xi32>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r:2 = linalg.reduce ins(%a, %b : tensor<4x5x6xf32>, tensor<4x5x6xi32>) outs(%f, %init : tensor<4x6xf32>, tensor<4x6xi32>) dimensions = [1]
    (%x: f32, %y: i32, %o: f32, %p: i32) {
      %s = arith.addf %x, %o : f32
      %t = arith.maxsi %y, %p : i32
      linalg.yield %s, %t : f32, i32
    }
  %g = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%r#0 : tensor<4x6xf32>) outs(%g : tensor<6x4xf32>) permutation = [1, 0]
  return %t, %r#1 : tensor<6x4xf32>, tensor<4x6xi32>
}

// Where no fill is known, its elements are moved.
// CHECK-LABEL: func.func @start
// CHECK: %[[I:.*]] = linalg.generic {indexing_maps = [#[[SWAP]], #[[ID]]]
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[I]], %{{.*}} : tensor<6x4xi32>, tensor<4x6xi32>)
func.func @start(%b: tensor<4x5x6xi32>, %init: tensor<4x6xi32>) -> (tensor<6x4xi32>, tensor<4x6xi32>) {
  %r:2 = linalg.reduce ins(%b, %b : tensor<4x5x6xi32>, tensor<4x5x6xi32>) outs(%init, %init : tensor<4x6xi32>, tensor<4x6xi32>) dimensions = [1]
    (%x: i32, %y: i32, %o: i32, %p: i32) {
      %s = arith.addi %x, %o : i32
      %t = arith.maxsi %y, %p : i32
      linalg.yield %s, %t : i32, i32
    }
  %g = tensor.empty() : tensor<6x4xi32>
  %t = linalg.transpose ins(%r#0 : tensor<4x6xi32>) outs(%g : tensor<6x4xi32>) permutation = [1, 0]
  return %t, %r#1 : tensor<6x4xi32>, tensor<4x6xi32>
}

// What IREE does right, or leaves alone, stays: one result, other users, a transpose
// that computes, one of an argument, one in a dispatch region.
// CHECK-LABEL: func.func @one_result
// CHECK: linalg.generic
// CHECK: linalg.transpose
func.func @one_result(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  %f = tensor.empty() : tensor<5x3xf32>
  %t = linalg.transpose ins(%r : tensor<3x5xf32>) outs(%f : tensor<5x3xf32>) permutation = [1, 0]
  return %t : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @other_users
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK: linalg.transpose ins(%[[R]]#1
// CHECK: flow.dispatch.region
// CHECK: linalg.transpose
// CHECK: linalg.generic
// CHECK: math.absf
func.func @other_users(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
  %e = tensor.empty() : tensor<3x5xf32>
  %f = tensor.empty() : tensor<5x3xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%e, %e : tensor<3x5xf32>, tensor<3x5xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s, %a : f32, f32
  } -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %t = linalg.transpose ins(%r#1 : tensor<3x5xf32>) outs(%f : tensor<5x3xf32>) permutation = [1, 0]
  %q:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%e, %e : tensor<3x5xf32>, tensor<3x5xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s, %a : f32, f32
  } -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %u = flow.dispatch.region -> (tensor<5x3xf32>) {
    %v = linalg.transpose ins(%q#0 : tensor<3x5xf32>) outs(%f : tensor<5x3xf32>) permutation = [1, 0]
    flow.return %v : tensor<5x3xf32>
  }
  %w = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]} ins(%q#1 : tensor<3x5xf32>) outs(%f : tensor<5x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  } -> tensor<5x3xf32>
  return %r#1, %t, %u, %w : tensor<3x5xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}

// CHECK-LABEL: func.func @argument
// CHECK: linalg.transpose ins(%arg0
func.func @argument(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %f = tensor.empty() : tensor<5x3xf32>
  %t = linalg.transpose ins(%x : tensor<3x5xf32>) outs(%f : tensor<5x3xf32>) permutation = [1, 0]
  return %t : tensor<5x3xf32>
}
