// RUN: headrace-compile %s --emit=mlir -o %t.mlir --report=%t.json --dump-ir=%t.dir --remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: FileCheck %s --check-prefix=RAISED --input-file=%t.dir/004-raise-stablehlo.mlir
// RUN: headrace-compile %s --emit=mlir -o - --collectives=channel | FileCheck %s --check-prefix=CHANNEL
// RUN: headrace-compile - --emit=mlir -o - --target=gfx950 < %s | FileCheck %s --check-prefix=CHANNEL

// What IREE is given: arguments device by device, metadata, one byte per element on the wire.
// CHECK: func.func public @main
// CHECK-SAME: tensor<2x4xbf16> {iree.abi.affinity = #hal.device.promise<@dev0>}
// CHECK-SAME: tensor<2x4xbf16> {iree.abi.affinity = #hal.device.promise<@dev1>}
// CHECK-SAME: iree.reflection = {headrace.metadata =
// CHECK-SAME: \22devices\22: 2
// CHECK: flow.tensor.transfer {{.*}} : tensor<2x4xf8E4M3FN> to #hal.device.promise<@dev
// CHECK-NOT: stablehlo.
// CHECK-NOT: "headrace.

// REPORT: "op": "all_gather"
// REPORT-NEXT: "element_type": "f8E4M3FN"
// REPORT-NEXT: "bytes": 8
// REPORT-NEXT: "trips": 1
// REPORT: "wire_bytes": 8
// REPORT: "name": "commute-collectives"
// REPORT: "target": "cpu"

// RAISED: "headrace.quantize"
// RAISED: "headrace.dequantize"
// RAISED: "headrace.all_gather"{{.*}} : (tensor<2x4xbf16>) -> tensor<4x4xbf16>

// CHANNEL: flow.collective.all_{{(gather|to_all)}} {{[us]}}i8
// CHANNEL-NOT: #hal.device.promise

module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4xbf16> {mhlo.sharding = "{devices=[2,1]<=[2]}"}) -> (tensor<4x4xbf16> {mhlo.sharding = "{replicated}"}) {
    %s = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %lo = stablehlo.constant dense<-4.480000e+02> : tensor<2x4xbf16>
    %hi = stablehlo.constant dense<4.480000e+02> : tensor<2x4xbf16>
    %scale = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<bf16>) -> tensor<2x4xbf16>
    %0 = stablehlo.divide %arg0, %scale : tensor<2x4xbf16>
    %1 = stablehlo.clamp %lo, %0, %hi : tensor<2x4xbf16>
    %2 = stablehlo.convert %1 : (tensor<2x4xbf16>) -> tensor<2x4xf8E4M3FN>
    %3 = stablehlo.convert %2 : (tensor<2x4xf8E4M3FN>) -> tensor<2x4xbf16>
    %4 = stablehlo.multiply %3, %scale : tensor<2x4xbf16>
    %5 = "stablehlo.all_gather"(%4) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2x4xbf16>) -> tensor<4x4xbf16>
    return %5 : tensor<4x4xbf16>
  }
}
