"""Takes a collective out of the loop: it runs once, on all iterations' data.

Before::

    scf.for %i = 0 to n iter_args(%out) {
      %x = compute(%i); %r = collective(%x); %o = insert_slice(%r, %out, %i); yield %o
    }

After::

    %xs = scf.for %i = 0 to n { %x = compute(%i); insert_slice(%x, %xs, %i) }
    %rs = collective(%xs) {pipelined}
    scf.for %i = 0 to n iter_args(%out) { insert_slice(%rs[%i], %out, %i) }

The tail keeps its order of iterations, so the result is the same bit for bit, sums
of floats included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.ops.constraints import tensor_bytes
from ....dialects.upstream.arith import Scalars
from ....dialects.upstream.scf import ForLoop, build_for, trips_before
from ...analysis.pipelined_mark import mark_pipelined
from .forward import Stages
from .stages import LoopBody, Refusal, Tail

_DIMS = ("dim", "split_dim", "concat_dim")
# Stays in memory from the first loop to the second one.
_MOST_STACKED = 2 << 30
_DYNAMIC = ir.ShapedType.get_dynamic_size()


def sink_refusal(crossing: Sequence[ir.Value], trips: int | None) -> Refusal | None:
    """Why a tail that reads these values cannot leave its loop, None if it can."""
    if trips is None:
        return Refusal("a dynamic number of trips cannot be gathered in one tensor")
    for value in crossing:
        type_ = value.type
        if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
            return Refusal("what it reads in each trip has no static shape")
        if type_.encoding is not None:
            return Refusal("what it reads in each trip has an encoding")
    if trips * sum(tensor_bytes(value.type) or 0 for value in crossing) > _MOST_STACKED:
        return Refusal("what it reads in all trips takes over 2 GiB")
    return None


def sink(
    body: LoopBody, tail: Tail, roots: Sequence[int], trips: int, ip: ir.InsertionPoint
) -> tuple[list[ForLoop], list[ir.Value]]:
    """Writes both loops at ``ip``; returns them, the last one first, and all results.

    ``roots`` are the collectives of the tail that leave; none is computed
    from another. The tail is given their operands, and ``sink_refusal`` gave
    None. Other collectives of the tail stay in the second loop.
    """
    loop = body.loop
    location = loop.op.location
    stages = Stages(body, tail)
    count = len(loop.inits)
    stacks = [_Stack(trips, v.type) for v in tail.crossing]

    def fill(index: ir.Value, carried: list[ir.Value], at: ir.InsertionPoint) -> list[ir.Value]:
        values, _ = stages.first(index, carried[:count], at)
        kept = stages.next_carried(values, stages.slots_of(carried[:count]))
        trip = _trip(loop, index, Scalars(at, location))
        filled = [
            stack.insert(value, into, trip, Scalars(at, location))
            for stack, value, into in zip(
                stacks, stages.crossing(values), carried[count:], strict=True
            )
        ]
        return [*kept, *filled]

    bounds = (loop.lower, loop.upper, loop.step)
    attributes = loop.attributes
    empty = [stack.empty(Scalars(ip, location)) for stack in stacks]
    first = build_for(
        *bounds, [*loop.inits, *empty], fill, loc=location, ip=ip, attributes=attributes
    )
    results: list[ir.Value] = [*first.op.results]
    whole: ir.ValueMap = dict(zip(tail.crossing, results[count:], strict=True))
    leaving = [body.ops[p] for p in roots]
    # What the second loop reads of each iteration: results, and what else crosses.
    stacked: ir.ValueMap = {
        op.results[0]: _batched(op, whole[op.operands[0]], trips, ip) for op in leaving
    }
    stacked |= {value: whole[value] for value in body.read_at(tail.positions, roots, whole)}

    def drain(index: ir.Value, carried: list[ir.Value], at: ir.InsertionPoint) -> list[ir.Value]:
        scalars = Scalars(at, location)
        trip = _trip(loop, index, scalars)
        given: ir.ValueMap = {
            value: _Stack(trips, value.type).extract(tensor, trip, scalars)
            for value, tensor in stacked.items()
        }
        all_carried = stages.with_slots(results[:count], carried)
        stored, _ = stages.second(index, all_carried, given, at, without=roots)
        return stored

    inits = stages.slots_of(loop.inits)
    second = build_for(*bounds, inits, drain, loc=location, ip=ip, attributes=attributes)
    return [second, first], stages.with_slots(results[:count], [*second.op.results])


def _trip(loop: ForLoop, index: ir.Value, scalars: Scalars) -> ir.Value:
    """The number of the iteration, from 0, as an index."""
    trip = trips_before(loop, index, scalars)
    return scalars.convert("index_castui", trip, ir.IndexType.get(index.context))


def _batched(
    collective: ir.Operation, stacked: ir.Value, trips: int, ip: ir.InsertionPoint
) -> ir.Value:
    """The collective with a leading dimension of all iterations."""
    attributes: dict[str, ir.Attribute] = dict(collective.attributes.items())
    for name in _DIMS:
        if name in attributes:
            dim = ir.IntegerAttr(attributes[name])
            attributes[name] = ir.IntegerAttr.get(dim.type, dim.value + 1)
    type_ = _Stack(trips, collective.results[0].type).type
    made = Scalars(ip, collective.location).op(collective.name, [stacked], type_, attributes)
    mark_pipelined([ir.OpResult(made).owner.operation])
    return made


@dataclass(frozen=True)
class _Stack:
    """``trips`` tensors of one type in one tensor with a leading dimension."""

    trips: int
    slice_type: ir.Type

    @property
    def type(self) -> ir.RankedTensorType:
        type_ = ir.RankedTensorType(self.slice_type)
        with type_.context:
            return ir.RankedTensorType.get_unchecked([self.trips, *type_.shape], type_.element_type)

    def empty(self, scalars: Scalars) -> ir.Value:
        return scalars.op("tensor.empty", [], self.type)

    def insert(self, value: ir.Value, into: ir.Value, trip: ir.Value, scalars: Scalars) -> ir.Value:
        return scalars.op(
            "tensor.insert_slice",
            [value, into, trip],
            self.type,
            self._place([1, 1, 1, 0, 0]),
        )

    def extract(self, whole: ir.Value, trip: ir.Value, scalars: Scalars) -> ir.Value:
        return scalars.op(
            "tensor.extract_slice", [whole, trip], self.slice_type, self._place([1, 1, 0, 0])
        )

    def _place(self, segments: Sequence[int]) -> dict[str, ir.Attribute]:
        type_ = ir.RankedTensorType(self.slice_type)
        sizes = [1, *type_.shape]
        with type_.context:
            return {
                "static_offsets": ir.DenseI64ArrayAttr.get([_DYNAMIC, *([0] * type_.rank)]),
                "static_sizes": ir.DenseI64ArrayAttr.get(sizes),
                "static_strides": ir.DenseI64ArrayAttr.get([1] * len(sizes)),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
            }
