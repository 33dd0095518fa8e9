// RUN: headrace-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// GENERIC: "func.func"() <{
// GENERIC: "arith.constant"()

// RUN: headrace-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL
// LOCAL-NOT: #map
// LOCAL: func.func @f(%arg0: tensor<4xf32> loc("{{.*}}text-forms.mlir":[[LINE:[0-9]+]]:14))
// LOCAL: arith.constant {{.*}} loc("{{.*}}text-forms.mlir":
// LOCAL: affine_map<(d0) -> (d0 + 1)>

// RUN: headrace-opt %s --mlir-pretty-debuginfo | FileCheck %s --check-prefix=PRETTY
// PRETTY: arith.constant {{.*}} {{.*}}text-forms.mlir:{{[0-9]+}}:8

// RUN: headrace-opt %s --mlir-elide-elementsattrs-if-larger=4 | FileCheck %s --check-prefix=ELEMENTS
// ELEMENTS: dense_resource<__elided__>
// ELEMENTS: dense<[1.000000e+00, 2.000000e+00]>
// ELEMENTS: blob: "0x04000000

// RUN: headrace-opt %s --mlir-elide-resource-strings-if-larger=8 | FileCheck %s --check-prefix=RESOURCES
// RESOURCES: dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00]>
// RESOURCES-NOT: blob:

func.func @f(%a: tensor<4xf32>) {
  %0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %1 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %2 = arith.constant dense_resource<blob> : tensor<3xi32>
  %c = arith.constant 0 : index
  %3 = affine.apply affine_map<(d0) -> (d0 + 1)>(%c)
  return
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x04000000010000000200000003000000"
    }
  }
#-}
