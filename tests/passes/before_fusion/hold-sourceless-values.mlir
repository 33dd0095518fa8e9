// RUN: headrace-opt %s --pass-pipeline='builtin.module(hold-sourceless-values)' --split-input-file | FileCheck %s

// Indices only: all users read what is behind the barrier.
// CHECK-LABEL: func.func @indices
// CHECK: %[[V:.*]]:2 = linalg.generic
// CHECK: %[[H:.*]] = util.optimization_barrier %[[V]]#0 : tensor<8xi8>
// CHECK: %[[I:.*]] = util.optimization_barrier %[[V]]#1 : tensor<8xi32>
// CHECK: %[[W:.*]] = tensor.insert_slice %{{.*}} into %[[I]]
// CHECK: return %[[H]], %[[I]], %[[W]]
#map = affine_map<(d0) -> (d0)>
func.func @indices(%a: tensor<2xi32>) -> (tensor<8xi8>, tensor<8xi32>, tensor<8xi32>) {
  %e = tensor.empty() : tensor<8xi8>
  %f = tensor.empty() : tensor<8xi32>
  %v:2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} outs(%e, %f : tensor<8xi8>, tensor<8xi32>) {
  ^bb0(%o: i8, %p: i32):
    %i = linalg.index 0 : index
    %x = arith.index_cast %i : index to i32
    %y = arith.trunci %x : i32 to i8
    linalg.yield %y, %x : i8, i32
  } -> (tensor<8xi8>, tensor<8xi32>)
  %w = tensor.insert_slice %a into %v#1[3] [2] [1] : tensor<2xi32> into tensor<8xi32>
  return %v#0, %v#1, %w : tensor<8xi8>, tensor<8xi32>, tensor<8xi32>
}

// -----

// A splat and a fill of any number go into the dispatch that reads them.
// CHECK-LABEL: func.func @made_in_place
// CHECK: %[[V:.*]]:2 = linalg.generic
// CHECK: util.optimization_barrier %[[V]]#0
// CHECK: util.optimization_barrier %[[V]]#1
#map = affine_map<(d0) -> (d0)>
func.func @made_in_place(%s: f32) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = arith.constant dense<2.0> : tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v:2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%c, %f : tensor<8xf32>, tensor<8xf32>) outs(%e, %e : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
    %x = arith.addf %a, %b : f32
    %y = arith.mulf %a, %b : f32
    linalg.yield %x, %y : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %v#0, %v#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// One result cannot be taken for another; an argument, and one that only the region
// reads, are tensors that are read.
// CHECK-LABEL: func.func @others
// CHECK-NOT: util.optimization_barrier
// CHECK: return
#map = affine_map<(d0) -> (d0)>
func.func @others(%t: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %e = tensor.empty() : tensor<2xi32>
  %one = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e : tensor<2xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %x = arith.index_cast %i : index to i32
    linalg.yield %x : i32
  } -> tensor<2xi32>
  %v:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%t : tensor<2xi32>) outs(%e, %e : tensor<2xi32>, tensor<2xi32>) {
  ^bb0(%a: i32, %o: i32, %p: i32):
    %y = arith.muli %a, %a : i32
    linalg.yield %a, %y : i32, i32
  } -> (tensor<2xi32>, tensor<2xi32>)
  %w:2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} outs(%e, %e : tensor<2xi32>, tensor<2xi32>) {
  ^bb0(%o: i32, %p: i32):
    %i = linalg.index 0 : index
    %a = tensor.extract %t[%i] : tensor<2xi32>
    %y = arith.muli %a, %a : i32
    linalg.yield %a, %y : i32, i32
  } -> (tensor<2xi32>, tensor<2xi32>)
  return %one, %v#0, %v#1, %w#0, %w#1 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}

// -----

// Sizes are said behind the barrier; a result that nothing reads needs none.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[V:.*]]:2 = linalg.generic
// CHECK: %[[N:.*]] = tensor.dim
// CHECK: %[[H:.*]] = util.optimization_barrier %[[V]]#1 : tensor<?xi32>
// CHECK: %[[T:.*]] = flow.tensor.tie_shape %[[H]] : tensor<?xi32>{%[[N]]}
// CHECK-NOT: util.optimization_barrier
// CHECK: return %[[T]]
#map = affine_map<(d0) -> (d0)>
func.func @dynamic(%n: index) -> tensor<?xi32> {
  %e = tensor.empty(%n) : tensor<?xi32>
  %v:2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} outs(%e, %e : tensor<?xi32>, tensor<?xi32>) {
  ^bb0(%o: i32, %p: i32):
    %i = linalg.index 0 : index
    %x = arith.index_cast %i : index to i32
    %y = arith.muli %x, %x : i32
    linalg.yield %x, %y : i32, i32
  } -> (tensor<?xi32>, tensor<?xi32>)
  return %v#1 : tensor<?xi32>
}

// -----

