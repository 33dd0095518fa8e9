"""Torch and ONNX programs become linalg, by torch-mlir's own passes in IREE's wheel."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import ir
from ...passes.pipeline import Instrumentation, Step
from .. import pipelines
from ..pipelines import Settings
from ..unlowered import check_torch_lowered
from .contents import Contents

_ONNX_OPSET = "torch.onnx_meta.opset_version"


def lower_torch(contents: Contents, target: str, hooks: Sequence[Instrumentation] = ()) -> Contents:
    """Makes linalg of a torch program (``torch_mlir.fx.export_and_import(...,
    output_type="raw")``, ``iree.turbine.aot.export``), of which all tensors
    are value tensors, or of an ONNX program (``iree-import-onnx``). Nothing
    happens to other programs.

    Returns the contents of the same module. Raises HeadraceError for an op that
    torch-mlir does not lower.
    """
    functions = ir.functions_of(contents.module)
    if not contents.has_dialect("torch") and not any(map(_takes_torch, functions)):
        return contents
    settings = Settings(
        target,
        is_torch=True,
        is_onnx=any(_ONNX_OPSET in function.attributes for function in functions),
        has_f64=any(",f64>" in str(v.type) for op in contents.ops for v in _values(op)),
    )
    pipeline = pipelines.build(pipelines.TORCH, settings)
    pipeline.run(contents.module, [*hooks, _LoweredCheck()], verify_each=False)
    return Contents(contents.module)


class _LoweredCheck(Instrumentation):
    """What torch-mlir has left is named before types are converted, which hides it."""

    def before(self, step: Step, module: ir.Operation) -> None:
        """Of types that contradict each other torch-mlir makes an invalid cast, on which
        MLIR's canonicalization need not end."""
        if step.name == "canonicalize":
            ir.verify_natively(module)

    def stage_ends(self, stage: str, module: ir.Operation) -> None:
        if stage == "torch":
            check_torch_lowered(module)


def _values(op: ir.Operation) -> list[ir.Value]:
    return [*op.results, *(a for block in ir.blocks_of(op) for a in block.arguments)]


def _takes_torch(function: ir.Operation) -> bool:
    """A function that only hands its values on."""
    return "!torch." in str(function.attributes["function_type"])
