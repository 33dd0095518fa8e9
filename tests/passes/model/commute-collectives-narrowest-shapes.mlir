// RUN: headrace-opt %s --pass-pipeline='builtin.module(commute-collectives)' | FileCheck %s

// Shapes at the edges of commute-collectives' moves: unit and zero dimensions, dynamic
// sizes, scalars, blocks; and values that all devices have alike, in other shapes.

module attributes {headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32} {
// A gathered unit dimension is one of the parts' only: the reshape puts it in front.
// CHECK-LABEL: @unit(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%arg0) {dim = 0 : i64, {{.*}} : (tensor<8xi8>) -> tensor<32xi8>
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %[[G]] : (tensor<32xi8>) -> tensor<32xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[W]] : (tensor<32xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[R]]
func.func @unit(%x: tensor<8xi8>) -> tensor<4x8xf32> {
  %w = stablehlo.convert %x : (tensor<8xi8>) -> tensor<8xf32>
  %r = stablehlo.reshape %w : (tensor<8xf32>) -> tensor<1x8xf32>
  %g = "headrace.all_gather"(%r) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<1x8xf32>) -> tensor<4x8xf32>
  return %g : tensor<4x8xf32>
}

// Rank 0: there is nothing to gather along, but something to permute.
// CHECK-LABEL: @scalar(
// CHECK-NEXT: %[[C:.*]] = stablehlo.convert %arg0 : (tensor<f32>) -> tensor<bf16>
// CHECK-NEXT: %[[G:.*]] = "headrace.collective_permute"(%[[C]]) {{.*}} : (tensor<bf16>) -> tensor<bf16>
// CHECK-NEXT: return %[[G]]
func.func @scalar(%x: tensor<f32>) -> tensor<bf16> {
  %g = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3],[3,0]]> : tensor<4x2xi64>} : (tensor<f32>) -> tensor<f32>
  %c = stablehlo.convert %g : (tensor<f32>) -> tensor<bf16>
  return %c : tensor<bf16>
}

// Of no elements nothing is sent in any place.
// CHECK-LABEL: @empty(
// CHECK-NEXT: "headrace.all_gather"(%arg0) {{.*}} -> tensor<4x0xf32>
// CHECK-NEXT: stablehlo.reshape
// CHECK-NEXT: stablehlo.convert
func.func @empty(%x: tensor<1x0xf32>) -> tensor<2x0xbf16> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<1x0xf32>) -> tensor<4x0xf32>
  %r = stablehlo.reshape %g : (tensor<4x0xf32>) -> tensor<2x0xf32>
  %c = stablehlo.convert %r : (tensor<2x0xf32>) -> tensor<2x0xbf16>
  return %c : tensor<2x0xbf16>
}

// Dynamic sizes, of the operand, the result, or what is behind: how many bytes are sent is not known.
// CHECK-LABEL: @dynamic(
// CHECK: "headrace.all_gather"(%arg0) {{.*}} : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK: "headrace.all_gather"(%{{.*}}) {{.*}} : (tensor<8x4xf32>) -> tensor<?x4xf32>
// CHECK: "headrace.all_gather"(%arg2) {{.*}} : (tensor<8x4xf32>) -> tensor<32x4xf32>
func.func @dynamic(%x: tensor<?x4xf32>, %y: tensor<8x4xi8>, %z: tensor<8x4xf32>) -> (tensor<?x4xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = stablehlo.convert %g : (tensor<?x4xf32>) -> tensor<?x4xbf16>
  %w = stablehlo.convert %y : (tensor<8x4xi8>) -> tensor<8x4xf32>
  %h = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<?x4xf32>
  %k = "headrace.all_gather"(%z) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %d = stablehlo.convert %k : (tensor<32x4xf32>) -> tensor<?x4xbf16>
  return %c, %h, %d : tensor<?x4xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>
}

