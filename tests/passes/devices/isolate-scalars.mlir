// RUN: headrace-opt %s --pass-pipeline='builtin.module(isolate-scalars)' --split-input-file | FileCheck %s

// Each scalar op on a value gets a region of its own.
// CHECK-LABEL: func.func @two
// CHECK: %[[A:.*]] = flow.dispatch.region -> (tensor<f32>) {
// CHECK-NEXT: %[[R:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<bf16>)
// CHECK: flow.return %[[R]] : tensor<f32>
// CHECK: %[[B:.*]] = flow.dispatch.region -> (tensor<f32>) {
// CHECK-NEXT: linalg.generic {{.*}} ins(%arg1 : tensor<bf16>)
// CHECK: return %[[A]], %[[B]]
#map = affine_map<() -> ()>
func.func @two(%a: tensor<bf16>, %b: tensor<bf16>) -> (tensor<f32>, tensor<f32>) {
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%a : tensor<bf16>) outs(%e : tensor<f32>) {
  ^bb0(%in: bf16, %out: f32):
    %1 = arith.extf %in : bf16 to f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%b : tensor<bf16>) outs(%e : tensor<f32>) {
  ^bb0(%in: bf16, %out: f32):
    %3 = arith.extf %in : bf16 to f32
    linalg.yield %3 : f32
  } -> tensor<f32>
  return %0, %2 : tensor<f32>, tensor<f32>
}

// -----

// Constants, fills and larger tensors stay as they are; so do reductions.
// CHECK-LABEL: func.func @others
// CHECK-NOT: flow.dispatch.region
// CHECK: return
#map = affine_map<() -> ()>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
func.func @others(%a: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<f32>) {
  %c = arith.constant 1.0 : f32
  %k = arith.constant dense<2.0> : tensor<f32>
  %e = tensor.empty() : tensor<f32>
  %fill = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%k : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<f32>
  %f = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.addf %in, %in : f32
    linalg.yield %5 : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#one, #none], iterator_types = ["reduction"]} ins(%a : tensor<4xf32>) outs(%fill : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.addf %in, %out : f32
    linalg.yield %5 : f32
  } -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<4xf32>, tensor<f32>
}

// -----

// A linalg op that does not say how many of its operands are inputs.
// CHECK-LABEL: @map(
// CHECK: flow.dispatch.region
// CHECK: linalg.map
// CHECK: flow.return
func.func @map(%x: tensor<1xf32>) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<1xf32>
  %y = linalg.map { math.exp } ins(%x : tensor<1xf32>) outs(%e : tensor<1xf32>)
  return %y : tensor<1xf32>
}

// -----

// What only its body reads: an element at a computed place, and a scalar.
// CHECK-LABEL: @read_in_body(
// CHECK: flow.dispatch.region -> (tensor<f32>)
// CHECK-NEXT: linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tensor.extract %arg0[%arg1]
// CHECK: flow.return
// CHECK: flow.dispatch.region -> (tensor<f32>)
// CHECK: linalg.yield %arg2
// CHECK: flow.return
#map = affine_map<() -> ()>
func.func @read_in_body(%x: tensor<8xf32>, %i: index, %s: f32) -> (tensor<f32>, tensor<f32>) {
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%e : tensor<f32>) {
  ^bb0(%out: f32):
    %1 = tensor.extract %x[%i] : tensor<8xf32>
    linalg.yield %1 : f32
  } -> tensor<f32>
  %2 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%e : tensor<f32>) {
  ^bb0(%out: f32):
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0, %2 : tensor<f32>, tensor<f32>
}

// -----

// What reads only constants in its body, and more than one element.
// CHECK-LABEL: @constants_in_body(
// CHECK-NOT: flow.dispatch.region
#map = affine_map<() -> ()>
#one = affine_map<(d0) -> (d0)>
func.func @constants_in_body(%x: tensor<8xf32>, %i: index) -> (tensor<f32>, tensor<4xf32>) {
  %c2 = arith.constant 2 : index
  %k = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%e : tensor<f32>) {
  ^bb0(%out: f32):
    %1 = tensor.extract %k[%c2] : tensor<3xf32>
    %3 = arith.addf %1, %1 : f32
    linalg.yield %3 : f32
  } -> tensor<f32>
  %f = tensor.empty() : tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%f : tensor<4xf32>) {
  ^bb0(%out: f32):
    %1 = tensor.extract %x[%i] : tensor<8xf32>
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0, %2 : tensor<f32>, tensor<4xf32>
}
