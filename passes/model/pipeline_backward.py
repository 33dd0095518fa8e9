"""Moves a collective and its chain one trip ahead (prefetch).

Before::

    scf.for %i = 0 to n { %w = slice(%W, %i); %g = all_gather(%w); use(%g) }

After::

    %g0 = all_gather(slice(%W, 0))
    %g = scf.for %i = 0 to n-1 iter_args(%g = %g0) {
      %next = all_gather(slice(%W, %i + 1)) {pipelined}
      use(%g)
      scf.yield %next
    }
    use(%g)
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.arith import Scalars
from ...dialects.cloning import Mapping, clone_ops
from ...dialects.mlir import InsertionPoint, Value
from ...dialects.scf import ForLoop, build_for
from .loop_stages import Chain, LoopBody
from .pipelined_mark import is_collective, mark_peeled, mark_pipelined


def pipeline_backward(
    body: LoopBody, chains: Sequence[Chain], last: Value, ip: InsertionPoint
) -> tuple[ForLoop, list[Value]]:
    """Writes the rotated loop at ``ip``; returns it and the loop's results.

    ``last`` is the index of the last trip; there is at least one trip. The
    original loop is left as it is.
    """
    loop = body.loop
    location = loop.op.location
    moved = sorted({p for chain in chains for p in chain.positions})
    collectives = [p for p in moved if is_collective(body.ops[p])]
    carried_over = [p for p in collectives if body.readers_outside(p, moved)]
    gathered = [result for p in carried_over for result in body.ops[p].results]
    rest = [body.ops[p] for p in body.rest(moved, carried_over)]

    def issue(index: Value, carried: Sequence[Value], at: InsertionPoint) -> list[Value]:
        values: Mapping = {loop.index: index}
        values.update(zip(body.carried, carried, strict=True))
        mark_pipelined(clone_ops([body.ops[p] for p in moved], values, at))
        return [values[v] for v in gathered]

    def consume(
        index: Value,
        carried: Sequence[Value],
        given: Sequence[Value],
        at: InsertionPoint,
        peeled: bool = False,
    ) -> list[Value]:
        values: Mapping = {loop.index: index}
        values.update(zip(body.carried, carried, strict=True))
        values.update(zip(gathered, given, strict=True))
        made = clone_ops(rest, values, at)
        if peeled:
            mark_peeled(made)
        return [values.get(v, v) for v in body.yields]

    count = len(loop.inits)

    def rotated(index: Value, carried: list[Value], at: InsertionPoint) -> list[Value]:
        following = Scalars(at, location).binary("addi", index, loop.step)
        ahead = issue(following, carried[:count], at)
        return [*consume(index, carried[:count], carried[count:], at), *ahead]

    first = issue(loop.lower, loop.inits, ip)
    new = build_for(
        loop.lower, last, loop.step, [*loop.inits, *first], rotated, loc=location, ip=ip
    )
    results: list[Value] = [*new.op.results]
    return new, consume(last, results[:count], results[count:], ip, peeled=True)
