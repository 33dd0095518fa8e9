"""Torch programs become linalg, by torch-mlir's own passes in IREE's wheel."""

from __future__ import annotations

from ..dialects.mlir import Operation, Value, blocks_of, walk
from ..dialects.native_passes import run_native_pipeline

# The order of IREE's own torch input pipeline, without what it adds for its
# calling convention: headrace's programs take and return tensors.
_PIPELINE = (
    "builtin.module("
    "func.func(torch-iree-bitcast-tensor,torch-reduce-op-variants,torch-decompose-complex-ops,"
    "torch-fuse-quantized-ops,torch-scalarize-shapes,convert-torch-to-tmtensor,"
    "torch-iree-tm-tensor-to-linalg-ext,convert-torch-to-tensor,convert-torch-to-linalg,cse,"
    "convert-torch-to-scf,convert-torch-to-arith),"
    "convert-torch-conversion-to-mlprogram,func.func(canonicalize,cse),"
    "torch-func-backend-type-conversion,"
    "func.func(canonicalize,torch-finalizing-backend-type-conversion))"
)


def lower_torch(module: Operation) -> None:
    """Makes linalg of a torch program (``torch_mlir.fx.export_and_import(...,
    output_type="raw")``, ``iree.turbine.aot.export``), of which all tensors
    are value tensors. Nothing happens to other programs.

    torch-mlir sums variances in f64, PyTorch in f32: so do we, in a program
    that has no f64 tensors of its own (IREE 3.13 fails on a mix of both).

    Raises HeadraceError for an op that torch-mlir does not lower.
    """
    ops = walk(module)
    if not any(_is_torch(op) for op in ops):
        return
    has_f64 = any(",f64>" in str(value.type) for op in ops for value in _values(op))
    del ops  # native passes end the life of handles
    run_native_pipeline(module, _PIPELINE)
    if not has_f64:
        run_native_pipeline(module, "builtin.module(iree-input-conversion-demote-f64-to-f32)")


def _values(op: Operation) -> list[Value]:
    return [*op.results, *(a for block in blocks_of(op) for a in block.arguments)]


def _is_torch(op: Operation) -> bool:
    """An op of the dialect, or a function that hands its values on."""
    if op.name == "func.func":
        return "!torch." in str(op.attributes["function_type"])
    return op.name.startswith("torch.")