// The bytes of a scalar are different ones along the dimension that they make.
// CHECK-LABEL: @bytes_of_scalar(
// CHECK-NEXT: "headrace.all_gather"(%arg0) {{.*}} -> tensor<4xi32>
func.func @bytes_of_scalar(%x: tensor<1xi32>, %s: tensor<i32> {headrace.sharding = "{replicated}"}) -> tensor<4xi8> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<1xi32>) -> tensor<4xi32>
  %b = stablehlo.bitcast_convert %s : (tensor<i32>) -> tensor<4xi8>
  %w = stablehlo.convert %b : (tensor<4xi8>) -> tensor<4xi32>
  %a = stablehlo.add %g, %w : tensor<4xi32>
  %c = stablehlo.convert %a : (tensor<4xi32>) -> tensor<4xi8>
  return %c : tensor<4xi8>
}

// A value that all devices have alike, behind a reshape that splits the gathered dimension.
// CHECK-LABEL: @split_uniform(
// CHECK-NEXT: "headrace.all_gather"(%arg0) {{.*}} -> tensor<8x4xf32>
func.func @split_uniform(%x: tensor<2x4xf32>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> tensor<8x4xbf16> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<32xf32>
  %r = stablehlo.reshape %b : (tensor<32xf32>) -> tensor<8x4xf32>
  %m = stablehlo.multiply %g, %r : tensor<8x4xf32>
  %c = stablehlo.convert %m : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  return %c : tensor<8x4xbf16>
}

// One that is computed of itself twice, and again: made once in the other shape.
// CHECK-LABEL: @doubled(
// CHECK: stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
// CHECK: stablehlo.add %{{.*}} : tensor<8x4xf32>
// CHECK: stablehlo.add %{{.*}} : tensor<8x4xf32>
// CHECK-NOT: stablehlo.add %{{.*}} : tensor<8x4xf32>
// CHECK: "headrace.all_gather"(%{{.*}}) {{.*}} -> tensor<32x4xbf16>
func.func @doubled(%x: tensor<8x4xf32>, %s: tensor<f32> {headrace.sharding = "{replicated}"}) -> tensor<32x4xbf16> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<32x4xf32>
  %d = stablehlo.add %b, %b : tensor<32x4xf32>
  %e = stablehlo.add %d, %d : tensor<32x4xf32>
  %m = stablehlo.multiply %g, %e : tensor<32x4xf32>
  %c = stablehlo.convert %m : (tensor<32x4xf32>) -> tensor<32x4xbf16>
  return %c : tensor<32x4xbf16>
}

// A constant scale of two blocks of rows, of which four devices get halves.
// CHECK-LABEL: @halves_of_blocks(
// CHECK: "headrace.all_to_all"(%{{.*}}) {{.*}} : (tensor<32x16xf32>) -> tensor<8x64xf32>
func.func @halves_of_blocks(%x: tensor<32x16xf8E4M3FN>) -> tensor<8x64xf32> {
  %s = stablehlo.constant dense<2.0> : tensor<2x1xf32>
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"} : (tensor<32x16xf8E4M3FN>, tensor<2x1xf32>) -> tensor<32x16xf32>
  %e = stablehlo.exponential %w : tensor<32x16xf32>
  %g = "headrace.all_to_all"(%e) {concat_dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, split_dim = 0 : i64} : (tensor<32x16xf32>) -> tensor<8x64xf32>
  return %g : tensor<8x64xf32>
}