// A sum over a fill reads it; so does the row sum that a zero point asks for.
// CHECK-LABEL: func.func @sums_of_fills
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: %[[B:.*]] = util.optimization_barrier %[[F]]
// CHECK: linalg.reduce {{.*}} ins(%[[B]] :
// CHECK: %[[G:.*]] = linalg.fill
// CHECK: %[[C:.*]] = util.optimization_barrier %[[G]]
// CHECK: linalg.quantized_matmul ins(%[[C]], %arg0,
func.func @sums_of_fills(%w: tensor<8x4xi8>) -> (tensor<2xf32>, tensor<2x4xi32>) {
  %five = arith.constant 5.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %f = linalg.fill ins(%five : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.reduce { arith.addf } ins(%f : tensor<2x8xf32>) outs(%z : tensor<2xf32>) dimensions = [1]
  %nine = arith.constant 9 : i8
  %h = tensor.empty() : tensor<2x8xi8>
  %g = linalg.fill ins(%nine : i8) outs(%h : tensor<2x8xi8>) -> tensor<2x8xi8>
  %a = arith.constant 0 : i32
  %b = arith.constant 3 : i32
  %i = tensor.empty() : tensor<2x4xi32>
  %j = linalg.fill ins(%a : i32) outs(%i : tensor<2x4xi32>) -> tensor<2x4xi32>
  %q = linalg.quantized_matmul ins(%g, %w, %a, %b : tensor<2x8xi8>, tensor<8x4xi8>, i32, i32) outs(%j : tensor<2x4xi32>) -> tensor<2x4xi32>
  return %s, %q : tensor<2xf32>, tensor<2x4xi32>
}

// -----

// A count: its term becomes an input. So does a number from outside.
// CHECK-DAG: #[[NONE:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @counts
// CHECK: %[[T:.*]] = tensor.from_elements %{{.*}} : tensor<i32>
// CHECK: %[[B:.*]] = util.optimization_barrier %[[T]]
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[NONE]], #{{.*}}]
// CHECK-SAME: ins(%arg0, %[[B]] : tensor<2x8xi8>, tensor<i32>)
// CHECK-NEXT: ^bb0(%{{.*}}: i8, %[[V:.*]]: i32, %[[O:.*]]: i32):
// CHECK: arith.addi %[[O]], %[[V]]
// CHECK: %[[U:.*]] = tensor.from_elements %arg1 : tensor<f32>
// CHECK: %[[C:.*]] = util.optimization_barrier %[[U]]
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[C]] : tensor<2x8xi8>, tensor<f32>)
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @counts(%x: tensor<2x8xi8>, %v: f32, %z: tensor<2xi32>, %y: tensor<2xf32>) -> (tensor<2xi32>, tensor<2xf32>) {
  %n = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x8xi8>) outs(%z : tensor<2xi32>) {
  ^bb0(%in: i8, %out: i32):
    %one = arith.constant 1 : i32
    %s = arith.addi %out, %one : i32
    linalg.yield %s : i32
  } -> tensor<2xi32>
  %m = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x8xi8>) outs(%y : tensor<2xf32>) {
  ^bb0(%in: i8, %out: f32):
    %s = arith.mulf %v, %out : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %n, %m : tensor<2xi32>, tensor<2xf32>
}

// -----

// A product with one real operand, a term that is read, a scaled result of an
// elementwise op: no barrier.
// CHECK-LABEL: func.func @read
// CHECK-NOT: util.optimization_barrier
// CHECK: return
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @read(%w: tensor<8x4xf32>, %x: tensor<2x8xf32>, %z: tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2x8xf32>) {
  %five = arith.constant 5.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %f = linalg.fill ins(%five : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  %i = tensor.empty() : tensor<2x4xf32>
  %zero = arith.constant 0.0 : f32
  %j = linalg.fill ins(%zero : f32) outs(%i : tensor<2x4xf32>) -> tensor<2x4xf32>
  %p = linalg.matmul ins(%f, %w : tensor<2x8xf32>, tensor<8x4xf32>) outs(%j : tensor<2x4xf32>) -> tensor<2x4xf32>
  %n = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x8xf32>) outs(%z : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %m = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%x : tensor<2x8xf32>) {
  ^bb0(%out: f32):
    %s = arith.addf %out, %five : f32
    linalg.yield %s : f32
  } -> tensor<2x8xf32>
  return %p, %n, %m : tensor<2x4xf32>, tensor<2xf32>, tensor<2x8xf32>
}

// -----

// A constant of up to 256 bytes goes into the dispatch that reads it, too, a larger one does not.
// CHECK-LABEL: func.func @small_constant
// CHECK: %[[V:.*]]:2 = linalg.generic
// CHECK: util.optimization_barrier %[[V]]#0
// CHECK: util.optimization_barrier %[[V]]#1
// CHECK: %[[L:.*]]:2 = linalg.generic
// CHECK-NOT: util.optimization_barrier
#map = affine_map<(d0) -> (d0)>
func.func @small_constant() -> (tensor<2xf32>, tensor<2xf32>, tensor<65xf32>, tensor<65xf32>) {
  %c = arith.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %v:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%c : tensor<2xf32>) outs(%e, %e : tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %x = arith.addf %a, %a : f32
    linalg.yield %x, %a : f32, f32
  } -> (tensor<2xf32>, tensor<2xf32>)
  %d = arith.constant dense<"0x0000803f0100803f0200803f0300803f0400803f0500803f0600803f0700803f0800803f0900803f0a00803f0b00803f0c00803f0d00803f0e00803f0f00803f1000803f1100803f1200803f1300803f1400803f1500803f1600803f1700803f1800803f1900803f1a00803f1b00803f1c00803f1d00803f1e00803f1f00803f2000803f2100803f2200803f2300803f2400803f2500803f2600803f2700803f2800803f2900803f2a00803f2b00803f2c00803f2d00803f2e00803f2f00803f3000803f3100803f3200803f3300803f3400803f3500803f3600803f3700803f3800803f3900803f3a00803f3b00803f3c00803f3d00803f3e00803f3f00803f4000803f"> : tensor<65xf32>
  %f = tensor.empty() : tensor<65xf32>
  %w:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%d : tensor<65xf32>) outs(%f, %f : tensor<65xf32>, tensor<65xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %x = arith.addf %a, %a : f32
    linalg.yield %x, %a : f32, f32
  } -> (tensor<65xf32>, tensor<65xf32>)
  return %v#0, %v#1, %w#0, %w#1 : tensor<2xf32>, tensor<2xf32>, tensor<65xf32>, tensor<65xf32>
}
