"""Torch and ONNX programs become linalg, by torch-mlir's own passes in IREE's wheel."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import ir
from ...passes.pipeline import Pipeline
from ..unlowered import check_torch_lowered

# Ops that IREE lowers better whole than in parts: attention would round its
# scores between the parts, a convolution's gradient would become a loop.
_KEPT_WHOLE = (
    "aten.flatten.using_ints",
    "aten.unflatten.int",
    "aten.adaptive_avg_pool1d",
    "aten.adaptive_avg_pool2d",
    "aten.adaptive_max_pool1d",
    "aten.fft_rfft",
    "aten.convolution_backward",
    "aten.scaled_dot_product_attention",
    "aten.argmax",
    "aten.argmin",
)
_DECOMPOSE = f"func.func(torch-decompose-complex-ops{{legal-ops={','.join(_KEPT_WHOLE)}}})"
_CANONICALIZE = "func.func(canonicalize)"

_REFINE_SHAPES = (
    "torch-reify-shape-calculations",
    "inline",
    "func.func(torch-simplify-shape-calculations)",
    "func.func(cse)",
    "func.func(torch-simplify-shape-calculations)",
    "func.func(torch-drop-abstract-interp-calculations)",
)
# ONNX's operators become torch's: IREE's torch-onnx-to-torch-backend-pipeline.
ONNX_TO_TORCH = (
    "func.func(convert-torch-onnx-to-torch)",
    _DECOMPOSE,
    _CANONICALIZE,
    *_REFINE_SHAPES,
    "func.func(torch-scalarize-shapes)",
    *_REFINE_SHAPES,
    "torch-refine-public-return",
    _CANONICALIZE,
    _DECOMPOSE,
    _CANONICALIZE,
)
# In place of torch-iree-func-conversion, which makes fences and buffer views of
# tensors: headrace's programs take and return tensors.
TO_TENSORS = (
    "torch-func-backend-type-conversion",
    _CANONICALIZE,
    "symbol-dce",
    "func.func(torch-finalizing-backend-type-conversion)",
)
# torch-mlir sums variances in f64, PyTorch in f32.
DEMOTE_F64 = ("iree-input-conversion-demote-f64-to-f32",)


def torch_to_linalg(target: str) -> tuple[str, ...]:
    """IREE's ``torch-to-iree`` up to its calling convention, with its
    options, and headrace's own step in it."""
    return (
        "func.func(torch-iree-bind-symbolic-shapes)",
        "func.func(torch-iree-set-strict-symbolic-shapes)",
        _CANONICALIZE,
        # headrace's own: constants are folded here, and no op is decomposed yet.
        f"split-attention{{target={target}}}",
        "func.func(torch-recompose-complex-ops)",
        "func.func(torch-iree-bitcast-tensor)",
        "func.func(torch-reduce-op-variants)",
        "func.func(torch-convert-custom-quant-op)",
        _DECOMPOSE,
        "func.func(torch-fuse-quantized-ops)",
        _CANONICALIZE,
        "func.func(torch-scalarize-shapes)",
        "func.func(convert-torch-to-tmtensor)",
        "func.func(torch-iree-tm-tensor-to-linalg-ext)",
        "func.func(convert-torch-to-tensor)",
        "func.func(torch-iree-torch-unstructured-to-linalg-ext)",
        "func.func(torch-iree-torch-quantization-to-linalg-ext)",
        "func.func(convert-torch-to-linalg)",
        "func.func(cse)",
        "func.func(convert-torch-to-scf)",
        "func.func(convert-torch-to-arith)",
        "convert-torch-conversion-to-mlprogram",
        _CANONICALIZE,
        "func.func(resolve-shaped-type-result-dims)",
        "func.func(cse)",
        "inline",
    )


def lower_torch(module: ir.Operation, target: str) -> None:
    """Makes linalg of a torch program (``torch_mlir.fx.export_and_import(...,
    output_type="raw")``, ``iree.turbine.aot.export``), of which all tensors
    are value tensors, or of an ONNX program (``iree-import-onnx``). Nothing
    happens to other programs.

    f64 becomes f32, but not in a program that has f64 tensors of its own
    (IREE fails on a mix of both).

    Raises HeadraceError for an op that torch-mlir does not lower.
    """
    ops = ir.walk(module)
    if not any(_is_torch(op) for op in ops):
        return
    has_f64 = any(",f64>" in str(value.type) for op in ops for value in _values(op))
    is_onnx = any(_ONNX_OPSET in function.attributes for function in ir.functions_of(module))
    del ops  # native passes end the life of handles
    to_linalg = torch_to_linalg(target)
    _run(module, (*ONNX_TO_TORCH, *to_linalg) if is_onnx else to_linalg)
    check_torch_lowered(module)
    _run(module, TO_TENSORS if has_f64 else (*TO_TENSORS, *DEMOTE_F64))


_ONNX_OPSET = "torch.onnx_meta.opset_version"


def _run(module: ir.Operation, passes: Sequence[str]) -> None:
    text = f"builtin.module({','.join(passes)})"
    Pipeline.parse(text).run(module, verify_each=False)


def _values(op: ir.Operation) -> list[ir.Value]:
    return [*op.results, *(a for block in ir.blocks_of(op) for a in block.arguments)]


def _is_torch(op: ir.Operation) -> bool:
    """An op of the dialect, or a function that hands its values on."""
    if op.name == "func.func":
        return "!torch." in str(op.attributes["function_type"])
    return op.name.startswith("torch.")
