// RUN: headrace-opt %s --pass-pipeline='builtin.module(form-dispatch-regions{target=gfx950})' --split-input-file | FileCheck %s

// Who else reads what a region takes in, by the numbers of IREE's own tests of form_dispatch_regions.
// In place of its roots stand tensors that are to be packed.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#l = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#lhs, #rhs, #out], iteration_sizes = [96, 112, 80]>
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#vec = affine_map<(i) -> (i)>

// 54: another reader between the producer and what is packed moves to below the
// region; what reads that goes along (64).
// CHECK-LABEL: @reader_of_reader(
// CHECK: %[[R:.*]]:2 = flow.dispatch.region
// CHECK: arith.mulf
// CHECK: arith.subf
// CHECK: flow.return
// CHECK: %[[N:.*]] = linalg.generic {{.*}} ins(%[[R]]#0 :
// CHECK: arith.negf
// CHECK: linalg.generic {{.*}} ins(%[[N]] :
// CHECK: math.exp
func.func @reader_of_reader(%x: tensor<96x80xf32>, %y: tensor<96x80xf32>) -> (tensor<96x80xf32, #l>, tensor<96x80xf32>) {
  %me = tensor.empty() : tensor<96x80xf32>
  %m = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<96x80xf32>, tensor<96x80xf32>) outs(%me : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %ne = tensor.empty() : tensor<96x80xf32>
  %n = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<96x80xf32>) outs(%ne : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %oe = tensor.empty() : tensor<96x80xf32>
  %o = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<96x80xf32>) outs(%oe : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %se = tensor.empty() : tensor<96x80xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m, %y : tensor<96x80xf32>, tensor<96x80xf32>) outs(%se : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %s : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p, %o : tensor<96x80xf32, #l>, tensor<96x80xf32>
}

// 55: the same where the other reader is in a branch.
// CHECK-LABEL: @reader_in_a_branch(
// CHECK-NOT: scf.if
// CHECK: %[[R:.*]]:2 = flow.dispatch.region
// CHECK: arith.subf
// CHECK: flow.return
// CHECK: scf.if
// CHECK: linalg.generic {{.*}} ins(%[[R]]#0 :
func.func @reader_in_a_branch(%x: tensor<96x80xf32>, %y: tensor<96x80xf32>, %c: i1) -> (tensor<96x80xf32, #l>, tensor<96x80xf32>) {
  %me = tensor.empty() : tensor<96x80xf32>
  %m = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<96x80xf32>, tensor<96x80xf32>) outs(%me : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %br = scf.if %c -> tensor<96x80xf32> {
  %ne = tensor.empty() : tensor<96x80xf32>
  %n = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<96x80xf32>) outs(%ne : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
    scf.yield %n : tensor<96x80xf32>
  } else {
    scf.yield %y : tensor<96x80xf32>
  }
  %se = tensor.empty() : tensor<96x80xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m, %y : tensor<96x80xf32>, tensor<96x80xf32>) outs(%se : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %s : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p, %br : tensor<96x80xf32, #l>, tensor<96x80xf32>
}

// 56: the other reader is a region of somebody else: it stays, and the producer, too.
// CHECK-LABEL: @reader_is_a_region(
// CHECK: %[[M:.*]] = linalg.generic
// CHECK: arith.mulf
// CHECK: flow.dispatch.region
// CHECK: arith.negf
// CHECK: flow.dispatch.region
// CHECK: linalg.generic {{.*}} ins(%[[M]], %arg1 :
// CHECK: arith.subf
func.func @reader_is_a_region(%x: tensor<96x80xf32>, %y: tensor<96x80xf32>) -> (tensor<96x80xf32, #l>, tensor<96x80xf32>) {
  %me = tensor.empty() : tensor<96x80xf32>
  %m = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<96x80xf32>, tensor<96x80xf32>) outs(%me : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %r = flow.dispatch.region -> (tensor<96x80xf32>) {
  %ne = tensor.empty() : tensor<96x80xf32>
  %n = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<96x80xf32>) outs(%ne : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
    flow.return %n : tensor<96x80xf32>
  }
  %se = tensor.empty() : tensor<96x80xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m, %y : tensor<96x80xf32>, tensor<96x80xf32>) outs(%se : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %s : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p, %r : tensor<96x80xf32, #l>, tensor<96x80xf32>
}

// The other reader makes something that the packed value is computed from, behind
// an op that no region takes: moving it would turn the order round.
// CHECK-LABEL: @reader_is_needed(
// CHECK: %[[M:.*]] = linalg.generic
// CHECK: arith.mulf
// CHECK: tensor.insert_slice
// CHECK: flow.dispatch.region
// CHECK: linalg.generic {{.*}} ins(%[[M]], %
// CHECK: arith.subf
func.func @reader_is_needed(%x: tensor<96x80xf32>, %y: tensor<96x80xf32>, %z0: tensor<8x80xf32>) -> tensor<96x80xf32, #l> {
  %me = tensor.empty() : tensor<96x80xf32>
  %m = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<96x80xf32>, tensor<96x80xf32>) outs(%me : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %n = tensor.insert_slice %z0 into %m[0, 0] [8, 80] [1, 1] : tensor<8x80xf32> into tensor<96x80xf32>
  %se = tensor.empty() : tensor<96x80xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m, %n : tensor<96x80xf32>, tensor<96x80xf32>) outs(%se : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %s : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p : tensor<96x80xf32, #l>
}

