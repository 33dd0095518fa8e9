// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings{experimental-multi-use-encoding-fusion=true})' --split-input-file --verify-diagnostics
// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings{experimental-multi-use-encoding-fusion=true})' --split-input-file | FileCheck %s

// Nothing here is fused, each for the reason in its remark.
// CHECK-NOT: headrace.fused_encodings

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [24, ?, 40]>
// The size of a loop depends on the result itself (IREE: the pass fails
// without a message).
// CHECK-LABEL: func.func @size_from_the_result(
func.func @size_from_the_result(%x: tensor<24x40xindex>) -> tensor<24x40xindex, #packed> {
  %r = flow.dispatch.region -> (tensor<24x40xindex>) {
    %e = tensor.empty() : tensor<24x40xindex>
    %y = linalg.map { arith.addi } ins(%x, %x : tensor<24x40xindex>, tensor<24x40xindex>) outs(%e : tensor<24x40xindex>)
    flow.return %y : tensor<24x40xindex>
  }
  %c0 = arith.constant 0 : index
  %n = tensor.extract %r[%c0, %c0] : tensor<24x40xindex>
  // expected-remark@below {{not fused into its producer: its sizes depend on the dispatch region itself}}
  %p = iree_encoding.set_encoding %r encoding_dims{%n} : tensor<24x40xindex> -> tensor<24x40xindex, #packed>
  return %p : tensor<24x40xindex, #packed>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [24, ?, 40]>
// The same through a second result, some ops away and another region.
// CHECK-LABEL: func.func @size_from_another_result(
func.func @size_from_another_result(%x: tensor<24x40xf32>, %s: tensor<1xindex>) -> tensor<24x40xf32, #packed> {
  %r:2 = flow.dispatch.region -> (tensor<24x40xf32>, tensor<1xindex>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    %e1 = tensor.empty() : tensor<1xindex>
    %z = linalg.map { arith.addi } ins(%s, %s : tensor<1xindex>, tensor<1xindex>) outs(%e1 : tensor<1xindex>)
    flow.return %y, %z : tensor<24x40xf32>, tensor<1xindex>
  }
  %t = flow.dispatch.region -> (tensor<1xindex>) {
    %e1 = tensor.empty() : tensor<1xindex>
    %z = linalg.map { arith.addi } ins(%s, %r#1 : tensor<1xindex>, tensor<1xindex>) outs(%e1 : tensor<1xindex>)
    flow.return %z : tensor<1xindex>
  }
  %c0 = arith.constant 0 : index
  %m = tensor.extract %t[%c0] : tensor<1xindex>
  %n = arith.muli %m, %m : index
  // expected-remark@below {{its sizes depend on the dispatch region itself}}
  %p = iree_encoding.set_encoding %r#0 encoding_dims{%n} : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p : tensor<24x40xf32, #packed>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [24, ?, 40]>
func.func private @size() -> index
// What makes the size may have effects: it is not moved.
// CHECK-LABEL: func.func @size_from_a_call(
func.func @size_from_a_call(%x: tensor<24x40xf32>) -> tensor<24x40xf32, #packed> {
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %y : tensor<24x40xf32>
  }
  %n = call @size() : () -> index
  // expected-remark@below {{its sizes need 'func.call', which is not moved before the region}}
  %p = iree_encoding.set_encoding %r encoding_dims{%n} : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p : tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// The encoding is in a branch, the region is not (IREE: packed whether the
// branch is taken or not).
// CHECK-LABEL: func.func @encoding_in_a_branch(
func.func @encoding_in_a_branch(%x: tensor<24x40xf32>, %c: i1, %other: tensor<24x40xf32, #packed>)
    -> (tensor<24x40xf32, #packed>, tensor<24x40xf32>) {
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %y : tensor<24x40xf32>
  }
  // CHECK: scf.if
  // CHECK-NEXT: iree_encoding.set_encoding
  %y = scf.if %c -> tensor<24x40xf32, #packed> {
    // expected-remark@below {{the dispatch region that makes its source is in another block}}
    %p = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
    scf.yield %p : tensor<24x40xf32, #packed>
  } else {
    scf.yield %other : tensor<24x40xf32, #packed>
  }
  return %y, %r : tensor<24x40xf32, #packed>, tensor<24x40xf32>
}

// -----

#packed = #iree_encoding.testing<>
// The region yields a value from outside (IREE: crashes).
// CHECK-LABEL: func.func @yields_from_outside(
func.func @yields_from_outside(%x: tensor<24x40xf32>) -> (tensor<24x40xf32, #packed>, tensor<24x40xf32, #packed>) {
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    flow.return %x : tensor<24x40xf32>
  }
  // expected-remark@below {{the dispatch region yields a value from outside of it}}
  %p = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  %z = arith.constant dense<0.0> : tensor<24x40xf32>
  %s = flow.dispatch.region -> (tensor<24x40xf32>) {
    flow.return %z : tensor<24x40xf32>
  }
  // expected-remark@below {{the dispatch region yields a value from outside of it}}
  %q = iree_encoding.set_encoding %s : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p, %q : tensor<24x40xf32, #packed>, tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// A workgroup count (IREE: dropped without a word).
