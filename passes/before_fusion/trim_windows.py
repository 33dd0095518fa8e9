"""The pass ``trim-windows``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.upstream.linalg import TensorBuilder, tensor_type
from ...dialects.upstream.tensor import slice_along
from ..base import Pass


@dataclass(frozen=True)
class TrimWindows(Pass):
    """Cuts off what no window of a convolution or pooling reaches.

    Where a dimension has one window, or windows of one element, IREE takes the operand to be
    as large as what is read of it, and fails on one with more: quirks.ONE_WINDOW.

    Before::

        %y = linalg.conv_1d_ncw_fcw {strides = dense<2>} ins(%x, %k : tensor<1x1x4xf32>,
          tensor<1x1x3xf32>) outs(%i : tensor<1x1x1xf32>)

    After::

        %s = tensor.extract_slice %x[0, 0, 0] [1, 1, 3] [1, 1, 1]
        %y = linalg.conv_1d_ncw_fcw {strides = dense<2>} ins(%s, %k : tensor<1x1x3xf32>,
          tensor<1x1x3xf32>) outs(%i : tensor<1x1x1xf32>)
    """

    name: ClassVar[str] = "trim-windows"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module, bodies=False):
            if op.name.startswith("linalg.") and len(op.results):
                _trim(op)


def _trim(op: ir.Operation) -> None:
    if not ir.indexing_maps(op):
        return
    maps = [ir.AffineMapAttr(each).value for each in ir.indexing_maps(op)]
    sizes = _loop_sizes(op, maps)
    for index, map_ in enumerate(maps[: len(op.operands) - len(op.results)]):
        if not isinstance(op.operands[index].type, ir.RankedTensorType):
            continue
        shape = list(tensor_type(op.operands[index]).shape)
        for dim, expression in enumerate(map_.results):
            read = _extent(str(expression), sizes, shape[dim])
            if read != shape[dim]:
                b = TensorBuilder(ir.InsertionPoint(op), op.location)
                op.operands[index] = slice_along(b, op.operands[index], dim, 0, read)


def _loop_sizes(op: ir.Operation, maps: list[ir.AffineMap]) -> dict[str, int]:
    """How often each loop runs that walks a dimension of an operand alone."""
    found: dict[str, int] = {}
    for operand, map_ in zip(op.operands, maps, strict=True):
        if isinstance(operand.type, ir.RankedTensorType):
            pairs = zip(map_.results, tensor_type(operand).shape, strict=True)
            found |= {str(each): size for each, size in pairs if re.fullmatch(r"d\d+", str(each))}
    return found


def _extent(expression: str, sizes: dict[str, int], size: int) -> int:
    """How many elements are read along a dimension of ``size``, where it has to be cut.

    ``expression`` is a sum of loops, each with its step.
    """
    terms = [re.fullmatch(r"(d\d+)(?: \* (\d+))?", term) for term in expression.split(" + ")]
    loops = [(sizes.get(term[1], 0), int(term[2] or 1)) for term in terms if term is not None]
    if len(loops) != len(terms) or size < 0 or any(count <= 0 for count, _ in loops):
        return size
    if expression in sizes or all(count > 1 for count, _ in loops):
        return size
    return min(size, 1 + sum((count - 1) * step for count, step in loops))
