// RUN: headrace-opt %s --pass-pipeline='builtin.module(pack-panels{target=cpu+bf16},canonicalize,cse)' --split-input-file | FileCheck %s
// RUN: headrace-opt %s --pass-pipeline='builtin.module(pack-panels{target=cpu},canonicalize,cse)' --split-input-file | FileCheck %s --check-prefix=NARROW
// RUN: headrace-opt %s --pass-pipeline='builtin.module(pack-panels{target=gfx950},canonicalize,cse)' --split-input-file | FileCheck %s --check-prefix=OTHER

// OTHER-NOT: compilation_info

// Without AVX-512 panels have 16 columns, and a workgroup takes up to four.
// NARROW-DAG: #{{.*}} = #iree_cpu.lowering_config<distribution = [64, 1, 16, 0], vector_common_parallel = [4, 1, 16, 0], vector_reduction = [0, 0, 0, 4]>
// NARROW-LABEL: @argument(
// NARROW: flow.dispatch.region -> (tensor<8x80x16xf32>)
// NARROW: linalg.generic {{.*}} outs(%{{.*}} : tensor<128x8x16xf32>)

// An argument is in memory as it is: it is read so, and the weight in panels.
// CHECK-DAG: #[[CONFIG:.*]] = #iree_cpu.lowering_config<distribution = [64, 1, 64, 0], vector_common_parallel = [4, 1, 64, 0], vector_reduction = [0, 0, 0, 4]>
// CHECK-LABEL: @argument(
// CHECK: %[[W:.*]] = tensor.expand_shape %arg1 {{\[}}[0], [1, 2]] output_shape [80, 2, 64]
// CHECK: %[[P:.*]] = flow.dispatch.region -> (tensor<2x80x64xf32>) {
// CHECK: linalg.generic {{.*}} ins(%[[W]] : tensor<80x2x64xf32>)
// CHECK: flow.return
// CHECK: %[[E:.*]] = tensor.empty() : tensor<128x2x64xf32>
// CHECK: %[[F:.*]] = linalg.fill {{.*}} outs(%[[E]]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %[[P]] : {{.*}}) outs(%[[F]] {{.*}} attrs = {compilation_info =
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[Y]] {{\[}}[0], [1, 2]] : tensor<128x2x64xf32> into tensor<128x128xf32>
// CHECK: return %[[R]]
func.func @argument(%x: tensor<128x80xf32>, %w: tensor<80x128xf32>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul ins(%x, %w : tensor<128x80xf32>, tensor<80x128xf32>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

// -----

// A weight of columns x depth; what is added to is read as it is; 96 rows are
// two times 48, and pay since two products share the panels.
// CHECK-DAG: #{{.*}} = #iree_cpu.lowering_config<distribution = [48, 1, 64, 0]
// CHECK-LABEL: @by_columns(
// CHECK: %[[W:.*]] = tensor.expand_shape %arg2 {{\[}}[0, 1], [2]] output_shape [2, 64, 80]
// CHECK: %[[P:.*]] = flow.dispatch.region -> (tensor<2x80x64xf32>) {
// CHECK-NOT: flow.dispatch.region
// CHECK: %[[S:.*]] = tensor.expand_shape %arg3 {{\[}}[0], [1, 2]] output_shape [96, 2, 64]
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[P]] : {{.*}}) outs(%[[S]]
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[P]] : {{.*}}) outs(%[[S]]
func.func @by_columns(%x: tensor<96x80xf32>, %x2: tensor<96x80xf32>, %w: tensor<128x80xf32>, %s: tensor<96x128xf32>) -> (tensor<96x128xf32>, tensor<96x128xf32>) {
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%x, %w : tensor<96x80xf32>, tensor<128x80xf32>) outs(%s : tensor<96x128xf32>) -> tensor<96x128xf32>
  %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%x2, %w : tensor<96x80xf32>, tensor<128x80xf32>) outs(%s : tensor<96x128xf32>) -> tensor<96x128xf32>
  return %0, %1 : tensor<96x128xf32>, tensor<96x128xf32>
}

