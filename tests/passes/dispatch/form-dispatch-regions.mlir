// RUN: headrace-opt %s --pass-pipeline='builtin.module(form-dispatch-regions)' --split-input-file | FileCheck %s
//
// Regions around packed matmuls and around what is to be packed. Numbers are
// those of IREE's own tests of form_dispatch_regions.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#r = #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#whole = affine_map<(i, j) -> (i, j)>

// The matmul with its fill, the packed elementwise op (7, 8), the unpacking
// and a residual; the decode of its packed weight is copied in (15: never
// written to memory). The fill stays for its other reader.
// CHECK-LABEL: @matmul
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: %[[Y:.*]] = flow.dispatch.region -> (tensor<32x24xf32>) {
// CHECK-DAG: %[[W:.*]] = linalg.generic {{.*}}ins(%arg1 : tensor<40x24xi8, #
// CHECK-DAG: %[[Z:.*]] = linalg.fill
// CHECK: %[[M:.*]] = linalg.matmul ins(%arg0, %[[W]] {{.*}}outs(%[[Z]]
// CHECK: %[[T:.*]] = linalg.generic {{.*}}ins(%[[M]]
// CHECK: %[[U:.*]] = iree_encoding.unset_encoding %[[T]]
// CHECK: %[[S:.*]] = linalg.generic {{.*}}ins(%[[U]], %arg2
// CHECK: flow.return %[[S]]
// CHECK: return %[[Y]], %[[F]]
func.func @matmul(%x: tensor<32x40xf32, #l>, %q: tensor<40x24xi8, #r>, %res: tensor<32x24xf32>) -> (tensor<32x24xf32>, tensor<32x24xf32, #o>) {
  %zero = arith.constant 0.0 : f32
  %ew = tensor.empty() : tensor<40x24xf32, #r>
  %w = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<40x24xi8, #r>) outs(%ew : tensor<40x24xf32, #r>) {
  ^bb0(%a: i8, %b: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<40x24xf32, #r>
  %e = tensor.empty() : tensor<32x24xf32, #o>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x24xf32, #o>) -> tensor<32x24xf32, #o>
  %m = linalg.matmul ins(%x, %w : tensor<32x40xf32, #l>, tensor<40x24xf32, #r>) outs(%f : tensor<32x24xf32, #o>) -> tensor<32x24xf32, #o>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<32x24xf32, #o>) outs(%e : tensor<32x24xf32, #o>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<32x24xf32, #o>
  %u = iree_encoding.unset_encoding %t : tensor<32x24xf32, #o> -> tensor<32x24xf32>
  %es = tensor.empty() : tensor<32x24xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%u, %res : tensor<32x24xf32>, tensor<32x24xf32>) outs(%es : tensor<32x24xf32>) {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<32x24xf32>
  return %s, %f : tensor<32x24xf32>, tensor<32x24xf32, #o>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#whole = affine_map<(i, j) -> (i, j)>

// 4: a sum and the op that reads it in one region; the encode stays outside,
// for fuse-encodings, which alone decides what becomes of encodes.
// CHECK-LABEL: @reduction
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<32x40xf32>) {
// CHECK: linalg.fill
// CHECK: %[[S:.*]] = linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: %[[N:.*]] = linalg.generic {{.*}}ins(%arg0, %[[S]]
// CHECK: flow.return %[[N]]
// CHECK: iree_encoding.set_encoding %[[R]]
func.func @reduction(%x: tensor<32x40xf32>) -> tensor<32x40xf32, #l> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.generic {indexing_maps = [#whole, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<32x40xf32>) outs(%f : tensor<32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<32xf32>
  %en = tensor.empty() : tensor<32x40xf32>
  %n = linalg.generic {indexing_maps = [#whole, affine_map<(i, j) -> (i)>, #whole], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<32x40xf32>, tensor<32xf32>) outs(%en : tensor<32x40xf32>) {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %0 = arith.divf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %p = iree_encoding.set_encoding %n : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  return %p : tensor<32x40xf32, #l>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#whole = affine_map<(i, j) -> (i, j)>

// The Llama fp4 shape: a producer that others read below, too, its
// requantization and the decode go together; the producer becomes a second
// result. Through a reshape as well. Nothing is yielded that nobody reads (13).
// CHECK-LABEL: @requantize
// CHECK: %[[R:.*]]:2 = flow.dispatch.region -> (tensor<1280xf32>, tensor<1280xf32>) {
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: %[[Q:.*]] = linalg.generic {{.*}}ins(%[[P]]
// CHECK: %[[D:.*]] = linalg.generic {{.*}}ins(%[[Q]]
// CHECK: flow.return %[[P]], %[[D]]
// CHECK: %[[E:.*]] = tensor.expand_shape %[[R]]#1
// CHECK: iree_encoding.set_encoding %[[E]]
// CHECK: math.absf
func.func @requantize(%x: tensor<1280xf32>) -> (tensor<32x40xf32, #l>, tensor<1280xf32>) {
  %e = tensor.empty() : tensor<1280xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<1280xf32>) outs(%e : tensor<1280xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<1280xf32>
  %eq = tensor.empty() : tensor<1280xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<1280xf32>) outs(%eq : tensor<1280xi8>) {
  ^bb0(%a: f32, %b: i8):
    %0 = arith.fptosi %a : f32 to i8
    linalg.yield %0 : i8
  } -> tensor<1280xi8>
  %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%q : tensor<1280xi8>) outs(%e : tensor<1280xf32>) {
  ^bb0(%a: i8, %b: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<1280xf32>
  %s = tensor.expand_shape %d [[0, 1]] output_shape [32, 40] : tensor<1280xf32> into tensor<32x40xf32>
  %c = iree_encoding.set_encoding %s : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  %o = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<1280xf32>) outs(%e : tensor<1280xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<1280xf32>
  return %c, %o : tensor<32x40xf32, #l>, tensor<1280xf32>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#o = #iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [32, 24, 40]>
#whole = affine_map<(i, j) -> (i, j)>

// 6: an encode alone forms no region. 14, 46, 63: each block for itself. 54: who
// reads a member above the region moves to below it. 59: not by
// tensor.extract, in the body of another op: any of its elements may be asked for.
// CHECK-LABEL: @blocks
// CHECK: iree_encoding.set_encoding %arg0
// CHECK-NOT: flow.dispatch.region
// CHECK: scf.if
// CHECK: flow.dispatch.region
// CHECK: math.tanh
// CHECK: flow.return
// CHECK-LABEL: @reader_above
// CHECK: %[[R:.*]]:2 = flow.dispatch.region
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: math.tanh
// CHECK: %[[N:.*]] = linalg.generic {{.*}}ins(%[[P]] :
// CHECK: math.exp
// CHECK: flow.return %[[P]], %[[N]]
// CHECK: linalg.generic {{.*}}ins(%[[R]]#0 :
// CHECK: math.absf
// CHECK: iree_encoding.set_encoding %[[R]]#1
// CHECK-LABEL: @captured
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: math.tanh
// CHECK: flow.dispatch.region
// CHECK: tensor.extract %[[P]]
func.func @blocks(%x: tensor<32x40xf32>, %c: i1) -> (tensor<32x40xf32, #l>, tensor<32x40xf32, #l>) {
  %a = iree_encoding.set_encoding %x : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  %b = scf.if %c -> tensor<32x40xf32, #l> {
    %e = tensor.empty() : tensor<32x40xf32>
    %p = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<32x40xf32>) outs(%e : tensor<32x40xf32>) {
    ^bb0(%i: f32, %o: f32):
      %0 = math.tanh %i : f32
      linalg.yield %0 : f32
    } -> tensor<32x40xf32>
    %q = iree_encoding.set_encoding %p : tensor<32x40xf32> -> tensor<32x40xf32, #l>
    scf.yield %q : tensor<32x40xf32, #l>
  } else {
    scf.yield %a : tensor<32x40xf32, #l>
  }
  return %a, %b : tensor<32x40xf32, #l>, tensor<32x40xf32, #l>
}
func.func @reader_above(%x: tensor<32x40xf32>) -> (tensor<32x40xf32, #l>, tensor<32x40xf32>) {
  %e = tensor.empty() : tensor<32x40xf32>
  %p = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<32x40xf32>) outs(%e : tensor<32x40xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.tanh %i : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %r = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<32x40xf32>) outs(%e : tensor<32x40xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.absf %i : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %n = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<32x40xf32>) outs(%e : tensor<32x40xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.exp %i : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %q = iree_encoding.set_encoding %n : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  return %q, %r : tensor<32x40xf32, #l>, tensor<32x40xf32>
}
func.func @captured(%x: tensor<32x40xf32>) -> (tensor<32x40xf32, #l>, tensor<32x40xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<32x40xf32>
  %p = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<32x40xf32>) outs(%e : tensor<32x40xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.tanh %i : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %r = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<32x40xf32>) outs(%e : tensor<32x40xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = tensor.extract %p[%c0, %c0] : tensor<32x40xf32>
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %n = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%p, %r : tensor<32x40xf32>, tensor<32x40xf32>) outs(%e : tensor<32x40xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %0 = arith.addf %i, %j : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %q = iree_encoding.set_encoding %n : tensor<32x40xf32> -> tensor<32x40xf32, #l>
  return %q, %r : tensor<32x40xf32, #l>, tensor<32x40xf32>
}

// -----

// Ops of headrace's own: a matmul with the quantize that reads it; a dequantize is copied.
// CHECK-LABEL: @headrace
// CHECK: %[[R:.*]] = flow.dispatch.region -> (tensor<32x24xf8E4M3FN>) {
// CHECK: %[[D:.*]] = "headrace.dequantize"(%arg0)
// CHECK: %[[M:.*]] = "headrace.matmul"(%[[D]], %arg1)
// CHECK: %[[Q:.*]] = "headrace.quantize"(%[[M]]
// CHECK: flow.return %[[Q]]
// CHECK: return %[[R]]
func.func @headrace(%q: tensor<32x40xf8E4M3FN>, %w: tensor<40x24xf8E4M3FN>, %s: tensor<f32>) -> tensor<32x24xf8E4M3FN> {
  %d = "headrace.dequantize"(%q) {operandSegmentSizes = array<i32: 1, 0>, scale_mode = "multiply"} : (tensor<32x40xf8E4M3FN>) -> tensor<32x40xf32>
  %m = "headrace.matmul"(%d, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>, epilogue = "none"} : (tensor<32x40xf32>, tensor<40x24xf8E4M3FN>) -> tensor<32x24xf32>
  %r = "headrace.quantize"(%m, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide", saturate = true} : (tensor<32x24xf32>, tensor<f32>) -> tensor<32x24xf8E4M3FN>
  return %r : tensor<32x24xf8E4M3FN>
}
