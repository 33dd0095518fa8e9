// RUN: headrace-opt %s --pass-pipeline='builtin.module(separate-updates)' --split-input-file | FileCheck %s

// Computed of other elements: inserted in two parts, which IREE copies.
// CHECK-LABEL: func.func @shifted
// CHECK: %[[D:.*]] = math.sin
// CHECK: %[[A:.*]] = tensor.extract_slice %[[D]][0] [1] [1]
// CHECK: %[[Y:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[1] [1] [1]
// CHECK: %[[B:.*]] = tensor.extract_slice %[[D]][1] [3] [1]
// CHECK: tensor.insert_slice %[[B]] into %[[Y]][2] [3] [1]
func.func @shifted(%x: tensor<8xf32>) -> tensor<8xf32> {
  %z = math.exp %x : tensor<8xf32>
  %s = tensor.extract_slice %z[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %d = math.sin %s : tensor<4xf32>
  %y = tensor.insert_slice %d into %z[1] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Through ops that may be in one dispatch, at an offset known at run time.
// CHECK-LABEL: func.func @chain
// CHECK: %[[J:.*]] = arith.addi %arg1, %{{.*}} : index
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[J]], 0] [3, 6] [1, 1]
func.func @chain(%x: tensor<8x6xf32>, %i: index) -> tensor<8x6xf32> {
  %z = math.exp %x : tensor<8x6xf32>
  %s = tensor.extract_slice %z[0, 0] [4, 6] [1, 1] : tensor<8x6xf32> to tensor<4x6xf32>
  %d = math.sin %s : tensor<4x6xf32>
  %e = math.cos %d : tensor<4x6xf32>
  %y = tensor.insert_slice %e into %z[%i, 0] [4, 6] [1, 1] : tensor<4x6xf32> into tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// -----

// An op between the two reads the tensor, and is not what they are computed of.
// CHECK-LABEL: func.func @read_between
// CHECK-COUNT-2: tensor.insert_slice
func.func @read_between(%x: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %z = math.exp %x : tensor<8xf32>
  %d = math.sin %b : tensor<4xf32>
  %r = math.cos %z : tensor<8xf32>
  %y = tensor.insert_slice %d into %z[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %y, %r : tensor<8xf32>, tensor<8xf32>
}

// -----

// The same elements, but not each of its own: a row is normalised by its sum.
// CHECK-LABEL: func.func @reduced
// CHECK-COUNT-2: tensor.insert_slice
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @reduced(%x: tensor<8x6xf32>, %init: tensor<4xf32>) -> tensor<8x6xf32> {
  %z = math.exp %x : tensor<8x6xf32>
  %s = tensor.extract_slice %z[1, 0] [4, 6] [1, 1] : tensor<8x6xf32> to tensor<4x6xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<4x6xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %m : tensor<4x6xf32>, tensor<4xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %a = arith.divf %in, %sum : f32
    linalg.yield %a : f32
  } -> tensor<4x6xf32>
  %y = tensor.insert_slice %d into %z[1, 0] [4, 6] [1, 1] : tensor<4x6xf32> into tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// -----

// A part of the tensor itself has a copy of its own; so has what cannot be cut.
// CHECK-LABEL: func.func @own_part
// CHECK: %[[O:.*]] = flow.tensor.alloca : tensor<4xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[O]][0] [1] [1]
// CHECK: flow.tensor.alloca : tensor<2xf32>
func.func @own_part(%x: tensor<8xf32>, %i: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %z = math.exp %x : tensor<8xf32>
  %s = tensor.extract_slice %z[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %y = tensor.insert_slice %s into %z[1] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %w = math.exp %y : tensor<8xf32>
  %t = tensor.extract_slice %w[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
  %d = math.sin %t : tensor<1xf32>
  %v = tensor.insert_slice %d into %w[1] [1] [1] : tensor<1xf32> into tensor<8xf32>
  return %v, %w : tensor<8xf32>, tensor<8xf32>
}

// -----

// In place: element i of just the elements that are written.
// CHECK-LABEL: func.func @same_elements
// CHECK-COUNT-1: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice
func.func @same_elements(%x: tensor<8x6xf32>, %i: index) -> tensor<8x6xf32> {
  %z = math.exp %x : tensor<8x6xf32>
  %s = tensor.extract_slice %z[%i, 0] [4, 6] [1, 1] : tensor<8x6xf32> to tensor<4x6xf32>
  %d = math.sin %s : tensor<4x6xf32>
  %y = tensor.insert_slice %d into %z[%i, 0] [4, 6] [1, 1] : tensor<4x6xf32> into tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// -----

// In place: elements that are not written.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-1: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice
func.func @apart(%x: tensor<8xf32>) -> tensor<8xf32> {
  %z = math.exp %x : tensor<8xf32>
  %s = tensor.extract_slice %z[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %d = math.sin %s : tensor<4xf32>
  %y = tensor.insert_slice %d into %z[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// In place: nothing else reads the tensor, as in a cache that gets a new row.
// CHECK-LABEL: func.func @cache
// CHECK-COUNT-1: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice
func.func @cache(%x: tensor<8x6xf32>, %b: tensor<1x6xf32>, %i: index) -> tensor<8x6xf32> {
  %z = math.exp %x : tensor<8x6xf32>
  %d = math.sin %b : tensor<1x6xf32>
  %y = tensor.insert_slice %d into %z[%i, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// -----

// In place: what the update is computed of, in a dispatch before.
// CHECK-LABEL: func.func @dispatched_before
// CHECK-COUNT-1: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice
func.func @dispatched_before(%x: tensor<8xf32>) -> tensor<8xf32> {
  %z = math.exp %x : tensor<8xf32>
  %r = flow.dispatch.region -> (tensor<4xf32>) {
    %s = tensor.extract_slice %z[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %m = math.cos %s : tensor<4xf32>
    flow.return %m : tensor<4xf32>
  }
  %d = math.sin %r : tensor<4xf32>
  %y = tensor.insert_slice %d into %z[1] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// In place: IREE updates a copy of an argument, and of a constant.
// CHECK-LABEL: func.func @not_ours
// CHECK-COUNT-1: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice
func.func @not_ours(%x: tensor<8xf32>) -> tensor<8xf32> {
  %s = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %d = math.sin %s : tensor<4xf32>
  %y = tensor.insert_slice %d into %x[1] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// What is not computed cannot be computed in place: an argument, a constant, what was sent.
// CHECK-LABEL: func.func @not_computed
// CHECK-COUNT-1: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice
func.func @not_computed(%x: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %z = math.exp %x : tensor<8xf32>
  %r = math.cos %z : tensor<8xf32>
  %y = tensor.insert_slice %b into %z[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %y, %r : tensor<8xf32>, tensor<8xf32>
}
