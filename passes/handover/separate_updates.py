"""The pass ``separate-updates``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.op_traits import VIEWS
from ...dialects.upstream.linalg import TensorBuilder, tensor_type
from ...dialects.upstream.tensor import DYNAMIC, slice_along
from ..base import Pass
from .buffers.device_of_values import devices_of_values
from .buffers.kept_copies import kept_copy
from .buffers.later_readers import LaterReaders
from .buffers.update_sources import UpdateSources


@dataclass(frozen=True)
class SeparateUpdates(Pass):
    """Keeps what goes into a tensor from being computed in it while the tensor is read.

    IREE lets a dispatch whose result is only inserted into a tensor write it
    there (``iree-stream-emplace-allocations``), and does not ask who reads the
    tensor at other elements (quirks.UPDATE_FROM_ITSELF): the dispatch itself, or
    an op between it and the insertion. A shifted cache, ``y[1:5] = 2 * y[0:4]``, is
    wrong so, on every target.

    Where ``update_sources`` finds such a reader, the result is inserted in two
    parts, which IREE copies: once more the bytes of what is inserted, not of
    the tensor. What reads just the elements that it writes, or none of them,
    stays in place. Loops have to be branches.

    Before::

        %s = tensor.extract_slice %z[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
        %d = math.exp %s : tensor<4xf32>
        %y = tensor.insert_slice %d into %z[1] [4] [1] : tensor<4xf32> into tensor<8xf32>

    After::

        %s = tensor.extract_slice %z[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
        %d = math.exp %s : tensor<4xf32>
        %a = tensor.extract_slice %d[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
        %0 = tensor.insert_slice %a into %z[1] [1] [1] : tensor<1xf32> into tensor<8xf32>
        %b = tensor.extract_slice %d[1] [3] [1] : tensor<4xf32> to tensor<3xf32>
        %y = tensor.insert_slice %b into %0[2] [3] [1] : tensor<3xf32> into tensor<8xf32>
    """

    name: ClassVar[str] = "separate-updates"

    def run(self, module: ir.Operation) -> None:
        for function in ir.functions_of(module):
            if not len(function.regions[0].blocks):
                continue
            devices = devices_of_values(module, function)
            sources = UpdateSources(LaterReaders(function, devices))
            clashing = [
                op
                for block in function.regions[0].blocks
                for op in ir.operations_of(block)
                if op.name == "tensor.insert_slice" and sources.clashing_reader(op) is not None
            ]
            for op in clashing:
                _separate(op, devices.get(op.results[0]))


def _separate(op: ir.Operation, device: ir.Attribute | None) -> None:
    b = TensorBuilder(ir.InsertionPoint(op), op.location)
    source = op.operands[0]
    dim = _cut(op)
    if dim is None:
        op.operands[0] = kept_copy(b, source, device)
        return
    target = op.operands[1]
    for start, size in ((0, 1), (1, tensor_type(source).shape[dim] - 1)):
        part = slice_along(b, source, dim, start, size)
        target = _insert_part(b, op, part, target, dim, start)
    op.results[0].replace_all_uses_with(target)
    op.erase()


def _cut(op: ir.Operation) -> int | None:
    """The dimension along which what is inserted can be cut in two; None for
    a part of a tensor, which is in no buffer of its own, and where there is none."""
    source, target = op.operands[0], op.operands[1]
    producer = ir.producer_behind(source, VIEWS)
    if producer is not None and producer.name == "tensor.extract_slice":
        return None
    shape = tensor_type(source).shape
    if len(shape) != tensor_type(target).rank:
        return None
    strides = list(ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    pairs = enumerate(zip(shape, strides, strict=True))
    return next((d for d, (n, step) in pairs if step == 1 and n not in (DYNAMIC, 0, 1)), None)


def _insert_part(
    b: TensorBuilder, op: ir.Operation, part: ir.Value, target: ir.Value, dim: int, start: int
) -> ir.Value:
    """``part`` of what ``op`` inserts, from ``start`` on along ``dim``, where it goes."""
    offsets = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
    sizes[dim] = tensor_type(part).shape[dim]
    rest = list(op.operands)[2:]
    if offsets[dim] == DYNAMIC and start:
        place = offsets[:dim].count(DYNAMIC)
        rest[place] = b.op("arith.addi", [rest[place], b.index(start)], rest[place].type)
    elif offsets[dim] != DYNAMIC:
        offsets[dim] += start
    attributes = dict(op.attributes.items())
    with b.loc.context:
        attributes["static_offsets"] = ir.DenseI64ArrayAttr.get(offsets)
        attributes["static_sizes"] = ir.DenseI64ArrayAttr.get(sizes)
    return b.op("tensor.insert_slice", [part, target, *rest], target.type, attributes)
