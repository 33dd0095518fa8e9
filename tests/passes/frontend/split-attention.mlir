// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(split-attention{target=cpu},canonicalize)' | FileCheck %s
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(split-attention{target=sm_80},canonicalize)' | FileCheck %s --check-prefix=KEPT
// RUN: headrace-opt %s --split-input-file --pass-pipeline='builtin.module(split-attention{target=gfx942},canonicalize)' | FileCheck %s --check-prefix=ROCM

// In f32 until the last op; for GPUs the op is kept.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[Q:.*]]: !torch.vtensor<[2,4,8,16],f16>, %[[K:.*]]: !torch.vtensor<[2,4,6,16],f16>, %[[V:.*]]: !torch.vtensor<[2,4,6,16],f16>
// CHECK-DAG: %[[QW:.*]] = torch.aten.to.dtype %[[Q]]
// CHECK-DAG: %[[KW:.*]] = torch.aten.to.dtype %[[K]]
// CHECK-DAG: %[[VW:.*]] = torch.aten.to.dtype %[[V]]
// CHECK: %[[KT:.*]] = torch.aten.transpose.int %[[KW]]
// CHECK: %[[S:.*]] = torch.aten.matmul %[[QW]], %[[KT]] : {{.*}} -> !torch.vtensor<[2,4,8,6],f32>
// CHECK: %[[C:.*]] = torch.aten.mul.Scalar %[[S]]
// CHECK: %[[M:.*]] = torch.aten.amax %[[C]], {{.*}} -> !torch.vtensor<[2,4,8,1],f32>
// CHECK: %[[D:.*]] = torch.aten.sub.Tensor %[[C]], %[[M]]
// CHECK: %[[E:.*]] = torch.aten.exp %[[D]]
// CHECK: %[[Z:.*]] = torch.aten.sum.dim_IntList %[[E]]
// CHECK: %[[P:.*]] = torch.aten.matmul %[[E]], %[[VW]] : {{.*}} -> !torch.vtensor<[2,4,8,16],f32>
// CHECK: %[[Y:.*]] = torch.aten.div.Tensor %[[P]], %[[Z]]
// CHECK: torch.aten.to.dtype %[[Y]], {{.*}} -> !torch.vtensor<[2,4,8,16],f16>
// KEPT-LABEL: func.func @plain(
// KEPT-NOT: torch.aten.matmul
// KEPT: torch.aten.scaled_dot_product_attention
// KEPT-NOT: masked_fill
// KEPT: return
// ROCM-LABEL: func.func @plain(
// ROCM: torch.aten.scaled_dot_product_attention
func.func @plain(%q: !torch.vtensor<[2,4,8,16],f16>, %k: !torch.vtensor<[2,4,6,16],f16>,
    %v: !torch.vtensor<[2,4,6,16],f16>) -> !torch.vtensor<[2,4,8,16],f16> {
  %none = torch.constant.none
  %p = torch.constant.float 0.0
  %no = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %p, %no, %none, %no
      : !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,4,6,16],f16>, !torch.vtensor<[2,4,6,16],f16>,
      !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,8,16],f16>
  return %r : !torch.vtensor<[2,4,8,16],f16>
}

// -----

// A mask of two dimensions. Rows without keys are 0: their largest score is
// taken to be 0, their sum 1; where the op is kept, they are filled.
// CHECK-LABEL: func.func @mask(
// CHECK: torch.aten.where.ScalarOther %{{.*}}, %{{.*}}, %{{.*}} : !torch.vtensor<[8,6],i1>
// CHECK: torch.aten.eq.Scalar
// CHECK-COUNT-2: torch.aten.masked_fill.Scalar
// KEPT-LABEL: func.func @mask(
// KEPT: %[[U:.*]] = torch.aten.unsqueeze %arg3, {{.*}} -> !torch.vtensor<[1,8,6],i1>
// KEPT: %[[F:.*]] = torch.aten.unsqueeze %[[U]], {{.*}} -> !torch.vtensor<[1,1,8,6],i1>
// KEPT: %[[A:.*]] = torch.aten.scaled_dot_product_attention %arg0, %arg1, %arg2, %[[F]]
// KEPT: %[[ANY:.*]] = torch.aten.any.dim %[[F]]
// KEPT: %[[DEAD:.*]] = torch.aten.logical_not %[[ANY]]
// KEPT: torch.aten.masked_fill.Scalar %[[A]], %[[DEAD]]
func.func @mask(%q: !torch.vtensor<[2,4,8,16],f32>, %k: !torch.vtensor<[2,4,6,16],f32>,
    %v: !torch.vtensor<[2,4,6,16],f32>, %m: !torch.vtensor<[8,6],i1>) -> !torch.vtensor<[2,4,8,16],f32> {
  %none = torch.constant.none
  %p = torch.constant.float 0.0
  %no = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %k, %v, %m, %p, %no, %none, %no
      : !torch.vtensor<[2,4,8,16],f32>, !torch.vtensor<[2,4,6,16],f32>, !torch.vtensor<[2,4,6,16],f32>,
      !torch.vtensor<[8,6],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,8,16],f32>
  return %r : !torch.vtensor<[2,4,8,16],f32>
}

