// RUN: headrace-opt %s --pass-pipeline='builtin.module(to-per-device)' --split-input-file --verify-diagnostics | FileCheck %s

// The boundaries go, the manual part keeps its private functions, and the
// arguments that only JAX needs lose their marks.
// CHECK-LABEL: module @direct
// CHECK: func.func public @main(%[[X:.*]]: tensor<2x16xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}, %[[W:.*]]: tensor<16x4xf32> {mhlo.sharding = "{replicated}"})
// CHECK-SAME: -> (tensor<2x4xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}) {
// CHECK-NEXT: %[[Y:.*]] = call @shmap_body(%[[X]], %[[W]])
// CHECK-NEXT: return %[[Y]] : tensor<2x4xf32>
// CHECK: func.func private @shmap_body(%{{.*}}: tensor<2x16xf32>, %{{.*}}: tensor<16x4xf32>) -> tensor<2x4xf32>
// CHECK: stablehlo.dot_general
module @direct attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<8x16xf32> {jax.buffer_donor = true}, %w: tensor<16x4xf32>) -> (tensor<8x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8x16xf32>) -> tensor<2x16xf32>
    %2 = stablehlo.custom_call @Sharding(%w) {mhlo.sharding = "{replicated}"} : (tensor<16x4xf32>) -> tensor<16x4xf32>
    %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {mhlo.sharding = "{manual}"} : (tensor<16x4xf32>) -> tensor<16x4xf32>
    %4 = call @shmap_body(%1, %3) : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
    %5 = stablehlo.custom_call @Sharding(%4) {mhlo.sharding = "{manual}"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %6 = stablehlo.custom_call @SPMDShardToFullShape(%5) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<2x4xf32>) -> tensor<8x4xf32>
    return %6 : tensor<8x4xf32>
  }
  func.func private @shmap_body(%x: tensor<2x16xf32>, %w: tensor<16x4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

// -----

// Elementwise ops, splat constants, broadcasts and calls on global tensors
// work on the tiles; a tiling reaches what is tied to it on both sides.
// CHECK-LABEL: module @between
// CHECK: func.func public @main(%[[X:.*]]: tensor<8x2xf32> {mhlo.sharding = "{devices=[1,4]<=[4]}"}, %[[R:.*]]: tensor<2xf32> {mhlo.sharding = "{devices=[4]<=[4]}"})
// CHECK-SAME: -> (tensor<2x8xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"})
// CHECK-DAG: %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<8x2xf32>
// CHECK-DAG: %[[ROW:.*]] = stablehlo.broadcast_in_dim %[[R]], dims = [1] : (tensor<2xf32>) -> tensor<8x2xf32>
// CHECK: %[[M:.*]] = stablehlo.multiply %[[X]], %[[TWO]] : tensor<8x2xf32>
// CHECK: %[[A:.*]] = stablehlo.add %[[M]], %[[ROW]] : tensor<8x2xf32>
// CHECK: %[[N:.*]] = stablehlo.negate %[[A]] : tensor<8x2xf32>
// CHECK: %[[S:.*]] = stablehlo.sine %[[N]] : tensor<8x2xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[S]], dims = [1, 0] : (tensor<8x2xf32>) -> tensor<2x8xf32>
// CHECK: return %[[T]]
// CHECK-NOT: @sine
module @between attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8x8xf32>, %row: tensor<8xf32>) -> tensor<8x8xf32> {
    %two = stablehlo.constant dense<2.0> : tensor<8x8xf32>
    %rows = stablehlo.broadcast_in_dim %row, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
    %0 = stablehlo.multiply %x, %two : tensor<8x8xf32>
    %1 = stablehlo.add %0, %rows : tensor<8x8xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{devices=[1,4]<=[4]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {mhlo.sharding = "{manual}"} : (tensor<8x8xf32>) -> tensor<8x2xf32>
    %4 = stablehlo.negate %3 : tensor<8x2xf32>
    %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{devices=[1,4]<=[4]}"} : (tensor<8x2xf32>) -> tensor<8x8xf32>
    %6 = call @sine(%5) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %7 : tensor<8x8xf32>
  }
  func.func private @sine(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.sine %x : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// Slices and loops run along dimensions that are not tiled.
// CHECK-LABEL: module @loop
// CHECK: func.func public @main(%[[H:.*]]: tensor<4xf32> {{{.*}}}, %[[WS:.*]]: tensor<3x4xf32> {mhlo.sharding = "{devices=[1,2]<=[2]}"})
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %[[ITER:.*]] = %[[H]]) : tensor<i32>, tensor<4xf32>
// CHECK: stablehlo.dynamic_slice %[[WS]], %{{.*}}, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
// CHECK: stablehlo.slice %{{.*}} [0:1, 0:4] : (tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK: %[[W:.*]] = stablehlo.reshape %{{.*}} : (tensor<1x4xf32>) -> tensor<4xf32>
// CHECK: stablehlo.multiply %[[ITER]], %[[W]] : tensor<4xf32>
module @loop attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%h: tensor<8xf32>, %ws: tensor<3x8xf32>) -> tensor<8xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %x = %h) : tensor<i32>, tensor<8xf32>
    cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.dynamic_slice %ws, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %2 = stablehlo.slice %1 [0:1, 0:8] : (tensor<1x8xf32>) -> tensor<1x8xf32>
      %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
      %4 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
      %5 = stablehlo.custom_call @SPMDFullToShardShape(%3) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
      %6 = stablehlo.multiply %4, %5 : tensor<4xf32>
      %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
      %8 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
      %9 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %9, %7 : tensor<i32>, tensor<8xf32>
    }
    return %0#1 : tensor<8xf32>
  }
}

