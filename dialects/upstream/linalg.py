"""Builds linalg and tensor ops: the little of both that the lowerings need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .. import ir
from .arith import Scalars

DYNAMIC = ir.ShapedType.get_dynamic_size()

Body = Callable[[Scalars, list[ir.Value]], ir.Value]
"""Makes a linalg body: gets the block arguments, outs included; returns what is yielded."""


def tensor_type(value: ir.Value) -> ir.RankedTensorType:
    return ir.RankedTensorType(value.type)


def with_element_type(type_: ir.Type, element: ir.Type) -> ir.RankedTensorType:
    """The tensor type with another element type; shape and encoding stay."""
    tensor = ir.RankedTensorType(type_)
    loc = ir.Location.unknown(type_.context)
    return ir.RankedTensorType.get(list(tensor.shape), element, tensor.encoding, loc=loc)


def dims_map(loops: int, dims: Sequence[int]) -> ir.AffineMap:
    """``(d0, ..., dn) -> (dims...)``; enter a context or location first."""
    names = [f"d{i}" for i in range(loops)]
    results = [names[d] for d in dims]
    text = f"affine_map<({', '.join(names)}) -> ({', '.join(results)})>"
    return ir.AffineMapAttr(ir.Attribute.parse(text)).value


@dataclass(frozen=True)
class TensorBuilder:
    """A place where linalg and tensor ops are made."""

    ip: ir.InsertionPoint
    loc: ir.Location

    def scalars(self) -> Scalars:
        return Scalars(self.ip, self.loc)

    def op(
        self,
        name: str,
        operands: list[ir.Value],
        type_: ir.Type,
        attributes: dict[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        """One op without regions and with one result."""
        return self.scalars().op(name, operands, type_, attributes)

    def index(self, value: int) -> ir.Value:
        return self.op(
            "arith.constant", [], self._index(), {"value": ir.IntegerAttr.get(self._index(), value)}
        )

    def _index(self) -> ir.Type:
        return ir.IndexType.get(self.loc.context)

    def dim(self, source: ir.Value, dim: int) -> ir.Value:
        """The size of one dimension, a constant where it is static."""
        size = tensor_type(source).shape[dim]
        if size != DYNAMIC:
            return self.index(size)
        return self.op("tensor.dim", [source, self.index(dim)], self._index())

    def empty(self, type_: ir.RankedTensorType, sizes: Sequence[tuple[ir.Value, int]]) -> ir.Value:
        """``tensor.empty``; ``sizes`` says per dimension which (tensor, dimension) has its size."""
        dynamic = [self.dim(*sizes[i]) for i, size in enumerate(type_.shape) if size == DYNAMIC]
        return self.op("tensor.empty", dynamic, type_)

    def fill(self, value: float | ir.Value, init: ir.Value) -> ir.Value:
        """``linalg.fill``, with a constant of a float tensor or a scalar."""
        scalar = self.scalars().value(value, tensor_type(init).element_type)
        made = self._structured("linalg.fill", [scalar], init, {})
        self._fill_body(made, lambda _, arguments: arguments[0])
        return made.results[0]

    def generic(
        self,
        inputs: Sequence[tuple[ir.Value, ir.AffineMap]],
        init: tuple[ir.Value, ir.AffineMap],
        body: Body,
        reductions: Sequence[int] = (),
    ) -> ir.Value:
        """``linalg.generic`` with one result; loops in ``reductions`` are reductions."""
        with self.loc:
            loops = init[1].n_dims
            maps = [ir.AffineMapAttr.get(m) for m in (*(m for _, m in inputs), init[1])]
            kinds = ["reduction" if i in reductions else "parallel" for i in range(loops)]
            iterators = [ir.Attribute.parse(f"#linalg.iterator_type<{k}>") for k in kinds]
            attributes: dict[str, ir.Attribute] = {
                "indexing_maps": ir.ArrayAttr.get(maps),
                "iterator_types": ir.ArrayAttr.get(iterators),
            }
            values = [value for value, _ in inputs]
            made = self._structured("linalg.generic", values, init[0], attributes)
            self._fill_body(made, body)
            return made.results[0]

    def named(
        self,
        name: str,
        inputs: list[ir.Value],
        init: ir.Value,
        body: Body,
        maps: ir.Attribute | None = None,
    ) -> ir.Value:
        """A named linalg op; its body is implied by its name, but has to be there."""
        with self.loc:
            attributes = {} if maps is None else {"indexing_maps": maps}
            made = self._structured(f"linalg.{name}", inputs, init, attributes)
            self._fill_body(made, body)
            return made.results[0]

    def elementwise(
        self,
        data: ir.Value,
        others: Sequence[tuple[ir.Value, ir.AffineMap]],
        element: ir.Type,
        body: Body,
    ) -> ir.Value:
        """A parallel ``linalg.generic`` over ``data``; the result has its shape.

        ``others`` are read through their maps from the loops of ``data``.
        """
        type_ = with_element_type(data.type, element)
        rank = len(type_.shape)
        with self.loc:
            identity = ir.AffineMap.get_identity(rank)
        init = self.empty(type_, [(data, i) for i in range(rank)])
        return self.generic([(data, identity), *others], (init, identity), body)

    def _structured(
        self, name: str, inputs: list[ir.Value], init: ir.Value, attributes: dict[str, ir.Attribute]
    ) -> ir.Operation:
        with self.loc.context:
            segments = ir.DenseI32ArrayAttr.get([len(inputs), 1])
        return ir.Operation.create(
            name,
            results=[init.type],
            operands=[*inputs, init],
            attributes={**attributes, "operandSegmentSizes": segments},
            regions=1,
            loc=self.loc,
            ip=self.ip,
        ).operation

    def _fill_body(self, op: ir.Operation, body: Body) -> None:
        elements = [element_of(o.type) for o in op.operands]
        block = ir.Block.create_at_start(op.regions[0], elements, [self.loc] * len(elements))
        ip = ir.InsertionPoint(block)
        value = body(Scalars(ip, self.loc), list(block.arguments))
        ir.Operation.create("linalg.yield", results=[], operands=[value], loc=self.loc, ip=ip)

    def expand_shape(
        self, value: ir.Value, groups: Sequence[Sequence[int]], type_: ir.RankedTensorType
    ) -> ir.Value:
        """``tensor.expand_shape``; in each group at most one size is dynamic."""
        static = list(type_.shape)
        dynamic: list[ir.Value] = []
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
            attributes: dict[str, ir.Attribute] = {
                "reassociation": _reassociation(groups, self.loc),
                "static_output_shape": ir.DenseI64ArrayAttr.get(static),
            }
        return self.op("tensor.expand_shape", [value, *dynamic], type_, attributes)

    def collapse_shape(
        self, value: ir.Value, groups: Sequence[Sequence[int]], type_: ir.RankedTensorType
    ) -> ir.Value:
        attributes: dict[str, ir.Attribute] = {"reassociation": _reassociation(groups, self.loc)}
        return self.op("tensor.collapse_shape", [value], type_, attributes)

    def drop_unit_dims(self, value: ir.Value, dropped: Sequence[int]) -> ir.Value:
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
        result = ir.RankedTensorType.get(shape, type_.element_type, loc=self.loc)
        return self.collapse_shape(value, groups, result)


def _reassociation(groups: Sequence[Sequence[int]], loc: ir.Location) -> ir.Attribute:
    with loc.context:
        i64 = ir.IntegerType.get_signless(64)
        rows = [ir.ArrayAttr.get([ir.IntegerAttr.get(i64, d) for d in g]) for g in groups]
        return ir.ArrayAttr.get(rows)


def element_of(type_: ir.Type) -> ir.Type:
    """The element type of a tensor type; a scalar type itself."""
    return type_.element_type if isinstance(type_, ir.RankedTensorType) else type_
