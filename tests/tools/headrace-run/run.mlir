// RUN: rm -rf %t && mkdir %t
// RUN: python -c "import sys, numpy; numpy.savez(sys.argv[1], numpy.array([[1, 2], [3, 4]], 'f4'))" %t/in.npz
// RUN: python -c "import sys, numpy; numpy.savez(sys.argv[1], numpy.array([[4, 6], [4, 6]], 'f4'))" %t/want.npz
// RUN: headrace-run %s --inputs=%t/in.npz --expect=%t/want.npz | FileCheck %s
// RUN: headrace-compile %s -o %t/sum.vmfb
// RUN: headrace-run %t/sum.vmfb --inputs=%t/in.npz --expect=%t/want.npz --outputs=%t/out.npz --devices=2 | FileCheck %s
// RUN: headrace-run %t/sum.vmfb --inputs=%t/in.npz --expect=%t/out.npz --rtol=0 | FileCheck %s --check-prefix=EXACT
// RUN: not headrace-run %t/sum.vmfb --inputs=%t/in.npz --expect=%t/in.npz 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: not headrace-run %t/sum.vmfb --inputs=%t/in.npz --devices=3 2>&1 | FileCheck %s --check-prefix=DEVICES
// RUN: not headrace-run %s --inputs=%t/in.npz --devices=3 2>&1 | FileCheck %s --check-prefix=MODULE

// CHECK: result0: tensor<2xf32> on 2 devices, error 0, tolerance 7.63e-06: ok
// EXACT: error 0, tolerance 0: ok
// OFF: result0: tensor<2xf32> on 2 devices, error 1, tolerance 7.63e-06: FAILED
// OFF-NEXT: note: result0 is off most at [0, 1] (device first): 6, expected 2; 4 of 4 elements are over the tolerance
// OFF-NEXT: note: result0 is wrong: rounding explains an error of at most 2.01e-05 (2 roundings to f32 on the way to it); are
// OFF-NEXT: note: if they are, please report it, with the model that it was compiled from (MODEL.mlir), {{.*}}sum.vmfb, {{.*}}in.npz, {{.*}}in.npz, the name of
// OFF-NEXT: note:   headrace-run --version
// OFF-NEXT: note:   headrace-compile MODEL.mlir --emit=mlir -o handed-over.mlir
// OFF-NEXT: note:   headrace-run MODEL.mlir --inputs={{.*}}in.npz --expect={{.*}}in.npz
// DEVICES: error: '{{.*}}sum.vmfb' was compiled for 2 devices, not for 3
// MODULE: error: the module is for 2 devices

module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