// Of four blocks each gets one. A scale by which is divided, or multiplied, is the same to both.
// CHECK-LABEL: @whole_blocks(
// CHECK: %[[S:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<1x1xf32>
// CHECK: %[[G:.*]] = "headrace.all_to_all"(%arg0) {{.*}} -> tensor<8x64xf8E4M3FN>
// CHECK-NEXT: %[[W:.*]] = "headrace.dequantize"(%[[G]], %[[S]]) {{.*}}scale_mode = "divide"{{.*}} -> tensor<8x64xf32>
// CHECK-NEXT: stablehlo.exponential %[[W]]
func.func @whole_blocks(%x: tensor<32x16xf8E4M3FN>) -> tensor<8x64xf32> {
  %s = stablehlo.constant dense<2.0> : tensor<4x1xf32>
  %w = "headrace.dequantize"(%x, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide"} : (tensor<32x16xf8E4M3FN>, tensor<4x1xf32>) -> tensor<32x16xf32>
  %e = stablehlo.exponential %w : tensor<32x16xf32>
  %g = "headrace.all_to_all"(%e) {concat_dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, split_dim = 0 : i64} : (tensor<32x16xf32>) -> tensor<8x64xf32>
  return %g : tensor<8x64xf32>
}

// The largest fp8 value would have to be reduced in fp8, which no channel does; it is
// taken of what was gathered.
// CHECK-LABEL: @fp8_extremum(
// CHECK: "headrace.all_gather"(%{{.*}}) {{.*}} -> tensor<32x4xf8E4M3FN>
// CHECK-NOT: headrace.all_reduce
// CHECK: return
func.func @fp8_extremum(%x: tensor<8x4xf32>) -> tensor<4xf8E4M3FN> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %c = stablehlo.convert %g : (tensor<32x4xf32>) -> tensor<32x4xf8E4M3FN>
  %z = stablehlo.constant dense<0.0> : tensor<f8E4M3FN>
  %m = stablehlo.reduce(%c init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<32x4xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %m : tensor<4xf8E4M3FN>
}

// A type with an encoding is in no collective.
// CHECK-LABEL: @encoded(
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%arg0) {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: stablehlo.convert %[[G]] : (tensor<32x4xf32>) -> tensor<32x4xbf16, "kept">
func.func @encoded(%x: tensor<8x4xf32>) -> tensor<32x4xbf16, "kept"> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %c = stablehlo.convert %g : (tensor<32x4xf32>) -> tensor<32x4xbf16, "kept">
  return %c : tensor<32x4xbf16, "kept">
}

// Added to its transpose: an element is computed of those of two devices, in both directions.
// CHECK-LABEL: @turned(
// CHECK: "headrace.all_gather"(%arg0) {{.*}} : (tensor<8x32xf32>) -> tensor<32x32xf32>
// CHECK: "headrace.all_gather"(%{{.*}}) {{.*}} : (tensor<8x8xf32>) -> tensor<32x8xf32>
func.func @turned(%x: tensor<8x32xf32>, %y: tensor<8x8xi8>) -> (tensor<32x32xbf16>, tensor<32x8xf32>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
  %t = stablehlo.transpose %g, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %a = stablehlo.add %g, %t : tensor<32x32xf32>
  %c = stablehlo.convert %a : (tensor<32x32xf32>) -> tensor<32x32xbf16>
  %w = stablehlo.convert %y : (tensor<8x8xi8>) -> tensor<8x8xf32>
  %u = stablehlo.transpose %w, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = stablehlo.add %w, %u : tensor<8x8xf32>
  %h = "headrace.all_gather"(%b) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x8xf32>) -> tensor<32x8xf32>
  return %c, %h : tensor<32x32xbf16>, tensor<32x8xf32>
}

// One use of a value twice by one op is one.
// CHECK-LABEL: @twice(
// CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %arg0, %arg0 : tensor<8x4xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.convert %[[M]]
// CHECK-NEXT: "headrace.all_gather"(%[[C]]) {{.*}} -> tensor<32x4xbf16>
func.func @twice(%x: tensor<8x4xf32>) -> tensor<32x4xbf16> {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %m = stablehlo.multiply %g, %g : tensor<32x4xf32>
  %c = stablehlo.convert %m : (tensor<32x4xf32>) -> tensor<32x4xbf16>
  return %c : tensor<32x4xbf16>
}

