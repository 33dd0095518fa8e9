// RUN: headrace-opt %s --split-input-file --raise-stablehlo --allow-unregistered-dialect --verify-diagnostics | FileCheck %s

// Reductions that are none of ours stay, with the reason.
// CHECK-LABEL: func.func @reductions
// CHECK-NOT: headrace
// CHECK: return
func.func @reductions(%x: tensor<2xf32>) {
  // expected-remark @below {{'stablehlo.all_reduce' not raised: its region is not one of the known reductions, it holds stablehlo.add, stablehlo.negate}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    %t = stablehlo.negate %s : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-remark @below {{it holds stablehlo.subtract}}
  %1 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-remark @below {{its reduction is not of the region's two arguments}}
  %2 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %a : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-remark @below {{its region does not return the reduction}}
  %3 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-remark @below {{it holds nothing}}
  %4 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// CHECK-LABEL: func.func @types
// CHECK-NOT: headrace
// CHECK: return
func.func @types(%c: tensor<2xcomplex<f32>>, %q: tensor<2x!quant.uniform<i8:f32, 0.1>>) {
  // expected-remark @below {{'mul' of complex<f32> cannot be done on real and imaginary parts}}
  %0 = "stablehlo.all_reduce"(%c) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %s = stablehlo.multiply %a, %b : tensor<complex<f32>>
    stablehlo.return %s : tensor<complex<f32>>
  }) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  // expected-remark @below {{headrace collectives take no !quant.uniform}}
  %1 = "stablehlo.all_gather"(%q) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<4x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

// CHECK-LABEL: func.func @padded_groups
// CHECK-NOT: headrace
// CHECK: return
func.func @padded_groups(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-remark @below {{'stablehlo.all_reduce' not raised: the replica groups have different sizes}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast
// CHECK: stablehlo.collective_broadcast
func.func @broadcast(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-remark @below {{'stablehlo.collective_broadcast' not raised: headrace has no broadcast between devices}}
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

module @ids attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
func.func @replica(%x: tensor<2xf32>) -> tensor<8xf32> {
  // expected-error @below {{'stablehlo.all_gather' names replica 1, but the module has num_replicas = 1 and num_partitions = 4; between partitions it takes a channel_handle and use_global_device_ids}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

// -----

module @ids attributes {mhlo.num_partitions = 4 : i32} {
func.func @device(%x: tensor<2xf32>) -> tensor<12xf32> {
  // expected-error @below {{'stablehlo.all_gather' names device 4, but the module has num_replicas = 1 and num_partitions = 4}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
}

// -----

module @ids attributes {mhlo.num_partitions = 4 : i32} {
func.func @partition(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'stablehlo.collective_permute' names partition 4, but the module has num_replicas = 1 and num_partitions = 4}}
  %0 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 4]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
}

// -----

module @ids attributes {mhlo.num_partitions = 4 : i32} {
func.func @left_out(%x: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @below {{the replica groups of 'stablehlo.all_gather' leave out device 2 of num_replicas = 1 and num_partitions = 4}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// Shapes for 4 devices in groups of 2.
func.func @group_size(%x: tensor<2xf32>) -> tensor<8xf32> {
  // expected-error @below {{'stablehlo.all_gather' has shapes for groups of 4 devices, but its groups have 2}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Programs that are not one device's.
func.func @shardy(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'sdy.sharding_constraint' is an op of a global program; headrace takes one device's program: write it with shard_map and export it by headrace.jax.to_stablehlo(fn, *args)}}
  %0 = "sdy.sharding_constraint"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @boundary(%x: tensor<8xf32>) -> tensor<2xf32> {
  // expected-error @below {{'@SPMDFullToShardShape' is the boundary of a global program's manual part; run to-per-device first}}
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

module @auto attributes {mhlo.num_partitions = 4 : i32} {
func.func @constraint(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'@Sharding' asks for sharding {devices=[4]<=[4]}; headrace takes one device's program}}
  %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "", mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
}
