// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(widen-block-arguments)' | FileCheck %s

// Every kind of scalar: integers are extended, floats are taken as their bits;
// i64, f64, index and tensors go as they are.
// CHECK-LABEL: func.func @kinds(
// CHECK-SAME: %[[A:[a-z0-9]*]]: i1, %[[B:[a-z0-9]*]]: i8, %[[C:[a-z0-9]*]]: i32, %[[D:[a-z0-9]*]]: bf16, %[[E:[a-z0-9]*]]: f32
// CHECK-DAG: %[[WA:.*]] = arith.extsi %[[A]] : i1 to i64
// CHECK-DAG: %[[WB:.*]] = arith.extsi %[[B]] : i8 to i64
// CHECK-DAG: %[[WC:.*]] = arith.extsi %[[C]] : i32 to i64
// CHECK-DAG: %[[BD:.*]] = arith.bitcast %[[D]] : bf16 to i16
// CHECK-DAG: %[[WD:.*]] = arith.extsi %[[BD]] : i16 to i64
// CHECK-DAG: %[[BE:.*]] = arith.bitcast %[[E]] : f32 to i32
// CHECK-DAG: %[[WE:.*]] = arith.extsi %[[BE]] : i32 to i64
// CHECK: cf.br ^bb1(%[[WA]], %[[WB]], %[[WC]], %[[WD]], %[[WE]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i64, i64, i64, i64, i64, i64, f64, index, tensor<4xi8>)
// CHECK: ^bb1(%[[RA:.*]]: i64, %[[RB:.*]]: i64, %[[RC:.*]]: i64, %[[RD:.*]]: i64, %[[RE:.*]]: i64, %[[RF:.*]]: i64, %[[RG:.*]]: f64, %[[RH:.*]]: index, %[[RI:.*]]: tensor<4xi8>):
// CHECK-DAG: %[[TA:.*]] = arith.trunci %[[RA]] : i64 to i1
// CHECK-DAG: %[[TB:.*]] = arith.trunci %[[RB]] : i64 to i8
// CHECK-DAG: %[[TC:.*]] = arith.trunci %[[RC]] : i64 to i32
// CHECK-DAG: %[[SD:.*]] = arith.trunci %[[RD]] : i64 to i16
// CHECK-DAG: %[[TD:.*]] = arith.bitcast %[[SD]] : i16 to bf16
// CHECK-DAG: %[[SE:.*]] = arith.trunci %[[RE]] : i64 to i32
// CHECK-DAG: %[[TE:.*]] = arith.bitcast %[[SE]] : i32 to f32
// CHECK: "test.use"(%[[TA]], %[[TB]], %[[TC]], %[[TD]], %[[TE]], %[[RF]], %[[RG]], %[[RH]], %[[RI]])
func.func @kinds(%a: i1, %b: i8, %c: i32, %d: bf16, %e: f32, %f: i64, %g: f64, %h: index, %i: tensor<4xi8>) {
  cf.br ^next(%a, %b, %c, %d, %e, %f, %g, %h, %i : i1, i8, i32, bf16, f32, i64, f64, index, tensor<4xi8>)
^next(%a1: i1, %b1: i8, %c1: i32, %d1: bf16, %e1: f32, %f1: i64, %g1: f64, %h1: index, %i1: tensor<4xi8>):
  "test.use"(%a1, %b1, %c1, %d1, %e1, %f1, %g1, %h1, %i1) : (i1, i8, i32, bf16, f32, i64, f64, index, tensor<4xi8>) -> ()
  return
}