// Two collectives, of which the second goes first: then there is room for the other.
// CHECK-LABEL: @in_turn(
// CHECK: %[[C:.*]] = stablehlo.convert %{{.*}} : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK-NEXT: %[[P:.*]] = "headrace.collective_permute"(%[[C]]) {{.*}} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
// CHECK-NEXT: %[[G:.*]] = "headrace.all_gather"(%[[P]]) {{.*}} -> tensor<32x4xbf16>
// CHECK-NEXT: return %[[G]]
func.func @in_turn(%x: tensor<8x4xf32>) -> tensor<32x4xbf16> {
  %p = "headrace.collective_permute"(%x) {pipelined = false, source_target_pairs = dense<[[0,1],[1,2],[2,3],[3,0]]> : tensor<4x2xi64>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %e = stablehlo.exponential %p : tensor<8x4xf32>
  %g = "headrace.all_gather"(%e) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %n = stablehlo.negate %g : tensor<32x4xf32>
  %c = stablehlo.convert %n : (tensor<32x4xf32>) -> tensor<32x4xbf16>
  return %c : tensor<32x4xbf16>
}

// In reverse along the gathered dimension the last part comes first; along another each
// part is turned by itself.
// CHECK-LABEL: @reversed(
// CHECK-NEXT: "headrace.all_gather"(%arg0) {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: stablehlo.reverse
// CHECK: %[[R:.*]] = stablehlo.reverse %arg0, dims = [1] : tensor<8x4xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.convert %[[R]]
// CHECK-NEXT: "headrace.all_gather"(%[[C]]) {{.*}} -> tensor<32x4xbf16>
func.func @reversed(%x: tensor<8x4xf32>) -> (tensor<32x4xbf16>, tensor<32x4xbf16>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %r = stablehlo.reverse %g, dims = [0, 1] : tensor<32x4xf32>
  %c = stablehlo.convert %r : (tensor<32x4xf32>) -> tensor<32x4xbf16>
  %h = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %t = stablehlo.reverse %h, dims = [1] : tensor<32x4xf32>
  %d = stablehlo.convert %t : (tensor<32x4xf32>) -> tensor<32x4xbf16>
  return %c, %d : tensor<32x4xbf16>, tensor<32x4xbf16>
}

// Joined with itself along the gathered dimension: the parts of each are not side by side;
// along another they are.
// CHECK-LABEL: @joined(
// CHECK-NEXT: "headrace.all_gather"(%arg0) {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: stablehlo.concatenate
// CHECK: %[[R:.*]] = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.convert %[[R]] : (tensor<8x8xf32>) -> tensor<8x8xi8>
// CHECK-NEXT: "headrace.all_gather"(%[[C]]) {{.*}} -> tensor<32x8xi8>
func.func @joined(%x: tensor<8x4xf32>) -> (tensor<64x4xi8>, tensor<32x8xi8>) {
  %g = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %r = stablehlo.concatenate %g, %g, dim = 0 : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<64x4xf32>
  %c = stablehlo.convert %r : (tensor<64x4xf32>) -> tensor<64x4xi8>
  %h = "headrace.all_gather"(%x) {dim = 0 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<32x4xf32>
  %t = stablehlo.concatenate %h, %h, dim = 1 : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x8xf32>
  %d = stablehlo.convert %t : (tensor<32x8xf32>) -> tensor<32x8xi8>
  return %c, %d : tensor<64x4xi8>, tensor<32x8xi8>
}

// Merged with the dimension in front of it the gathered one has its parts all over the result;
// so it has split, if what is behind is the gathered one then.
// CHECK-LABEL: @merged(
// CHECK-NEXT: "headrace.all_gather"(%arg0) {{.*}} -> tensor<8x16xf32>
// CHECK-NEXT: stablehlo.reshape
// CHECK: stablehlo.reshape %{{.*}} : (tensor<32xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: "headrace.all_gather"(%{{.*}}) {dim = 1 : i64, {{.*}} -> tensor<4x32xf32>
// CHECK-NEXT: return
func.func @merged(%x: tensor<8x4xf32>, %y: tensor<32xi8>) -> (tensor<128xbf16>, tensor<4x32xf32>) {
  %g = "headrace.all_gather"(%x) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x4xf32>) -> tensor<8x16xf32>
  %r = stablehlo.reshape %g : (tensor<8x16xf32>) -> tensor<128xf32>
  %c = stablehlo.convert %r : (tensor<128xf32>) -> tensor<128xbf16>
  %w = stablehlo.convert %y : (tensor<32xi8>) -> tensor<32xf32>
  %v = stablehlo.reshape %w : (tensor<32xf32>) -> tensor<4x8xf32>
  %h = "headrace.all_gather"(%v) {dim = 1 : i64, pipelined = false, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<4x8xf32>) -> tensor<4x32xf32>
  return %c, %h : tensor<128xbf16>, tensor<4x32xf32>
}
}
