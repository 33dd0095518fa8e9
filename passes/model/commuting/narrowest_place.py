"""Moves a collective past elementwise ops to where the fewest bytes are."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.headrace import MOVING_COLLECTIVES, MovingCollectiveOp, as_moving
from ....dialects.ops.base import WIDE_REASON
from ....dialects.ops.collectives import build_collective
from ....dialects.ops.constraints import element_type_of, shape_of, tensor_bytes
from ...analysis.elementwise import element_bits
from ...analysis.replication import ReplicationAnalysis
from ...rewriting import Pattern, Rewriter
from .byte_cut import narrowest_cut
from .extrema import Extremum, extremum
from .neighbours import MOST_OPS, last_first, neighbours, reached
from .parts import (
    Dims,
    Place,
    held,
    is_uniform,
    operand_dims,
    other_sizes,
    place_in_operand,
    place_in_result,
    resized,
    shape_across,
    with_shape,
)

# A payload, its scales and a statistic; for more, starting them costs what is saved.
_MOST_COLLECTIVES = 3


@dataclass(frozen=True)
class NarrowerPlace:
    """The values to send instead of one: ``cut``, in program order.

    ``places``: where the collective's dimensions are in each value next to it;
    ``extrema``: those of ``cut`` that are reduced over the group.
    """

    cut: tuple[ir.Value, ...]
    places: dict[ir.Value, Place]
    extrema: dict[ir.Value, Extremum]

    def is_varying(self, value: ir.Value, place: Place, dims: Dims) -> bool:
        """Whether an op with ``place`` in its result reads another part of ``value`` on
        each side of the collective."""
        if value not in self.places or value in self.extrema:
            return False
        return self.places[value] == place_in_operand(place, dims)


class _NarrowestPlace(Pattern[NarrowerPlace]):
    """What both directions share. ``to_part``: whether values are made smaller."""

    roots = MOVING_COLLECTIVES
    to_part: bool

    def __init__(self, analysis: ReplicationAnalysis) -> None:
        self._analysis = analysis

    def _may_move(self, view: MovingCollectiveOp) -> bool:
        """Not where a device gets zeros, of which an op may make something else; nor, as
        there is hardly anything narrower, with elements of one byte."""
        types = (view.operands[0].type, view.results[0].type)
        if None in map(tensor_bytes, types) or not view.groups:
            return False
        if element_bits(view.operands[0]) <= 8:
            return False
        zeros = view.zeroed_devices(self._analysis.devices)
        return view.names_every_device or (self._analysis.states_devices and not zeros)

    def _is_uniform(self, view: MovingCollectiveOp, value: ir.Value, place: Place) -> bool:
        return is_uniform(self._analysis, value, [*place.values()], view.groups)

    def _bytes(self, view: MovingCollectiveOp, value: ir.Value, place: Place) -> int | None:
        """What a device receives of ``value``; None for what is not sent: booleans,
        elements of less than a byte, and unsigned integers, which only StableHLO has."""
        element = element_type_of(value)
        if isinstance(element, ir.IntegerType) and element.is_unsigned:
            return None
        width = element.width if isinstance(element, ir.FloatType | ir.IntegerType) else 0
        shape = shape_across(view, value, place, to_part=self.to_part)
        if width % 8 or not width or shape is None:
            return None
        unknown = ir.Location.unknown(value.context)
        other = tensor_bytes(ir.RankedTensorType.get(shape, element, loc=unknown))
        own = tensor_bytes(value.type)
        if own is None or other is None:
            return None
        sent, result = (other, own) if self.to_part else (own, other)
        return view.ring_bytes(view.group_size, sent, result)

    def _cut(
        self,
        view: MovingCollectiveOp,
        start: ir.Value,
        places: dict[ir.Value, Place],
        extrema: dict[ir.Value, Extremum],
        next_of: dict[ir.Value, list[ir.Value]],
        ends: dict[ir.Value, None],
    ) -> NarrowerPlace | None:
        sizes: dict[ir.Value, int | None] = {}
        for value, place in places.items():
            if value in extrema:
                sizes[value] = extrema[value].received_bytes(view)
            else:
                sizes[value] = self._bytes(view, value, place)
        cut = narrowest_cut(sizes, next_of, [start], list(ends))
        before = sizes[start]
        if cut is None or before is None or len(cut) > _MOST_COLLECTIVES:
            return None
        if sum(sizes[value] or 0 for value in cut) >= before:
            return None
        kept = {value: found for value, found in extrema.items() if value in cut}
        return NarrowerPlace(tuple(cut), places, kept)

    def _across(
        self,
        view: MovingCollectiveOp,
        value: ir.Value,
        found: NarrowerPlace,
        done: dict[object, ir.Value],
        ip: ir.InsertionPoint | None = None,
    ) -> ir.Value:
        """``value`` computed of what is in ``done``, on the other side of the collective;
        at ``ip``, or each op where it is."""
        if value not in done:
            op = ir.defining_op(value)
            assert op is not None
            place, shape = found.places[value], shape_of(value)
            at = ip or ir.InsertionPoint(op)
            if value in found.extrema:  # that has its shape on the parts, too
                part = self._across(view, op.operands[0], found, done, ip)
                done[value] = with_shape(op, [part, op.operands[1]], shape, at)
                return done[value]
            other = shape_across(view, value, place, to_part=self.to_part)
            assert other is not None
            operands: list[ir.Value] = []
            for number, operand in enumerate(op.operands):
                dims = operand_dims(op, number, grows=not self.to_part) or {}
                if found.is_varying(operand, place, dims):
                    operands.append(self._across(view, operand, found, done, ip))
                    continue
                sizes = other_sizes(operand, dims, place, shape, other)
                operands.append(resized(operand, sizes or {}, done))
            done[value] = with_shape(op, operands, other, at)
        return done[value]

    def _send(
        self,
        view: MovingCollectiveOp,
        value: ir.Value,
        place: Place,
        ip: ir.InsertionPoint,
        rewriter: Rewriter,
    ) -> ir.Value:
        """The collective on another value."""
        loc, dims = view.location, dict(place)
        new = build_collective(type(view), value, view.rows, loc=loc, ip=ip, dims=dims).operation
        for name, attribute in view.attributes.items():
            if name not in (*place, view.table, WIDE_REASON):
                new.attributes[name] = attribute
        rewriter.created(new)
        return new.results[0]

    def _finish(
        self,
        op: ir.Operation,
        producers: list[ir.Operation],
        near: list[ir.Operation],
        rewriter: Rewriter,
    ) -> None:
        """Erases the collective, which has no users, and what only led to it or came of it;
        has those ``near`` it looked at again."""
        for collective in near:
            rewriter.created(collective)
        for dead in (*producers, op) if self.to_part else (op, *producers):
            if not ir.is_used(dead):
                self._analysis.forget(dead)
                rewriter.erase(dead)


class SinkCollective(_NarrowestPlace):
    """What is computed elementwise of a collective's result is computed on the parts, up
    to the values with the fewest bytes, and those are sent.

        %g = collective %x : f32
        %m = stablehlo.reduce %g applies stablehlo.maximum across dimensions = [1]
        %s = stablehlo.divide %m, %c
        %q = headrace.quantize %g, %s : f8E4M3FN
    ->
        %n = stablehlo.reduce %x applies stablehlo.maximum across dimensions = [1]
        %t = stablehlo.divide %n, %c
        %s = collective %t
        %p = headrace.quantize %x, %t : f8E4M3FN
        %q = collective %p : f8E4M3FN

    Exact: each element is computed of the same operands by the same op. Of
    reductions only those move whose result does not depend on the order, over
    dimensions that the collective leaves alone; extrema over the gathered
    dimension are taken on the parts, and then over the group.
    """

    to_part = True

    def match(self, op: ir.Operation) -> NarrowerPlace | None:
        view = as_moving(op)
        if not self._may_move(view):
            return None
        start = op.results[0]
        places: dict[ir.Value, Place] = {start: view.dims}
        extrema: dict[ir.Value, Extremum] = {}
        next_of: dict[ir.Value, list[ir.Value]] = {}
        ends: dict[ir.Value, None] = {}
        moved = {user: user.results[0] for user in reached(op)}
        for user, result in moved.items():
            place = self._place_of(view, user, places, extrema)
            if place is not None:
                places[result] = place
            elif found := extremum(view, user, places.get(user.operands[0])):
                places[result], extrema[result] = {}, found
                ends[result] = None
        for value in places:
            if value in extrema:
                continue
            for use in value.uses:
                user = use.owner.operation
                if user in moved and (result := moved[user]) in places:
                    next_of.setdefault(value, []).append(result)
                else:
                    ends[value] = None
        return self._cut(view, start, places, extrema, next_of, ends)

    def _place_of(
        self,
        view: MovingCollectiveOp,
        op: ir.Operation,
        places: dict[ir.Value, Place],
        extrema: dict[ir.Value, Extremum],
    ) -> Place | None:
        """Where the dimensions are in the op's result, if it can be computed on parts."""
        found: Place | None = None
        dims = [operand_dims(op, number) for number in range(len(op.operands))]
        for operand, of in zip(op.operands, dims, strict=True):
            if operand not in places or operand in extrema:
                continue
            place = None if of is None else place_in_result(places[operand], of)
            if place is None or (found is not None and place != found):
                return None
            found = place
        if found is None:
            return None
        shape = shape_of(op.results[0])
        other = shape_across(view, op.results[0], found, to_part=True)
        if other is None:
            return None
        for operand, of in zip(op.operands, dims, strict=True):
            if operand in places and operand not in extrema:
                continue
            if of is None or any(d not in of for d in found.values()):
                return None
            if not self._is_uniform(view, operand, place_in_operand(found, of)):
                return None
            if other_sizes(operand, of, found, shape, other) is None:
                return None
        return found

    def rewrite(self, op: ir.Operation, match: NarrowerPlace, rewriter: Rewriter) -> None:
        view = as_moving(op)
        done: dict[object, ir.Value] = {
            op.results[0]: held(op.operands[0], rewriter.before(op)),
        }
        producers, near = last_first(op, match.places), neighbours(op)
        # All before the first is replaced: they are made of what the ops read now.
        parts = [self._across(view, value, match, done) for value in match.cut]
        for value, part in zip(match.cut, parts, strict=True):
            producer = ir.defining_op(value)
            assert producer is not None
            ip = rewriter.before(producer)
            if value in match.extrema:
                whole = match.extrema[value].over_group(view, part, producer, rewriter)
                rewriter.replace_uses(value, whole)
            else:
                sent = self._send(view, part, match.places[value], ip, rewriter)
                rewriter.replace_uses(value, sent)
        self._finish(op, producers, near, rewriter)


