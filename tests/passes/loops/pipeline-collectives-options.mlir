// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{modes=all:off})' | FileCheck %s --check-prefix=OFF
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{modes=all-gather:off})' | FileCheck %s --check-prefix=KIND
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{modes=all:off,all_reduce:on})' | FileCheck %s --check-prefix=KIND
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{modes=all:explicit})' | FileCheck %s --check-prefix=EXPLICIT
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{max-in-flight=1})' | FileCheck %s --check-prefix=CAP
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{budget=40})' | FileCheck %s --check-prefix=BUDGET
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{budget=40},pipeline-collectives{budget=40})' | FileCheck %s --check-prefix=BUDGET
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{budget=0})' | FileCheck %s --check-prefix=NONE
// RUN: headrace-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(pipeline-collectives{max-in-flight=0})' | FileCheck %s --check-prefix=NONE
// RUN: not headrace-opt %s --pass-pipeline='builtin.module(pipeline-collectives{modes=gather:on})' 2>&1 | FileCheck %s --check-prefix=BADKIND
// RUN: not headrace-opt %s --pass-pipeline='builtin.module(pipeline-collectives{modes=all:maybe})' 2>&1 | FileCheck %s --check-prefix=BADMODE
// RUN: not headrace-opt %s --pass-pipeline='builtin.module(pipeline-collectives{modes=all})' 2>&1 | FileCheck %s --check-prefix=NOMODE
// RUN: not headrace-opt %s --pass-pipeline='builtin.module(pipeline-collectives{budget=lots})' 2>&1 | FileCheck %s --check-prefix=BADBUDGET

// BADKIND: error: pass 'pipeline-collectives': unknown kind 'gather'; known: all, all-gather, all-reduce, reduce-scatter, all-to-all, collective-permute
// BADMODE: error: pass 'pipeline-collectives': unknown mode 'maybe'; known: off, on, explicit
// NOMODE: error: pass 'pipeline-collectives': expected kind:mode, got 'all'
// BADBUDGET: error: option 'budget' of pass 'pipeline-collectives': expected an integer, got 'lots'

// Three collectives that depend on the index alone: a gather that receives 8
// bytes, one that receives 16, a sum that receives 32. Each would be carried.

// OFF-LABEL: func.func @three(
// OFF-NOT: pipelined = true
// OFF: scf.for
// OFF-COUNT-3: pipeline_reason = "pipelining of its kind is off", pipelined = false
// OFF: return

// KIND-LABEL: func.func @three(
// KIND: "headrace.all_reduce"{{.*}}pipelined = true
// KIND: scf.for
// KIND: "headrace.all_reduce"{{.*}}pipelined = true
// KIND: "headrace.all_gather"{{.*}}pipeline_reason = "pipelining of its kind is off", pipelined = false
// KIND: "headrace.all_gather"{{.*}}pipeline_reason = "pipelining of its kind is off", pipelined = false
// KIND: scf.yield

// EXPLICIT-LABEL: func.func @three(
// EXPLICIT: "headrace.all_gather"(%{{.*}}) {{{.*}}headrace.pipeline, pipelined = true{{.*}}tensor<8xf32>
// EXPLICIT: scf.for
// EXPLICIT: "headrace.all_gather"{{.*}}headrace.pipeline, pipelined = true{{.*}}tensor<8xf32>
// EXPLICIT: "headrace.all_gather"{{.*}}pipeline_reason = "it does not carry the attribute headrace.pipeline", pipelined = false
// EXPLICIT: "headrace.all_reduce"{{.*}}pipeline_reason = "it does not carry the attribute headrace.pipeline", pipelined = false
// EXPLICIT: scf.yield

// The one with the most bytes on the wire goes first.
// CAP-LABEL: func.func @three(
// CAP: "headrace.all_reduce"{{.*}}pipelined = true
// CAP: scf.for
// CAP: "headrace.all_reduce"{{.*}}pipelined = true
// CAP: "headrace.all_gather"{{.*}}pipeline_reason = "the cap of 1 collectives is reached", pipelined = false
// CAP: "headrace.all_gather"{{.*}}pipeline_reason = "the cap of 1 collectives is reached", pipelined = false
// CAP: scf.yield

