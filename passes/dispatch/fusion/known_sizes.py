"""Sizes of region results and their reshapes, without reading the tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import ir
from ....dialects.iree.dispatch import DispatchRegion
from ....dialects.upstream.linalg import DYNAMIC, TensorBuilder, tensor_type
from ....dialects.upstream.scf import constant_value
from ....dialects.upstream.tensor import reassociation

Size = int | ir.Value


def sizes_of(type_: ir.Type, dynamic: Sequence[ir.Value]) -> list[Size]:
    """One size per dimension: a number, or the next of the dynamic ones."""
    rest = iter(dynamic)
    return [next(rest) if s == DYNAMIC else s for s in ir.RankedTensorType(type_).shape]


def resolve_dims(region: DispatchRegion) -> None:
    """Replaces each tensor.dim of the region's results, which it knows itself.

    So asking for a size is no use of the value, and no size of an encoding
    depends on it.

        %r = flow.dispatch.region -> (tensor<?x4xf32>{%n})
        %d = tensor.dim %r, %c0
    becomes %n; and so for an expand_shape of the result.
    """
    for index, result in enumerate(region.op.results):
        if not isinstance(result.type, ir.RankedTensorType):
            continue
        users = ir.users_of(result)
        for user in users:
            if user.name == "tensor.expand_shape":
                expanded = user.results[0]
                _resolve(expanded, sizes_of(expanded.type, list(user.operands)[1:]))
        if any(user.name == "tensor.dim" for user in users):
            output = region.outputs()[index]
            _resolve(result, sizes_of(output.type, output.sizes))


def _resolve(value: ir.Value, sizes: Sequence[Size]) -> None:
    for op in ir.users_of(value):
        dim = constant_value(op.operands[1]) if op.name == "tensor.dim" else None
        if dim is None or not 0 <= dim < len(sizes):
            continue
        size = sizes[dim]
        if isinstance(size, int):
            size = TensorBuilder(ir.InsertionPoint(op), op.location).index(size)
        op.results[0].replace_all_uses_with(size)
        op.erase()


def sizes_after(reshape: ir.Operation, sizes: Sequence[Size], b: TensorBuilder) -> list[Size]:
    """The sizes of a reshape's result, given those of its operand.

    ``b`` makes the products that a collapse of dynamic dimensions needs.
    """
    shape = tensor_type(reshape.results[0]).shape
    if reshape.name == "tensor.cast":
        return [old if new == DYNAMIC else new for old, new in zip(sizes, shape, strict=True)]
    if reshape.name == "tensor.expand_shape":
        return sizes_of(reshape.results[0].type, list(reshape.operands)[1:])
    return [
        _product([sizes[dim] for dim in group], b) if size == DYNAMIC else size
        for size, group in zip(shape, reassociation(reshape), strict=True)
    ]


def _product(sizes: Sequence[Size], b: TensorBuilder) -> Size:
    values = [b.index(size) if isinstance(size, int) else size for size in sizes if size != 1]
    product = values[0]
    for value in values[1:]:
        attributes: dict[str, ir.Attribute] = {}
        product = b.op("arith.muli", [product, value], product.type, attributes)
    return product
