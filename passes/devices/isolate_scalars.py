"""Keeps scalar computations of different devices apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.flow import dispatch_region
from ..analysis.elementwise import inputs_of
from ..base import Pass


@dataclass(frozen=True)
class IsolateScalars(Pass):
    """Give each linalg op on one-element tensors a dispatch region of its own.

    For programs for several devices: quirks.SCALARS_OF_SEVERAL_DEVICES, of IREE's
    FormScalarDispatches. Values of all devices then come from one dispatch, nothing
    tells IREE where their users run, and an encoded matmul among those fails
    to compile ('stream.tensor.sizeof' op illegal). Constant scalars stay:
    IREE copies those into their users. What an op reads in its body counts
    as its inputs do, of whatever size it is: IREE asks for operands only.
    """

    name: ClassVar[str] = "isolate-scalars"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module):
            if op.name.startswith("linalg.") and len(op.regions) and _is_scalar(op):
                dispatch_region(op)


def _is_scalar(op: ir.Operation) -> bool:
    if not all(_has_one_element(value.type) for value in (*op.operands, *op.results)):
        return False
    return any(not _is_constant(value) for value in (*inputs_of(op), *_read_in_body(op)))


def _read_in_body(op: ir.Operation) -> list[ir.Value]:
    """What the body reads and is made outside of it."""
    ops = ir.walk(op)
    bodies = [block for each in ops for block in ir.blocks_of(each)]
    read = [operand for inner in ops[1:] for operand in inner.operands]
    return [value for value in read if ir.block_of(value) not in bodies]


def _has_one_element(type_: ir.Type) -> bool:
    if not isinstance(type_, ir.RankedTensorType):
        return True
    return all(size == 1 for size in type_.shape)


def _is_constant(value: ir.Value) -> bool:
    op = ir.defining_op(value)
    return op is not None and op.name == "arith.constant"
