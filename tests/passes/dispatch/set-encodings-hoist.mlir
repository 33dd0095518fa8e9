// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=gfx950 estimate=false},form-dispatch-regions{target=gfx950})' --split-input-file | FileCheck %s
// RUN: headrace-opt %s --pass-pipeline='builtin.module(set-encodings{target=gfx950 estimate=false},form-dispatch-regions{target=gfx950},fuse-encodings{target=gfx950},iree-util-hoist-into-globals)' --split-input-file | FileCheck %s --check-prefix=HOISTED

// The rest of IREE's tests of hoist_encoding_ops, by its numbers: those that
// are neither in set-encodings-bubble.mlir nor in set-encodings-sink.mlir.
// There encodings are set within regions and leave them; ours are set outside,
// before regions are formed.

// 1: operands are packed outside, the result is unpacked in the region.
// CHECK-LABEL: @operands(
// CHECK-DAG: %[[X:.*]] = iree_encoding.set_encoding %arg0
// CHECK-DAG: %[[W:.*]] = iree_encoding.set_encoding %arg1
// CHECK-DAG: %[[I:.*]] = iree_encoding.set_encoding %arg2
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<96x112xf32>) {
// CHECK-NEXT: linalg.matmul ins(%[[X]], %[[W]] : {{.*}}) outs(%[[I]] :
// CHECK-NEXT: iree_encoding.unset_encoding
// CHECK-NEXT: flow.return
// CHECK: return %[[R]]
func.func @operands(%x: tensor<96x80xf32>, %w: tensor<80x112xf32>, %y: tensor<96x112xf32>) -> tensor<96x112xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32>, tensor<80x112xf32>) outs(%y : tensor<96x112xf32>) -> tensor<96x112xf32>
  return %m : tensor<96x112xf32>
}

// 5: a splat is packed outside; it gets no global: it is computed where it is used.
// CHECK-LABEL: @splat(
// CHECK: %[[C:.*]] = arith.constant dense<2.500000e-01> : tensor<80x112xf32>
// CHECK: iree_encoding.set_encoding %[[C]]
// CHECK: flow.dispatch.region
func.func @splat(%x: tensor<96x80xf32>, %y: tensor<96x112xf32>) -> tensor<96x112xf32> {
  %w = arith.constant dense<0.25> : tensor<80x112xf32>
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32>, tensor<80x112xf32>) outs(%y : tensor<96x112xf32>) -> tensor<96x112xf32>
  return %m : tensor<96x112xf32>
}

// 7, 9, 10: slices, one that is a piece of memory, one with an offset from
// elsewhere, and one of every other row: packed outside, each by a launch that
// reads the slice. Nothing is formed around a slice.
// CHECK-LABEL: @slices(
// CHECK-DAG: %[[A:.*]] = tensor.extract_slice %arg0[1, 0, 0]
// CHECK-DAG: %[[B:.*]] = tensor.extract_slice %arg0[%arg1, 0, 0]
// CHECK-DAG: %[[C:.*]] = tensor.extract_slice %arg0[2, 0, 0] [1, 96, 80] [1, 2, 1]
// CHECK: iree_encoding.set_encoding %[[A]]
// CHECK: flow.dispatch.region
// CHECK: iree_encoding.set_encoding %[[B]]
// CHECK: flow.dispatch.region
// CHECK: iree_encoding.set_encoding %[[C]]
// CHECK: flow.dispatch.region
// CHECK-NOT: flow.dispatch.region
func.func @slices(%x: tensor<4x192x80xf32>, %i: index, %w: tensor<80x112xf32>, %y: tensor<96x112xf32>) -> (tensor<96x112xf32>, tensor<96x112xf32>, tensor<96x112xf32>) {
  %a = tensor.extract_slice %x[1, 0, 0] [1, 96, 80] [1, 1, 1] : tensor<4x192x80xf32> to tensor<96x80xf32>
  %b = tensor.extract_slice %x[%i, 0, 0] [1, 96, 80] [1, 1, 1] : tensor<4x192x80xf32> to tensor<96x80xf32>
  %c = tensor.extract_slice %x[2, 0, 0] [1, 96, 80] [1, 2, 1] : tensor<4x192x80xf32> to tensor<96x80xf32>
  %m = linalg.matmul ins(%a, %w : tensor<96x80xf32>, tensor<80x112xf32>) outs(%y : tensor<96x112xf32>) -> tensor<96x112xf32>
  %n = linalg.matmul ins(%b, %w : tensor<96x80xf32>, tensor<80x112xf32>) outs(%y : tensor<96x112xf32>) -> tensor<96x112xf32>
  %o = linalg.matmul ins(%c, %w : tensor<96x80xf32>, tensor<80x112xf32>) outs(%y : tensor<96x112xf32>) -> tensor<96x112xf32>
  return %m, %n, %o : tensor<96x112xf32>, tensor<96x112xf32>, tensor<96x112xf32>
}

