// IREE 3.13 cannot write fp8 resources into a module, and mistakes small ones of
// other types in dispatches: they become dense elements. Large ones stay.
// RUN: headrace-opt %s --pass-pipeline='builtin.module(legalize-fp8{target=gfx950})' | FileCheck %s

// CHECK-LABEL: @constants(
// CHECK-DAG: arith.constant dense<[1.000000e+00, 2.000000e+00, -1.000000e+00]> : tensor<3xf8E4M3FN>
// CHECK-DAG: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xbf16>
// CHECK-DAG: arith.constant dense_resource<large> : tensor<2048xf32>
// CHECK-DAG: arith.constant dense_resource<missing> : tensor<3xf8E4M3FN>
func.func @constants() -> (tensor<3xf8E4M3FN>, tensor<2xbf16>, tensor<2048xf32>, tensor<3xf8E4M3FN>) {
  %0 = arith.constant dense_resource<codes> : tensor<3xf8E4M3FN>
  %1 = arith.constant dense_resource<small> : tensor<2xbf16>
  %2 = arith.constant dense_resource<large> : tensor<2048xf32>
  %3 = arith.constant dense_resource<missing> : tensor<3xf8E4M3FN>
  return %0, %1, %2, %3 : tensor<3xf8E4M3FN>, tensor<2xbf16>, tensor<2048xf32>, tensor<3xf8E4M3FN>
}

{-#
  dialect_resources: {
    builtin: {
      codes: "0x010000003840B8",
      small: "0x02000000803F0040"
    }
  }
#-}
