// RUN: headrace-opt %s --pass-pipeline='builtin.module(bound-indices)' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @gather
// CHECK: %[[C:.*]] = stablehlo.clamp %{{.*}}, %arg1, %{{.*}} : (tensor<i32>, tensor<5x1xi32>, tensor<i32>) -> tensor<5x1xi32>
// CHECK: "stablehlo.gather"(%arg0, %[[C]])
func.func @gather(%x: tensor<4x2xf32>, %i: tensor<5x1xi32>) -> tensor<5x2xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<4x2xf32>, tensor<5x1xi32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// -----

// Two components of different limits; the limits of an i8 are its own.
// CHECK-LABEL: func.func @gather_pairs
// CHECK: stablehlo.constant dense<127> : tensor<i8>
// CHECK-NEXT: stablehlo.clamp
// CHECK: stablehlo.constant dense<1> : tensor<i8>
// CHECK-NEXT: stablehlo.clamp
// CHECK: stablehlo.concatenate {{.*}}, dim = 1
func.func @gather_pairs(%x: tensor<400x2xf32>, %i: tensor<5x2xi8>) -> tensor<5xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<400x2xf32>, tensor<5x2xi8>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// Known to be inside: constants, clamped and counted ones. A dynamic dim is left alone.
// CHECK-LABEL: func.func @inside
// CHECK-COUNT-1: stablehlo.clamp
// CHECK-NOT: stablehlo.clamp
func.func @inside(%x: tensor<4x2xf32>, %i: tensor<5x1xi32>, %d: tensor<?x2xf32>) -> (tensor<5x2xf32>, tensor<2x2xf32>, tensor<4x2xf32>, tensor<5x2xf32>) {
  %low = stablehlo.constant dense<0> : tensor<i32>
  %high = stablehlo.constant dense<3> : tensor<i32>
  %c = stablehlo.clamp %low, %i, %high : (tensor<i32>, tensor<5x1xi32>, tensor<i32>) -> tensor<5x1xi32>
  %0 = "stablehlo.gather"(%x, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<4x2xf32>, tensor<5x1xi32>) -> tensor<5x2xf32>
  %k = stablehlo.constant dense<[[3], [0]]> : tensor<2x1xi32>
  %1 = "stablehlo.gather"(%x, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<4x2xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
  %n = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %2 = "stablehlo.gather"(%x, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<4x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
  %3 = "stablehlo.gather"(%d, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<?x2xf32>, tensor<5x1xi32>) -> tensor<5x2xf32>
  return %0, %1, %2, %3 : tensor<5x2xf32>, tensor<2x2xf32>, tensor<4x2xf32>, tensor<5x2xf32>
}

// -----

// One window: in place, and what is there stays if it does not fit.
// CHECK-LABEL: func.func @one_window
// CHECK: %[[S:.*]] = stablehlo.clamp %{{.*}}, %[[I:.*]], %{{.*}} : tensor<i32>
// CHECK: %[[FITS:.*]] = stablehlo.compare EQ, %[[S]], %[[I]]
// CHECK: %[[OLD:.*]] = stablehlo.dynamic_slice %arg0, %[[S]], %{{.*}}, sizes = [2, 4]
// CHECK: %[[SUM:.*]] = stablehlo.add %[[OLD]], %arg2
// CHECK: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[FITS]], dims = []
// CHECK: %[[NEW:.*]] = stablehlo.select %[[ALL]], %[[SUM]], %[[OLD]]
// CHECK: stablehlo.dynamic_update_slice %arg0, %[[NEW]], %[[S]], %{{.*}}
// CHECK-NOT: stablehlo.scatter
func.func @one_window(%x: tensor<8x4xf32>, %i: tensor<1xi32>, %u: tensor<2x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<1xi32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// -0.0 changes no sum, not even that of -0.0.
// CHECK-LABEL: func.func @add
// CHECK: %[[C:.*]] = stablehlo.clamp
// CHECK: stablehlo.compare EQ
// CHECK: stablehlo.constant dense<-0.000000e+00> : tensor<5x2xf32>
// CHECK: %[[U:.*]] = stablehlo.select %{{.*}}, %arg2, %{{.*}} : tensor<5x2xi1>, tensor<5x2xf32>
// CHECK: "stablehlo.scatter"(%arg0, %{{.*}}, %[[U]])
func.func @add(%x: tensor<4x2xf32>, %i: tensor<5x1xi32>, %u: tensor<5x2xf32>) -> tensor<4x2xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<5x1xi32>, tensor<5x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// Nothing can be written that leaves all as it is: beside it.
// CHECK-LABEL: func.func @replace
// CHECK: %[[P:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [0, 0], high = [1, 0], interior = [0, 0]
// CHECK: %[[S:.*]] = "stablehlo.scatter"(%[[P]], %{{.*}}, %arg2)
// CHECK-NOT: unique_indices
// CHECK: stablehlo.slice %[[S]] [0:4, 0:2]
func.func @replace(%x: tensor<4x2xf32>, %i: tensor<5x1xi32>, %u: tensor<5x2xf32>) -> tensor<4x2xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<5x1xi32>, tensor<5x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// Inside: as it is.
// CHECK-LABEL: func.func @scatter_inside
// CHECK-NOT: stablehlo.clamp
// CHECK-NOT: stablehlo.pad
func.func @scatter_inside(%x: tensor<4x2xf32>, %u: tensor<2x2xf32>) -> tensor<4x2xf32> {
  %i = stablehlo.constant dense<[[3], [0]]> : tensor<2x1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x1xi32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// IREE takes unsigned indices for signed ones.
// CHECK-LABEL: func.func @unsigned
// CHECK: %[[A:.*]] = stablehlo.convert %arg1 : (tensor<5x1xui8>) -> tensor<5x1xi32>
// CHECK: %[[C:.*]] = stablehlo.clamp %{{.*}}, %[[A]], %{{.*}}
// CHECK: "stablehlo.gather"(%arg0, %[[C]])
// CHECK: %[[M:.*]] = stablehlo.minimum %arg2
// CHECK: %[[B:.*]] = stablehlo.convert %[[M]] : (tensor<ui64>) -> tensor<i64>
// CHECK: stablehlo.dynamic_slice %arg0, %[[B]], %{{.*}}
func.func @unsigned(%x: tensor<300x2xf32>, %i: tensor<5x1xui8>, %s: tensor<ui64>) -> (tensor<5x2xf32>, tensor<3x2xf32>) {
  %g = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<300x2xf32>, tensor<5x1xui8>) -> tensor<5x2xf32>
  %z = stablehlo.constant dense<0> : tensor<ui64>
  %d = stablehlo.dynamic_slice %x, %s, %z, sizes = [3, 2] : (tensor<300x2xf32>, tensor<ui64>, tensor<ui64>) -> tensor<3x2xf32>
  return %g, %d : tensor<5x2xf32>, tensor<3x2xf32>
}