// -----

// 6: what is computed from a global is packed where it is computed, and IREE
// then moves that region as a whole into an initialiser.
// CHECK: util.global private @weight
// CHECK-NOT: util.global
// CHECK-LABEL: @computed(
// CHECK: util.global.load @weight
// CHECK: %[[R:.*]] = flow.dispatch.region
// CHECK: math.exp
// CHECK: flow.return
// CHECK: iree_encoding.set_encoding %[[R]] :
// HOISTED: util.initializer
// HOISTED: %[[R:.*]] = flow.dispatch.region
// HOISTED: math.exp
// HOISTED: iree_encoding.set_encoding
// HOISTED: util.global.store %[[R]], @[[G:.*]] : tensor<80x112xf32, #
// HOISTED: @computed(
// HOISTED: %[[W:.*]] = util.global.load {{.*}}@[[G]] :
// HOISTED-NOT: math.exp
// HOISTED: linalg.matmul ins(%{{.*}}, %[[W]] :
#whole = affine_map<(i, j) -> (i, j)>
util.global private @weight : tensor<80x112xf32>
func.func @computed(%x: tensor<96x80xf32>, %y: tensor<96x112xf32>) -> tensor<96x112xf32> {
  %g = util.global.load @weight : tensor<80x112xf32>
  %e = tensor.empty() : tensor<80x112xf32>
  %w = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<80x112xf32>) outs(%e : tensor<80x112xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<80x112xf32>
  %m = linalg.matmul ins(%x, %w : tensor<96x80xf32>, tensor<80x112xf32>) outs(%y : tensor<96x112xf32>) -> tensor<96x112xf32>
  return %m : tensor<96x112xf32>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#pad = #iree_encoding.padding<[0, 64]>
#whole = affine_map<(i, j) -> (i, j)>

// 8, 10, 11, 12, 16: regions that somebody else made keep what they hold: a
// slice whose offset is read in the region, one with steps, a padding, a
// scalar, and an unpacking before an elementwise op.
// CHECK-LABEL: @not_ours(
// CHECK-NOT: {{ }}iree_encoding
// CHECK: flow.dispatch.region
// CHECK: %[[I:.*]] = tensor.extract
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[%[[I]], 0] [96, 80] [1, 1]
// CHECK-NEXT: %[[P:.*]] = iree_encoding.set_encoding %[[S]]
// CHECK-NEXT: flow.return %[[P]]
// CHECK: flow.dispatch.region
// CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %arg0[0, 0] [96, 80] [2, 1]
// CHECK-NEXT: %[[P:.*]] = iree_encoding.set_encoding %[[S]]
// CHECK-NEXT: flow.return %[[P]]
// CHECK: flow.dispatch.region
// CHECK-NEXT: %[[P:.*]] = iree_encoding.set_encoding %arg0 : tensor<192x80xf32> -> tensor<192x80xf32, #iree_encoding.padding
// CHECK-NEXT: flow.return %[[P]]
// CHECK: flow.dispatch.region
// CHECK-NEXT: %[[P:.*]] = iree_encoding.set_encoding %arg2 : tensor<f32>
// CHECK-NEXT: flow.return %[[P]]
// CHECK: flow.dispatch.region
// CHECK-NEXT: %[[U:.*]] = iree_encoding.unset_encoding %arg3
// CHECK: linalg.generic {{.*}} ins(%[[U]] :
// CHECK-NOT: {{ }}iree_encoding
// CHECK: return
func.func @not_ours(%x: tensor<192x80xf32>, %i: tensor<index>, %s: tensor<f32>, %m: tensor<96x112xf32, #o>)
    -> (tensor<96x80xf32, #l>, tensor<96x80xf32, #l>, tensor<192x80xf32, #pad>, tensor<f32, #iree_encoding.testing<>>, tensor<96x112xf32>) {
  %0 = flow.dispatch.region -> (tensor<96x80xf32, #l>) {
    %offset = tensor.extract %i[] : tensor<index>
    %a = tensor.extract_slice %x[%offset, 0] [96, 80] [1, 1] : tensor<192x80xf32> to tensor<96x80xf32>
    %p = iree_encoding.set_encoding %a : tensor<96x80xf32> -> tensor<96x80xf32, #l>
    flow.return %p : tensor<96x80xf32, #l>
  }
  %1 = flow.dispatch.region -> (tensor<96x80xf32, #l>) {
    %a = tensor.extract_slice %x[0, 0] [96, 80] [2, 1] : tensor<192x80xf32> to tensor<96x80xf32>
    %p = iree_encoding.set_encoding %a : tensor<96x80xf32> -> tensor<96x80xf32, #l>
    flow.return %p : tensor<96x80xf32, #l>
  }
  %2 = flow.dispatch.region -> (tensor<192x80xf32, #pad>) {
    %p = iree_encoding.set_encoding %x : tensor<192x80xf32> -> tensor<192x80xf32, #pad>
    flow.return %p : tensor<192x80xf32, #pad>
  }
  %3 = flow.dispatch.region -> (tensor<f32, #iree_encoding.testing<>>) {
    %p = iree_encoding.set_encoding %s : tensor<f32> -> tensor<f32, #iree_encoding.testing<>>
    flow.return %p : tensor<f32, #iree_encoding.testing<>>
  }
  %4 = flow.dispatch.region -> (tensor<96x112xf32>) {
    %u = iree_encoding.unset_encoding %m : tensor<96x112xf32, #o> -> tensor<96x112xf32>
    %e = tensor.empty() : tensor<96x112xf32>
    %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<96x112xf32>) outs(%e : tensor<96x112xf32>) {
    ^bb0(%a: f32, %z: f32):
      %5 = math.tanh %a : f32
      linalg.yield %5 : f32
    } -> tensor<96x112xf32>
    flow.return %t : tensor<96x112xf32>
  }
  return %0, %1, %2, %3, %4 : tensor<96x80xf32, #l>, tensor<96x80xf32, #l>, tensor<192x80xf32, #pad>, tensor<f32, #iree_encoding.testing<>>, tensor<96x112xf32>
}

// 11, 12: outside of regions, a padding stays with the decode before it, and a
// scalar gets no region.
// CHECK-LABEL: @padding_and_scalar(
// CHECK: %[[D:.*]] = flow.dispatch.region -> (tensor<96x80xf32>)
// CHECK: arith.sitofp
// CHECK: iree_encoding.set_encoding %[[D]] : tensor<96x80xf32> -> tensor<96x80xf32, #iree_encoding.padding
// CHECK-NOT: flow.dispatch.region
// CHECK: math.exp
// CHECK: iree_encoding.set_encoding %{{.*}} : tensor<f32>
func.func @padding_and_scalar(%q: tensor<96x80xi8>, %s: tensor<f32>) -> (tensor<96x80xf32, #pad>, tensor<f32, #iree_encoding.testing<>>) {
  %e = tensor.empty() : tensor<96x80xf32>
  %d = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<96x80xi8>) outs(%e : tensor<96x80xf32>) {
  ^bb0(%a: i8, %z: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %d : tensor<96x80xf32> -> tensor<96x80xf32, #pad>
  %se = tensor.empty() : tensor<f32>
  %t = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%s : tensor<f32>) outs(%se : tensor<f32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %r = iree_encoding.set_encoding %t : tensor<f32> -> tensor<f32, #iree_encoding.testing<>>
  return %p, %r : tensor<96x80xf32, #pad>, tensor<f32, #iree_encoding.testing<>>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#packed = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [?, ?, ?]>
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// 2: bytes, scales and zero points, the latter two of one per row, are packed
// each. 21: sizes from arguments are the same for all three.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[SCALES:.*]] = #iree_encoding.encoding<operand_index = 1 {{.*}}user_indexing_maps = [#{{.*}}, [#{{.*}}, #[[ROW]]], #{{.*}}]
// CHECK-LABEL: @three_inputs(
// CHECK-DAG: iree_encoding.set_encoding %arg0 encoding_dims{%arg3, %arg4, %arg5} : tensor<?x?xi8>
// CHECK-DAG: iree_encoding.set_encoding %arg1 encoding_dims{%arg3, %arg4, %arg5} : tensor<?xf32> -> tensor<?xf32, #[[SCALES]]>
// CHECK-DAG: iree_encoding.set_encoding %arg2 encoding_dims{%arg3, %arg4, %arg5} : tensor<?xf32> -> tensor<?xf32, #[[SCALES]]>
// CHECK: linalg.generic
// CHECK-NOT: set_encoding
func.func @three_inputs(%q: tensor<?x?xi8>, %s: tensor<?xf32>, %zero: tensor<?xf32>, %m: index, %n: index, %k: index) -> tensor<?x?xf32, #packed> {
  %e = tensor.empty(%k, %n) : tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#whole, #row, #row, #whole], iterator_types = ["parallel", "parallel"]} ins(%q, %s, %zero : tensor<?x?xi8>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: i8, %b: f32, %c: f32, %z: f32):
    %0 = arith.uitofp %a : i8 to f32
    %1 = arith.subf %0, %c : f32
    %2 = arith.mulf %1, %b : f32
    linalg.yield %2 : f32
  } -> tensor<?x?xf32>
  %p = iree_encoding.set_encoding %w encoding_dims{%m, %n, %k} : tensor<?x?xf32> -> tensor<?x?xf32, #packed>
  return %p : tensor<?x?xf32, #packed>
}

// 23, 24: sizes from a tensor above, and from an affine.apply of one, go along.
// CHECK-LABEL: @sizes_from_elsewhere(
// CHECK: %[[M:.*]] = tensor.dim %arg1
// CHECK: %[[N:.*]] = affine.apply
// CHECK: iree_encoding.set_encoding %arg0 encoding_dims{%[[M]], %[[N]], %arg2}
// CHECK: linalg.generic
// CHECK-NOT: set_encoding
func.func @sizes_from_elsewhere(%q: tensor<?x?xi8>, %x: tensor<?x?xf32>, %k: index) -> tensor<?x?xf32, #packed> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = affine.apply affine_map<(d) -> (d * 4)>(%k)
  %e = tensor.empty(%k, %n) : tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<?x?xi8>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: i8, %z: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  %p = iree_encoding.set_encoding %w encoding_dims{%m, %n, %k} : tensor<?x?xf32> -> tensor<?x?xf32, #packed>
  return %p : tensor<?x?xf32, #packed>
}

