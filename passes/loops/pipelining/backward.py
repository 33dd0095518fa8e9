"""Moves a collective and its chain one iteration ahead (prefetch).

Before::

    scf.for %i = 0 to n { %w = slice(%W, %i); %g = collective(%w); use(%g) }

After::

    %g0 = collective(slice(%W, 0))
    %g = scf.for %i = 0 to n-1 iter_args(%g = %g0) {
      %next = collective(slice(%W, %i + 1)) {pipelined}
      use(%g)
      scf.yield %next
    }
    use(%g)
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import ir
from ....dialects.upstream.arith import Scalars
from ....dialects.upstream.scf import ForLoop, build_for, last_index
from ...analysis.pipelined_mark import give_reasons, mark_peeled, mark_pipelined
from .stages import Ahead, LoopBody


def pipeline_backward(
    body: LoopBody, ahead: Ahead, trips: int | ir.Value, ip: ir.InsertionPoint
) -> tuple[ForLoop, list[ir.Value]]:
    """Writes the rotated loop at ``ip``; returns it and the loop's results.

    ``trips`` is at least one. The original loop is left as it is.
    """
    loop = body.loop
    location = loop.op.location
    moved = [body.ops[p] for p in ahead.moved]
    rest = [body.ops[p] for p in ahead.rest]

    def issue(
        index: ir.Value, carried: Sequence[ir.Value], at: ir.InsertionPoint, peeled: bool = False
    ) -> list[ir.Value]:
        values: ir.ValueMap = {loop.index: index}
        values.update(zip(body.carried, carried, strict=True))
        made = ir.clone_ops(moved, values, at)
        mark_pipelined(made)
        if peeled:
            mark_peeled(made)
        return [values[v] for v in ahead.carried]

    def consume(
        index: ir.Value,
        carried: Sequence[ir.Value],
        given: Sequence[ir.Value],
        at: ir.InsertionPoint,
        peeled: bool = False,
    ) -> list[ir.Value]:
        values: ir.ValueMap = {loop.index: index}
        values.update(zip(body.carried, carried, strict=True))
        values.update(zip(ahead.carried, given, strict=True))
        made = ir.clone_ops(rest, values, at)
        if peeled:
            mark_peeled(made)
            give_reasons(made, "it is in the peeled last trip of its loop")
        return [values.get(v, v) for v in body.yields]

    count = len(loop.inits)

    def rotated(index: ir.Value, carried: list[ir.Value], at: ir.InsertionPoint) -> list[ir.Value]:
        following = Scalars(at, location).binary("addi", index, loop.step)
        ready = issue(following, carried[:count], at)
        return [*consume(index, carried[:count], carried[count:], at), *ready]

    last = last_index(loop, trips, ip)
    first = issue(loop.lower, loop.inits, ip, peeled=True)
    new = build_for(
        loop.lower,
        last,
        loop.step,
        [*loop.inits, *first],
        rotated,
        loc=location,
        ip=ip,
        attributes=loop.attributes,
    )
    results: list[ir.Value] = [*new.op.results]
    return new, consume(last, results[:count], results[count:], ip, peeled=True)
