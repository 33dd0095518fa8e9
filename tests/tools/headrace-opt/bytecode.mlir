// RUN: headrace-opt %s --emit-bytecode -o %t.mlirbc && headrace-opt %t.mlirbc --verify-roundtrip | FileCheck %s
// RUN: headrace-opt %s --emit-bytecode --emit-bytecode-version=5 | headrace-opt - | FileCheck %s
// RUN: not headrace-opt %s --emit-bytecode --emit-bytecode-version=99 -o %t.no 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: error: cannot write bytecode: unsupported version requested 99, must be in range

// CHECK: func.func @f
// CHECK: "headrace.dequantize"(%arg0, %arg1)
func.func @f(%q: tensor<8x4xf8E4M3FN>, %s: tensor<bf16>) -> tensor<8x4xbf16> {
  %0 = "headrace.dequantize"(%q, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<8x4xf8E4M3FN>, tensor<bf16>) -> tensor<8x4xbf16>
  return %0 : tensor<8x4xbf16>
}

// The text of a while has no place for the locations of its arguments.
// CHECK: func.func @loop
// CHECK: stablehlo.while
func.func @loop(%a: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %r = stablehlo.while(%x = %a) : tensor<4xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %y = stablehlo.add %x, %x : tensor<4xf32>
    stablehlo.return %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
