"""Arithmetic that is rewritten op by op, in the bodies of linalg ops."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects import ir
from ....dialects.ir.native_passes import run_native_pipeline


def scalar_ops(
    module: ir.Operation, find: Callable[[ir.Operation], list[ir.Operation]]
) -> list[ir.Operation]:
    """What ``find`` finds in the module, once each such op on tensors is a linalg op of scalars."""
    found = find(module)
    if any(isinstance(op.results[0].type, ir.RankedTensorType) for op in found):
        run_native_pipeline(module, "builtin.module(convert-elementwise-to-linalg)")
        found = find(module)
    return found
