// RUN: headrace-opt %s --separate-forwarded-refs | FileCheck %s

// What one successor gets twice; numbers, and what two successors get once each, stay.
// CHECK-LABEL: vm.func private @f
// CHECK-SAME: (%[[A:.*]]: !vm.ref<!hal.buffer>, %[[B:.*]]: !vm.ref<!hal.buffer>, %[[N:.*]]: i32)
// CHECK: %[[C:.*]] = vm.const.i32 1
// CHECK: %[[R:.*]] = vm.select.ref %[[C]], %[[A]], %[[A]] : !vm.ref<!hal.buffer>
// CHECK: vm.br ^bb1(%[[A]], %[[B]], %[[R]], %[[N]], %[[N]] :
// CHECK: ^bb1(%[[X:.*]]: !vm.ref<!hal.buffer>, %[[Y:.*]]: !vm.ref<!hal.buffer>, %{{.*}}: !vm.ref
// CHECK: %[[S:.*]] = vm.select.ref %{{.*}}, %[[X]], %[[X]] : !vm.ref<!hal.buffer>
// CHECK-NOT: vm.select.ref
// CHECK: vm.cond_br %{{.*}}, ^bb1(%[[X]], %[[S]], %[[Y]], %{{.*}} : {{.*}}), ^bb2(%[[Y]] : !vm.ref<!hal.buffer>)
vm.module public @m {
  vm.func private @f(%a: !vm.ref<!hal.buffer>, %b: !vm.ref<!hal.buffer>, %n: i32) {
    vm.br ^bb1(%a, %b, %a, %n, %n : !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>, i32, i32)
  ^bb1(%0: !vm.ref<!hal.buffer>, %1: !vm.ref<!hal.buffer>, %2: !vm.ref<!hal.buffer>, %3: i32, %4: i32):
    vm.cond_br %3, ^bb1(%0, %0, %1, %3, %4 : !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>, i32, i32), ^bb2(%1 : !vm.ref<!hal.buffer>)
  ^bb2(%5: !vm.ref<!hal.buffer>):
    vm.return
  }
}
