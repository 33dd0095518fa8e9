"""Takes a collective out of the loop: it runs once, on all trips' data.

Before::

    scf.for %i = 0 to n iter_args(%out) {
      %x = compute(%i); %r = all_reduce(%x); %o = insert_slice(%r, %out, %i); yield %o
    }

After::

    %xs = scf.for %i = 0 to n { %x = compute(%i); insert_slice(%x, %xs, %i) }
    %rs = all_reduce(%xs) {pipelined}
    scf.for %i = 0 to n iter_args(%out) { insert_slice(%rs[%i], %out, %i) }

The tail keeps its order of trips, so the result is the same bit for bit, sums
of floats included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.arith import Scalars
from ...dialects.cloning import Mapping
from ...dialects.mlir import (
    Attribute,
    DenseI64ArrayAttr,
    IndexType,
    InsertionPoint,
    IntegerAttr,
    Operation,
    RankedTensorType,
    ShapedType,
    Type,
    Value,
)
from ...dialects.scf import ForLoop, build_for
from .loop_stages import LoopBody, Refusal, Tail
from .pipeline_forward import Stages
from .pipelined_mark import mark_pipelined

_DIMS = ("dim", "split_dim", "concat_dim")
_DYNAMIC = ShapedType.get_dynamic_size()


def sink_refusal(tail: Tail, trips: int | None) -> Refusal | None:
    """Why a tail cannot be taken out of its loop, None if it can."""
    if trips is None:
        return Refusal("a dynamic number of trips cannot be gathered in one tensor")
    for value in tail.crossing:
        type_ = value.type
        if not isinstance(type_, RankedTensorType) or not type_.has_static_shape:
            return Refusal("what it reads in each trip has no static shape")
    return None


def sink(body: LoopBody, tail: Tail, trips: int, ip: InsertionPoint) -> tuple[ForLoop, list[Value]]:
    """Writes both loops at ``ip``; returns the first and all results.

    The collective is the tail's first op, and ``sink_refusal`` gave None.
    """
    loop = body.loop
    location = loop.op.location
    stages = Stages(body, tail)
    count = len(loop.inits)
    stacks = [_Stack(trips, v.type) for v in tail.crossing]

    def fill(index: Value, carried: list[Value], at: InsertionPoint) -> list[Value]:
        values = stages.first(index, carried[:count], at)
        kept = stages.next_carried(values, stages.slots_of(carried[:count]))
        trip = _trip(loop, index, Scalars(at, location))
        filled = [
            stack.insert(value, into, trip, Scalars(at, location))
            for stack, value, into in zip(
                stacks, stages.crossing(values), carried[count:], strict=True
            )
        ]
        return [*kept, *filled]

    empty = [stack.empty(Scalars(ip, location)) for stack in stacks]
    first = build_for(
        loop.lower, loop.upper, loop.step, [*loop.inits, *empty], fill, loc=location, ip=ip
    )
    results: list[Value] = [*first.op.results]
    collective = body.ops[tail.positions[0]]
    whole = dict(zip(tail.crossing, results[count:], strict=True))
    batched = _batched(collective, whole[collective.operands[0]], trips, ip)
    out = _Stack(trips, collective.results[0].type)

    def drain(index: Value, carried: list[Value], at: InsertionPoint) -> list[Value]:
        scalars = Scalars(at, location)
        trip = _trip(loop, index, scalars)
        crossing = [
            stack.extract(value, trip, scalars)
            for stack, value in zip(stacks, results[count:], strict=True)
        ]
        given: Mapping = {collective.results[0]: out.extract(batched, trip, scalars)}
        mine = iter(carried)
        all_carried = [next(mine) if s in tail.slots else results[s] for s in range(count)]
        return stages.second(index, all_carried, crossing, at, given)

    second = build_for(
        loop.lower,
        loop.upper,
        loop.step,
        stages.slots_of(loop.inits),
        drain,
        loc=location,
        ip=ip,
    )
    own = iter(second.op.results)
    final: list[Value] = [next(own) if s in tail.slots else results[s] for s in range(count)]
    return first, final


def _trip(loop: ForLoop, index: Value, scalars: Scalars) -> Value:
    """The number of the trip, from 0, as an index."""
    span = scalars.binary("subi", index, loop.lower)
    trip = scalars.binary("divsi", span, loop.step)
    return scalars.convert("index_cast", trip, IndexType.get(index.context))


def _batched(collective: Operation, stacked: Value, trips: int, ip: InsertionPoint) -> Value:
    """The collective with a leading dimension of all trips."""
    attributes: dict[str, Attribute] = dict(collective.attributes.items())
    for name in _DIMS:
        if name in attributes:
            dim = IntegerAttr(attributes[name])
            attributes[name] = IntegerAttr.get(dim.type, dim.value + 1)
    result = _Stack(trips, collective.results[0].type).type
    op = Operation.create(
        collective.name,
        results=[result],
        operands=[stacked],
        attributes=attributes,
        loc=collective.location,
        ip=ip,
    )
    mark_pipelined([op])
    return op.results[0]


@dataclass(frozen=True)
class _Stack:
    """``trips`` tensors of one type in one tensor with a leading dimension."""

    trips: int
    slice_type: Type

    @property
    def type(self) -> RankedTensorType:
        type_ = RankedTensorType(self.slice_type)
        with type_.context:
            return RankedTensorType.get_unchecked([self.trips, *type_.shape], type_.element_type)

    def empty(self, scalars: Scalars) -> Value:
        return scalars.op("tensor.empty", [], self.type)

    def insert(self, value: Value, into: Value, trip: Value, scalars: Scalars) -> Value:
        return scalars.op(
            "tensor.insert_slice",
            [value, into, trip],
            self.type,
            self._place([1, 1, 1, 0, 0]),
        )

    def extract(self, whole: Value, trip: Value, scalars: Scalars) -> Value:
        return scalars.op(
            "tensor.extract_slice", [whole, trip], self.slice_type, self._place([1, 1, 0, 0])
        )

    def _place(self, segments: Sequence[int]) -> dict[str, Attribute]:
        type_ = RankedTensorType(self.slice_type)
        sizes = [1, *type_.shape]
        with type_.context:
            return {
                "static_offsets": DenseI64ArrayAttr.get([_DYNAMIC, *([0] * type_.rank)]),
                "static_sizes": DenseI64ArrayAttr.get(sizes),
                "static_strides": DenseI64ArrayAttr.get([1] * len(sizes)),
                "operandSegmentSizes": Attribute.parse(
                    f"array<i32: {', '.join(map(str, segments))}>"
                ),
            }