// -----

// IREE would round the scale 0.1 to bf16: split for every target.
// KEPT-LABEL: func.func @rounded_scale(
// KEPT-NOT: scaled_dot_product_attention
// KEPT: torch.aten.matmul
func.func @rounded_scale(%q: !torch.vtensor<[2,4,8,16],bf16>) -> !torch.vtensor<[2,4,8,16],bf16> {
  %none = torch.constant.none
  %p = torch.constant.float 0.0
  %s = torch.constant.float 1.000000e-01
  %no = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %none, %p, %no, %s, %no
      : !torch.vtensor<[2,4,8,16],bf16>, !torch.vtensor<[2,4,8,16],bf16>, !torch.vtensor<[2,4,8,16],bf16>,
      !torch.none, !torch.float, !torch.bool, !torch.float, !torch.bool -> !torch.vtensor<[2,4,8,16],bf16>
  return %r : !torch.vtensor<[2,4,8,16],bf16>
}

// -----

// The default scale, written out: IREE takes it in f32 when it is left out.
// KEPT-LABEL: func.func @default_scale(
// KEPT: %[[NONE:.*]] = torch.constant.none
// KEPT: scaled_dot_product_attention %arg0, %arg0, %arg0, %[[NONE]], %{{.*}}, %{{.*}}, %[[NONE]],
func.func @default_scale(%q: !torch.vtensor<[2,4,8,128],bf16>) -> !torch.vtensor<[2,4,8,128],bf16> {
  %none = torch.constant.none
  %p = torch.constant.float 0.0
  %s = torch.constant.float 0.088388347648318447
  %no = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %none, %p, %no, %s, %no
      : !torch.vtensor<[2,4,8,128],bf16>, !torch.vtensor<[2,4,8,128],bf16>, !torch.vtensor<[2,4,8,128],bf16>,
      !torch.none, !torch.float, !torch.bool, !torch.float, !torch.bool -> !torch.vtensor<[2,4,8,128],bf16>
  return %r : !torch.vtensor<[2,4,8,128],bf16>
}

// -----

// Two heads of query for each of key, whose rows are one product; causal.
// CHECK-LABEL: func.func @grouped(
// CHECK: torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[2,2,16,16],f32>
// CHECK: torch.aten.matmul {{.*}} -> !torch.vtensor<[2,2,16,6],f32>
// CHECK: torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[2,4,8,6],f32>
// CHECK: torch.aten.ge.Tensor {{.*}} -> !torch.vtensor<[8,6],i1>
// KEPT-LABEL: func.func @grouped(
// KEPT: scaled_dot_product_attention
func.func @grouped(%q: !torch.vtensor<[2,4,8,16],f32>, %k: !torch.vtensor<[2,2,6,16],f32>)
    -> !torch.vtensor<[2,4,8,16],f32> {
  %none = torch.constant.none
  %p = torch.constant.float 0.0
  %yes = torch.constant.bool true
  %r = torch.aten.scaled_dot_product_attention %q, %k, %k, %none, %p, %yes, %none, %yes
      : !torch.vtensor<[2,4,8,16],f32>, !torch.vtensor<[2,2,6,16],f32>, !torch.vtensor<[2,2,6,16],f32>,
      !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,8,16],f32>
  return %r : !torch.vtensor<[2,4,8,16],f32>
}

// -----

// Of dynamic length: kept for CUDA, split for ROCm.
// KEPT-LABEL: func.func @dynamic(
// KEPT: scaled_dot_product_attention
// ROCM-LABEL: func.func @dynamic(
// ROCM-NOT: scaled_dot_product_attention
// ROCM: torch.aten.matmul
func.func @dynamic(%q: !torch.vtensor<[1,4,?,16],f16>) -> !torch.vtensor<[1,4,?,16],f16> {
  %none = torch.constant.none
  %p = torch.constant.float 0.0
  %no = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %none, %p, %no, %none, %no
      : !torch.vtensor<[1,4,?,16],f16>, !torch.vtensor<[1,4,?,16],f16>, !torch.vtensor<[1,4,?,16],f16>,
      !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,4,?,16],f16>
  return %r : !torch.vtensor<[1,4,?,16],f16>
}

// -----

// Dropout, and what we cannot read: left to torch-mlir, which says what is wrong.
// CHECK-LABEL: func.func @dropout(
// CHECK: scaled_dot_product_attention
func.func @dropout(%q: !torch.vtensor<[2,4,8,16],f32>) -> !torch.vtensor<[2,4,8,16],f32> {
  %none = torch.constant.none
  %p = torch.constant.float 1.000000e-01
  %no = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %none, %p, %no, %none, %no
      : !torch.vtensor<[2,4,8,16],f32>, !torch.vtensor<[2,4,8,16],f32>, !torch.vtensor<[2,4,8,16],f32>,
      !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,8,16],f32>
  return %r : !torch.vtensor<[2,4,8,16],f32>
}
