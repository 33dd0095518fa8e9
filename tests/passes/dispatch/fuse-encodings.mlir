// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings)' --split-input-file | FileCheck %s --check-prefixes=CHECK,DEFAULT
// RUN: headrace-opt %s --pass-pipeline='builtin.module(fuse-encodings{experimental-multi-use-encoding-fusion=true})' --split-input-file | FileCheck %s --check-prefixes=CHECK,MULTI

// The shapes that IREE's own pass is tested with, written anew.

#packed = #iree_encoding.testing<>
#id = affine_map<(i, j, k) -> (i, j, k)>
// 1. An elementwise op of three dimensions.
// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%x: tensor<5x24x40xf16>) -> tensor<5x24x40xf16, #packed> {
  // CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<5x24x40xf16, #[[E:.*]]>) attributes {headrace.fused_encodings = [{bytes_added = 0 : i64, launches_saved = 1 : i64, value = tensor<{{.*}}>}]} {
  // CHECK: %[[Y:.*]] = linalg.generic
  // CHECK: %[[P:.*]] = iree_encoding.set_encoding %[[Y]] : tensor<5x24x40xf16> -> tensor<5x24x40xf16, #[[E]]>
  // CHECK-NEXT: flow.return %[[P]] : tensor<5x24x40xf16, #[[E]]>
  // CHECK: return %[[R]]
  %r = flow.dispatch.region -> (tensor<5x24x40xf16>) {
    %e = tensor.empty() : tensor<5x24x40xf16>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : tensor<5x24x40xf16>) outs(%e : tensor<5x24x40xf16>) {
    ^bb0(%a: f16, %o: f16):
      %0 = arith.mulf %a, %a : f16
      linalg.yield %0 : f16
    } -> tensor<5x24x40xf16>
    flow.return %y : tensor<5x24x40xf16>
  }
  %p = iree_encoding.set_encoding %r : tensor<5x24x40xf16> -> tensor<5x24x40xf16, #packed>
  return %p : tensor<5x24x40xf16, #packed>
}

// -----

