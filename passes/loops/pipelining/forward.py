"""Moves a collective and its tail one iteration behind.

Before::

    scf.for %i = 0 to n iter_args(%out) {
      %x = compute(%i); %r = collective(%x); %o = insert_slice(%r, %out, %i); yield %o
    }

After::

    %x0 = compute(0)
    %out, %x = scf.for %i = 1 to n iter_args(%out, %x = %x0) {
      %o = insert_slice(collective(%x) {pipelined}, %out, %i - 1)
      %next = compute(%i)
      scf.yield %o, %next
    }
    %o = insert_slice(collective(%x), %out, n - 1)
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import ir
from ....dialects.upstream.arith import Scalars
from ....dialects.upstream.scf import ForLoop, build_for, index_at, last_index
from ...analysis.pipelined_mark import give_reasons, mark_peeled, mark_pipelined
from .stages import LoopBody, Tail


class Stages:
    """The two stages of a body: what feeds a tail, and the tail itself."""

    def __init__(self, body: LoopBody, tail: Tail) -> None:
        self._body = body
        self._tail = tail
        self._slots = set(tail.slots)
        self._second = sorted({*tail.positions, *tail.recomputed})

    def first(
        self, index: ir.Value, carried: Sequence[ir.Value], at: ir.InsertionPoint
    ) -> tuple[ir.ValueMap, list[ir.Operation]]:
        """Writes all but the tail; returns what became of each value, and the ops."""
        values = self._values(index, carried)
        return values, ir.clone_ops([self._body.ops[p] for p in self._tail.rest], values, at)

    def second(
        self,
        index: ir.Value,
        carried: Sequence[ir.Value],
        given: ir.ValueMap,
        at: ir.InsertionPoint,
        without: Sequence[int] = (),
    ) -> tuple[list[ir.Value], list[ir.Operation]]:
        """Writes the tail of the iteration of ``index``, less the ops at ``without``.

        Returns its slots' values, and the ops. ``given`` are the values that
        it has from the first stage, and the results of ops left out.
        """
        values = self._values(index, carried)
        values.update(given)
        made = ir.clone_ops(
            [self._body.ops[p] for p in self._second if p not in without], values, at
        )
        yields = [v for s, v in enumerate(self._body.yields) if s in self._slots]
        return [values.get(v, v) for v in yields], made

    def _values(self, index: ir.Value, carried: Sequence[ir.Value]) -> ir.ValueMap:
        values: ir.ValueMap = {self._body.loop.index: index}
        values.update(zip(self._body.carried, carried, strict=True))
        return values

    def crossing(self, values: ir.ValueMap) -> list[ir.Value]:
        """What the tail will read, after ``first``."""
        return [values.get(v, v) for v in self._tail.crossing]

    def next_carried(self, values: ir.ValueMap, tail_results: Sequence[ir.Value]) -> list[ir.Value]:
        """The carried values after a first stage and some second stage."""
        yields = [values.get(v, v) for v in self._body.yields]
        return self.with_slots(yields, tail_results)

    def slots_of(self, carried: Sequence[ir.Value]) -> list[ir.Value]:
        """The values of the tail's own slots among all carried values."""
        return [v for slot, v in enumerate(carried) if slot in self._slots]

    def with_slots(self, carried: Sequence[ir.Value], own: Sequence[ir.Value]) -> list[ir.Value]:
        """All carried values, with others in the tail's own slots."""
        mine = iter(own)
        return [next(mine) if slot in self._slots else v for slot, v in enumerate(carried)]


def pipeline_forward(
    body: LoopBody, tail: Tail, trips: int | ir.Value, ip: ir.InsertionPoint
) -> tuple[ForLoop, list[ir.Value]]:
    """Writes the loop at ``ip``; returns it and the original loop's results.

    ``trips`` is at least one.
    """
    loop = body.loop
    location = loop.op.location
    stages = Stages(body, tail)
    count = len(loop.inits)

    def behind(
        index: ir.Value, carried: Sequence[ir.Value], at: ir.InsertionPoint
    ) -> tuple[list[ir.Value], list[ir.Operation]]:
        given: ir.ValueMap = dict(zip(tail.crossing, carried[count:], strict=True))
        stored, made = stages.second(index, carried[:count], given, at)
        mark_pipelined(made)
        return stored, made

    def delayed(index: ir.Value, carried: list[ir.Value], at: ir.InsertionPoint) -> list[ir.Value]:
        previous = Scalars(at, location).binary("subi", index, loop.step)
        stored, _ = behind(previous, carried, at)
        values, _ = stages.first(index, carried[:count], at)
        return [*stages.next_carried(values, stored), *stages.crossing(values)]

    peeled, copies = stages.first(loop.lower, loop.inits, ip)
    mark_peeled(copies)
    give_reasons(copies, "it is in the peeled first trip of its loop")
    state = stages.next_carried(peeled, stages.slots_of(loop.inits))
    new = build_for(
        index_at(loop, 1, ip),
        loop.upper,
        loop.step,
        [*state, *stages.crossing(peeled)],
        delayed,
        loc=location,
        ip=ip,
        attributes=loop.attributes,
    )
    results: list[ir.Value] = [*new.op.results]
    stored, copies = behind(last_index(loop, trips, ip), results, ip)
    mark_peeled(copies)
    return new, stages.with_slots(results[:count], stored)
