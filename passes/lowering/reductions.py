"""Elementwise reduction of several tensors, in one linalg.generic."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import (
    Attribute,
    BF16Type,
    Block,
    F16Type,
    F32Type,
    FloatType,
    InsertionPoint,
    IntegerType,
    Location,
    Operation,
    RankedTensorType,
    Type,
    Value,
)
from ...dialects.tensor import dynamic_sizes

_FLOAT = {"add": "addf", "mul": "mulf", "max": "maximumf", "min": "minimumf"}
_INTEGER = {
    "add": "addi",
    "mul": "muli",
    "max": "maxsi",
    "min": "minsi",
    "umax": "maxui",
    "umin": "minui",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
}
# StableHLO: on booleans, add is logical or and multiply is logical and.
_BOOLEAN = {
    "add": "ori",
    "max": "ori",
    "umax": "ori",
    "or": "ori",
    "mul": "andi",
    "min": "andi",
    "umin": "andi",
    "and": "andi",
    "xor": "xori",
}


def reduce_elementwise(
    values: Sequence[Value], reduction: str, *, loc: Location, ip: InsertionPoint
) -> Value:
    """``values`` combined from left to right, all of one tensor type.

    Sums and products of bf16 and f16 are taken in f32 and rounded once, as
    XLA's CPU compiler promotes bf16 reductions. The order is that of
    ``values``, so that equal lists give bit-identical results.
    """
    if len(values) == 1:
        return values[0]
    type_ = RankedTensorType(values[0].type)
    empty = Operation.create(
        "tensor.empty",
        results=[type_],
        operands=dynamic_sizes(values[0], loc=loc, ip=ip),
        loc=loc,
        ip=ip,
    ).results[0]
    op = Operation.create(
        "linalg.generic",
        results=[type_],
        operands=[*values, empty],
        attributes=_attributes(type_.rank, len(values), loc),
        regions=1,
        loc=loc,
        ip=ip,
    )
    count = len(values) + 1
    body = Block.create_at_start(op.regions[0], [type_.element_type] * count, [loc] * count)
    terms = list(body.arguments)[:-1]
    combined = _combine(terms, reduction, loc, InsertionPoint(body))
    Operation.create("linalg.yield", operands=[combined], loc=loc, ip=InsertionPoint(body))
    return op.results[0]


def _attributes(rank: int, inputs: int, loc: Location) -> dict[str, Attribute]:
    dims = ", ".join(f"d{i}" for i in range(rank))
    maps = ", ".join([f"affine_map<({dims}) -> ({dims})>"] * (inputs + 1))
    iterators = ", ".join(["#linalg.iterator_type<parallel>"] * rank)
    with loc.context:
        return {
            "indexing_maps": Attribute.parse(f"[{maps}]"),
            "iterator_types": Attribute.parse(f"[{iterators}]"),
            "operandSegmentSizes": Attribute.parse(f"array<i32: {inputs}, 1>"),
        }


def _combine(values: Sequence[Value], reduction: str, loc: Location, ip: InsertionPoint) -> Value:
    element = values[0].type

    def emit(name: str, operands: list[Value], type_: Type) -> Value:
        op = Operation.create(f"arith.{name}", results=[type_], operands=operands, loc=loc, ip=ip)
        return op.results[0]

    wide = element
    if isinstance(element, BF16Type | F16Type) and reduction in ("add", "mul"):
        wide = F32Type.get(loc.context)
        values = [emit("extf", [value], wide) for value in values]
    if isinstance(element, FloatType):
        name = _FLOAT[reduction]
    else:
        name = (_BOOLEAN if IntegerType(element).width == 1 else _INTEGER)[reduction]
    total = values[0]
    for value in values[1:]:
        total = emit(name, [total, value], wide)
    return total if wide == element else emit("truncf", [total], element)