#packed = #iree_encoding.testing<>
#in = affine_map<(i, j, k, l) -> (i, j, k, l)>
#out = affine_map<(i, j, k, l) -> (i, j, k)>
// 2. A reduction.
// CHECK-LABEL: func.func @reduction(
func.func @reduction(%x: tensor<4x6x8x10xf32>, %z: tensor<4x6x8xf32>) -> tensor<4x6x8xf32, #packed> {
  // CHECK: flow.dispatch.region -> (tensor<4x6x8xf32, #{{.*}}>)
  // CHECK: %[[P:.*]] = iree_encoding.set_encoding
  // CHECK-NEXT: flow.return %[[P]]
  %r = flow.dispatch.region -> (tensor<4x6x8xf32>) {
    %y = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x : tensor<4x6x8x10xf32>) outs(%z : tensor<4x6x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.maximumf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4x6x8xf32>
    flow.return %y : tensor<4x6x8xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<4x6x8xf32> -> tensor<4x6x8xf32, #packed>
  return %p : tensor<4x6x8xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// 3. A transposition.
// CHECK-LABEL: func.func @transpose(
func.func @transpose(%x: tensor<24x40xf32>) -> tensor<40x24xf32, #packed> {
  // CHECK: flow.dispatch.region -> (tensor<40x24xf32, #{{.*}}>)
  // CHECK: linalg.transpose
  // CHECK: %[[P:.*]] = iree_encoding.set_encoding
  // CHECK-NEXT: flow.return %[[P]]
  %r = flow.dispatch.region -> (tensor<40x24xf32>) {
    %e = tensor.empty() : tensor<40x24xf32>
    %y = linalg.transpose ins(%x : tensor<24x40xf32>) outs(%e : tensor<40x24xf32>) permutation = [1, 0]
    flow.return %y : tensor<40x24xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<40x24xf32> -> tensor<40x24xf32, #packed>
  return %p : tensor<40x24xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// 4. Dynamic sizes, which go to the packed result. No bytes are counted.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[M:.*]]: index, %[[N:.*]]: index
func.func @dynamic(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32, #packed> {
  // CHECK: flow.dispatch.region -> (tensor<?x?xf32, #{{.*}}>{%[[M]], %[[N]]}) attributes {headrace.fused_encodings = [{launches_saved = 1 : i64, value = tensor<{{.*}}>}]} {
  // CHECK: %[[P:.*]] = iree_encoding.set_encoding
  // CHECK-NEXT: flow.return %[[P]]
  %r = flow.dispatch.region -> (tensor<?x?xf32>{%m, %n}) {
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %y = linalg.map { arith.addf } ins(%x, %x : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
    flow.return %y : tensor<?x?xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<?x?xf32> -> tensor<?x?xf32, #packed>
  return %p : tensor<?x?xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// 5. Two equal encodings of one result: IREE by default fuses neither, and with
// its option stores two copies. They are one, and so the value has one user.
// CHECK-LABEL: func.func @two_equal(
func.func @two_equal(%x: tensor<?x?xf32>, %m: index, %n: index)
    -> (tensor<?x?xf32, #packed>, tensor<?x?xf32, #packed>) {
  // CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<?x?xf32, #{{.*}}>{%{{.*}}, %{{.*}}})
  // CHECK: return %[[R]], %[[R]]
  %r = flow.dispatch.region -> (tensor<?x?xf32>{%m, %n}) {
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %y = linalg.map { arith.addf } ins(%x, %x : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
    flow.return %y : tensor<?x?xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<?x?xf32> -> tensor<?x?xf32, #packed>
  %q = iree_encoding.set_encoding %r : tensor<?x?xf32> -> tensor<?x?xf32, #packed>
  return %p, %q : tensor<?x?xf32, #packed>, tensor<?x?xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// 6. Reshapes between the region and the encoding go along.
// CHECK-LABEL: func.func @reshapes(
func.func @reshapes(%x: tensor<24x40xf32>) -> tensor<12x80xf32, #packed> {
  // CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<12x80xf32, #{{.*}}>)
  // CHECK: %[[Y:.*]] = linalg.map
  // CHECK-NEXT: %[[C:.*]] = tensor.collapse_shape %[[Y]]
  // CHECK-NEXT: %[[D:.*]] = tensor.expand_shape %[[C]]
  // CHECK-NEXT: %[[P:.*]] = iree_encoding.set_encoding %[[D]]
  // CHECK-NEXT: flow.return %[[P]]
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[R]]
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { arith.addf } ins(%x, %x : tensor<24x40xf32>, tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %y : tensor<24x40xf32>
  }
  %c = tensor.collapse_shape %r [[0, 1]] : tensor<24x40xf32> into tensor<960xf32>
  %d = tensor.expand_shape %c [[0, 1]] output_shape [12, 80] : tensor<960xf32> into tensor<12x80xf32>
  %p = iree_encoding.set_encoding %d : tensor<12x80xf32> -> tensor<12x80xf32, #packed>
  return %p : tensor<12x80xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// 7. The size that a reshape needs is computed after the region: it moves up.
// CHECK-LABEL: func.func @sizes_move_up(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[N:.*]]: index
func.func @sizes_move_up(%x: tensor<?xf32>, %n: index) -> tensor<?x8xf32, #packed> {
  // CHECK: %[[C8:.*]] = arith.constant 8 : index
  // CHECK-NEXT: %[[M:.*]] = arith.divsi %[[N]], %[[C8]] : index
  // CHECK-NEXT: flow.dispatch.region -> (tensor<?x8xf32, #{{.*}}>{%[[M]]})
  // CHECK: tensor.expand_shape %{{.*}} output_shape [%[[M]], 8]
  %r = flow.dispatch.region -> (tensor<?xf32>{%n}) {
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = linalg.map { arith.addf } ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>)
    flow.return %y : tensor<?xf32>
  }
  %c8 = arith.constant 8 : index
  %m = arith.divsi %n, %c8 : index
  %d = tensor.expand_shape %r [[0, 1]] output_shape [%m, 8] : tensor<?xf32> into tensor<?x8xf32>
  %p = iree_encoding.set_encoding %d : tensor<?x8xf32> -> tensor<?x8xf32, #packed>
  return %p : tensor<?x8xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
#other = #iree_encoding.layout<[#iree_encoding.testing<>]>
// 8. A region that only unpacks: it packs anew.
// CHECK-LABEL: func.func @pack_anew(
func.func @pack_anew(%x: tensor<24x40xf32, #other>) -> tensor<24x40xf32, #packed> {
  // CHECK: flow.dispatch.region
  // CHECK-NEXT: %[[U:.*]] = iree_encoding.unset_encoding
  // CHECK-NEXT: %[[P:.*]] = iree_encoding.set_encoding %[[U]]
  // CHECK-NEXT: flow.return %[[P]]
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    %u = iree_encoding.unset_encoding %x : tensor<24x40xf32, #other> -> tensor<24x40xf32>
    flow.return %u : tensor<24x40xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p : tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// 9. A region that only takes a slice.
// CHECK-LABEL: func.func @slice(
func.func @slice(%x: tensor<24x40xf32>) -> tensor<12x40xf32, #packed> {
  // CHECK: flow.dispatch.region -> (tensor<12x40xf32, #{{.*}}>)
  // CHECK-NEXT: %[[S:.*]] = tensor.extract_slice
  // CHECK-NEXT: iree_encoding.set_encoding %[[S]]
  %r = flow.dispatch.region -> (tensor<12x40xf32>) {
    %s = tensor.extract_slice %x[6, 0] [12, 40] [1, 1] : tensor<24x40xf32> to tensor<12x40xf32>
    flow.return %s : tensor<12x40xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<12x40xf32> -> tensor<12x40xf32, #packed>
  return %p : tensor<12x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
#q = affine_map<(b, m, n, k, l) -> (b, m, k)>
#k = affine_map<(b, m, n, k, l) -> (b, l, k)>
#v = affine_map<(b, m, n, k, l) -> (b, l, n)>
#s = affine_map<(b, m, n, k, l) -> ()>
#o = affine_map<(b, m, n, k, l) -> (b, m, n)>
// 10. Attention.
// CHECK-LABEL: func.func @attention(
func.func @attention(%x: tensor<6x32x16xf16>, %y: tensor<6x48x16xf16>, %scale: f16) -> tensor<6x32x16xf16, #packed> {
  // CHECK: flow.dispatch.region -> (tensor<6x32x16xf16, #{{.*}}>)
  // CHECK: %[[A:.*]] = iree_linalg_ext.attention
  // CHECK: iree_encoding.set_encoding %[[A]]
  %r = flow.dispatch.region -> (tensor<6x32x16xf16>) {
    %e = tensor.empty() : tensor<6x32x16xf16>
    %a = iree_linalg_ext.attention <indexing_maps = [#q, #k, #v, #s, #o]>
        ins(%x, %y, %y, %scale : tensor<6x32x16xf16>, tensor<6x48x16xf16>, tensor<6x48x16xf16>, f16)
        outs(%e : tensor<6x32x16xf16>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
    } -> tensor<6x32x16xf16>
    flow.return %a : tensor<6x32x16xf16>
  }
  %p = iree_encoding.set_encoding %r : tensor<6x32x16xf16> -> tensor<6x32x16xf16, #packed>
  return %p : tensor<6x32x16xf16, #packed>
}

// -----

#packed = #iree_encoding.testing<>
#table = affine_map<(i, j)[row] -> (row, j)>
#rows = affine_map<(i, j)[row] -> (i)>
#out = affine_map<(i, j)[row] -> (i, j)>
// 11. A gather.
// CHECK-LABEL: func.func @gather(
func.func @gather(%table: tensor<100x40xf32>, %rows: tensor<24xi32>) -> tensor<24x40xf32, #packed> {
  // CHECK: flow.dispatch.region -> (tensor<24x40xf32, #{{.*}}>)
  // CHECK: %[[G:.*]] = iree_linalg_ext.gather
  // CHECK: iree_encoding.set_encoding %[[G]]
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %g = iree_linalg_ext.gather
        {indexing_maps = [#table, #rows, #out], iterator_types = ["parallel", "parallel"]}
        dimension_map = [0] ins(%table, %rows : tensor<100x40xf32>, tensor<24xi32>)
        outs(%e : tensor<24x40xf32>) -> tensor<24x40xf32>
    flow.return %g : tensor<24x40xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %p : tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
#id = affine_map<(i, j) -> (i, j)>
// 12. The second of two results is packed, the first stays.
// CHECK-LABEL: func.func @second_result(
func.func @second_result(%x: tensor<24x40xf32>) -> (tensor<24x40xf32>, tensor<24x40xf32, #packed>) {
  // CHECK: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<24x40xf32>, tensor<24x40xf32, #[[E:.*]]>)
  // CHECK: %[[G:.*]]:2 = linalg.generic
  // CHECK: %[[P:.*]] = iree_encoding.set_encoding %[[G]]#1
  // CHECK-NEXT: flow.return %[[G]]#0, %[[P]] : tensor<24x40xf32>, tensor<24x40xf32, #[[E]]>
  // CHECK: return %[[R]]#0, %[[R]]#1
  %r:2 = flow.dispatch.region -> (tensor<24x40xf32>, tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<24x40xf32>) outs(%e, %e : tensor<24x40xf32>, tensor<24x40xf32>) {
    ^bb0(%a: f32, %o: f32, %o2: f32):
      %0 = arith.addf %a, %a : f32
      %1 = arith.mulf %a, %a : f32
      linalg.yield %0, %1 : f32, f32
    } -> (tensor<24x40xf32>, tensor<24x40xf32>)
    flow.return %y#0, %y#1 : tensor<24x40xf32>, tensor<24x40xf32>
  }
  %p = iree_encoding.set_encoding %r#1 : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %r#0, %p : tensor<24x40xf32>, tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
// 13. A value with another user: with the option the region yields it plain and
// packed. The packed copy is memory that it had not stored before.
// CHECK-LABEL: func.func @multi_use(
func.func @multi_use(%x: tensor<24x40xf32>) -> (tensor<24x40xf32>, tensor<24x40xf32, #packed>) {
  // DEFAULT: %[[R:.*]] = flow.dispatch.region -> (tensor<24x40xf32>) {
  // DEFAULT: %[[P:.*]] = iree_encoding.set_encoding %[[R]]
  // DEFAULT: return %[[R]], %[[P]]
  // MULTI: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<24x40xf32>, tensor<24x40xf32, #[[E:.*]]>) attributes {headrace.fused_encodings = [{bytes_added = 3840 : i64, launches_saved = 1 : i64, value = tensor<{{.*}}>}]} {
  // MULTI: %[[Y:.*]] = linalg.map
  // MULTI: %[[P:.*]] = iree_encoding.set_encoding %[[Y]]
  // MULTI-NEXT: flow.return %[[Y]], %[[P]]
  // MULTI: return %[[R]]#0, %[[R]]#1
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { arith.addf } ins(%x, %x : tensor<24x40xf32>, tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %y : tensor<24x40xf32>
  }
  %p = iree_encoding.set_encoding %r : tensor<24x40xf32> -> tensor<24x40xf32, #packed>
  return %r, %p : tensor<24x40xf32>, tensor<24x40xf32, #packed>
}

// -----

#packed = #iree_encoding.testing<>
#id = affine_map<(i, j) -> (i, j)>
// A requantization between a value with several users and its packing: the
// encoding goes into the requantization, and nothing multi-use is needed.
// CHECK-LABEL: func.func @requantized(
func.func @requantized(%x: tensor<24x40xf32>) -> (tensor<24x40xf32>, tensor<24x40xf8E4M3FN, #packed>) {
  // CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<24x40xf32>) {
  // CHECK: %[[Q:.*]] = flow.dispatch.region -> (tensor<24x40xf8E4M3FN, #{{.*}}>)
  // CHECK: arith.truncf
  // CHECK: iree_encoding.set_encoding
  // CHECK-NEXT: flow.return
  // CHECK: return %[[R]], %[[Q]]
  %r = flow.dispatch.region -> (tensor<24x40xf32>) {
    %e = tensor.empty() : tensor<24x40xf32>
    %y = linalg.map { math.tanh } ins(%x : tensor<24x40xf32>) outs(%e : tensor<24x40xf32>)
    flow.return %y : tensor<24x40xf32>
  }
  %q = flow.dispatch.region -> (tensor<24x40xf8E4M3FN>) {
    %e = tensor.empty() : tensor<24x40xf8E4M3FN>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%r : tensor<24x40xf32>) outs(%e : tensor<24x40xf8E4M3FN>) {
    ^bb0(%a: f32, %o: f8E4M3FN):
      %0 = arith.truncf %a : f32 to f8E4M3FN
      linalg.yield %0 : f8E4M3FN
    } -> tensor<24x40xf8E4M3FN>
    flow.return %y : tensor<24x40xf8E4M3FN>
  }
  %p = iree_encoding.set_encoding %q : tensor<24x40xf8E4M3FN> -> tensor<24x40xf8E4M3FN, #packed>
  return %r, %p : tensor<24x40xf32>, tensor<24x40xf8E4M3FN, #packed>
}
