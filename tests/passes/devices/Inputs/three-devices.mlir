// The option says how many devices there are where the module does not, also
// where no collective names them all.
// CHECK-LABEL: @main(
// CHECK-SAME: <@dev0>}, %arg1: {{.*}}<@dev1>}, %arg2: {{.*}}<@dev2>})
// CHECK: scf.for
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> (tensor<4xf32>) {
    %s = "headrace.collective_permute"(%v) {pipelined = false, source_target_pairs = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
