// RUN: headrace-opt %s --align-collectives --split-input-file | FileCheck %s

// The gather of the next trip goes from the top of the body to the matmul;
// what it is made of stays where it is.
// CHECK-LABEL: func.func @beside_its_matmul
// CHECK: scf.for
// CHECK-NEXT: tensor.extract_slice
// CHECK-NEXT: "headrace.quantize"
// CHECK-NEXT: [[Q:%.*]] = "headrace.quantize"
// CHECK-NEXT: [[NEXT:%.*]] = "headrace.all_gather"
// CHECK-NEXT: [[Y:%.*]] = "headrace.matmul"([[Q]],
// CHECK-NEXT: scf.yield [[Y]], [[NEXT]]
func.func @beside_its_matmul(%h: tensor<8x16xbf16>, %w: tensor<20x16xbf16>, %g: tensor<16x16xf8E4M3FN>) -> tensor<8x16xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %h, %now = %g) -> (tensor<8x16xbf16>, tensor<16x16xf8E4M3FN>) {
    %cut = tensor.extract_slice %w[%i, 0] [4, 16] [1, 1] : tensor<20x16xbf16> to tensor<4x16xbf16>
    %q = "headrace.quantize"(%cut) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<4x16xbf16>) -> tensor<4x16xf8E4M3FN>
    %next = "headrace.all_gather"(%q) {dim = 0 : i64, pipelined = true, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x16xf8E4M3FN>) -> tensor<16x16xf8E4M3FN>
    %xq = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<8x16xbf16>) -> tensor<8x16xf8E4M3FN>
    %y = "headrace.matmul"(%xq, %now) {epilogue = "none", lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<8x16xbf16>
    scf.yield %y, %next : tensor<8x16xbf16>, tensor<16x16xf8E4M3FN>
  }
  return %r#0 : tensor<8x16xbf16>
}

// -----

// One each, the most bytes beside the most flops, whatever the order was.
// CHECK-LABEL: func.func @most_to_most
// CHECK: scf.for
// CHECK-NEXT: "headrace.all_gather"{{.*}} (tensor<4x4xf32>)
// CHECK-NEXT: [[A:%.*]] = linalg.matmul ins({{.*}} : tensor<8x16xf32>, tensor<16x4xf32>)
// CHECK-NEXT: "headrace.all_gather"{{.*}} (tensor<1x64xf32>)
// CHECK-NEXT: linalg.matmul ins([[A]], {{.*}} : tensor<8x4xf32>, tensor<4x64xf32>)
// CHECK-NEXT: scf.yield
func.func @most_to_most(%x: tensor<8x16xf32>, %small: tensor<4x4xf32>, %large: tensor<1x64xf32>, %out: tensor<8x4xf32>, %wide: tensor<8x64xf32>) -> (tensor<16x4xf32>, tensor<4x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s0 = "headrace.all_gather"(%small) {dim = 0 : i64, pipelined = true, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x4xf32>) -> tensor<16x4xf32>
  %l0 = "headrace.all_gather"(%large) {dim = 0 : i64, pipelined = true, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<1x64xf32>) -> tensor<4x64xf32>
  %r:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %s0, %l = %l0, %acc = %wide) -> (tensor<16x4xf32>, tensor<4x64xf32>, tensor<8x64xf32>) {
    %ln = "headrace.all_gather"(%large) {dim = 0 : i64, pipelined = true, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<1x64xf32>) -> tensor<4x64xf32>
    %sn = "headrace.all_gather"(%small) {dim = 0 : i64, pipelined = true, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x4xf32>) -> tensor<16x4xf32>
    %a = linalg.matmul ins(%x, %s : tensor<8x16xf32>, tensor<16x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
    %b = linalg.matmul ins(%a, %l : tensor<8x4xf32>, tensor<4x64xf32>) outs(%acc : tensor<8x64xf32>) -> tensor<8x64xf32>
    scf.yield %sn, %ln, %b : tensor<16x4xf32>, tensor<4x64xf32>, tensor<8x64xf32>
  }
  return %r#0, %r#1 : tensor<16x4xf32>, tensor<4x64xf32>
}

