"""Copies of tensors that IREE makes, whatever it finds out of them."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.iree.barriers import hidden_zero
from ....dialects.iree.flow import allocate
from ....dialects.upstream.linalg import TensorBuilder, tensor_type
from ....dialects.upstream.tensor import (
    DYNAMIC,
    dynamic_sizes,
    prepend_unit_dim,
    slice_along,
    with_sizes,
)


def kept_copy(b: TensorBuilder, value: ir.Value, device: ir.Attribute | None) -> ir.Value:
    """``value`` written into an allocation, in parts: IREE takes what is
    written as a whole for a copy of its own, which it may leave out."""
    type_ = tensor_type(value)
    if type_.rank == 0:
        copy = kept_copy(b, prepend_unit_dim(b, value), device)
        return b.collapse_shape(copy, [], type_)
    dim = next((d for d, size in enumerate(type_.shape) if size not in (DYNAMIC, 0, 1)), None)
    if dim is None:
        return _copy_into_larger(b, value, device)
    whole = allocate(b, type_, dynamic_sizes(b, value), device)
    for start, size in ((0, 1), (1, type_.shape[dim] - 1)):
        whole = insert_along(b, slice_along(b, value, dim, start, size), whole, dim, start)
    return whole


def _copy_into_larger(b: TensorBuilder, value: ir.Value, device: ir.Attribute | None) -> ir.Value:
    """The same where no dimension can be cut: into all but the last of one more rows."""
    type_ = tensor_type(value)
    size = type_.shape[0]
    larger = with_sizes(type_, {0: DYNAMIC if size == DYNAMIC else size + 1})
    sizes = dynamic_sizes(b, value)
    if size == DYNAMIC:
        sizes[0] = b.op("arith.addi", [sizes[0], b.index(1)], sizes[0].type)
    return _first_rows(b, insert_along(b, value, allocate(b, larger, sizes, device), 0, 0), value)


def _first_rows(b: TensorBuilder, larger: ir.Value, like: ir.Value) -> ir.Value:
    """As much of ``larger`` as ``like`` has, from a row on that IREE does not know to be
    the one where that was put: it would take ``like`` itself."""
    type_ = tensor_type(like)
    sizes = dynamic_sizes(b, like)
    with b.loc.context:
        attributes: dict[str, ir.Attribute] = {
            "static_offsets": ir.DenseI64ArrayAttr.get([DYNAMIC] + [0] * (type_.rank - 1)),
            "static_sizes": ir.DenseI64ArrayAttr.get(list(type_.shape)),
            "static_strides": ir.DenseI64ArrayAttr.get([1] * type_.rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, len(sizes), 0]),
        }
    return b.op("tensor.extract_slice", [larger, hidden_zero(b), *sizes], type_, attributes)


def insert_along(
    b: TensorBuilder, part: ir.Value, whole: ir.Value, dim: int, start: int | ir.Value
) -> ir.Value:
    """``part`` in ``whole``, from ``start`` on along ``dim``."""
    shape = list(tensor_type(part).shape)
    offsets = [0] * len(shape)
    offsets[dim] = start if isinstance(start, int) else DYNAMIC
    dynamic_offsets = [] if isinstance(start, int) else [start]
    sizes = dynamic_sizes(b, part)
    segments = [1, 1, len(dynamic_offsets), len(sizes), 0]
    with b.loc.context:
        attributes: dict[str, ir.Attribute] = {
            "static_offsets": ir.DenseI64ArrayAttr.get(offsets),
            "static_sizes": ir.DenseI64ArrayAttr.get(shape),
            "static_strides": ir.DenseI64ArrayAttr.get([1] * len(shape)),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
        }
    operands = [part, whole, *dynamic_offsets, *sizes]
    return b.op("tensor.insert_slice", operands, whole.type, attributes)
