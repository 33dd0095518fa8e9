// RUN: not headrace-opt %s --pass-pipeline='builtin.module(legalize-fp8{target=vmvx})' 2>&1 | FileCheck %s
// RUN: not headrace-opt %s --pass-pipeline='builtin.module(legalize-fp8{target=sm_91})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not headrace-opt %s --pass-pipeline='builtin.module(lower-matmul{target=sm_91})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: legalize-fp8-errors.mlir:13:10: error: target vmvx has no bf16 arithmetic ('arith.addf'); write the program in f32 or compile it for target cpu
// UNKNOWN: error: unknown target 'sm_91'; known are cpu, gfx942, gfx950, gfx1201, sm_80, sm_86, sm_89, sm_90, sm_120, vmvx, vulkan-rdna3, vulkan-ampere
func.func @half(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %e = tensor.empty() : tensor<4xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    // Converting bf16 and moving it is what vmvx can do.
    %s = arith.addf %a, %a : bf16
    linalg.yield %s : bf16
  } -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}
