// RUN: headrace-opt %s --pass-pipeline='builtin.module(place-constants)' --split-input-file | FileCheck %s

// Each device loads its own copy of a constant that devices would share.
// CHECK-LABEL: module @table
// CHECK-DAG: util.global private @[[G0:.*]] {stream.affinity = #hal.device.promise<@dev0>} = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: util.global private @[[G1:.*]] {stream.affinity = #hal.device.promise<@dev1>} = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: func.func @main
// CHECK-DAG: %[[C0:.*]] = util.global.load @[[G0]] : tensor<2xf32>
// CHECK-DAG: %[[C1:.*]] = util.global.load @[[G1]] : tensor<2xf32>
// CHECK: arith.addf %arg0, %[[C0]] :
// CHECK: arith.addf %[[C1]], %arg1 :
module @table {
  func.func private @constant_0_dev0()
  func.func @main(%a: tensor<2xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %b: tensor<2xf32> {iree.abi.affinity = #hal.device.promise<@dev1>}) -> (tensor<2xf32>, tensor<2xf32>) {
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = arith.addf %a, %c : tensor<2xf32>
    %1 = arith.addf %c, %b : tensor<2xf32>
    return %0, %1 : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// What is computed of it is computed for each device; IREE does that once.
// CHECK-LABEL: module @computed
// CHECK-DAG: %[[C0:.*]] = util.global.load @constant_{{[01]}}_dev0
// CHECK-DAG: %[[C1:.*]] = util.global.load @constant_{{[01]}}_dev1
// CHECK-DAG: %[[N0:.*]] = arith.negf %[[C0]] :
// CHECK-DAG: %[[N1:.*]] = arith.negf %[[C1]] :
// CHECK-DAG: %[[E0:.*]] = math.exp %[[N0]] :
// CHECK-DAG: %[[E1:.*]] = math.exp %[[N1]] :
// CHECK: arith.addf %arg0, %[[E0]] :
// CHECK: arith.addf %arg1, %[[E1]] :
module @computed {
  func.func @main(%a: tensor<2xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %b: tensor<2xf32> {iree.abi.affinity = #hal.device.promise<@dev1>}) -> (tensor<2xf32>, tensor<2xf32>) {
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %n = arith.negf %c : tensor<2xf32>
    %x = math.exp %n : tensor<2xf32>
    %0 = arith.addf %a, %x : tensor<2xf32>
    %1 = arith.addf %b, %x : tensor<2xf32>
    return %0, %1 : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// An iota stays where IREE makes it within its user; a reduction's is sent,
// and so is what is computed of one.
// CHECK-LABEL: func.func @iota
// CHECK: %[[I:.*]] = linalg.generic {{.*}} outs
// CHECK: %[[I0:.*]] = flow.tensor.transfer %[[I]] : tensor<4xi32> to #hal.device.promise<@dev0>
// CHECK: %[[N:.*]] = arith.negf
// CHECK: %[[N1:.*]] = flow.tensor.transfer %[[N]] : tensor<4xf32> to #hal.device.promise<@dev1>
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[I]] :
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} ins(%[[I0]] :
// CHECK: arith.addf %arg1, %[[N1]] :
#map = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
func.func @iota(%a: tensor<4xi32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %b: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@dev1>}, %s: tensor<i32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> (tensor<4xi32>, tensor<i32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xi32>
  %f = tensor.empty() : tensor<4xf32>
  %i = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e : tensor<4xi32>) {
  ^bb0(%out: i32):
    %x = linalg.index 0 : index
    %y = arith.index_cast %x : index to i32
    linalg.yield %y : i32
  } -> tensor<4xi32>
  %j = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%i : tensor<4xi32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %y = arith.sitofp %in : i32 to f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %n = arith.negf %j : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%a, %i : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%in: i32, %k: i32, %out: i32):
    %y = arith.addi %in, %k : i32
    linalg.yield %y : i32
  } -> tensor<4xi32>
  %1 = linalg.generic {indexing_maps = [#map, #none], iterator_types = ["reduction"]} ins(%i : tensor<4xi32>) outs(%s : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %y = arith.addi %in, %out : i32
    linalg.yield %y : i32
  } -> tensor<i32>
  %2 = arith.addf %b, %n : tensor<4xf32>
  return %0, %1, %2 : tensor<4xi32>, tensor<i32>, tensor<4xf32>
}

// -----

// IREE keeps i1 in bytes but for transfers, so bytes are sent.
// CHECK-LABEL: func.func @mask
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: flow.tensor.transfer %{{.*}} : tensor<4xi8> to #hal.device.promise<@dev0>
// CHECK: arith.trunci %{{.*}} : i8 to i1
// CHECK: arith.andi %arg0, %{{.*}} : tensor<4xi1>
func.func @mask(%a: tensor<4xi1> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> tensor<4xi1> {
  %z = arith.constant dense<0> : tensor<4xi32>
  %c = arith.cmpi eq, %z, %z : tensor<4xi32>
  %0 = arith.andi %a, %c : tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// A broadcast is made on each device, of what is sent.
// CHECK-LABEL: func.func @broadcast
// CHECK: %[[N:.*]] = arith.negf
// CHECK: %[[N0:.*]] = flow.tensor.transfer %[[N]] : tensor<4xf32> to #hal.device.promise<@dev0>
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[N0]] : tensor<4xf32>)
// CHECK: arith.addf %arg0, %[[B]] : tensor<2x4xf32>
func.func @broadcast(%a: tensor<2x4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> tensor<2x4xf32> {
  %z = arith.constant dense<1.0> : tensor<4xf32>
  %n = arith.negf %z : tensor<4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x4xf32>
  %0 = arith.addf %a, %b : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// What a loop carries stays on the device it starts on; in the loop, too,
// devices have their own. Sent constants are there already.
// CHECK-LABEL: func.func @loop
// CHECK-DAG: %[[C0:.*]] = util.global.load @constant_{{[01]}}_dev0
// CHECK-DAG: %[[C1:.*]] = util.global.load @constant_{{[01]}}_dev1
// CHECK: %[[T:.*]] = flow.tensor.transfer %[[C1]] : tensor<2xf32> to #hal.device.promise<@dev1>
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %arg0, %[[Y:.*]] = %[[T]])
// CHECK: arith.addf %[[X]], %[[C0]] :
// CHECK: arith.addf %[[Y]], %[[C1]] :
func.func @loop(%a: tensor<2xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %n: index) -> (tensor<2xf32>, tensor<2xf32>) {
  %i = arith.constant 0 : index
  %k = arith.constant 1 : index
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %t = flow.tensor.transfer %c : tensor<2xf32> to #hal.device.promise<@dev1>
  %r:2 = scf.for %j = %i to %n step %k iter_args(%x = %a, %y = %t) -> (tensor<2xf32>, tensor<2xf32>) {
    %p = arith.addf %x, %c : tensor<2xf32>
    %q = arith.addf %y, %c : tensor<2xf32>
    scf.yield %p, %q : tensor<2xf32>, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// What a dispatch region makes within itself is where the region is, packed or not.
// CHECK-LABEL: @region
// CHECK-NOT: flow.tensor.transfer
// CHECK: return
#packed = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]>
func.func @region(%a: tensor<8x4xf32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> tensor<8x4xf32, #packed> {
  %0 = flow.dispatch.region -> (tensor<8x4xf32, #packed>) {
    %e = tensor.empty() : tensor<8x4xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
    ^bb0(%x: f32, %o: f32):
      %2 = math.exp %x : f32
      linalg.yield %2 : f32
    } -> tensor<8x4xf32>
    %3 = iree_encoding.set_encoding %1 : tensor<8x4xf32> -> tensor<8x4xf32, #packed>
    flow.return %3 : tensor<8x4xf32, #packed>
  }
  return %0 : tensor<8x4xf32, #packed>
}

// -----

// What is put together of numbers alone is put together on each device, and what is computed of that, too; a part of
// what numbers make is sent.
// CHECK-LABEL: @put_together(
// CHECK-DAG: %[[A:.*]] = flow.tensor.transfer %extracted_slice : tensor<4x1xi32> to #hal.device.promise<@dev0>
// CHECK-DAG: %[[B:.*]] = flow.tensor.transfer %extracted_slice : tensor<4x1xi32> to #hal.device.promise<@dev1>
// CHECK-DAG: %[[P:.*]] = tensor.insert_slice %[[A]] into
// CHECK-DAG: %[[Q:.*]] = tensor.insert_slice %[[B]] into
// CHECK-DAG: flow.tensor.transfer %[[P]] : tensor<4x2xi32> to #hal.device.promise<@dev0>
// CHECK-DAG: flow.tensor.transfer %[[Q]] : tensor<4x2xi32> to #hal.device.promise<@dev1>
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @put_together() -> (tensor<4x2xi32>, tensor<4x2xi32>) {
  %e = tensor.empty() : tensor<4x2xi32>
  %x = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x2xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<4x2xi32>
  %s = tensor.extract_slice %x[0, 1] [4, 1] [1, 1] : tensor<4x2xi32> to tensor<4x1xi32>
  %p = tensor.insert_slice %s into %e[0, 0] [4, 1] [1, 1] : tensor<4x1xi32> into tensor<4x2xi32>
  %a = flow.tensor.transfer %p : tensor<4x2xi32> to #hal.device.promise<@dev0>
  %b = flow.tensor.transfer %p : tensor<4x2xi32> to #hal.device.promise<@dev1>
  return %a, %b : tensor<4x2xi32>, tensor<4x2xi32>
}

// -----

// What is on a device already stays there, and a slice alone is sent.
// CHECK-LABEL: @put_together_there(
// CHECK: %[[X:.*]] = linalg.generic
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]]
// CHECK: flow.tensor.transfer %[[S]]
// CHECK: %[[I:.*]] = tensor.insert_slice %arg0 into %arg1
// CHECK-NOT: tensor.insert_slice
// CHECK: flow.tensor.transfer %[[I]] : tensor<4x2xi32> to #hal.device.promise<@dev1>
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @put_together_there(%r: tensor<4x1xi32> {iree.abi.affinity = #hal.device.promise<@dev0>}, %t: tensor<4x2xi32> {iree.abi.affinity = #hal.device.promise<@dev0>}) -> (tensor<4x1xi32>, tensor<4x2xi32>) {
  %e = tensor.empty() : tensor<4x2xi32>
  %x = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x2xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<4x2xi32>
  %s = tensor.extract_slice %x[0, 1] [4, 1] [1, 1] : tensor<4x2xi32> to tensor<4x1xi32>
  %a = flow.tensor.transfer %s : tensor<4x1xi32> to #hal.device.promise<@dev0>
  %p = tensor.insert_slice %r into %t[0, 0] [4, 1] [1, 1] : tensor<4x1xi32> into tensor<4x2xi32>
  %b = flow.tensor.transfer %p : tensor<4x2xi32> to #hal.device.promise<@dev1>
  return %a, %b : tensor<4x1xi32>, tensor<4x2xi32>
}
