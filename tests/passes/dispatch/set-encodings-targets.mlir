// RUN: headrace-opt %s --remarks --pass-pipeline='builtin.module(set-encodings{target=sm_89})' 2>&1 | FileCheck %s --check-prefix=SM
// RUN: headrace-opt %s --remarks --pass-pipeline='builtin.module(set-encodings{target=vulkan-rdna3})' 2>&1 | FileCheck %s --check-prefix=VULKAN
// RUN: headrace-opt %s --remarks --pass-pipeline='builtin.module(set-encodings{target=gfx1201})' 2>&1 | FileCheck %s --check-prefix=RDNA
// RUN: headrace-opt %s --remarks --pass-pipeline='builtin.module(set-encodings{target=vmvx})' 2>&1 | FileCheck %s --check-prefix=VMVX
// RUN: headrace-opt %s --remarks --pass-pipeline='builtin.module(set-encodings{target=cpu})' 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: headrace-opt %s --remarks --pass-pipeline='builtin.module(set-encodings{target=gfx950})' 2>&1 | FileCheck %s --check-prefix=CDNA

// SM-NOT: iree_encoding
// SM: remark: not encoded: the encoding resolver of 'sm_89' is the identity
// VULKAN: remark: not encoded: the encoding resolver of 'vulkan-rdna3' is the identity
// RDNA: remark: not encoded: IREE fails to compile encoded matmuls for RDNA
// VMVX: remark: not encoded: VMVX runs packed matmuls no faster

// Small for both; big enough for a CPU; for both. Where the columns fill no
// vectors, sooner.
// CPU-DAG: remark: not encoded: tiling pays from 128 multiply-adds per element that is written for it, here are 21 (262144 for 12288)
// CPU-DAG: iree_encoding.set_encoding %arg2
// CPU-DAG: iree_encoding.set_encoding %arg4
// CPU-DAG: iree_encoding.set_encoding %arg6
// CDNA-DAG: remark: not encoded: tiling pays from 1500 multiply-adds per element that is written for it, here are 21
// CDNA-DAG: remark: not encoded: tiling pays from 1500 multiply-adds per element that is written for it, here are 170
// CDNA-DAG: iree_encoding.set_encoding %arg4
func.func @sizes(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<512x512xf32>, %d: tensor<512x512xf32>,
    %e: tensor<8192x8192xf32>, %f: tensor<8192x8192xf32>, %g: tensor<100x250xf32>, %h: tensor<250x100xf32>)
    -> (tensor<64x64xf32>, tensor<512x512xf32>, tensor<8192x8192xf32>, tensor<100x100xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64x64xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e1 = tensor.empty() : tensor<512x512xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<512x512xf32>) -> tensor<512x512xf32>
  %e2 = tensor.empty() : tensor<8192x8192xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %e3 = tensor.empty() : tensor<100x100xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<100x100xf32>) -> tensor<100x100xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.matmul ins(%c, %d : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f1 : tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = linalg.matmul ins(%e, %f : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%f2 : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %3 = linalg.matmul ins(%g, %h : tensor<100x250xf32>, tensor<250x100xf32>) outs(%f3 : tensor<100x100xf32>) -> tensor<100x100xf32>
  return %0, %1, %2, %3 : tensor<64x64xf32>, tensor<512x512xf32>, tensor<8192x8192xf32>, tensor<100x100xf32>
}
