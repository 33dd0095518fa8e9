"""Builders for the tensor and arith ops that the lowerings make."""

from __future__ import annotations

from collections.abc import Sequence

from .mlir import (
    Attribute,
    DenseElementsAttr,
    DenseI64ArrayAttr,
    FloatAttr,
    FloatType,
    IndexType,
    InsertionPoint,
    IntegerAttr,
    IntegerType,
    Location,
    Operation,
    RankedTensorType,
    ShapedType,
    Type,
    Value,
)

DYNAMIC = ShapedType.get_dynamic_size()


def index_constant(value: int, *, loc: Location, ip: InsertionPoint) -> Value:
    with loc.context:
        attribute = IntegerAttr.get(IndexType.get(), value)
    return constant(attribute, attribute.type, loc=loc, ip=ip)


def constant(value: Attribute, type_: Type, *, loc: Location, ip: InsertionPoint) -> Value:
    op = Operation.create(
        "arith.constant", results=[type_], attributes={"value": value}, loc=loc, ip=ip
    )
    return op.results[0]


def splat(type_: RankedTensorType, value: int, *, loc: Location, ip: InsertionPoint) -> Value:
    """A static tensor whose elements are all ``value``: integers or floats."""
    element = type_.element_type
    attribute: Attribute
    if isinstance(element, FloatType):
        attribute = FloatAttr.get(element, float(value), loc=loc)
    else:
        attribute = IntegerAttr.get(element, value)
    dense = DenseElementsAttr.get_splat(type_, attribute)
    return constant(dense, type_, loc=loc, ip=ip)


def resized(type_: Type, sizes: dict[int, int]) -> RankedTensorType:
    """A tensor type with other sizes in the given dimensions."""
    tensor = RankedTensorType(type_)
    shape = [sizes.get(dim, size) for dim, size in enumerate(tensor.shape)]
    return RankedTensorType.get(shape, tensor.element_type, loc=Location.unknown(type_.context))


def dynamic_sizes(value: Value, *, loc: Location, ip: InsertionPoint) -> list[Value]:
    """``tensor.dim`` of each dynamic dimension, in order."""
    sizes: list[Value] = []
    for dim, size in enumerate(RankedTensorType(value.type).shape):
        if size == DYNAMIC:
            position = index_constant(dim, loc=loc, ip=ip)
            op = Operation.create(
                "tensor.dim", results=[position.type], operands=[value, position], loc=loc, ip=ip
            )
            sizes.append(op.results[0])
    return sizes


def slice_along(
    value: Value, dim: int, offset: int, size: int, *, loc: Location, ip: InsertionPoint
) -> Value:
    """``value[..., offset : offset + size, ...]`` in the static dimension ``dim``."""
    type_ = RankedTensorType(value.type)
    offsets = [offset if d == dim else 0 for d in range(type_.rank)]
    result = resized(type_, {dim: size})
    with loc.context:
        op = Operation.create(
            "tensor.extract_slice",
            results=[result],
            operands=[value, *dynamic_sizes(value, loc=loc, ip=ip)],
            attributes={
                "static_offsets": DenseI64ArrayAttr.get(offsets),
                "static_sizes": DenseI64ArrayAttr.get(list(result.shape)),
                "static_strides": DenseI64ArrayAttr.get([1] * type_.rank),
                "operandSegmentSizes": Attribute.parse(
                    f"array<i32: 1, 0, {list(result.shape).count(DYNAMIC)}, 0>"
                ),
            },
            loc=loc,
            ip=ip,
        )
    return op.results[0]


def concatenate(values: Sequence[Value], dim: int, *, loc: Location, ip: InsertionPoint) -> Value:
    """``tensor.concat`` along ``dim``; the value itself where there is one."""
    if len(values) == 1:
        return values[0]
    sizes = [RankedTensorType(value.type).shape[dim] for value in values]
    total = DYNAMIC if DYNAMIC in sizes else sum(sizes)
    with loc.context:
        op = Operation.create(
            "tensor.concat",
            results=[resized(values[0].type, {dim: total})],
            operands=list(values),
            attributes={"dim": IntegerAttr.get(IntegerType.get_signless(64), dim)},
            loc=loc,
            ip=ip,
        )
    return op.results[0]
