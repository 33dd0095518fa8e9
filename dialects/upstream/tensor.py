"""Slices, concatenations and constants of tensors, made by a TensorBuilder."""

from __future__ import annotations

from collections.abc import Sequence

from .. import ir
from ..op_traits import VIEWS
from .linalg import DYNAMIC as DYNAMIC, TensorBuilder, dims_map, tensor_type


def splat(b: TensorBuilder, type_: ir.RankedTensorType, value: int) -> ir.Value:
    """A static tensor whose elements are all ``value``: integers or floats."""
    element = type_.element_type
    attribute: ir.Attribute
    if isinstance(element, ir.FloatType):
        attribute = ir.FloatAttr.get(element, float(value), loc=b.loc)
    else:
        attribute = ir.IntegerAttr.get(element, value)
    dense = ir.DenseElementsAttr.get_splat(type_, attribute)
    return b.op("arith.constant", [], type_, {"value": dense})


def with_shape(type_: ir.Type, shape: Sequence[int]) -> ir.RankedTensorType:
    """The tensor type with another shape."""
    element = ir.RankedTensorType(type_).element_type
    return ir.RankedTensorType.get(list(shape), element, loc=ir.Location.unknown(type_.context))


def with_sizes(type_: ir.Type, sizes: dict[int, int]) -> ir.RankedTensorType:
    """The tensor type with other sizes in the given dimensions."""
    shape = ir.RankedTensorType(type_).shape
    return with_shape(type_, [sizes.get(dim, size) for dim, size in enumerate(shape)])


def reassociation(reshape: ir.Operation) -> list[list[int]]:
    """The groups of dimensions that a collapse merges, or an expand makes."""
    return [
        [ir.IntegerAttr(dim).value for dim in ir.ArrayAttr(group)]
        for group in ir.ArrayAttr(reshape.attributes["reassociation"])
    ]


def is_slice(value: ir.Value) -> bool:
    """Whether it is an extracted slice, or a view of one."""
    op = ir.producer_behind(value, VIEWS)
    return op is not None and op.name == "tensor.extract_slice"


def dynamic_sizes(b: TensorBuilder, value: ir.Value) -> list[ir.Value]:
    """The sizes of the dynamic dimensions, in order."""
    shape = tensor_type(value).shape
    return [b.dim(value, dim) for dim, size in enumerate(shape) if size == DYNAMIC]


def slice_along(b: TensorBuilder, value: ir.Value, dim: int, offset: int, size: int) -> ir.Value:
    """``value[..., offset : offset + size, ...]`` in the static dimension ``dim``."""
    rank = tensor_type(value).rank
    result = with_sizes(value.type, {dim: size})
    dynamic = dynamic_sizes(b, value)
    with b.loc.context:
        attributes: dict[str, ir.Attribute] = {
            "static_offsets": ir.DenseI64ArrayAttr.get(
                [offset if d == dim else 0 for d in range(rank)]
            ),
            "static_sizes": ir.DenseI64ArrayAttr.get(list(result.shape)),
            "static_strides": ir.DenseI64ArrayAttr.get([1] * rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(dynamic), 0]),
        }
    return b.op("tensor.extract_slice", [value, *dynamic], result, attributes)


def concatenate(b: TensorBuilder, values: Sequence[ir.Value], dim: int) -> ir.Value:
    """``tensor.concat`` along ``dim``; the value itself where there is one."""
    if len(values) == 1:
        return values[0]
    sizes = [tensor_type(value).shape[dim] for value in values]
    total = DYNAMIC if DYNAMIC in sizes else sum(sizes)
    attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, b.loc.context), dim)
    result = with_sizes(values[0].type, {dim: total})
    return b.op("tensor.concat", list(values), result, {"dim": attribute})


def transpose(b: TensorBuilder, value: ir.Value, order: Sequence[int]) -> ir.Value:
    """Dimension ``i`` of the result is dimension ``order[i]`` of a static tensor."""
    rank = len(order)
    if list(order) == list(range(rank)):
        return value
    type_ = tensor_type(value)
    result = with_shape(type_, [type_.shape[d] for d in order])
    with b.loc:
        into = dims_map(rank, range(rank))
        source = dims_map(rank, [list(order).index(d) for d in range(rank)])
    init = b.empty(result, [])
    return b.generic([(value, source)], (init, into), lambda _, arguments: arguments[0])


def repeat(b: TensorBuilder, value: ir.Value, times: int) -> ir.Value:
    """A static tensor of shape ``[...]`` as ``[times, ...]``, every row the same."""
    shape = [times, *tensor_type(value).shape]
    with b.loc:
        into = dims_map(len(shape), range(len(shape)))
        source = dims_map(len(shape), range(1, len(shape)))
    init = b.empty(with_shape(value.type, shape), [])
    return b.generic([(value, source)], (init, into), lambda _, arguments: arguments[0])


def split_dim(b: TensorBuilder, value: ir.Value, dim: int, outer: int) -> ir.Value:
    """Dimension ``dim`` of size ``outer * n`` as two of sizes ``outer``, ``n``."""
    shape = list(tensor_type(value).shape)
    shape[dim : dim + 1] = [outer, shape[dim] // outer]
    groups = _groups(len(shape) - 1, dim)
    return b.expand_shape(value, groups, with_shape(value.type, shape))


def merge_dims(b: TensorBuilder, value: ir.Value, dim: int) -> ir.Value:
    """Dimensions ``dim`` and ``dim + 1`` of a static tensor as one."""
    shape = list(tensor_type(value).shape)
    shape[dim : dim + 2] = [shape[dim] * shape[dim + 1]]
    return b.collapse_shape(value, _groups(len(shape), dim), with_shape(value.type, shape))


def prepend_unit_dim(b: TensorBuilder, value: ir.Value) -> ir.Value:
    """A static tensor of shape ``[...]`` as ``[1, ...]``."""
    shape = [1, *tensor_type(value).shape]
    groups = [[0, 1], *([d] for d in range(2, len(shape)))] if len(shape) > 1 else []
    return b.expand_shape(value, groups, with_shape(value.type, shape))


def _groups(rank: int, dim: int) -> list[list[int]]:
    """Reassociation where dimension ``dim`` of ``rank`` stands for two."""
    return [[d] if d < dim else [d, d + 1] if d == dim else [d + 1] for d in range(rank)]
