// RUN: headrace-opt %s --split-input-file --record-shardings | FileCheck %s

// Arguments, results and device counts; the originals stay.
// CHECK-LABEL: module @counts attributes
// CHECK-SAME: headrace.num_partitions = 4 : i32
// CHECK-SAME: headrace.num_replicas = 2 : i32
// CHECK-SAME: mhlo.num_partitions = 4 : i32
module @counts attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32} {
  // CHECK: func.func @both
  // CHECK-SAME: %arg0: tensor<8xf32> {headrace.sharding = "{devices=[4]<=[4]}", mhlo.sharding = "{devices=[4]<=[4]}"}
  // CHECK-SAME: %arg1: tensor<8xf32> {headrace.donated, jax.buffer_donor = true})
  // CHECK-SAME: -> (tensor<8xf32> {headrace.sharding = "{replicated}", jax.result_info = "r", mhlo.sharding = "{replicated}"})
  func.func @both(%x: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"},
                  %y: tensor<8xf32> {jax.buffer_donor = true})
      -> (tensor<8xf32> {jax.result_info = "r", mhlo.sharding = "{replicated}"}) {
    return %x : tensor<8xf32>
  }

  // Nothing to record: nothing is added.
  // CHECK: func.func private @none(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  func.func private @none(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }

  // A declaration has arguments too.
  // CHECK: func.func private @declared(tensor<8xf32> {headrace.sharding = "{replicated}", mhlo.sharding = "{replicated}"})
  func.func private @declared(tensor<8xf32> {mhlo.sharding = "{replicated}"})
}

// -----

// What a user wrote in headrace's own attributes is kept.
// CHECK-LABEL: module @kept attributes
// CHECK-SAME: headrace.num_partitions = 2 : i32
module @kept attributes {headrace.num_partitions = 2 : i32, mhlo.num_partitions = 4 : i32} {
  // CHECK: headrace.sharding = "{manual}"
  func.func @f(%x: tensor<8xf32> {headrace.sharding = "{manual}", mhlo.sharding = "{replicated}"}) {
    return
  }
}

// -----

// That a result may take the buffer of an argument becomes that the argument is given away.
// CHECK-LABEL: func.func @donated
// CHECK-SAME: (%arg0: tensor<8xf32> {headrace.donated}, %arg1: tensor<8xf32> {headrace.donated, jax.buffer_donor = true})
func.func @donated(%x: tensor<8xf32> {tf.aliasing_output = 0 : i32},
                   %y: tensor<8xf32> {jax.buffer_donor = true}) -> tensor<8xf32> {
  return %y : tensor<8xf32>
}

// -----

// A module that says nothing about devices stays as it is.
// CHECK-LABEL: module @plain {
module @plain {
}
