// Where the pipeliner stands: after the fp8 matmuls are formed, or before.
// With commuted collectives both orders keep the dequantize beside the dot;
// without, pipelining first tears the dequantize off and the fp8 matmul is lost.

// RUN: headrace-opt %s --pass-pipeline='builtin.module(raise-stablehlo,commute-collectives,fuse-scaled-matmul,headrace-dce,iree-stablehlo-input-transformation-pipeline,normalize-loops,canonicalize,cse,hoist-collectives,pipeline-collectives,canonicalize,cse,headrace-dce)' | FileCheck %s --check-prefix=KEPT
// RUN: headrace-opt %s --pass-pipeline='builtin.module(raise-stablehlo,commute-collectives,headrace-dce,iree-stablehlo-input-transformation-pipeline,normalize-loops,canonicalize,cse,hoist-collectives,pipeline-collectives,canonicalize,cse,headrace-dce,fuse-scaled-matmul,headrace-dce)' | FileCheck %s --check-prefix=KEPT
// RUN: headrace-opt %s --pass-pipeline='builtin.module(raise-stablehlo,headrace-dce,iree-stablehlo-input-transformation-pipeline,normalize-loops,canonicalize,cse,hoist-collectives,pipeline-collectives,canonicalize,cse,headrace-dce,fuse-scaled-matmul,headrace-dce)' | FileCheck %s --check-prefix=TORN

module attributes {headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32} {
func.func @layers(%h: tensor<8x16xbf16>, %w: tensor<5x4x16xbf16>) -> tensor<8x16xbf16> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c5 = stablehlo.constant dense<5> : tensor<i32>
  %s = stablehlo.constant dense<2.0> : tensor<4x16xbf16>
  %sh = stablehlo.constant dense<0.5> : tensor<8x16xbf16>
  %lo = stablehlo.constant dense<-4.480000e+02> : tensor<bf16>
  %hi = stablehlo.constant dense<4.480000e+02> : tensor<bf16>
  %r:2 = stablehlo.while(%i = %c0, %x = %h) : tensor<i32>, tensor<8x16xbf16>
  cond {
    %more = stablehlo.compare LT, %i, %c5 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %cut = stablehlo.dynamic_slice %w, %i, %c0, %c0, sizes = [1, 4, 16] : (tensor<5x4x16xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x16xbf16>
    %shard = stablehlo.reshape %cut : (tensor<1x4x16xbf16>) -> tensor<4x16xbf16>
    %scaled = stablehlo.divide %shard, %s : tensor<4x16xbf16>
    %clamped = stablehlo.clamp %lo, %scaled, %hi : (tensor<bf16>, tensor<4x16xbf16>, tensor<bf16>) -> tensor<4x16xbf16>
    %q = stablehlo.convert %clamped : (tensor<4x16xbf16>) -> tensor<4x16xf8E4M3FN>
    %wide = stablehlo.convert %q : (tensor<4x16xf8E4M3FN>) -> tensor<4x16xbf16>
    %dq = stablehlo.multiply %wide, %s : tensor<4x16xbf16>
    %g = "stablehlo.all_gather"(%dq) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids} : (tensor<4x16xbf16>) -> tensor<16x16xbf16>
    %xs = stablehlo.divide %x, %sh : tensor<8x16xbf16>
    %xc = stablehlo.clamp %lo, %xs, %hi : (tensor<bf16>, tensor<8x16xbf16>, tensor<bf16>) -> tensor<8x16xbf16>
    %xq = stablehlo.convert %xc : (tensor<8x16xbf16>) -> tensor<8x16xf8E4M3FN>
    %xw = stablehlo.convert %xq : (tensor<8x16xf8E4M3FN>) -> tensor<8x16xbf16>
    %xd = stablehlo.multiply %xw, %sh : tensor<8x16xbf16>
    %y = stablehlo.dot_general %xd, %g, contracting_dims = [1] x [0] : (tensor<8x16xbf16>, tensor<16x16xbf16>) -> tensor<8x16xbf16>
    %next = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %next, %y : tensor<i32>, tensor<8x16xbf16>
  }
  return %r#1 : tensor<8x16xbf16>
}
}

// The fp8 value is gathered a trip ahead; the matmul in the loop and the peeled
// one read it as it is.
// KEPT-LABEL: func.func @layers
// KEPT: [[FIRST:%.*]] = "headrace.all_gather"
// KEPT-SAME: pipelined = true
// KEPT-SAME: -> tensor<16x16xf8E4M3FN>
// KEPT: [[LOOP:%.*]]:2 = scf.for {{.*}}, [[CARRIED:%.*]] = [[FIRST]]) -> (tensor<8x16xbf16>, tensor<16x16xf8E4M3FN>)
// KEPT: [[NEXT:%.*]] = "headrace.all_gather"
// KEPT-SAME: pipelined = true
// KEPT: "headrace.matmul"({{%.*}}, [[CARRIED]],
// KEPT: scf.yield {{%.*}}, [[NEXT]]
// KEPT: "headrace.matmul"({{%.*}}, [[LOOP]]#1,
// KEPT-SAME: headrace.peeled
// KEPT-NOT: linalg.matmul

// bf16 is gathered and carried, and what multiplies it is no scaled matmul.
// TORN-LABEL: func.func @layers
// TORN: "headrace.all_gather"
// TORN-SAME: -> tensor<16x16xbf16>
// TORN: scf.for {{.*}} -> (tensor<8x16xbf16>, tensor<16x16xbf16>)
// TORN: "headrace.all_gather"
// TORN-SAME: -> tensor<16x16xbf16>
// TORN-NOT: headrace.matmul
// TORN: linalg.matmul {headrace.wide_reason = "rhs stays wide: a value that 'scf.for' carries stands between the dequantize and the dot"}
// TORN: scf.yield
// TORN-NOT: headrace.matmul
// TORN: linalg.matmul {headrace.peeled, headrace.wide_reason = "rhs stays wide: it comes from 'scf.for', not from an fp8 value"}
