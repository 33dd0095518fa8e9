// RUN: headrace-opt %s --hold-padded-values | FileCheck %s

// Through what only gives it another shape.
// CHECK-LABEL: func.func @sort
// CHECK: %[[S:.*]] = iree_linalg_ext.sort
// CHECK: %[[E:.*]] = tensor.expand_shape %[[S]]
// CHECK: %[[H:.*]] = util.optimization_barrier %[[E]] : tensor<1x8xf32>
// CHECK: tensor.pad %[[H]]
// CHECK: return %[[S]],
func.func @sort(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2x8xf32>) {
  %z = arith.constant 0.0 : f32
  %s = iree_linalg_ext.sort dimension(0) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %p : i1
  } -> tensor<8xf32>
  %e = tensor.expand_shape %s [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
  %y = tensor.pad %e low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<1x8xf32> to tensor<2x8xf32>
  return %s, %y : tensor<8xf32>, tensor<2x8xf32>
}

// IREE finds no size behind a barrier.
// CHECK-LABEL: func.func @scan
// CHECK: %[[S:.*]]:2 = iree_linalg_ext.scan
// CHECK: %[[D:.*]] = tensor.dim %[[S]]#0, %{{.*}}
// CHECK: %[[H:.*]] = util.optimization_barrier %[[S]]#0
// CHECK: %[[T:.*]] = flow.tensor.tie_shape %[[H]] : tensor<?xf32>{%[[D]]}
// CHECK: tensor.pad %[[T]]
func.func @scan(%x: tensor<?xf32>, %o: tensor<?xf32>, %c: tensor<f32>) -> tensor<?xf32> {
  %z = arith.constant 0.0 : f32
  %s:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<?xf32>) outs(%o, %c : tensor<?xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %b : f32
    iree_linalg_ext.yield %p : f32
  } -> tensor<?xf32>, tensor<f32>
  %y = tensor.pad %s#0 low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

// Negative: made otherwise; not padded.
// CHECK-LABEL: func.func @others
// CHECK-NOT: util.optimization_barrier
// CHECK: return
func.func @others(%x: tensor<8xf32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<8xf32> to tensor<9xf32>
  %n = math.absf %x : tensor<8xf32>
  %q = tensor.pad %n low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<8xf32> to tensor<9xf32>
  %s = iree_linalg_ext.sort dimension(0) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %c : i1
  } -> tensor<8xf32>
  return %p, %q, %s : tensor<9xf32>, tensor<9xf32>, tensor<8xf32>
}
