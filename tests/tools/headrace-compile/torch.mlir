// The command for torch programs in docs/headrace-compile.md.
// RUN: headrace-opt %s --pass-pipeline='builtin.module(func.func(convert-torch-to-linalg,convert-torch-to-scf,convert-torch-to-arith,convert-torch-to-tensor,canonicalize),torch-func-backend-type-conversion,func.func(canonicalize,torch-finalizing-backend-type-conversion))' -o %t.mlir
// RUN: headrace-compile %t.mlir --emit=mlir -o - | FileCheck %s

// CHECK: func.func @main(%arg0: tensor<4x8xf32>{{.*}}, %arg1: tensor<8x4xf32>{{.*}}) -> (tensor<4x4xf32>
// CHECK: linalg
func.func @main(%a: !torch.vtensor<[4,8],f32>, %b: !torch.vtensor<[8,4],f32>) -> !torch.vtensor<[4,4],f32> {
  %0 = torch.aten.mm %a, %b : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,4],f32> -> !torch.vtensor<[4,4],f32>
  return %0 : !torch.vtensor<[4,4],f32>
}
