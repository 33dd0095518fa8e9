// RUN: headrace-opt %s --pass-pipeline='builtin.module(own-buffers)' --split-input-file | FileCheck %s

// A tensor that is put together from parts starts at an allocation on its device.
// CHECK-LABEL: func.func @parts
// CHECK: %[[O:.*]] = flow.tensor.alloca : tensor<5xf32> attributes {stream.affinity = #hal.device.promise<@dev0>}
// CHECK: %[[A:.*]] = tensor.insert_slice %arg0 into %[[O]][0] [2] [1] : tensor<2xf32> into tensor<5xf32>
// CHECK: %[[B:.*]] = tensor.insert_slice %arg1 into %[[A]][2] [3] [1] : tensor<3xf32> into tensor<5xf32>
// CHECK: %[[P:.*]] = flow.tensor.alloca : tensor<5xf32> attributes {stream.affinity = #hal.device.promise<@dev1>}
// CHECK: %[[C:.*]] = tensor.insert_slice %arg2 into %[[P]][1] [2] [1]
// CHECK: return %[[B]], %[[C]]
func.func @parts(%a: tensor<2xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %b: tensor<3xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %c: tensor<2xf32> {iree.abi.affinity = #hal.device.promise<@dev1>}) -> (tensor<5xf32>, tensor<5xf32>) {
  %0 = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %e = tensor.empty() : tensor<5xf32>
  %1 = tensor.insert_slice %c into %e[1] [2] [1] : tensor<2xf32> into tensor<5xf32>
  return %0, %1 : tensor<5xf32>, tensor<5xf32>
}

// -----

// Two that start from one empty tensor on one device have two; also where it was sent there.
// CHECK-LABEL: func.func @two_of_one
// CHECK: %[[E:.*]] = flow.tensor.alloca : tensor<5xi1>
// CHECK: tensor.insert_slice %arg0 into %[[E]][0]
// CHECK: %[[F:.*]] = flow.tensor.alloca : tensor<5xi1>
// CHECK: tensor.insert_slice %arg1 into %[[F]][0]
// CHECK: %[[G:.*]] = flow.tensor.alloca : tensor<5xi1>
// CHECK: tensor.insert_slice %arg1 into %[[G]][2]
func.func @two_of_one(%a: tensor<2xi1> {iree.abi.affinity = #hal.device.promise<@dev0>}, %b: tensor<2xi1> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> (tensor<5xi1>, tensor<5xi1>, tensor<5xi1>) {
  %e = tensor.empty() : tensor<5xi1>
  %0 = tensor.insert_slice %a into %e[0] [2] [1] : tensor<2xi1> into tensor<5xi1>
  %1 = tensor.insert_slice %b into %e[0] [2] [1] : tensor<2xi1> into tensor<5xi1>
  %s = flow.tensor.transfer %e : tensor<5xi1> to #hal.device.promise<@dev0>
  %2 = tensor.insert_slice %b into %s[2] [2] [1] : tensor<2xi1> into tensor<5xi1>
  return %0, %1, %2 : tensor<5xi1>, tensor<5xi1>, tensor<5xi1>
}

// -----

// Dynamic sizes, along the dimension and beside it.
// CHECK-LABEL: func.func @dynamic_parts
// CHECK: %[[N:.*]] = tensor.dim %arg0, %{{.*}} : tensor<?x?xf32>
// CHECK: flow.tensor.alloca : tensor<?x?xf32>{%{{.*}}, %{{.*}}} attributes {stream.affinity = #hal.device.promise<@dev0>}
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[0, 0] [%{{.*}}, %{{.*}}] [1, 1]
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[0, %{{.*}}] [%{{.*}}, 2] [1, 1] : tensor<?x2xf32> into tensor<?x?xf32>
func.func @dynamic_parts(%a: tensor<?x?xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %b: tensor<?x2xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> tensor<?x?xf32> {
  %0 = tensor.concat dim(1) %a, %b : (tensor<?x?xf32>, tensor<?x2xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// What is sent may be sent after the update: the update has a copy, in two
// parts, as one of the whole would be IREE's to leave out.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK: %[[Z:.*]] = math.exp
// CHECK: flow.tensor.transfer %[[Z]]
// CHECK: %[[O:.*]] = flow.tensor.alloca : tensor<4x6xf32> attributes {stream.affinity = #hal.device.promise<@dev0>}
// CHECK: %[[P:.*]] = tensor.extract_slice %[[Z]][0, 0] [1, 6] [1, 1]
// CHECK: %[[A:.*]] = tensor.insert_slice %[[P]] into %[[O]][0, 0] [1, 6] [1, 1]
// CHECK: %[[Q:.*]] = tensor.extract_slice %[[Z]][1, 0] [3, 6] [1, 1]
// CHECK: %[[B:.*]] = tensor.insert_slice %[[Q]] into %[[A]][1, 0] [3, 6] [1, 1]
// CHECK: %[[Y:.*]] = tensor.insert_slice %arg1 into %[[B]][1, 0] [2, 6] [1, 1]
// CHECK: return %[[Y]]
func.func @read_elsewhere(%x: tensor<4x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %u: tensor<2x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %z = math.exp %x : tensor<4x6xf32>
  %s = flow.tensor.transfer %z : tensor<4x6xf32> to #hal.device.promise<@dev1>
  %y = tensor.insert_slice %u into %z[1, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>
  return %y, %s : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// Two updates of one value, one of them through a view: both have copies.
// CHECK-LABEL: func.func @two_updates
// CHECK-COUNT-2: flow.tensor.alloca
// CHECK-NOT: flow.tensor.alloca
func.func @two_updates(%x: tensor<4x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %u: tensor<2x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %v: tensor<12xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> (tensor<4x6xf32>, tensor<24xf32>) {
  %z = math.exp %x : tensor<4x6xf32>
  %y = tensor.insert_slice %u into %z[1, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>
  %c = tensor.collapse_shape %z [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %w = tensor.insert_slice %v into %c[0] [12] [1] : tensor<12xf32> into tensor<24xf32>
  return %y, %w : tensor<4x6xf32>, tensor<24xf32>
}

// -----

// A scatter, and a reduction that goes on from a value, update in place as well.
// CHECK-LABEL: func.func @destinations
// CHECK: %[[Z:.*]] = math.exp
// CHECK: flow.tensor.alloca
// CHECK: linalg.matmul ins(%arg1, %arg1 : {{.*}}) outs(%[[C:.*]] :
// CHECK: flow.tensor.alloca
// CHECK: iree_linalg_ext.scatter
func.func @destinations(%x: tensor<4x4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %a: tensor<4x4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %i: tensor<2x1xi32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %u: tensor<2x4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %z = math.exp %x : tensor<4x4xf32>
  %m = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %i : tensor<2x4xf32>, tensor<2x1xi32>) outs(%z : tensor<4x4xf32>) {
  ^bb0(%new: f32, %old: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<4x4xf32>
  return %m, %s, %z : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// What a dispatch region goes on from is copied before the region.
// CHECK-LABEL: func.func @region
// CHECK: flow.tensor.alloca
// CHECK: %[[C:.*]] = tensor.insert_slice {{.*}}[1, 0] [3, 4] [1, 1]
// CHECK: flow.dispatch.region
// CHECK-NOT: flow.tensor.alloca
// CHECK: linalg.matmul {{.*}} outs(%[[C]] :
func.func @region(%x: tensor<4x4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %a: tensor<4x4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %z = math.exp %x : tensor<4x4xf32>
  %r = flow.dispatch.region -> (tensor<4x4xf32>) {
    %m = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    flow.return %m : tensor<4x4xf32>
  }
  return %r, %z : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Where no dimension can be cut, the copy is the first rows of a larger tensor, of
// which IREE does not know that they are those that were put there.
// CHECK-LABEL: func.func @not_cut
// CHECK: %[[J:.*]] = util.optimization_barrier
// CHECK: %[[I:.*]] = util.optimization_barrier
// CHECK: %[[O:.*]] = flow.tensor.alloca : tensor<2x1xf32>
// CHECK: %[[A:.*]] = tensor.insert_slice %{{.*}} into %[[O]][0, 0] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<2x1xf32>
// CHECK: %[[C:.*]] = tensor.extract_slice %[[A]][%[[I]], 0] [1, 1] [1, 1] : tensor<2x1xf32> to tensor<1x1xf32>
// CHECK: linalg.matmul {{.*}} outs(%[[C]] :
// CHECK: flow.tensor.alloca : tensor<?x?xf32>
// CHECK: tensor.extract_slice %{{.*}}[%[[J]], 0]
// CHECK: tensor.insert_slice %arg2 into
func.func @not_cut(%x: tensor<1x1xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %d: tensor<?x?xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %u: tensor<1x2xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> (tensor<1x1xf32>, tensor<1x1xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %z = math.exp %x : tensor<1x1xf32>
  %a = linalg.matmul ins(%x, %x : tensor<1x1xf32>, tensor<1x1xf32>) outs(%z : tensor<1x1xf32>) -> tensor<1x1xf32>
  %e = math.exp %d : tensor<?x?xf32>
  %y = tensor.insert_slice %u into %e[0, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<?x?xf32>
  return %a, %z, %y, %e : tensor<1x1xf32>, tensor<1x1xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// Two values of a loop that start from one: the branch brings copies, once.
// In the loop each is updated in place.
// CHECK-LABEL: func.func @loop
// CHECK-COUNT-2: flow.tensor.alloca
// CHECK: cf.br ^bb1
// CHECK-NOT: flow.tensor.alloca
func.func @loop(%x: tensor<4x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %u: tensor<1x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %n: index) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = math.exp %x : tensor<4x6xf32>
  cf.br ^head(%c0, %z, %z : index, tensor<4x6xf32>, tensor<4x6xf32>)
^head(%i: index, %a: tensor<4x6xf32>, %b: tensor<4x6xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^exit
^body:
  %p = tensor.insert_slice %u into %a[%i, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<4x6xf32>
  %q = tensor.insert_slice %u into %b[%i, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<4x6xf32>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %p, %q : index, tensor<4x6xf32>, tensor<4x6xf32>)
^exit:
  return %a, %b : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// What one trip sends, the next may write over: the branch back brings a copy.
// CHECK-LABEL: func.func @sent_in_a_loop
// CHECK: %[[P:.*]] = tensor.insert_slice %arg1 into
// CHECK: flow.tensor.transfer %[[P]]
// CHECK: flow.tensor.alloca
// CHECK: cf.br ^bb1
func.func @sent_in_a_loop(%x: tensor<4x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %u: tensor<1x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %s: tensor<4x6xf32> {iree.abi.affinity = #hal.device.promise<@dev1>}, %n: index) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = math.exp %x : tensor<4x6xf32>
  cf.br ^head(%c0, %z, %s : index, tensor<4x6xf32>, tensor<4x6xf32>)
^head(%i: index, %a: tensor<4x6xf32>, %b: tensor<4x6xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^exit
^body:
  %p = tensor.insert_slice %u into %a[%i, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<4x6xf32>
  %t = flow.tensor.transfer %p : tensor<4x6xf32> to #hal.device.promise<@dev1>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %p, %t : index, tensor<4x6xf32>, tensor<4x6xf32>)
^exit:
  return %a, %b : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// Not where the next update is computed from what was sent: a cache that is
// gathered in each trip stays in place.
// CHECK-LABEL: func.func @cache
// CHECK-NOT: flow.tensor.alloca
// CHECK: return
func.func @cache(%x: tensor<4x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %u: tensor<1x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %n: index) -> tensor<4x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = math.exp %x : tensor<4x6xf32>
  cf.br ^head(%c0, %z, %u : index, tensor<4x6xf32>, tensor<1x6xf32>)
^head(%i: index, %a: tensor<4x6xf32>, %v: tensor<1x6xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^exit
^body:
  %p = tensor.insert_slice %v into %a[%i, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<4x6xf32>
  %t = flow.tensor.transfer %p : tensor<4x6xf32> to #hal.device.promise<@dev1>
  %e = math.exp %t : tensor<4x6xf32>
  %r = tensor.extract_slice %e[0, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<1x6xf32>
  %w = flow.tensor.transfer %r : tensor<1x6xf32> to #hal.device.promise<@dev0>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %p, %w : index, tensor<4x6xf32>, tensor<1x6xf32>)
^exit:
  return %a : tensor<4x6xf32>
}

// -----

// No copy: who reads gives what is written.
// CHECK-LABEL: func.func @ordered
// CHECK-NOT: flow.tensor.alloca
// CHECK: return
func.func @ordered(%x: tensor<4x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> tensor<4x6xf32> {
  %z = math.exp %x : tensor<4x6xf32>
  %s = flow.tensor.transfer %z : tensor<4x6xf32> to #hal.device.promise<@dev1>
  %e = math.exp %s : tensor<4x6xf32>
  %b = flow.tensor.transfer %e : tensor<4x6xf32> to #hal.device.promise<@dev0>
  %u = tensor.extract_slice %b[0, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  %y = tensor.insert_slice %u into %z[1, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// No copy of what IREE never writes into: arguments, which are the caller's, and constants.
// CHECK-LABEL: module @never_written
// CHECK-NOT: flow.tensor.alloca
// CHECK: return
module @never_written {
  util.global private @g {stream.affinity = #hal.device.promise<@dev0>} = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  func.func @main(%x: tensor<3xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %u: tensor<2xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %g = util.global.load @g : tensor<3xf32>
    %c = arith.constant dense<1.0> : tensor<3xf32>
    %0 = tensor.insert_slice %u into %x[0] [2] [1] : tensor<2xf32> into tensor<3xf32>
    %1 = tensor.insert_slice %u into %x[1] [2] [1] : tensor<2xf32> into tensor<3xf32>
    %2 = tensor.insert_slice %u into %g[0] [2] [1] : tensor<2xf32> into tensor<3xf32>
    %3 = tensor.insert_slice %u into %g[1] [2] [1] : tensor<2xf32> into tensor<3xf32>
    %4 = tensor.insert_slice %u into %c[0] [2] [1] : tensor<2xf32> into tensor<3xf32>
    %5 = tensor.insert_slice %u into %c[1] [2] [1] : tensor<2xf32> into tensor<3xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
}

// -----

// No copy where control goes one way or the other.
// CHECK-LABEL: func.func @either
// CHECK-NOT: flow.tensor.alloca
// CHECK: return
func.func @either(%x: tensor<4x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %u: tensor<2x6xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %c: i1) -> tensor<4x6xf32> {
  %z = math.exp %x : tensor<4x6xf32>
  cf.cond_br %c, ^a, ^b
^a:
  %y = tensor.insert_slice %u into %z[1, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>
  cf.br ^end(%y : tensor<4x6xf32>)
^b:
  %w = math.exp %z : tensor<4x6xf32>
  cf.br ^end(%w : tensor<4x6xf32>)
^end(%r: tensor<4x6xf32>):
  return %r : tensor<4x6xf32>
}

// -----

// Not on a certain device: IREE's to place, as it is.
// CHECK-LABEL: func.func @nowhere
// CHECK: tensor.concat
// CHECK: tensor.empty
func.func @nowhere(%a: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tensor.concat dim(0) %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %1 = tensor.insert_slice %a into %e[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What is sent of one value to one device is one buffer, whatever views stand
// between: both sorts have a copy of the iota.
// CHECK-LABEL: func.func @sent_twice
// CHECK-COUNT-2: flow.tensor.alloca
// CHECK: iree_linalg_ext.sort
// CHECK-COUNT-2: flow.tensor.alloca
// CHECK: iree_linalg_ext.sort
#id = affine_map<(i, j) -> (i, j)>
func.func @sent_twice(%x: tensor<2x4xi32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %n: tensor<2x4xi32>) -> (tensor<2x4xi32>, tensor<1x2x4xi32>) {
  %i = math.absi %n : tensor<2x4xi32>
  %k = math.absi %x : tensor<2x4xi32>
  %s = flow.tensor.transfer %i : tensor<2x4xi32> to #hal.device.promise<@dev0>
  %a:2 = iree_linalg_ext.sort dimension(1) outs(%k, %s : tensor<2x4xi32>, tensor<2x4xi32>) {
  ^bb0(%p: i32, %q: i32, %v: i32, %w: i32):
    %c = arith.cmpi slt, %p, %q : i32
    iree_linalg_ext.yield %c : i1
  } -> tensor<2x4xi32>, tensor<2x4xi32>
  %e = tensor.expand_shape %i [[0, 1], [2]] output_shape [1, 2, 4] : tensor<2x4xi32> into tensor<1x2x4xi32>
  %t = flow.tensor.transfer %e : tensor<1x2x4xi32> to #hal.device.promise<@dev0>
  %f = tensor.expand_shape %k [[0, 1], [2]] output_shape [1, 2, 4] : tensor<2x4xi32> into tensor<1x2x4xi32>
  %b:2 = iree_linalg_ext.sort dimension(2) outs(%f, %t : tensor<1x2x4xi32>, tensor<1x2x4xi32>) {
  ^bb0(%p: i32, %q: i32, %v: i32, %w: i32):
    %c = arith.cmpi slt, %p, %q : i32
    iree_linalg_ext.yield %c : i1
  } -> tensor<1x2x4xi32>, tensor<1x2x4xi32>
  return %a#1, %b#1 : tensor<2x4xi32>, tensor<1x2x4xi32>
}