// 22: the size of a dimension that is static is a constant.
// CHECK-LABEL: @static_sizes(
// CHECK-DAG: %[[N:.*]] = arith.constant 112 : index
// CHECK-DAG: %[[K:.*]] = tensor.dim %arg0, %c0
// CHECK: iree_encoding.set_encoding %arg0 encoding_dims{%arg1, %[[N]], %[[K]]}
func.func @static_sizes(%q: tensor<?x112xi8>, %m: index, %k: index) -> tensor<?x112xf32, #packed> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%k) : tensor<?x112xf32>
  %w = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<?x112xi8>) outs(%e : tensor<?x112xf32>) {
  ^bb0(%a: i8, %z: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<?x112xf32>
  %dk = tensor.dim %w, %c0 : tensor<?x112xf32>
  %dn = tensor.dim %w, %c1 : tensor<?x112xf32>
  %p = iree_encoding.set_encoding %w encoding_dims{%m, %dn, %dk} : tensor<?x112xf32> -> tensor<?x112xf32, #packed>
  return %p : tensor<?x112xf32, #packed>
}

// 30: the decode transposes: its sizes are those of the bytes, in turn.
// CHECK-LABEL: @transposed_sizes(
// CHECK-DAG: %[[K:.*]] = tensor.dim %arg0, %c1
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK: iree_encoding.set_encoding %arg0 encoding_dims{%arg1, %[[N]], %[[K]]}
// CHECK: linalg.generic
func.func @transposed_sizes(%q: tensor<?x?xi8>, %m: index, %n: index, %k: index) -> tensor<?x?xf32, #packed> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%k, %n) : tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #whole], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<?x?xi8>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: i8, %z: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  %dk = tensor.dim %w, %c0 : tensor<?x?xf32>
  %dn = tensor.dim %w, %c1 : tensor<?x?xf32>
  %p = iree_encoding.set_encoding %w encoding_dims{%m, %dn, %dk} : tensor<?x?xf32> -> tensor<?x?xf32, #packed>
  return %p : tensor<?x?xf32, #packed>
}
