// RUN: headrace-opt %s --split-input-file | FileCheck %s --check-prefix=SPLIT
// SPLIT: func.func @one
// SPLIT: {{^}}// -----{{$}}
// SPLIT-NEXT: module
// SPLIT: func.func @two
// SPLIT: // -----
// SPLIT: func.func @three

// RUN: headrace-opt --split-input-file='// %%%%' --output-split-marker='// next' %s | FileCheck %s --check-prefix=MARKER
// MARKER: func.func @one
// MARKER: func.func @two
// MARKER-NOT: // -----
// MARKER: // next
// MARKER: func.func @three

// Lines are those of the whole file; good chunks are still printed.
// RUN: not headrace-opt %s --split-input-file --load-module=%S/Inputs/test_passes.py --test-fail=how=error 2>&1 | FileCheck %s --check-prefix=LINES
// LINES: split.mlir:24:1: error: this function cannot be done
// LINES: split.mlir:28:1: error: this function cannot be done
// LINES: split.mlir:32:1: error: this function cannot be done

// Each chunk has its own symbols, so one name may be used twice only so.

func.func @one() { return }

// -----

func.func @two() { return }

// ----- %%%%
// %%%%
func.func @three() { return }