// A loop: the block branches to itself with its own arguments in other places.
// CHECK-LABEL: func.func @loop(
// CHECK: ^bb1(%[[I:.*]]: i64, %[[J:.*]]: i64, %{{.*}}: tensor<4xf32>):
// CHECK: %[[TJ:.*]] = arith.trunci %[[J]] : i64 to i32
// CHECK: %[[TI:.*]] = arith.trunci %[[I]] : i64 to i32
// CHECK: %[[C:.*]] = arith.cmpi slt, %[[TI]], %[[TJ]] : i32
// CHECK: %[[WJ:.*]] = arith.extsi %[[TJ]] : i32 to i64
// CHECK: %[[WI:.*]] = arith.extsi %[[TI]] : i32 to i64
// CHECK: cf.cond_br %[[C]], ^bb1(%[[WJ]], %[[WI]], %{{.*}} : i64, i64, tensor<4xf32>), ^bb2
func.func @loop(%a: i32, %b: i32, %x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^head(%a, %b, %x : i32, i32, tensor<4xf32>)
^head(%i: i32, %j: i32, %y: tensor<4xf32>):
  %c = arith.cmpi slt, %i, %j : i32
  cf.cond_br %c, ^head(%j, %i, %y : i32, i32, tensor<4xf32>), ^end
^end:
  return %y : tensor<4xf32>
}

// Both edges of one branch go to one block, with different values.
// CHECK-LABEL: func.func @both_edges(
// CHECK-SAME: %[[P:[a-z0-9]*]]: i1, %[[A:[a-z0-9]*]]: i32, %[[B:[a-z0-9]*]]: i32
// CHECK-DAG: %[[WA:.*]] = arith.extsi %[[A]] : i32 to i64
// CHECK-DAG: %[[WB:.*]] = arith.extsi %[[B]] : i32 to i64
// CHECK: cf.cond_br %[[P]], ^bb1(%[[WA]] : i64), ^bb1(%[[WB]] : i64)
// CHECK: ^bb1(%[[R:.*]]: i64):
// CHECK: %[[T:.*]] = arith.trunci %[[R]] : i64 to i32
// CHECK: return %[[T]] : i32
func.func @both_edges(%p: i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %p, ^end(%a : i32), ^end(%b : i32)
^end(%r: i32):
  return %r : i32
}

// A switch, whose default and one case go to one block; the flag stays i32.
// CHECK-LABEL: func.func @switch(
// CHECK-SAME: %[[F:[a-z0-9]*]]: i32, %[[A:[a-z0-9]*]]: i32, %[[B:[a-z0-9]*]]: i8, %[[X:[a-z0-9]*]]: index
// CHECK: cf.switch %[[F]] : i32, [
// CHECK-NEXT: default: ^bb1(%{{.*}}, %[[X]] : i64, index),
// CHECK-NEXT: 3: ^bb2(%{{.*}}, %{{.*}} : i64, i64),
// CHECK-NEXT: 5: ^bb1(%{{.*}}, %[[X]] : i64, index)
// CHECK: ^bb1(%{{.*}}: i64, %{{.*}}: index):
// CHECK: ^bb2(%[[R:.*]]: i64, %[[S:.*]]: i64):
// CHECK: arith.trunci %[[S]] : i64 to i8
// CHECK: arith.trunci %[[R]] : i64 to i32
func.func @switch(%f: i32, %a: i32, %b: i8, %x: index) -> i32 {
  cf.switch %f : i32, [
    default: ^one(%a, %x : i32, index),
    3: ^two(%a, %b : i32, i8),
    5: ^one(%f, %x : i32, index)
  ]
^one(%r: i32, %y: index):
  return %r : i32
^two(%s: i32, %t: i8):
  %u = arith.extsi %t : i8 to i32
  %v = arith.addi %s, %u : i32
  return %v : i32
}

// A block that nothing branches to, and functions without blocks.
// CHECK-LABEL: func.func @unreachable(
// CHECK: ^bb1(%[[A:.*]]: i64):
// CHECK: %[[T:.*]] = arith.trunci %[[A]] : i64 to i32
// CHECK: return %[[T]]
func.func @unreachable(%a: i32) -> i32 {
  return %a : i32
^never(%b: i32):
  return %b : i32
}

// CHECK: func.func private @declared(i32) -> i32
func.func private @declared(%a: i32) -> i32

// What passes values between loops that are loops still is left alone.
// CHECK-LABEL: func.func @structured(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
func.func @structured(%a: i32, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> i32 {
    %c = arith.addi %b, %b : i32
    scf.yield %c : i32
  }
  return %r : i32
}
