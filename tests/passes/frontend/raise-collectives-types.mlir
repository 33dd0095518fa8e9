// RUN: headrace-opt %s --pass-pipeline='builtin.module(record-shardings,inline,raise-stablehlo,iree-stablehlo-input-transformation-pipeline)' | FileCheck %s

// IREE's input pipeline makes unsigned types signless around our ops, which it
// does not know; no cast may be left between the two, and no StableHLO.

// CHECK-LABEL: func.func @types
// CHECK-NOT: unrealized_conversion_cast
// CHECK-NOT: stablehlo
// CHECK: "headrace.all_gather"(%arg0) {{.*}} : (tensor<2xi8>) -> tensor<4xi8>
// CHECK: "headrace.all_gather"(%{{.*}}) {{.*}} : (tensor<2xf32>) -> tensor<4xf32>
// CHECK: "headrace.all_gather"(%{{.*}}) {{.*}} : (tensor<2xf32>) -> tensor<4xf32>
// CHECK: "headrace.all_gather"(%arg2) {{.*}} : (tensor<2xi1>) -> tensor<4xi1>
// CHECK: "headrace.all_gather"(%arg3) {{.*}} : (tensor<2xi4>) -> tensor<4xi4>
// CHECK: "headrace.collective_permute"(%arg4) {{.*}} : (tensor<2xf64>) -> tensor<2xf64>
// CHECK: "headrace.all_to_all"(%arg5) {{.*}} : (tensor<2xf8E5M2>) -> tensor<2xf8E5M2>
// CHECK: "headrace.reduce_scatter"(%arg6) {{.*}}reduction = "umax"{{.*}} : (tensor<2xi64>) -> tensor<1xi64>
// CHECK: "headrace.partition_id"() : () -> tensor<i32>
// CHECK-NOT: unrealized_conversion_cast
// CHECK-NOT: stablehlo
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
func.func @types(%a: tensor<2xui8>, %c: tensor<2xcomplex<f32>>, %b: tensor<2xi1>, %e: tensor<2xui4>, %f: tensor<2xf64>, %g: tensor<2xf8E5M2>, %h: tensor<2xui64>)
    -> (tensor<4xui8>, tensor<4xcomplex<f32>>, tensor<4xi1>, tensor<4xui4>, tensor<2xf64>, tensor<2xf8E5M2>, tensor<1xui64>, tensor<ui32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xui8>) -> tensor<4xui8>
  %1 = "stablehlo.all_gather"(%c) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %2 = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xi1>) -> tensor<4xi1>
  %3 = "stablehlo.all_gather"(%e) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xui4>) -> tensor<4xui4>
  %4 = "stablehlo.collective_permute"(%f) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf64>) -> tensor<2xf64>
  %5 = "stablehlo.all_to_all"(%g) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf8E5M2>) -> tensor<2xf8E5M2>
  %6 = "stablehlo.reduce_scatter"(%h) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<ui64>, %r: tensor<ui64>):
    %m = stablehlo.maximum %l, %r : tensor<ui64>
    stablehlo.return %m : tensor<ui64>
  }) : (tensor<2xui64>) -> tensor<1xui64>
  %7 = stablehlo.partition_id : tensor<ui32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xui8>, tensor<4xcomplex<f32>>, tensor<4xi1>, tensor<4xui4>, tensor<2xf64>, tensor<2xf8E5M2>, tensor<1xui64>, tensor<ui32>
}
}