// -----

// A reduce-scatter of the trip before stands beside a matmul that another one
// waits for; the store of its result comes last.
// CHECK-LABEL: func.func @store_comes_after
// CHECK: scf.for
// CHECK: [[R:%.*]] = "headrace.reduce_scatter"
// CHECK-NEXT: [[A:%.*]] = linalg.matmul
// CHECK-NEXT: [[B:%.*]] = linalg.matmul ins({{%.*}}, [[A]]
// CHECK-NEXT: [[O:%.*]] = tensor.insert_slice [[R]]
// CHECK-NEXT: scf.yield [[O]], [[B]]
func.func @store_comes_after(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>, %stack: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %r:2 = scf.for %i = %c0 to %c16 step %c4 iter_args(%o = %stack, %g = %x) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    %s = "headrace.reduce_scatter"(%g) {dim = 0 : i64, pipelined = true, reduction = "add", replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<16x16xf32>) -> tensor<4x16xf32>
    %n = tensor.insert_slice %s into %o[%i, 0] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<16x16xf32>
    %a = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%x : tensor<16x16xf32>) -> tensor<16x16xf32>
    %b = linalg.matmul ins(%w, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%x : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %n, %b : tensor<16x16xf32>, tensor<16x16xf32>
  }
  return %r#0 : tensor<16x16xf32>
}

// -----

// Not pipelined: the matmul waits for it anyway. And a matmul that needs the
// collective is none to stand beside.
// CHECK-LABEL: func.func @stay
// CHECK: scf.for
// CHECK-NEXT: "headrace.all_gather"
// CHECK-NEXT: "headrace.all_gather"
// CHECK-NEXT: arith.addf
// CHECK-NEXT: linalg.matmul
func.func @stay(%x: tensor<16x16xf32>, %w: tensor<4x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x) -> (tensor<16x16xf32>) {
    %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x16xf32>) -> tensor<16x16xf32>
    %p = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = true, replica_groups = dense<[[3, 2, 1, 0]]> : tensor<1x4xi64>} : (tensor<4x16xf32>) -> tensor<16x16xf32>
    %e = arith.addf %h, %h : tensor<16x16xf32>
    %y = linalg.matmul ins(%e, %g : tensor<16x16xf32>, tensor<16x16xf32>) outs(%p : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %y : tensor<16x16xf32>
  }
  return %r : tensor<16x16xf32>
}

// -----

// Gate and up: IREE fuses what follows both into the first, so both gathers go
// ahead of that; the one that chose first stands closest.
// CHECK-LABEL: func.func @gate_and_up
// CHECK: scf.for
// CHECK-NEXT: "headrace.all_gather"{{.*}}[0, 1, 3, 2]
// CHECK-NEXT: "headrace.all_gather"{{.*}}[0, 1, 2, 3]
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: arith.mulf
func.func @gate_and_up(%x: tensor<16x16xf32>, %w: tensor<4x16xf32>, %g: tensor<16x16xf32>, %u: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x, %a = %g, %b = %u) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
    %an = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = true, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x16xf32>) -> tensor<16x16xf32>
    %bn = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = true, replica_groups = dense<[[0, 1, 3, 2]]> : tensor<1x4xi64>} : (tensor<4x16xf32>) -> tensor<16x16xf32>
    %gate = linalg.matmul ins(%h, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%x : tensor<16x16xf32>) -> tensor<16x16xf32>
    %up = linalg.matmul ins(%h, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%x : tensor<16x16xf32>) -> tensor<16x16xf32>
    %y = arith.mulf %gate, %up : tensor<16x16xf32>
    scf.yield %y, %an, %bn : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
  return %r#0 : tensor<16x16xf32>
}
