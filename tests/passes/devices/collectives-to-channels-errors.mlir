// RUN: headrace-opt %s --pass-pipeline='builtin.module(collectives-to-channels)' --split-input-file --verify-diagnostics

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @fp8_sum(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  // expected-error @+1 {{'headrace.all_reduce' of f8E5M2 values is not supported: convert them to f32 first}}
  %g = "headrace.all_reduce"(%x) {reduction = "add", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  return %g : tensor<4xf8E5M2>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @nibbles(%x: tensor<4xi4>) -> tensor<8xi4> {
  // expected-error @+1 {{'headrace.all_gather' of i4: no channel carries this element type}}
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xi4>) -> tensor<8xi4>
  return %g : tensor<8xi4>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{'headrace.all_gather' of a dynamic shape: channels need static ones}}
  %g = "headrace.all_gather"(%x) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<?x4xf32>) -> tensor<?x8xf32>
  return %g : tensor<?x8xf32>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @too_many(%x: tensor<4xf32>) -> tensor<16xf32> {
  // expected-error @+1 {{'headrace.all_gather' names device 3, but the program is for 2 devices}}
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<4xf32>) -> tensor<16xf32>
  return %g : tensor<16xf32>
}
}
