"""Buffers that are filled piece by piece, one for each tensor and device.

Equal ``tensor.empty`` ops become one in IREE (3.13). Where the parts of two
tensors are inserted into that, and the first parts are the same values, IREE
makes both tensors out of one buffer and leaves out the copy between: the
second holds what was in memory. An empty tensor that is sent to the device is
the device's own.
"""

from __future__ import annotations

from ...dialects.flow import transfer_to
from ...dialects.linalg import TensorBuilder, tensor_type
from ...dialects.mlir import (
    Attribute,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
    InsertionPoint,
    IntegerAttr,
    Operation,
    Value,
    defining_op,
)
from ...dialects.tensor import DYNAMIC, dynamic_sizes


def own_buffer(op: Operation, device: Attribute) -> Value | None:
    """Gives what a ``tensor.concat`` or ``tensor.insert_slice`` fills a buffer
    on ``device``; returns the result, None where it has one already.

    Before::

        %c = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>

    After (the concat has no users then)::

        %e = tensor.empty() : tensor<4xf32>
        %o = flow.tensor.transfer %e : tensor<4xf32> to #hal.device.promise<@dev0>
        %0 = tensor.insert_slice %a into %o[0] [2] [1]
        %c = tensor.insert_slice %b into %0[2] [2] [1]
    """
    b = TensorBuilder(InsertionPoint(op), op.location)
    if op.name not in ("tensor.concat", "tensor.insert_slice") or is_boolean(op.results[0]):
        return None
    if op.name == "tensor.concat":
        whole = _put_together(op, b, device)
        op.results[0].replace_all_uses_with(whole)
        return whole
    empty = defining_op(op.operands[1])
    if empty is None or empty.name != "tensor.empty":
        return None
    own = empty.clone(b.ip).operation.results[0]
    op.operands[1] = transfer_to(b, own, device)
    return op.results[0]


def is_boolean(value: Value) -> bool:
    """IREE 3.13 cannot transfer i1."""
    return str(tensor_type(value).element_type) == "i1"


def _put_together(concat: Operation, b: TensorBuilder, device: Attribute) -> Value:
    parts = list(concat.operands)
    dim = IntegerAttr(concat.attributes["dim"]).value
    starts: list[int | Value] = [0]
    for part in parts:
        starts.append(_sum(b, starts[-1], part, dim))
    type_ = tensor_type(concat.results[0])
    sizes = [
        _as_index(b, starts[-1]) if d == dim else b.dim(parts[0], d)
        for d, size in enumerate(type_.shape)
        if size == DYNAMIC
    ]
    whole = transfer_to(b, b.op("tensor.empty", sizes, type_), device)
    for part, start in zip(parts, starts, strict=False):
        whole = _insert(b, part, whole, dim, start)
    return whole


def _as_index(b: TensorBuilder, number: int | Value) -> Value:
    return b.index(number) if isinstance(number, int) else number


def _sum(b: TensorBuilder, start: int | Value, part: Value, dim: int) -> int | Value:
    size = tensor_type(part).shape[dim]
    if isinstance(start, int) and size != DYNAMIC:
        return start + size
    first = _as_index(b, start)
    return b.op("arith.addi", [first, b.dim(part, dim)], first.type)


def _insert(b: TensorBuilder, part: Value, whole: Value, dim: int, start: int | Value) -> Value:
    """``part`` in ``whole``, from ``start`` on along ``dim``."""
    shape = list(tensor_type(part).shape)
    offsets = [0] * len(shape)
    offsets[dim] = start if isinstance(start, int) else DYNAMIC
    dynamic_offsets = [] if isinstance(start, int) else [start]
    sizes = dynamic_sizes(b, part)
    segments = [1, 1, len(dynamic_offsets), len(sizes), 0]
    with b.loc.context:
        attributes: dict[str, Attribute] = {
            "static_offsets": DenseI64ArrayAttr.get(offsets),
            "static_sizes": DenseI64ArrayAttr.get(shape),
            "static_strides": DenseI64ArrayAttr.get([1] * len(shape)),
            "operandSegmentSizes": DenseI32ArrayAttr.get(segments),
        }
    operands = [part, whole, *dynamic_offsets, *sizes]
    return b.op("tensor.insert_slice", operands, whole.type, attributes)
