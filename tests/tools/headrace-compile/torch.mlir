// Torch programs are taken as torch-mlir imports them.
// RUN: headrace-compile %s --emit=mlir --target=gfx950 -o - | FileCheck %s

// CHECK: func.func @main(%arg0: tensor<4x8xbf16>{{.*}}, %arg1: tensor<8x16xf8E4M3FN>{{.*}}) -> tensor<4x16xbf16>
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
// CHECK: linalg.{{.*}}ins(%{{.*}}, %arg1 : tensor<4x8xf8E4M3FN>, tensor<8x16xf8E4M3FN>) outs(%{{.*}} : tensor<4x16xf32>)
func.func @main(%x: !torch.vtensor<[4,8],bf16>, %w: !torch.vtensor<[8,16],f8E4M3FN>) -> !torch.vtensor<[4,16],bf16> {
  %lo = torch.constant.float -448.0
  %hi = torch.constant.float 448.0
  %scale = torch.constant.float 0.5
  %e4m3 = torch.constant.int 24
  %bf16 = torch.constant.int 15
  %0 = torch.aten.div.Scalar %x, %scale : !torch.vtensor<[4,8],bf16>, !torch.float -> !torch.vtensor<[4,8],bf16>
  %1 = torch.aten.clamp %0, %lo, %hi : !torch.vtensor<[4,8],bf16>, !torch.float, !torch.float -> !torch.vtensor<[4,8],bf16>
  %2 = torch.prims.convert_element_type %1, %e4m3 : !torch.vtensor<[4,8],bf16>, !torch.int -> !torch.vtensor<[4,8],f8E4M3FN>
  %3 = torch.prims.convert_element_type %2, %bf16 : !torch.vtensor<[4,8],f8E4M3FN>, !torch.int -> !torch.vtensor<[4,8],bf16>
  %4 = torch.aten.mul.Scalar %3, %scale : !torch.vtensor<[4,8],bf16>, !torch.float -> !torch.vtensor<[4,8],bf16>
  %5 = torch.prims.convert_element_type %w, %bf16 : !torch.vtensor<[8,16],f8E4M3FN>, !torch.int -> !torch.vtensor<[8,16],bf16>
  %6 = torch.aten.mm %4, %5 : !torch.vtensor<[4,8],bf16>, !torch.vtensor<[8,16],bf16> -> !torch.vtensor<[4,16],bf16>
  return %6 : !torch.vtensor<[4,16],bf16>
}
