// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings{experimental-multi-use-encoding-fusion=true})' --split-input-file --remarks 2>&1 | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings{experimental-multi-use-encoding-fusion=true target=gfx942})' --split-input-file --remarks 2>&1 | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings{experimental-multi-use-encoding-fusion=true target=sm_89})' --split-input-file --remarks 2>&1 | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings)' --split-input-file --remarks 2>&1 | FileCheck %s --check-prefix=DEFAULT
// RUN: not headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings{target=sm_1})' --split-input-file 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown target 'sm_1'; known are cpu,

// One value, three packings and a plain user. A CPU dispatch stores one packing
// besides the plain value, of several the one with most readers; CDNA stores
// all; for CUDA a packed value is the plain one, which is not stored twice.

#l = affine_map<(m, n, k) -> (m, k)>
#r = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#lhs = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [128, 128, 128]>
#rhs = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [128, 128, 128]>
#out = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [128, 128, 128]>
// CPU: remark: not fused into its producer: the dispatch region stores 1 packed layout(s) already, the most that compile on cpu
// CUDA: remark: not fused into its producer: its source has other uses, and sm_89 has no tiles for it: the dispatch would store the plain value twice
// DEFAULT: remark: not fused into its producer: its source has other uses: that needs experimental-multi-use-encoding-fusion
// CHECK-LABEL: func.func @three_packings(
func.func @three_packings(%x: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32, #lhs>, tensor<128x128xf32, #rhs>, tensor<128x128xf32, #rhs>, tensor<128x128xf32, #out>) {
  // CPU: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<128x128xf32>, tensor<128x128xf32, #{{.*}}>)
  // CPU: %[[L:.*]] = iree_encoding.set_encoding %[[R]]#0
  // CPU: %[[O:.*]] = iree_encoding.set_encoding %[[R]]#0
  // CPU: return %[[R]]#0, %[[L]], %[[R]]#1, %[[R]]#1, %[[O]]
  // CDNA: %[[R:.*]]:4 = flow.dispatch.region
  // CDNA-SAME: headrace.fused_encodings = [{bytes_added = 196608 : i64, launches_saved = 3 : i64, value = tensor<{{.*}}>}]
  // CDNA: return %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#2, %[[R]]#3
  // CUDA: %[[R:.*]] = flow.dispatch.region -> (tensor<128x128xf32>) {
  // CUDA: return %[[R]]
  %y = flow.dispatch.region -> (tensor<128x128xf32>) {
    %e = tensor.empty() : tensor<128x128xf32>
    %a = linalg.map { math.exp } ins(%x : tensor<128x128xf32>) outs(%e : tensor<128x128xf32>)
    flow.return %a : tensor<128x128xf32>
  }
  %p = iree_encoding.set_encoding %y : tensor<128x128xf32> -> tensor<128x128xf32, #lhs>
  %q = iree_encoding.set_encoding %y : tensor<128x128xf32> -> tensor<128x128xf32, #rhs>
  %s = iree_encoding.set_encoding %y : tensor<128x128xf32> -> tensor<128x128xf32, #out>
  return %y, %p, %q, %q, %s : tensor<128x128xf32>, tensor<128x128xf32, #lhs>, tensor<128x128xf32, #rhs>, tensor<128x128xf32, #rhs>, tensor<128x128xf32, #out>
}

// -----

#l = affine_map<(m, n, k) -> (m, k)>
#r = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#lhs = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [128, 128, 128]>
#rhs = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [128, 128, 128]>
#id = affine_map<(i, j) -> (i, j)>
// Two values, each with one user that packs it, in two ways: two layouts in one
// dispatch again.
// CPU: remark: not fused into its producer: the dispatch region stores 1 packed layout(s) already
// DEFAULT: remark: not fused into its producer: the dispatch region stores 1 packed layout(s) already
// CHECK-LABEL: func.func @two_values(
func.func @two_values(%x: tensor<128x128xf32>) -> (tensor<128x128xf32, #lhs>, tensor<128x128xf32, #rhs>) {
  // CPU: flow.dispatch.region -> (tensor<128x128xf32>, tensor<128x128xf32, #{{.*}}>)
  // CDNA: flow.dispatch.region -> (tensor<128x128xf32, #{{.*}}>, tensor<128x128xf32, #{{.*}}>)
  // CUDA: flow.dispatch.region -> (tensor<128x128xf32, #{{.*}}>, tensor<128x128xf32, #{{.*}}>)
  %y:2 = flow.dispatch.region -> (tensor<128x128xf32>, tensor<128x128xf32>) {
    %e = tensor.empty() : tensor<128x128xf32>
    %g:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<128x128xf32>) outs(%e, %e : tensor<128x128xf32>, tensor<128x128xf32>) {
    ^bb0(%a: f32, %o: f32, %o2: f32):
      %0 = arith.addf %a, %a : f32
      %1 = arith.mulf %a, %a : f32
      linalg.yield %0, %1 : f32, f32
    } -> (tensor<128x128xf32>, tensor<128x128xf32>)
    flow.return %g#0, %g#1 : tensor<128x128xf32>, tensor<128x128xf32>
  }
  %p = iree_encoding.set_encoding %y#0 : tensor<128x128xf32> -> tensor<128x128xf32, #lhs>
  %q = iree_encoding.set_encoding %y#1 : tensor<128x128xf32> -> tensor<128x128xf32, #rhs>
  return %p, %q : tensor<128x128xf32, #lhs>, tensor<128x128xf32, #rhs>
}