// -----

// Each device takes its own tile of a constant; who wants it whole has it.
// CHECK-LABEL: module @constant
// CHECK-DAG: %[[C:.*]] = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
// CHECK-DAG: %[[ID:.*]] = stablehlo.partition_id : tensor<ui32>
// CHECK-DAG: %[[STARTS:.*]] = stablehlo.constant dense<[0, 2]> : tensor<2xui32>
// CHECK: %[[ONE:.*]] = stablehlo.dynamic_slice %[[STARTS]], %[[ID]], sizes = [1]
// CHECK: %[[START:.*]] = stablehlo.reshape %[[ONE]] : (tensor<1xui32>) -> tensor<ui32>
// CHECK: %[[TILE:.*]] = stablehlo.dynamic_slice %{{.*}}, %[[START]], sizes = [2] : (tensor<4xi32>, tensor<ui32>) -> tensor<2xi32>
// CHECK: stablehlo.add %[[TILE]], %[[TILE]] : tensor<2xi32>
// CHECK: stablehlo.reverse %{{.*}}, dims = [0] : tensor<4xi32>
module @constant attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main() -> (tensor<4xi32>, tensor<4xi32>) {
    %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %0 = stablehlo.custom_call @Sharding(%c) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xi32>) -> tensor<4xi32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<4xi32>) -> tensor<2xi32>
    %2 = stablehlo.add %1, %1 : tensor<2xi32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<2xi32>) -> tensor<4xi32>
    %4 = stablehlo.reverse %c, dims = [0] : tensor<4xi32>
    return %3, %4 : tensor<4xi32>, tensor<4xi32>
  }
}

// -----

// Explicit device lists and copies come back as a transposed iota.
// CHECK-LABEL: module @strings
// CHECK: tensor<4xf32> {mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"}
// CHECK-SAME: tensor<4xf32> {mhlo.sharding = "{devices=[2,2]<=[4] last_tile_dim_replicate}"}
// CHECK-SAME: tensor<2xf32> {mhlo.sharding = "{devices=[4]0,2,3,1}"}
module @strings attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @Sharding(%b) {mhlo.sharding = "{devices=[2,2]<=[4] last_tile_dims={replicated}}"} : (tensor<8xf32>) -> tensor<8xf32>
    %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %4 = stablehlo.custom_call @Sharding(%c) {mhlo.sharding = "{devices=[4]0,2,3,1}"} : (tensor<8xf32>) -> tensor<8xf32>
    %5 = stablehlo.custom_call @SPMDFullToShardShape(%4) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<2xf32>
    %6 = stablehlo.add %1, %3 : tensor<4xf32>
    %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "{devices=[2,2]<=[4] last_tile_dim_replicate}"} : (tensor<4xf32>) -> tensor<8xf32>
    return %7 : tensor<8xf32>
  }
}

// -----