// The sum takes 32 of 40 bytes; the larger gather would need 32 more, the
// smaller one 16: neither fits, and a second run finds the same.
// BUDGET-LABEL: func.func @three(
// BUDGET: scf.for
// BUDGET: "headrace.all_reduce"{{.*}}pipelined = true
// BUDGET: "headrace.all_gather"{{.*}}pipeline_reason = "it needs 16 bytes, 8 of the budget are left", pipelined = false
// BUDGET: "headrace.all_gather"{{.*}}pipeline_reason = "it needs 32 bytes, 8 of the budget are left", pipelined = false
// BUDGET: scf.yield

// NONE-LABEL: func.func @three(
// NONE-NOT: pipelined = true
// NONE: scf.for
// NONE-NOT: pipelined = true
// NONE: return

#g = dense<[[0, 1]]> : tensor<1x2xi64>

func.func @three(%w: tensor<9x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %u = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<9x8xf32> to tensor<2xf32>
    %v = tensor.extract_slice %w[%i, 0] [1, 4] [1, 1] : tensor<9x8xf32> to tensor<4xf32>
    %s = tensor.extract_slice %w[%i, 0] [1, 8] [1, 1] : tensor<9x8xf32> to tensor<8xf32>
    %g = "headrace.all_gather"(%u) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<2xf32>) -> tensor<4xf32>
    %h = "headrace.all_gather"(%v) {dim = 0 : i64, headrace.pipeline, pipelined = false, replica_groups = #g} : (tensor<4xf32>) -> tensor<8xf32>
    %r = "headrace.all_reduce"(%s) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    "test.use"(%g, %h, %r) : (tensor<4xf32>, tensor<8xf32>, tensor<8xf32>) -> ()
  }
  return
}

// A collective that another needs goes with it, whatever its own mode, and
// counts; alone it may still fit.
// KIND-LABEL: func.func @in_a_chain(
// KIND: "headrace.all_gather"{{.*}}pipelined = true
// KIND: "headrace.all_reduce"{{.*}}pipelined = true
// KIND: scf.for
// KIND: "headrace.all_gather"{{.*}}pipelined = true
// KIND: "headrace.all_reduce"{{.*}}pipelined = true
// KIND-NOT: pipelined = false
// KIND: return

// CAP-LABEL: func.func @in_a_chain(
// CAP: "headrace.all_gather"{{.*}}pipelined = true
// CAP: scf.for
// CAP: "headrace.all_gather"{{.*}}pipelined = true
// CAP: "headrace.all_reduce"{{.*}}pipeline_reason = "the cap of 1 collectives is reached", pipelined = false
// CAP: scf.yield

func.func @in_a_chain(%w: tensor<9x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %v = tensor.extract_slice %w[%i, 0] [1, 4] [1, 1] : tensor<9x8xf32> to tensor<4xf32>
    %h = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<4xf32>) -> tensor<8xf32>
    %r = "headrace.all_reduce"(%h) {pipelined = false, reduction = "add", replica_groups = #g} : (tensor<8xf32>) -> tensor<8xf32>
    "test.use"(%r) : (tensor<8xf32>) -> ()
  }
  return
}

// With a budget, a size that is not known does not fit.
// BUDGET-LABEL: func.func @dynamic_size(
// BUDGET: pipeline_reason = "how many bytes it needs is not known, and there is a budget"
// CAP-LABEL: func.func @dynamic_size(
// CAP: scf.for
// CAP: pipelined = true

func.func @dynamic_size(%w: tensor<9x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %v = tensor.extract_slice %w[%i, 0] [1, %n] [1, 1] : tensor<9x?xf32> to tensor<?xf32>
    %h = "headrace.all_gather"(%v) {dim = 0 : i64, pipelined = false, replica_groups = #g} : (tensor<?xf32>) -> tensor<?xf32>
    "test.use"(%h) : (tensor<?xf32>) -> ()
  }
  return
}