// -----

#l = affine_map<(m, n, k) -> (m, k)>
#r = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#lhs = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f64, f64, f64], user_indexing_maps = [#l, #r, #o], iteration_sizes = [128, 128, 128]>
// Element types without tiles, on x86 and Arm.
// CPU: remark: not fused into its producer: its source has other uses, and cpu has no tiles for it
// CHECK-LABEL: func.func @no_tiles(
func.func @no_tiles(%x: tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128x128xf64, #lhs>) {
  // CPU: flow.dispatch.region -> (tensor<128x128xf64>) {
  // CDNA: flow.dispatch.region -> (tensor<128x128xf64>, tensor<128x128xf64, #{{.*}}>)
  %y = flow.dispatch.region -> (tensor<128x128xf64>) {
    %e = tensor.empty() : tensor<128x128xf64>
    %a = linalg.map { math.exp } ins(%x : tensor<128x128xf64>) outs(%e : tensor<128x128xf64>)
    flow.return %a : tensor<128x128xf64>
  }
  %p = iree_encoding.set_encoding %y : tensor<128x128xf64> -> tensor<128x128xf64, #lhs>
  return %y, %p : tensor<128x128xf64>, tensor<128x128xf64, #lhs>
}

// -----

#l = affine_map<(m, n, k) -> (m, k)>
#r = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#a = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [512, 1024, 64]>
#b = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [512, 2048, 64]>
#aw = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [512, 1024, 64]>
#bw = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [512, 2048, 64]>
#ao = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [512, 1024, 64]>
#bo = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [512, 2048, 64]>
// Two matmuls of different widths read one value: CPU tiles do not depend on
// the width, so there is one packed copy, and it replaces the plain value, even
// without the option. CDNA tiles may do: one copy is fused, since two that come
// out the same do not compile.
// CPU: remark: packed as another encoding of its source is: both are one now
// CDNA: remark: not fused into its producer: the dispatch region packs it for the same operand already: should both come out the same, gfx942 could not store them twice
// CHECK-LABEL: func.func @two_widths(
func.func @two_widths(%x: tensor<512x64xf32>, %w: tensor<64x1024xf32, #aw>, %v: tensor<64x2048xf32, #bw>,
    %i: tensor<512x1024xf32, #ao>, %j: tensor<512x2048xf32, #bo>) -> (tensor<512x1024xf32, #ao>, tensor<512x2048xf32, #bo>) {
  // CPU: %[[R:.*]] = flow.dispatch.region -> (tensor<512x64xf32, #{{.*}}>)
  // CPU: linalg.matmul ins(%[[R]],
  // CPU: linalg.matmul ins(%[[R]],
  // CDNA: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<512x64xf32>, tensor<512x64xf32, #{{.*}}>)
  // CDNA-SAME: headrace.fused_encodings = [{bytes_added = 131072 : i64, launches_saved = 1 : i64, value = tensor<{{.*}}>}]
  // CDNA: iree_encoding.set_encoding %[[R]]#0
  // DEFAULT: flow.dispatch.region -> (tensor<512x64xf32, #{{.*}}>)
  %y = flow.dispatch.region -> (tensor<512x64xf32>) {
    %e = tensor.empty() : tensor<512x64xf32>
    %a = linalg.map { math.exp } ins(%x : tensor<512x64xf32>) outs(%e : tensor<512x64xf32>)
    flow.return %a : tensor<512x64xf32>
  }
  %p = iree_encoding.set_encoding %y : tensor<512x64xf32> -> tensor<512x64xf32, #a>
  %m = flow.dispatch.region -> (tensor<512x1024xf32, #ao>) {
    %0 = linalg.matmul ins(%p, %w : tensor<512x64xf32, #a>, tensor<64x1024xf32, #aw>) outs(%i : tensor<512x1024xf32, #ao>) -> tensor<512x1024xf32, #ao>
    flow.return %0 : tensor<512x1024xf32, #ao>
  }
  %q = iree_encoding.set_encoding %y : tensor<512x64xf32> -> tensor<512x64xf32, #b>
  %n = flow.dispatch.region -> (tensor<512x2048xf32, #bo>) {
    %0 = linalg.matmul ins(%q, %v : tensor<512x64xf32, #b>, tensor<64x2048xf32, #bw>) outs(%j : tensor<512x2048xf32, #bo>) -> tensor<512x2048xf32, #bo>
    flow.return %0 : tensor<512x2048xf32, #bo>
  }
  return %m, %n : tensor<512x1024xf32, #ao>, tensor<512x2048xf32, #bo>
}

// -----

#l = affine_map<(m, n, k) -> (m, k)>
#r = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#a = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [512, 1024, 64]>
#b = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#l, #r, #o], iteration_sizes = [512, 4, 64]>
// With few columns tiles are others. And a packed value whose type shows in
// other ops than linalg's inputs keeps its own.
// CHECK-LABEL: func.func @not_alike(
func.func @not_alike(%x: tensor<512x64xf32>) -> (tensor<512x64xf32, #a>, tensor<512x64xf32, #b>) {
  // CHECK: iree_encoding.set_encoding
  // CHECK: iree_encoding.set_encoding
  %p = iree_encoding.set_encoding %x : tensor<512x64xf32> -> tensor<512x64xf32, #a>
  %q = iree_encoding.set_encoding %x : tensor<512x64xf32> -> tensor<512x64xf32, #b>
  return %p, %q : tensor<512x64xf32, #a>, tensor<512x64xf32, #b>
}