// Who computes the size of the packed value from what the producer makes cannot
// be below.
// CHECK-LABEL: @size_is_needed(
// CHECK: %[[M:.*]] = linalg.generic
// CHECK: arith.addi
// CHECK: %[[N:.*]] = tensor.extract %[[M]]
// CHECK: flow.dispatch.region -> (tensor<?xindex>{%[[N]]})
// CHECK: linalg.generic {{.*}} ins(%[[M]] :
#v = #iree_encoding.testing<>
func.func @size_is_needed(%x: tensor<?xindex>, %n: index) -> tensor<?xindex, #v> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%n) : tensor<?xindex>
  %m = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%x : tensor<?xindex>) outs(%e : tensor<?xindex>) {
  ^bb0(%a: index, %z: index):
    %0 = arith.addi %a, %a : index
    linalg.yield %0 : index
  } -> tensor<?xindex>
  %k = tensor.extract %m[%c0] : tensor<?xindex>
  %f = tensor.empty(%k) : tensor<?xindex>
  %s = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%m : tensor<?xindex>) outs(%f : tensor<?xindex>) {
  ^bb0(%a: index, %z: index):
    %0 = arith.muli %a, %a : index
    linalg.yield %0 : index
  } -> tensor<?xindex>
  %p = iree_encoding.set_encoding %s : tensor<?xindex> -> tensor<?xindex, #v>
  return %p : tensor<?xindex, #v>
}

// Two packed values, each with a reader between that the other region has: one of them moves.
// CHECK-LABEL: @two_regions(
// CHECK: %[[A:.*]]:2 = flow.dispatch.region
// CHECK: math.exp
// CHECK: math.absf
// CHECK: flow.return
// CHECK: %[[B:.*]] = flow.dispatch.region
// CHECK: linalg.generic {{.*}} ins(%[[A]]#0 :
// CHECK: math.sqrt
// CHECK: flow.return
// CHECK-DAG: iree_encoding.set_encoding %[[A]]#1
// CHECK-DAG: iree_encoding.set_encoding %[[B]]
func.func @two_regions(%x: tensor<96x80xf32>) -> (tensor<96x80xf32, #l>, tensor<96x80xf32, #l>) {
  %me = tensor.empty() : tensor<96x80xf32>
  %m = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<96x80xf32>) outs(%me : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %se = tensor.empty() : tensor<96x80xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<96x80xf32>) outs(%se : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %te = tensor.empty() : tensor<96x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<96x80xf32>) outs(%te : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %s : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  %q = iree_encoding.set_encoding %t : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p, %q : tensor<96x80xf32, #l>, tensor<96x80xf32, #l>
}

// 59: what a body of the packed op asks for element by element is apart.
// CHECK-LABEL: @captured(
// CHECK: %[[T:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: flow.dispatch.region
// CHECK: tensor.extract %[[T]]
func.func @captured(%x: tensor<96x80xf32>) -> tensor<96x80xf32, #l> {
  %c0 = arith.constant 0 : index
  %te = tensor.empty() : tensor<96x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<96x80xf32>) outs(%te : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %se = tensor.empty() : tensor<96x80xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<96x80xf32>) outs(%se : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = tensor.extract %t[%c0, %c0] : tensor<96x80xf32>
    %1 = arith.addf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %s : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p : tensor<96x80xf32, #l>
}

// 60, 61: the same where it is asked for deeper in the body.
// CHECK-LABEL: @captured_deeper(
// CHECK: %[[T:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: flow.dispatch.region
// CHECK: scf.if
// CHECK-NEXT: tensor.extract %[[T]]
func.func @captured_deeper(%x: tensor<96x80xf32>) -> tensor<96x80xf32, #l> {
  %c0 = arith.constant 0 : index
  %te = tensor.empty() : tensor<96x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<96x80xf32>) outs(%te : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %se = tensor.empty() : tensor<96x80xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<96x80xf32>) outs(%se : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.cmpf ogt, %a, %a : f32
    %1 = scf.if %0 -> f32 {
      %2 = tensor.extract %t[%c0, %c0] : tensor<96x80xf32>
      scf.yield %2 : f32
    } else {
      scf.yield %a : f32
    }
    linalg.yield %1 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %s : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p : tensor<96x80xf32, #l>
}

// 62: a member of the region reads what captures it.
// CHECK-LABEL: @captured_above(
// CHECK: %[[T:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: flow.dispatch.region
// CHECK: tensor.extract %[[T]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[T]] :
// CHECK: arith.mulf
// CHECK: flow.return
func.func @captured_above(%x: tensor<96x80xf32>) -> tensor<96x80xf32, #l> {
  %c0 = arith.constant 0 : index
  %te = tensor.empty() : tensor<96x80xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<96x80xf32>) outs(%te : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %se = tensor.empty() : tensor<96x80xf32>
  %s = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<96x80xf32>) outs(%se : tensor<96x80xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = tensor.extract %t[%c0, %c0] : tensor<96x80xf32>
    %1 = arith.addf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<96x80xf32>
  %ue = tensor.empty() : tensor<96x80xf32>
  %u = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%s, %t : tensor<96x80xf32>, tensor<96x80xf32>) outs(%ue : tensor<96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<96x80xf32>
  %p = iree_encoding.set_encoding %u : tensor<96x80xf32> -> tensor<96x80xf32, #l>
  return %p : tensor<96x80xf32, #l>
}
