// RUN: headrace-opt %s --pass-pipeline='builtin.module(spmd-to-devices)' --split-input-file --verify-diagnostics

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @too_many(%x: tensor<4xf32>) -> tensor<16xf32> {
  // expected-error @+1 {{'headrace.all_gather' names device 3, but the program is for 2 devices}}
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<4xf32>) -> tensor<16xf32>
  return %g : tensor<16xf32>
}
}

// -----

module attributes {headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32} {
func.func @left_out(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'headrace.all_reduce' leaves out device 2 of 4: every device must be in a replica group}}
  %g = "headrace.all_reduce"(%x) {reduction = "add", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @permute_too_far(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'headrace.collective_permute' names device 2, but the program is for 2 devices}}
  %g = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0,2]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'headrace.all_gather' along a dynamic dimension is not supported}}
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<?xf32>) -> tensor<?xf32>
  return %g : tensor<?xf32>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @sharded_bound(%x: tensor<4xf32>, %n: tensor<i32> {headrace.sharding = "{manual}"}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.extract %n[] : tensor<i32>
  %u = arith.index_cast %t : i32 to index
  // expected-error @+1 {{the bounds of 'scf.for' around a collective may differ between devices: it comes from argument 1 of @sharded_bound, whose sharding is {manual}; mark that as replicated (mhlo.sharding = "{replicated}") or all-reduce it first}}
  %r = scf.for %i = %c0 to %u step %c1 iter_args(%v = %x) -> (tensor<4xf32>) {
    %s = "headrace.all_reduce"(%v) {reduction = "add", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @own_condition(%x: tensor<4xf32>) -> tensor<4xf32> {
  %id = "headrace.partition_id"() : () -> tensor<i32>
  %t = tensor.extract %id[] : tensor<i32>
  %c1 = arith.constant 1 : i32
  %go = arith.cmpi eq, %t, %c1 : i32
  // expected-error @+1 {{the condition of 'scf.if' around a collective may differ between devices}}
  %r = scf.if %go -> (tensor<4xf32>) {
    %s = "headrace.all_reduce"(%x) {reduction = "add", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @own_end(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 1.0 : f32
  // expected-error @+1 {{the condition of 'scf.while' around a collective may differ between devices: it comes from argument 0 of @own_end, which has no sharding}}
  %r = scf.while (%v = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.extract %v[%c0] : tensor<4xf32>
    %go = arith.cmpf olt, %e, %limit : f32
    scf.condition(%go) %v : tensor<4xf32>
  } do {
  ^bb0(%v: tensor<4xf32>):
    %s = "headrace.collective_permute"(%v) {pipelined = false, source_target_pairs = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func private @reduce(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = "headrace.all_reduce"(%x) {reduction = "add", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}
func.func @not_inlined(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{call of 'reduce', which holds 'headrace.all_reduce': inline calls first (pass inline)}}
  %r = func.call @reduce(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @fp8_sum(%x: tensor<4xf8E4M3FN>) -> tensor<2xf8E4M3FN> {
  // expected-error @+1 {{'headrace.reduce_scatter' of f8E4M3FN values is not supported: convert them to f32 first}}
  %g = "headrace.reduce_scatter"(%x) {dim = 0 : i64, reduction = "add", pipelined = false, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf8E4M3FN>) -> tensor<2xf8E4M3FN>
  return %g : tensor<2xf8E4M3FN>
}
}

// -----

module attributes {headrace.num_partitions = 2 : i32, headrace.num_replicas = 1 : i32} {
func.func @not_raised(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = flow.channel.default : !flow.channel
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{'flow.collective.all_reduce' needs channels, which a program for all devices lacks; --remarks says why the collective was not raised}}
  %r = flow.collective.all_reduce sum, f32, %e, %x, %c : (tensor<4xf32>, tensor<4xf32>, !flow.channel) -> %e as tensor<4xf32>
  return %r : tensor<4xf32>
}
}