// -----

// An activation that others read too, through a reshape; one that only
// products read is packed by whoever makes it, for all of them.
// CHECK-LABEL: @multi_use(
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%arg0
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[A]]
// CHECK: linalg.generic {{.*}} ins(%[[C]], %{{.*}} attrs = {compilation_info
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%arg1
// CHECK: linalg.matmul ins(%[[B]], %arg2
// CHECK: linalg.matmul ins(%[[B]], %arg3
func.func @multi_use(%x: tensor<128x8x10xf32>, %y: tensor<128x80xf32>, %w: tensor<80x64xf32>, %w2: tensor<80x64xf32>, %s: tensor<128x64xf32>)
    -> (tensor<128x8x10xf32>, tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>) {
  %e3 = tensor.empty() : tensor<128x8x10xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<128x8x10xf32>) outs(%e3 : tensor<128x8x10xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.tanh %i : f32
    linalg.yield %0 : f32
  } -> tensor<128x8x10xf32>
  %c = tensor.collapse_shape %a [[0], [1, 2]] : tensor<128x8x10xf32> into tensor<128x80xf32>
  %0 = linalg.matmul ins(%c, %w : tensor<128x80xf32>, tensor<80x64xf32>) outs(%s : tensor<128x64xf32>) -> tensor<128x64xf32>
  %e2 = tensor.empty() : tensor<128x80xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<128x80xf32>) outs(%e2 : tensor<128x80xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = math.tanh %i : f32
    linalg.yield %t : f32
  } -> tensor<128x80xf32>
  %1 = linalg.matmul ins(%b, %w : tensor<128x80xf32>, tensor<80x64xf32>) outs(%s : tensor<128x64xf32>) -> tensor<128x64xf32>
  %2 = linalg.matmul ins(%b, %w2 : tensor<128x80xf32>, tensor<80x64xf32>) outs(%s : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %a, %0, %1, %2 : tensor<128x8x10xf32>, tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>
}

// -----

// A weight that a loop does not change is packed before it, but not before a
// conditional.
// CHECK-LABEL: @loop(
// CHECK: flow.dispatch.region
// CHECK: scf.for
// CHECK-NOT: flow.dispatch.region
// CHECK: linalg.generic {{.*}} attrs = {compilation_info
// CHECK: scf.yield
// CHECK: scf.if
// CHECK: flow.dispatch.region
func.func @loop(%x: tensor<128x64xf32>, %w: tensor<64x64xf32>, %w2: tensor<64x64xf32>, %n: index, %go: i1) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<128x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x64xf32>) -> tensor<128x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<128x64xf32> {
    %y = linalg.matmul ins(%h, %w : tensor<128x64xf32>, tensor<64x64xf32>) outs(%f : tensor<128x64xf32>) -> tensor<128x64xf32>
    scf.yield %y : tensor<128x64xf32>
  }
  %s = scf.if %go -> tensor<128x64xf32> {
    %y = linalg.matmul ins(%r, %w2 : tensor<128x64xf32>, tensor<64x64xf32>) outs(%f : tensor<128x64xf32>) -> tensor<128x64xf32>
    scf.yield %y : tensor<128x64xf32>
  } else {
    scf.yield %r : tensor<128x64xf32>
  }
  return %s : tensor<128x64xf32>
}

// -----

// Columns that fill panels of 16 only; an odd depth is taken step by step.
// CHECK-DAG: #{{.*}} = #iree_cpu.lowering_config<distribution = [64, 1, 16, 0], vector_common_parallel = [4, 1, 16, 0], vector_reduction = [0, 0, 0, 1]>
// CHECK-LABEL: @narrow(
// CHECK: flow.dispatch.region -> (tensor<5x37x16xf32>)
func.func @narrow(%x: tensor<192x37xf32>, %w: tensor<37x80xf32>, %i: tensor<192x80xf32>) -> tensor<192x80xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<192x37xf32>, tensor<37x80xf32>) outs(%i : tensor<192x80xf32>) -> tensor<192x80xf32>
  return %r : tensor<192x80xf32>
}
