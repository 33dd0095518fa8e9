// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings)' --split-input-file | FileCheck %s --check-prefixes=CHECK,DEFAULT
// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings{experimental-multi-use-encoding-fusion=true})' --split-input-file | FileCheck %s --check-prefixes=CHECK,MULTI
// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings{experimental-multi-use-encoding-fusion=true},fuse-encodings{experimental-multi-use-encoding-fusion=true})' --split-input-file | FileCheck %s --check-prefixes=CHECK,MULTI

// Cases that IREE 3.13's own pass leaves alone, fails on, crashes on or gets
// wrong. Those that are refused, with the reasons, are in fuse-encodings-refused.mlir.
// Running the pass once more changes nothing.

#packed = #iree_encoding.testing<>
// A reshape with two users between a region and its encoding (IREE: never
// fused): it is cloned.
// CHECK-LABEL: func.func @reshape_with_two_users(
func.func @reshape_with_two_users(%x: tensor<960xf32>) -> (tensor<24x40xf32>, tensor<24x40xf32, #packed>) {
  // DEFAULT: flow.dispatch.region -> (tensor<960xf32>) {
  // DEFAULT: tensor.expand_shape
  // DEFAULT: iree_encoding.set_encoding
  // MULTI: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<960xf32>, tensor<24x40xf32, #{{.*}}>)
  // MULTI: %[[Y:.*]] = linalg.map
  // MULTI-NEXT: %[[D:.*]] = tensor.expand_shape %[[Y]]
  // MULTI-NEXT: %[[P:.*]] = iree_encoding.set_encoding %[[D]]
  // MULTI-NEXT: flow.return %[[Y]], %[[P]]
  // MULTI: %[[D2:.*]] = tensor.expand_shape %[[R]]#0
  // MULTI-NEXT: return %[[D2]], %[[R]]#1
  %r = flow.dispatch.region -> (tensor<960xf32>) {
    %e = tensor.empty() : tensor<960xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<960xf32>) outs(%e : tensor<960xf32>)
    flow.return %y : tensor<960xf32>
  }
  %d = tensor.expand_shape %r [[0, 1]] output_shape [24, 40] : tensor<960xf32> into tensor<24x40xf32>
  %p = iree_encoding.set_encoding %d : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %d, %p : tensor<24x40xf32>, tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// The region has two users, the reshape one.
// CHECK-LABEL: func.func @region_with_two_users(
func.func @region_with_two_users(%x: tensor<960xf32>) -> (tensor<960xf32>, tensor<24x40xf32, #packed>) {
  // DEFAULT: flow.dispatch.region -> (tensor<960xf32>) {
  // MULTI: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<960xf32>, tensor<24x40xf32, #{{.*}}>)
  // MULTI: %[[D:.*]] = tensor.expand_shape
  // MULTI-NEXT: iree_encoding.set_encoding %[[D]]
  // MULTI: }
  // MULTI-NEXT: return %[[R]]#0, %[[R]]#1
  %r = flow.dispatch.region -> (tensor<960xf32>) {
    %e = tensor.empty() : tensor<960xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<960xf32>) outs(%e : tensor<960xf32>)
    flow.return %y : tensor<960xf32>
  }
  %d = tensor.expand_shape %r [[0, 1]] output_shape [24, 40] : tensor<960xf32> into tensor<24x40xf32>
  %p = iree_encoding.set_encoding %d : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %r, %p : tensor<960xf32>, tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// Two equal reshapes are one, and so the value has one user.
// CHECK-LABEL: func.func @equal_reshapes(
func.func @equal_reshapes(%x: tensor<960xf32>) -> (tensor<24x40xf32, #packed>, tensor<24x40xf32, #packed>) {
  // CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<24x40xf32, #{{.*}}>)
  // CHECK: return %[[R]], %[[R]]
  %r = flow.dispatch.region -> (tensor<960xf32>) {
    %e = tensor.empty() : tensor<960xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<960xf32>) outs(%e : tensor<960xf32>)
    flow.return %y : tensor<960xf32>
  }
  %d = tensor.expand_shape %r [[0, 1]] output_shape [24, 40] : tensor<960xf32> into tensor<24x40xf32>
  %p = iree_encoding.set_encoding %d : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  %d2 = tensor.expand_shape %r [[0, 1]] output_shape [24, 40] : tensor<960xf32> into tensor<24x40xf32>
  %p2 = iree_encoding.set_encoding %d2 : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p, %p2 : tensor<24x40xf32, #packed>, tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// The other user is a dispatch between the region and the encoding.