// CHECK-LABEL: func.func @workgroup_count(
func.func @workgroup_count(%x: tensor<24x40xf32>, %w: index) -> tensor<24x40xf32, #packed> {
  // CHECK: count(
  %r = flow.dispatch.region[%w] -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %y : tensor<24x40xf32>
  } count(%a: index) -> (index, index, index) {
    flow.return %a, %a, %a : index, index, index
  }
  // expected-remark@below {{the dispatch region has a workgroup count, made for the results that it has}}
  %p = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p : tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// A scalar.
// CHECK-LABEL: func.func @scalar(
func.func @scalar(%x: tensor<f32>) -> tensor<f32, #packed> {
  %r = flow.dispatch.region -> (tensor<f32>) {
    %e = tensor.empty() : tensor<f32>
    %y = linalg.map { math.exp } ins(%x : tensor<f32>) outs(%e : tensor<f32>)
    flow.return %y : tensor<f32>
  }
  // expected-remark@below {{its source has no dimensions}}
  %p = iree_encoding.set_encoding %r : tensor<f32> -> tensor<f32, #packed>
  return %p : tensor<f32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// Ops that are not tiled with what follows them.
// CHECK-LABEL: func.func @pad_and_insert(
func.func @pad_and_insert(%x: tensor<24x40xf32>, %y: tensor<8x40xf32>) -> (tensor<26x40xf32, #packed>, tensor<24x40xf32, #packed>) {
  %z = arith.constant 0.0 : f32
  %r = flow.dispatch.region -> (tensor<26x40xf32>) {
    %p = tensor.pad %x low[1, 0] high[1, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %z : f32
    } : tensor<24x40xf32> to tensor<26x40xf32>
    flow.return %p : tensor<26x40xf32>
  }
  // expected-remark@below {{the dispatch region holds 'tensor.pad', which is not tiled with a packed store}}
  %p = iree_encoding.set_encoding %r : tensor<26x40xf32> -> tensor<26x40xf32, #packed>
  %s = flow.dispatch.region -> (tensor<24x40xf32>) {
    %i = tensor.insert_slice %y into %x[8, 0] [8, 40] [1, 1] : tensor<8x40xf32> into tensor<24x40xf32>
    flow.return %i : tensor<24x40xf32>
  }
  // expected-remark@below {{the dispatch region holds 'tensor.insert_slice'}}
  %q = iree_encoding.set_encoding %s : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p, %q : tensor<26x40xf32, #packed>, tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// The packed value is reduced in the same region (IREE issue 24058: one store
// would stay outside of the workgroups' loop, or the stack would overflow).
// CHECK-LABEL: func.func @reduced_afterwards(
func.func @reduced_afterwards(%x: tensor<512x1024xf32>, %z: tensor<512xf32>)
    -> (tensor<512x1024xf32, #packed>, tensor<512xf32>) {
  %r:2 = flow.dispatch.region -> (tensor<512x1024xf32>, tensor<512xf32>) {
    %e = tensor.empty() : tensor<512x1024xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<512x1024xf32>) outs(%e : tensor<512x1024xf32>)
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%y : tensor<512x1024xf32>) outs(%z : tensor<512xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<512xf32>
    flow.return %y, %s : tensor<512x1024xf32>, tensor<512xf32>
  }
  // expected-remark@below {{the dispatch region has a reduction that does not go into it, which cpu cannot tile with a packed store}}
  %p = iree_encoding.set_encoding %r#0 : tensor<512x1024xf32> -> tensor<512x1024xf32, #packed>
  return %p, %r#1 : tensor<512x1024xf32, #packed>, tensor<512xf32>
}

// -----

#packed = #iree_encoding.testing<>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// Both dimensions dynamic, and computed from sums of rows of dynamic length:
// "no basis element may be statically non-positive" in IREE 3.13.
// CHECK-LABEL: func.func @dynamic_rows(
// CHECK: flow.dispatch.region -> (tensor<?x?xf32>{
// CHECK: iree_encoding.set_encoding
func.func @dynamic_rows(%x: tensor<?x?xf32>, %z: tensor<?xf32>, %m: index, %k: index)
    -> tensor<?x?xf32, #packed> {
  %r = flow.dispatch.region -> (tensor<?x?xf32>{%m, %k}) {
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    %e = tensor.empty(%m, %k) : tensor<?x?xf32>
    %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.divf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<?x?xf32>
    flow.return %d : tensor<?x?xf32>
  }
  // expected-remark@below {{the dispatch region reduces rows of dynamic length before, which cpu cannot tile with a packed store of two dynamic dimensions}}
  %p = iree_encoding.set_encoding %r : tensor<?x?xf32> -> tensor<?x?xf32, #packed>
  return %p : tensor<?x?xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// Not made by a region. There is nothing to say about inputs and constants.
// CHECK-LABEL: func.func @no_region(
func.func @no_region(%x: tensor<24x40xf32>) -> (tensor<24x40xf32, #packed>, tensor<24x40xf32, #packed>, tensor<24x40xf32, #packed>) {
  %n = arith.negf %x : tensor<24x40xf32>
  // expected-remark@below {{its source is made by 'arith.negf', not by a dispatch region}}
  %p = iree_encoding.set_encoding %n : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  %q = iree_encoding.set_encoding %x : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  %c = arith.constant dense<0.0> : tensor<24x40xf32>
  %s = iree_encoding.set_encoding %c : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p, %q, %s : tensor<24x40xf32, #packed>, tensor<24x40xf32, #packed>, tensor<24x40xf32, #packed>
}
