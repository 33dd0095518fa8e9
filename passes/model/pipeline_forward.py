"""Moves a collective and its tail one trip behind.

Before::

    scf.for %i = 0 to n iter_args(%out) {
      %x = compute(%i); %r = all_reduce(%x); %o = insert_slice(%r, %out, %i); yield %o
    }

After::

    %x0 = compute(0)
    %out, %x = scf.for %i = 1 to n iter_args(%out, %x = %x0) {
      %o = insert_slice(all_reduce(%x) {pipelined}, %out, %i - 1)
      %next = compute(%i)
      scf.yield %o, %next
    }
    %o = insert_slice(all_reduce(%x), %out, n - 1)
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.arith import Scalars
from ...dialects.cloning import Mapping, clone_ops
from ...dialects.mlir import InsertionPoint, Operation, Value
from ...dialects.scf import ForLoop, build_for
from .loop_stages import LoopBody, Tail
from .pipelined_mark import mark_peeled, mark_pipelined


class Stages:
    """The two stages of a body: what feeds a tail, and the tail itself."""

    def __init__(self, body: LoopBody, tail: Tail) -> None:
        self._body = body
        self._tail = tail
        self._slots = set(tail.slots)
        self._second = sorted({*tail.positions, *tail.recomputed})

    @property
    def own(self) -> list[Operation]:
        """The ops of the tail, without those that it computes again."""
        return [self._body.ops[p] for p in self._tail.positions]

    def first(
        self, index: Value, carried: Sequence[Value], at: InsertionPoint, peeled: bool = False
    ) -> Mapping:
        """Writes all but the tail; returns what became of each value."""
        values = self._values(index, carried)
        rest = self._body.rest(self._tail.positions, self._tail.positions)
        made = clone_ops([self._body.ops[p] for p in rest], values, at)
        if peeled:
            mark_peeled(made)
        return values

    def second(
        self,
        index: Value,
        carried: Sequence[Value],
        crossing: Sequence[Value],
        at: InsertionPoint,
        given: Mapping | None = None,
        peeled: bool = False,
    ) -> list[Value]:
        """Writes the tail of the trip of ``index``; returns its slots' values.

        ``given`` are results that are there already.
        """
        values = self._values(index, carried)
        values.update(zip(self._tail.crossing, crossing, strict=True))
        known = given or {}
        values.update(known)
        ops = [self._body.ops[p] for p in self._second]
        missing = [op for op in ops if not any(r in known for r in op.results)]
        made = clone_ops(missing, values, at)
        mark_pipelined(made)
        if peeled:
            mark_peeled(made)
        return [values.get(v, v) for v in self._yields(True)]

    def _values(self, index: Value, carried: Sequence[Value]) -> Mapping:
        values: Mapping = {self._body.loop.index: index}
        values.update(zip(self._body.carried, carried, strict=True))
        return values

    def _yields(self, of_tail: bool) -> list[Value]:
        return [v for s, v in enumerate(self._body.yields) if (s in self._slots) is of_tail]

    def crossing(self, values: Mapping) -> list[Value]:
        """What the tail will read, after ``first``."""
        return [values.get(v, v) for v in self._tail.crossing]

    def next_carried(self, values: Mapping, tail_results: Sequence[Value]) -> list[Value]:
        """The carried values after a first stage and some second stage."""
        own = iter(tail_results)
        return [
            next(own) if slot in self._slots else values.get(v, v)
            for slot, v in enumerate(self._body.yields)
        ]

    def slots_of(self, carried: Sequence[Value]) -> list[Value]:
        return [v for slot, v in enumerate(carried) if slot in self._slots]


def pipeline_forward(
    body: LoopBody, tail: Tail, last: Value, ip: InsertionPoint
) -> tuple[ForLoop, list[Value]]:
    """Writes the loop at ``ip``; returns it and the original loop's results.

    ``last`` is the index of the last trip; there is at least one trip.
    """
    loop = body.loop
    location = loop.op.location
    stages = Stages(body, tail)
    count = len(loop.inits)

    def delayed(index: Value, carried: list[Value], at: InsertionPoint) -> list[Value]:
        previous = Scalars(at, location).binary("subi", index, loop.step)
        stored = stages.second(previous, carried[:count], carried[count:], at)
        values = stages.first(index, carried[:count], at)
        return [*stages.next_carried(values, stored), *stages.crossing(values)]

    peeled = stages.first(loop.lower, loop.inits, ip, peeled=True)
    state = stages.next_carried(peeled, stages.slots_of(loop.inits))
    second = Scalars(ip, location).binary("addi", loop.lower, loop.step)
    new = build_for(
        second,
        loop.upper,
        loop.step,
        [*state, *stages.crossing(peeled)],
        delayed,
        loc=location,
        ip=ip,
    )
    results: list[Value] = [*new.op.results]
    stored = stages.second(last, results[:count], results[count:], ip, peeled=True)
    own = iter(stored)
    final = [next(own) if s in tail.slots else results[s] for s in range(count)]
    return new, final