// CHECK-LABEL: func.func @dispatch_between(
func.func @dispatch_between(%x: tensor<24x40xf32>) -> (tensor<24x40xf32>, tensor<24x40xf32, #packed>) {
  // DEFAULT: flow.dispatch.region -> (tensor<24x40xf32>) {
  // MULTI: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<24x40xf32>, tensor<24x40xf32, #{{.*}}>)
  // MULTI: %[[S:.*]] = flow.dispatch.region -> (tensor<24x40xf32>) {
  // MULTI: linalg.map { math.tanh } ins(%[[R]]#0
  // MULTI: return %[[S]], %[[R]]#1
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %y : tensor<24x40xf32>
  }
  %s = flow.dispatch.region -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { math.tanh } ins(%r : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %y : tensor<24x40xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %s, %p : tensor<24x40xf32>, tensor<24x40xf32, #packed>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [?, 64, ?]>
// The sizes of the loops are asked of the region's own result (IREE: fails
// without a message). The region knows them; asking is no use of the value.
// CHECK-LABEL: func.func @sizes_of_the_result(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[M:.*]]: index, %[[K:.*]]: index
func.func @sizes_of_the_result(%x: tensor<?x?xf32>, %m: index, %k: index) -> tensor<?x?xf32, #packed> {
  // CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<?x?xf32, #{{.*}}>{%[[M]], %[[K]]})
  // CHECK: iree_encoding.set_encoding %{{.*}} encoding_dims{%[[M]], %[[K]]}
  // CHECK: return %[[R]]
  %r = flow.dispatch.region -> (tensor<?x?xf32>{%m, %k}) {
    %e = tensor.empty(%m, %k) : tensor<?x?xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
    flow.return %y : tensor<?x?xf32>
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %dm = tensor.dim %r, %c0 : tensor<?x?xf32>
  %dk = tensor.dim %r, %c1 : tensor<?x?xf32>
  %p = iree_encoding.set_encoding %r encoding_dims{%dm, %dk} : tensor<?x?xf32> -> tensor<?x?xf32, #packed>
  return %p : tensor<?x?xf32, #packed>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [24, ?, 40]>
// The size of a loop is computed after the region, from the result of another
// one: both move up.
// CHECK-LABEL: func.func @sizes_of_another_region(
func.func @sizes_of_another_region(%x: tensor<24x40xf32>, %s: tensor<1xindex>) -> tensor<24x40xf32, #packed> {
  // CHECK: %[[S:.*]] = flow.dispatch.region -> (tensor<1xindex>)
  // CHECK: %[[C0:.*]] = arith.constant 0 : index
  // CHECK: %[[N:.*]] = tensor.extract %[[S]][%[[C0]]]
  // CHECK: flow.dispatch.region -> (tensor<24x40xf32, #{{.*}}>)
  // CHECK: iree_encoding.set_encoding %{{.*}} encoding_dims{%[[N]]}
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %y : tensor<24x40xf32>
  }
  %q = flow.dispatch.region -> (tensor<1xindex>) {
    %e = tensor.empty() : tensor<1xindex>
    %y = linalg.map { arith.addi } ins(%s, %s : tensor<1xindex>, tensor<1xindex>) outs(%e : tensor<1xindex>)
    flow.return %y : tensor<1xindex>
  }
  %c0 = arith.constant 0 : index
  %n = tensor.extract %q[%c0] : tensor<1xindex>
  %p = iree_encoding.set_encoding %r encoding_dims{%n} : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p : tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// A collapse of dynamic dimensions: the packed result's size is their product.
// CHECK-LABEL: func.func @collapse_dynamic(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x8xf32>, %[[M:.*]]: index, %[[N:.*]]: index
func.func @collapse_dynamic(%x: tensor<?x?x8xf32>, %m: index, %n: index) -> tensor<?x8xf32, #packed> {
  // CHECK: %[[MN:.*]] = arith.muli %[[M]], %[[N]] : index
  // CHECK-NEXT: flow.dispatch.region -> (tensor<?x8xf32, #{{.*}}>{%[[MN]]})
  %r = flow.dispatch.region -> (tensor<?x?x8xf32>{%m, %n}) {
    %e = tensor.empty(%m, %n) : tensor<?x?x8xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<?x?x8xf32>) outs(%e : tensor<?x?x8xf32>)
    flow.return %y : tensor<?x?x8xf32>
  }
  %c = tensor.collapse_shape %r [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %p = iree_encoding.set_encoding %c : tensor<?x8xf32> -> tensor<?x8xf32, #packed>
  return %p : tensor<?x8xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// Region and encoding are both in a branch.
// CHECK-LABEL: func.func @within_a_branch(
func.func @within_a_branch(%x: tensor<24x40xf32>, %c: i1, %other: tensor<24x40xf32, #packed>) -> tensor<24x40xf32, #packed> {
  // CHECK: scf.if
  // CHECK-NEXT: %[[R:.*]] = flow.dispatch.region -> (tensor<24x40xf32, #{{.*}}>)
  // CHECK: scf.yield %[[R]]
  %y = scf.if %c -> tensor<24x40xf32, #packed> {
    %r = flow.dispatch.region -> (tensor<24x40xf32>) {
      %e = tensor.empty() : tensor<24x40xf32>
      %y = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
      flow.return %y : tensor<24x40xf32>
    }
    %p = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
    scf.yield %p : tensor<24x40xf32, #packed>
  } else {
    scf.yield %other : tensor<24x40xf32, #packed>
  }
  return %y : tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// A dense constant in the region (IREE: not fused).
// CHECK-LABEL: func.func @dense_constant(
func.func @dense_constant(%x: tensor<2x2xf32>) -> tensor<2x2xf32, #packed> {
  // CHECK: flow.dispatch.region -> (tensor<2x2xf32, #{{.*}}>)
  %r = flow.dispatch.region -> (tensor<2x2xf32>) {
    %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %e = tensor.empty() : tensor<2x2xf32>
    %y = linalg.map { arith.addf } ins(%x, %c : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>)
    flow.return %y : tensor<2x2xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<2x2xf32> -> tensor<2x2xf32, #packed>
  return %p : tensor<2x2xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// Two equal encodings and another user (IREE: two equal results, which its
// folding later takes for one another).
// CHECK-LABEL: func.func @two_equal_and_another_user(
func.func @two_equal_and_another_user(%x: tensor<24x40xf32>)
    -> (tensor<24x40xf32, #packed>, tensor<24x40xf32>, tensor<24x40xf32, #packed>) {
  // DEFAULT: %[[R:.*]] = flow.dispatch.region -> (tensor<24x40xf32>) {
  // DEFAULT: %[[P:.*]] = iree_encoding.set_encoding
  // DEFAULT-NEXT: return %[[P]], %[[R]], %[[P]]
  // MULTI: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<24x40xf32>, tensor<24x40xf32, #{{.*}}>)
  // MULTI: return %[[R]]#1, %[[R]]#0, %[[R]]#1
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %y : tensor<24x40xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  %q = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p, %r, %q : tensor<24x40xf32, #packed>, tensor<24x40xf32>, tensor<24x40xf32, #packed>
}

// -----

// A region that yields one value twice: folding it, IREE 3.13 reads the first
// result in place of the third. The third goes.
// CHECK-LABEL: func.func @yielded_twice(
func.func @yielded_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#1
  %r:3 = flow.dispatch.region -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %a = linalg.map { arith.addf } ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
    %b = linalg.map { arith.mulf } ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
    flow.return %a, %b, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

#packed = #iree_encoding.testing<>
// The same with the plain value and two equal encodings (IREE: a type error).
// The sizes of what goes are gone, too.
// CHECK-LABEL: func.func @packed_twice(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[N:.*]]: index
func.func @packed_twice(%x: tensor<?x4xf32>, %n: index)
    -> (tensor<?x4xf32>, tensor<?x4xf32, #packed>, tensor<?x4xf32, #packed>) {
  // CHECK: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<?x4xf32>{%[[N]]}, tensor<?x4xf32, #{{.*}}>{%[[N]]})
  // CHECK: iree_encoding.set_encoding
  // CHECK-NEXT: flow.return
  // CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#1
  %r:3 = flow.dispatch.region -> (tensor<?x4xf32>{%n}, tensor<?x4xf32, #packed>{%n}, tensor<?x4xf32, #packed>{%n}) {
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %a = linalg.map { math.exp } ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>)
    %p = iree_encoding.set_encoding %a : tensor<?x4xf32> -> tensor<?x4xf32, #packed>
    %q = iree_encoding.set_encoding %a : tensor<?x4xf32> -> tensor<?x4xf32, #packed>
    flow.return %a, %p, %q : tensor<?x4xf32>, tensor<?x4xf32, #packed>, tensor<?x4xf32, #packed>
  }
  return %r#0, %r#1, %r#2 : tensor<?x4xf32>, tensor<?x4xf32, #packed>, tensor<?x4xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// The region yields the packed value already: it is not yielded again.
// CHECK-LABEL: func.func @packed_already(
func.func @packed_already(%x: tensor<24x40xf32>)
    -> (tensor<24x40xf32>, tensor<24x40xf32, #packed>, tensor<24x40xf32, #packed>) {
  // DEFAULT: flow.dispatch.region -> (tensor<24x40xf32>, tensor<24x40xf32, #{{.*}}>) {
  // MULTI: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<24x40xf32>, tensor<24x40xf32, #{{.*}}>) attributes {headrace.fused_encodings = [{bytes_added = 0 : i64, launches_saved = 1 : i64, value = tensor<{{.*}}>}]} {
  // MULTI: iree_encoding.set_encoding
  // MULTI-NEXT: flow.return
  // MULTI: return %[[R]]#0, %[[R]]#1, %[[R]]#1
  %r:2 = flow.dispatch.region -> (tensor<24x40xf32>, tensor<24x40xf32, #packed>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %a = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    %p = iree_encoding.set_encoding %a : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
    flow.return %a, %p : tensor<24x40xf32>, tensor<24x40xf32, #packed>
  }
  %q = iree_encoding.set_encoding %r#0 : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %r#0, %r#1, %q : tensor<24x40xf32>, tensor<24x40xf32, #packed>, tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// The workload stays with the region, discardable attributes too; a workgroup
// count stays with a region that yields one value twice.
// CHECK-LABEL: func.func @workload(
// CHECK-SAME: %[[X:.*]]: tensor<24x40xf32>, %[[W:.*]]: index
func.func @workload(%x: tensor<24x40xf32>, %w: index) -> (tensor<24x40xf32, #packed>, tensor<24x40xf32>, tensor<24x40xf32>) {
  // CHECK: flow.dispatch.region[%[[W]]] -> (tensor<24x40xf32, #{{.*}}>) attributes {{{.*}}mine = 1 : i64}
  // CHECK: %[[S:.*]] = flow.dispatch.region[%[[W]]] -> (tensor<24x40xf32>) {
  // CHECK: count(%[[A:.*]]: index) -> (index, index, index) {
  // CHECK: flow.return %[[A]]
  // CHECK: return %{{.*}}, %[[S]], %[[S]]
  %r = flow.dispatch.region[%w] -> (tensor<24x40xf32>) attributes {mine = 1 : i64} {
    %e = tensor.empty() : tensor<24x40xf32>
    %a = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %a : tensor<24x40xf32>
  }
  %s:2 = flow.dispatch.region[%w] -> (tensor<24x40xf32>, tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %a = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %a, %a : tensor<24x40xf32>, tensor<24x40xf32>
  } count(%a: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    flow.return %a, %c1, %c1 : index, index, index
  }
  %p = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p, %s#0, %s#1 : tensor<24x40xf32, #packed>, tensor<24x40xf32>, tensor<24x40xf32>
}

// -----

#packed = #iree_encoding.testing<>
// headrace's own ops: in the region, and as the encoding.
// CHECK-LABEL: func.func @headrace_ops(
func.func @headrace_ops(%x: tensor<24x40xf32>) -> tensor<24x40xf8E4M3FN, #packed> {
  // CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<24x40xf8E4M3FN, #{{.*}}>)
  // CHECK-NEXT: %[[Q:.*]] = "headrace.quantize"
  // CHECK-NEXT: %[[P:.*]] = "headrace.set_encoding"(%[[Q]])
  // CHECK-NEXT: flow.return %[[P]]
  // CHECK: return %[[R]]
  %r = flow.dispatch.region -> (tensor<24x40xf8E4M3FN>) {
    %q = "headrace.quantize"(%x) {operandSegmentSizes = array<i32: 1, 0>, saturate = true, scale_mode = "divide"} : (tensor<24x40xf32>) -> tensor<24x40xf8E4M3FN>
    flow.return %q : tensor<24x40xf8E4M3FN>
  }
  %p = "headrace.set_encoding"(%r) : (tensor<24x40xf8E4M3FN>) -> tensor<24x40xf8E4M3FN, #packed>
  return %p : tensor<24x40xf8E4M3FN, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// A cast that tells or forgets sizes goes along (IREE issue 23092: not fused).
// The cast to more static sizes needs fewer of them.
// CHECK-LABEL: func.func @casts(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[M:.*]]: index, %[[N:.*]]: index
func.func @casts(%x: tensor<?x?xf32>, %m: index, %n: index) -> (tensor<?x40xf32, #packed>, tensor<?x?xf32, #packed>) {
  // CHECK: flow.dispatch.region -> (tensor<?x40xf32, #{{.*}}>{%[[M]]})
  // CHECK: %[[C:.*]] = tensor.cast
  // CHECK-NEXT: iree_encoding.set_encoding %[[C]]
  %r = flow.dispatch.region -> (tensor<?x?xf32>{%m, %n}) {
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
    flow.return %y : tensor<?x?xf32>
  }
  %c = tensor.cast %r : tensor<?x?xf32> to tensor<?x40xf32>
  %p = iree_encoding.set_encoding %c : tensor<?x40xf32> -> tensor<?x40xf32, #packed>
  // CHECK: %[[C40:.*]] = arith.constant 40 : index
  // CHECK-NEXT: flow.dispatch.region -> (tensor<?x?xf32, #{{.*}}>{%[[M]], %[[C40]]})
  %s = flow.dispatch.region -> (tensor<?x40xf32>{%m}) {
    %e = tensor.empty(%m) : tensor<?x40xf32>
    %t = tensor.extract_slice %x[0, 0] [%m, 40] [1, 1] : tensor<?x?xf32> to tensor<?x40xf32>
    %y = linalg.map { math.exp } ins(%t : tensor<?x40xf32>) outs(%e : tensor<?x40xf32>)
    flow.return %y : tensor<?x40xf32>
  }
  %d = tensor.cast %s : tensor<?x40xf32> to tensor<?x?xf32>
  %q = iree_encoding.set_encoding %d : tensor<?x?xf32> -> tensor<?x?xf32, #packed>
  return %p, %q : tensor<?x40xf32, #packed>, tensor<?x?xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// Computed from sums of rows of dynamic length: fused where only one dimension is
// dynamic (fuse-encodings-refused.mlir has both).
// CHECK-LABEL: func.func @static_rows(
// CHECK-NOT: set_encoding %r
// CHECK: flow.return %{{.*}} : tensor<24x?xf32, #{{.*}}>
func.func @static_rows(%x: tensor<24x?xf32>, %z: tensor<24xf32>, %k: index)
    -> tensor<24x?xf32, #packed> {
  %r = flow.dispatch.region -> (tensor<24x?xf32>{%k}) {
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<24x?xf32>) outs(%z : tensor<24xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<24xf32>
    %e = tensor.empty(%k) : tensor<24x?xf32>
    %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<24x?xf32>, tensor<24xf32>) outs(%e : tensor<24x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.divf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<24x?xf32>
    flow.return %d : tensor<24x?xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<24x?xf32> -> tensor<24x?xf32, #packed>
  return %p : tensor<24x?xf32, #packed>
}
