"""Builds linalg and tensor ops: the little of both that the lowerings need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir.bindings import (
    AffineMap,
    AffineMapAttr,
    ArrayAttr,
    Attribute,
    Block,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
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
from .arith import Scalars

DYNAMIC = ShapedType.get_dynamic_size()

Body = Callable[[Scalars, list[Value]], Value]
"""Makes a linalg body: gets the block arguments, outs included; returns what is yielded."""


def tensor_type(value: Value) -> RankedTensorType:
    return RankedTensorType(value.type)


def with_element_type(type_: Type, element: Type) -> RankedTensorType:
    """The tensor type with another element type; shape and encoding stay."""
    tensor = RankedTensorType(type_)
    loc = Location.unknown(type_.context)
    return RankedTensorType.get(list(tensor.shape), element, tensor.encoding, loc=loc)


def dims_map(loops: int, dims: Sequence[int]) -> AffineMap:
    """``(d0, ..., dn) -> (dims...)``; enter a context or location first."""
    names = [f"d{i}" for i in range(loops)]
    results = [names[d] for d in dims]
    text = f"affine_map<({', '.join(names)}) -> ({', '.join(results)})>"
    return AffineMapAttr(Attribute.parse(text)).value


@dataclass(frozen=True)
class TensorBuilder:
    """A place where linalg and tensor ops are made."""

    ip: InsertionPoint
    loc: Location

    def scalars(self) -> Scalars:
        return Scalars(self.ip, self.loc)

    def op(
        self,
        name: str,
        operands: list[Value],
        type_: Type,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        """One op without regions and with one result."""
        return self.scalars().op(name, operands, type_, attributes)

    def index(self, value: int) -> Value:
        return self.op(
            "arith.constant", [], self._index(), {"value": IntegerAttr.get(self._index(), value)}
        )

    def _index(self) -> Type:
        return IndexType.get(self.loc.context)

    def dim(self, source: Value, dim: int) -> Value:
        """The size of one dimension, a constant where it is static."""
        size = tensor_type(source).shape[dim]
        if size != DYNAMIC:
            return self.index(size)
        return self.op("tensor.dim", [source, self.index(dim)], self._index())

    def empty(self, type_: RankedTensorType, sizes: Sequence[tuple[Value, int]]) -> Value:
        """``tensor.empty``; ``sizes`` says per dimension which (tensor, dimension) has its size."""
        dynamic = [self.dim(*sizes[i]) for i, size in enumerate(type_.shape) if size == DYNAMIC]
        return self.op("tensor.empty", dynamic, type_)

    def fill(self, value: float, init: Value) -> Value:
        """``linalg.fill`` of a float tensor."""
        element = tensor_type(init).element_type
        scalar = self.scalars().constant(value, element)
        made = self._structured("linalg.fill", [scalar], init, {})
        self._fill_body(made, lambda _, arguments: arguments[0])
        return made.results[0]

    def generic(
        self,
        inputs: Sequence[tuple[Value, AffineMap]],
        init: tuple[Value, AffineMap],
        body: Body,
        reductions: Sequence[int] = (),
    ) -> Value:
        """``linalg.generic`` with one result; loops in ``reductions`` are reductions."""
        with self.loc:
            loops = init[1].n_dims
            maps = [AffineMapAttr.get(m) for m in (*(m for _, m in inputs), init[1])]
            kinds = ["reduction" if i in reductions else "parallel" for i in range(loops)]
            iterators = [Attribute.parse(f"#linalg.iterator_type<{k}>") for k in kinds]
            attributes: dict[str, Attribute] = {
                "indexing_maps": ArrayAttr.get(maps),
                "iterator_types": ArrayAttr.get(iterators),
            }
            values = [value for value, _ in inputs]
            made = self._structured("linalg.generic", values, init[0], attributes)
            self._fill_body(made, body)
            return made.results[0]

    def named(
        self, name: str, inputs: list[Value], init: Value, body: Body, maps: Attribute | None = None
    ) -> Value:
        """A named linalg op; its body is implied by its name, but has to be there."""
        with self.loc:
            attributes = {} if maps is None else {"indexing_maps": maps}
            made = self._structured(f"linalg.{name}", inputs, init, attributes)
            self._fill_body(made, body)
            return made.results[0]

    def elementwise(
        self, data: Value, others: Sequence[tuple[Value, AffineMap]], element: Type, body: Body
    ) -> Value:
        """A parallel ``linalg.generic`` over ``data``; the result has its shape.

        ``others`` are read through their maps from the loops of ``data``.
        """
        type_ = with_element_type(data.type, element)
        rank = len(type_.shape)
        with self.loc:
            identity = AffineMap.get_identity(rank)
        init = self.empty(type_, [(data, i) for i in range(rank)])
        return self.generic([(data, identity), *others], (init, identity), body)

    def _structured(
        self, name: str, inputs: list[Value], init: Value, attributes: dict[str, Attribute]
    ) -> Operation:
        with self.loc.context:
            segments = DenseI32ArrayAttr.get([len(inputs), 1])
        return Operation.create(
            name,
            results=[init.type],
            operands=[*inputs, init],
            attributes={**attributes, "operandSegmentSizes": segments},
            regions=1,
            loc=self.loc,
            ip=self.ip,
        ).operation

    def _fill_body(self, op: Operation, body: Body) -> None:
        elements = [element_of(o.type) for o in op.operands]
        block = Block.create_at_start(op.regions[0], elements, [self.loc] * len(elements))
        ip = InsertionPoint(block)
        value = body(Scalars(ip, self.loc), list(block.arguments))
        Operation.create("linalg.yield", results=[], operands=[value], loc=self.loc, ip=ip)

    def expand_shape(
        self, value: Value, groups: Sequence[Sequence[int]], type_: RankedTensorType
    ) -> Value:
        """``tensor.expand_shape``; in each group at most one size is dynamic."""
        static = list(type_.shape)
        dynamic: list[Value] = []
        for source, group in enumerate(groups):
            for dim in group:
                if static[dim] != DYNAMIC:
                    continue
                others = 1
                for other in group:
                    others *= 1 if other == dim else static[other]
                size = self.dim(value, source)
                if others != 1:
                    size = self.op("arith.divui", [size, self.index(others)], self._index())
                dynamic.append(size)
        with self.loc.context:
            attributes: dict[str, Attribute] = {
                "reassociation": _reassociation(groups, self.loc),
                "static_output_shape": DenseI64ArrayAttr.get(static),
            }
        return self.op("tensor.expand_shape", [value, *dynamic], type_, attributes)

    def collapse_shape(
        self, value: Value, groups: Sequence[Sequence[int]], type_: RankedTensorType
    ) -> Value:
        attributes: dict[str, Attribute] = {"reassociation": _reassociation(groups, self.loc)}
        return self.op("tensor.collapse_shape", [value], type_, attributes)

    def drop_unit_dims(self, value: Value, dropped: Sequence[int]) -> Value:
        """Collapses the given dimensions of size 1 away; may leave rank 0."""
        type_ = tensor_type(value)
        if not dropped:
            return value
        kept = [d for d in range(len(type_.shape)) if d not in dropped]
        groups: list[list[int]] = [[] for _ in kept]
        for dim in range(len(type_.shape)):
            # A dropped dim joins the kept one before it, leading ones the first.
            position = max(sum(k <= dim for k in kept) - 1, 0)
            if kept:
                groups[position].append(dim)
        shape = [type_.shape[d] for d in kept]
        result = RankedTensorType.get(shape, type_.element_type, loc=self.loc)
        return self.collapse_shape(value, groups, result)


def _reassociation(groups: Sequence[Sequence[int]], loc: Location) -> Attribute:
    with loc.context:
        i64 = IntegerType.get_signless(64)
        rows = [ArrayAttr.get([IntegerAttr.get(i64, d) for d in g]) for g in groups]
        return ArrayAttr.get(rows)


def element_of(type_: Type) -> Type:
    """The element type of a tensor type; a scalar type itself."""
    return type_.element_type if isinstance(type_, RankedTensorType) else type_