class LiftCollective(_NarrowestPlace):
    """What a collective's operand is computed of elementwise is sent, where it has fewer
    bytes, and the rest is computed of that.

        %w = stablehlo.convert %q : i8 to bf16
        %x = stablehlo.multiply %w, %s
        %g = collective %x : bf16
    ->
        %p = collective %q : i8
        %w = stablehlo.convert %p : i8 to bf16
        %g = stablehlo.multiply %w, %s

    Exact, as ``SinkCollective``. What is the same on all devices, and all along
    the gathered dimension, is not sent.
    """

    to_part = False

    def match(self, op: ir.Operation) -> NarrowerPlace | None:
        view = as_moving(op)
        if not self._may_move(view):
            return None
        start = op.operands[0]
        places: dict[ir.Value, Place] = {start: view.dims}
        next_of: dict[ir.Value, list[ir.Value]] = {}
        ends: dict[ir.Value, None] = {}
        pending = [start]
        for value in pending:
            producer = ir.defining_op(value)
            inner = None
            if producer is not None and producer.block == op.block and len(pending) < MOST_OPS:
                inner = self._places_before(view, producer, places)
            if inner is None:
                ends[value] = None
                continue
            next_of[value] = list(inner)
            pending += [operand for operand in inner if operand not in places]
            places |= inner
        return self._cut(view, start, places, {}, next_of, ends)

    def _places_before(
        self, view: MovingCollectiveOp, op: ir.Operation, places: dict[ir.Value, Place]
    ) -> dict[ir.Value, Place] | None:
        """Where the dimensions are in the operands that have to be sent, if the op can be
        computed of what was sent."""
        if len(op.results) != 1:
            return None
        place, shape = places[op.results[0]], shape_of(op.results[0])
        other = shape_across(view, op.results[0], place, to_part=False)
        assert other is not None
        found: dict[ir.Value, Place] = {}
        for number, operand in enumerate(op.operands):
            dims = operand_dims(op, number, grows=True)
            if dims is None or any(d not in dims for d in place.values()):
                return None
            inner = place_in_operand(place, dims)
            if self._is_uniform(view, operand, inner):
                if other_sizes(operand, dims, place, shape, other) is None:
                    return None
                continue
            if len(inner) < len(place) or shape_across(view, operand, inner, to_part=False) is None:
                return None
            if inner != found.get(operand, places.get(operand, inner)):
                return None
            found[operand] = inner
        return found or None

    def rewrite(self, op: ir.Operation, match: NarrowerPlace, rewriter: Rewriter) -> None:
        view, ip, near = as_moving(op), rewriter.before(op), neighbours(op)
        done: dict[object, ir.Value] = {
            value: self._send(view, value, match.places[value], ip, rewriter) for value in match.cut
        }
        result = held(self._across(view, op.operands[0], match, done, ip), ip)
        rewriter.replace_uses(op.results[0], result)
        self._finish(op, last_first(op, match.places), near, rewriter)