// A reshape keeps what it leaves alone in front and at the back; concatenate,
// reduce and update keep the dimensions that they do not work on.
// CHECK-LABEL: module @movement
// CHECK: stablehlo.reshape %{{.*}} : (tensor<2x6x1x4xf32>) -> tensor<2x2x3x4xf32>
// CHECK: stablehlo.concatenate %{{.*}}, dim = 1 : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x4x3x4xf32>
// CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
// CHECK: stablehlo.iota dim = 1 : tensor<2x4xf32>
module @movement attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<4x6x1x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.reshape %x : (tensor<4x6x1x4xf32>) -> tensor<4x2x3x4xf32>
    %1 = stablehlo.concatenate %0, %0, dim = 1 : (tensor<4x2x3x4xf32>, tensor<4x2x3x4xf32>) -> tensor<4x4x3x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x4x3x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    %3 = stablehlo.iota dim = 1 : tensor<4x4xf32>
    %4 = stablehlo.add %2, %3 : tensor<4x4xf32>
    %5 = stablehlo.custom_call @Sharding(%4) {mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.custom_call @SPMDFullToShardShape(%5) {mhlo.sharding = "{manual}"} : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<2x4xf32>) -> tensor<4x4xf32>
    return %7 : tensor<4x4xf32>
  }
}

// -----

// Without boundaries nothing is done.
// CHECK-LABEL: module @untouched
// CHECK: func.func public @main(%{{.*}}: tensor<8xf32> {jax.buffer_donor = true}) -> tensor<8xf32>
module @untouched {
  func.func public @main(%x: tensor<8xf32> {jax.buffer_donor = true}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8x16xf32>) -> tensor<f32> {
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8x16xf32>) -> tensor<2x16xf32>
    %1 = stablehlo.custom_call @SPMDShardToFullShape(%0) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<2x16xf32>) -> tensor<8x16xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    // expected-error @below {{dimension 0 of tensor<8x16xf32> is held in 4 tiles, but 'stablehlo.reduce' needs it whole; headrace takes per-device programs and does not reshard: do it inside jax.shard_map}}
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8x16xf32>) -> tensor<2x16xf32>
    %1 = stablehlo.custom_call @SPMDShardToFullShape(%0) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<2x16xf32>) -> tensor<8x16xf32>
    // expected-error @below {{'stablehlo.dot_general' needs it whole}}
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    return %2 : tensor<8x16xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8x8xf32>) -> tensor<2x8xf32>
    %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<2x8xf32>) -> tensor<8x8xf32>
    // expected-error @below {{dimension 0 of tensor<8x8xf32> is held in 4 tiles, but shard_map needs it whole}}
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{devices=[1,4]<=[4]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = stablehlo.custom_call @SPMDFullToShardShape(%3) {mhlo.sharding = "{manual}"} : (tensor<8x8xf32>) -> tensor<8x2xf32>
    %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{devices=[1,4]<=[4]}"} : (tensor<8x2xf32>) -> tensor<8x8xf32>
    return %5 : tensor<8x8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<2xf32>
    %2 = stablehlo.custom_call @Sharding(%y) {mhlo.sharding = "{devices=[4]<=[2,2]T(1,0)}"} : (tensor<8xf32>) -> tensor<8xf32>
    %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<2xf32>
    // expected-error @below {{is held in 4 tiles, but 'stablehlo.add' needs it in 4 tiles on different devices}}
    %4 = stablehlo.add %x, %y : tensor<8xf32>
    return %4 : tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{headrace takes shard_map over all axes of the mesh}}
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,2]<=[4] last_tile_dims={manual}}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<2xf32>
    %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<2xf32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<6xf32>) -> tensor<6xf32> {
    // expected-error @below {{dimension 0 of tensor<6xf32> does not divide into 4}}
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<6xf32>) -> tensor<6xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<6xf32>) -> tensor<2xf32>
    %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{replicated}"} : (tensor<2xf32>) -> tensor<6xf32>
    return %2 : tensor<6xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8xf32>) -> tensor<16xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<8xf32>) -> tensor<8xf32>
    // expected-error @below {{the sharding makes tensor<2xf32>, but the program says tensor<4xf32>}}
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<4xf32>) -> tensor<16xf32>
    return %2 : tensor<16xf32>
  }
}

// -----

// A dynamic dimension's tile is dynamic, too.
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<?xf32>) -> tensor<?xf32>
    // expected-error @below {{the sharding makes tensor<?xf32>, but the program says tensor<2xf32>}}
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<?xf32>) -> tensor<2xf32>
    %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<2xf32>) -> tensor<?xf32>
    return %2 : tensor<?xf32>
  }
}

// -----

// expected-error @below {{the module has no mhlo.num_partitions}}
module {
  func.func public @main(%x: tensor<8xf32>) -> tensor<2xf32> {
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
