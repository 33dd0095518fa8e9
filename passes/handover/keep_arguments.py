"""The pass ``keep-arguments``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.upstream.linalg import TensorBuilder
from ..base import Pass
from .buffers.device_of_values import devices_of_values
from .buffers.kept_copies import kept_copy
from .buffers.later_readers import LaterReaders


@dataclass(frozen=True)
class KeepArguments(Pass):
    """Copies arguments before they are updated: they are the caller's.

    IREE does so in place where that is the last use (quirks.ARGUMENT_UPDATED): the
    array would give another result when it is passed again. Arguments with the
    attribute ``headrace.donated`` stay in place. Loops have to be branches.

    Before::

        func.func @f(%x: tensor<4xf32>, %u: tensor<2xf32>) -> tensor<4xf32> {
          %y = tensor.insert_slice %u into %x[0] [2] [1] : tensor<2xf32> into tensor<4xf32>

    After::

        func.func @f(%x: tensor<4xf32>, %u: tensor<2xf32>) -> tensor<4xf32> {
          %e = flow.tensor.alloca : tensor<4xf32>
          %c = ... // %x in %e, inserted in two parts
          %y = tensor.insert_slice %u into %c[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
    """

    name: ClassVar[str] = "keep-arguments"

    def run(self, module: ir.Operation) -> None:
        for function in ir.functions_of(module):
            blocks = list(function.regions[0].blocks)
            if not blocks:
                continue
            devices = devices_of_values(module, function)
            readers = LaterReaders(function, devices)
            attributes = ir.argument_attributes(function)
            donated: list[ir.Value] = [
                argument
                for argument, given in zip(blocks[0].arguments, attributes, strict=True)
                if ir.DONATED in given
            ]
            for op in [op for block in blocks for op in ir.operations_of(block)]:
                for use in readers.borrowed(op):
                    if readers.root(use.value) in donated:
                        continue
                    top = readers.top(use.op)
                    b = TensorBuilder(ir.InsertionPoint(top), top.location)
                    use.op.operands[use.index] = kept_copy(b, use.value, devices.get(use.value))
