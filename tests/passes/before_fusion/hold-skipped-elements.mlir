// RUN: headrace-opt %s --hold-skipped-elements | FileCheck %s

#d = affine_map<(i) -> (i)>
#s = affine_map<(i) -> (i * 2)>

// CHECK-LABEL: func.func @convolution
// CHECK: %[[Y:.*]] = linalg.map { arith.negf }
// CHECK: %[[H:.*]] = util.optimization_barrier %[[Y]]
// CHECK: linalg.depthwise_conv_1d_nwc_wc {{.*}} ins(%[[H]], %arg1
// CHECK: linalg.map { math.exp } ins(%[[Y]]
func.func @convolution(%x: tensor<1x3x4xf32>, %k: tensor<1x4xf32>, %i: tensor<1x2x4xf32>,
    %e: tensor<1x3x4xf32>) -> (tensor<1x2x4xf32>, tensor<1x3x4xf32>) {
  %y = linalg.map { arith.negf } ins(%x : tensor<1x3x4xf32>) outs(%e : tensor<1x3x4xf32>)
  %c = linalg.depthwise_conv_1d_nwc_wc {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%y, %k : tensor<1x3x4xf32>, tensor<1x4xf32>) outs(%i : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %z = linalg.map { math.exp } ins(%y : tensor<1x3x4xf32>) outs(%e : tensor<1x3x4xf32>)
  return %c, %z : tensor<1x2x4xf32>, tensor<1x3x4xf32>
}

// The other user may be the caller, and reads what a view and further ops are made of.
// CHECK-LABEL: func.func @behind_a_view
// CHECK: %[[N:.*]] = linalg.map { arith.negf }
// CHECK: %[[H:.*]] = util.optimization_barrier %[[N]]
// CHECK: %[[T:.*]] = flow.tensor.tie_shape %[[H]]
// CHECK: linalg.generic {{.*}} ins(%[[T]]
func.func @behind_a_view(%x: tensor<?x2xf32>, %e: tensor<?x2xf32>, %f: tensor<?xf32>, %o: tensor<?xf32>)
    -> (tensor<?x2xf32>, tensor<?xf32>) {
  %y = linalg.map { math.exp } ins(%x : tensor<?x2xf32>) outs(%e : tensor<?x2xf32>)
  %v = tensor.collapse_shape %y [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
  %n = linalg.map { arith.negf } ins(%v : tensor<?xf32>) outs(%f : tensor<?xf32>)
  %c = linalg.generic {indexing_maps = [#s, #d], iterator_types = ["parallel"]} ins(%n : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?xf32>
  return %y, %c : tensor<?x2xf32>, tensor<?xf32>
}

// Negative: no other user; read whole, in windows too; not made here.
// CHECK-LABEL: func.func @others
// CHECK-NOT: optimization_barrier
func.func @others(%x: tensor<6xf32>, %e: tensor<6xf32>, %o: tensor<3xf32>, %k: tensor<3xf32>, %i: tensor<4xf32>)
    -> (tensor<3xf32>, tensor<4xf32>, tensor<6xf32>, tensor<3xf32>) {
  %n = linalg.map { arith.negf } ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>)
  %c = linalg.generic {indexing_maps = [#s, #d], iterator_types = ["parallel"]} ins(%n : tensor<6xf32>) outs(%o : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3xf32>
  %y = linalg.map { math.exp } ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>)
  %w = linalg.conv_1d ins(%y, %k : tensor<6xf32>, tensor<3xf32>) outs(%i : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#s, #d], iterator_types = ["parallel"]} ins(%x : tensor<6xf32>) outs(%o : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3xf32>
  return %c, %w, %y, %a : tensor<3xf32>, tensor<4xf32>, tensor<6xf32>, tensor<3xf32>
}
