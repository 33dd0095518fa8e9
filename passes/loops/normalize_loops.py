"""Brings loops into the one form that the pipeliner knows."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.upstream.arith import Scalars
from ...dialects.upstream.scf import ForLoop, build_for, trip_count, trips_before
from ..base import Pass
from ..rewriting import Pattern, Rewriter, apply_patterns
from .counted.linear import linear
from .counted.scalar_tensors import SCALAR_PATTERNS, is_integer
from .counted.while_to_for import WhileToFor, as_scalar, as_type_of, count_from


@dataclass(frozen=True)
class NormalizeLoops(Pass):
    """Counted loops become `scf.for`, counters functions of the index.

    `scf.while` with LE, GE, GT, NE, EQ or unsigned compares or with negative
    steps becomes `scf.for` from 0 by 1. A carried integer that only counts is
    computed from the index. Integer arithmetic on rank-0 tensors that ends in
    `tensor.extract` is done on scalars. A loop that stays `scf.while` leaves a
    remark with the reason.
    """

    name = "normalize-loops"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, SCALAR_PATTERNS)
        apply_patterns(module, [WhileToFor()])
        apply_patterns(module, [CounterToIndex()])
        # Counters are scalars now, so more of what depends on them can be.
        apply_patterns(module, SCALAR_PATTERNS)


@dataclass(frozen=True)
class Counters:
    """Position among the carried values, and what each iteration adds."""

    steps: dict[int, int]


class CounterToIndex(Pattern[Counters]):
    """A carried integer that only counts becomes a function of the index.

    Before::

        %0:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%n = %c5, %a = %x) {
          ... %m = arith.addi %n, %c2 : i32 ; scf.yield %m, %b
        }

    After::

        %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) {
          %n = 5 + 2 * %i ... scf.yield %b
        }
    """

    roots = ("scf.for",)

    def match(self, op: ir.Operation) -> Counters | None:
        loop = ForLoop(op)
        steps: dict[int, int] = {}
        for position, (carried, yielded) in enumerate(zip(loop.carried, loop.yields, strict=True)):
            if not is_integer(carried.type):
                continue
            update = linear(yielded)
            # The bindings' values cannot be compared with None.
            if update.base is not None and update.base == carried and update.scale == 1:
                steps[position] = update.offset
        return Counters(steps) if steps else None

    def rewrite(self, op: ir.Operation, match: Counters, rewriter: Rewriter) -> None:
        loop = ForLoop(op)
        ip = rewriter.before(op)
        kept = [i for i in range(len(loop.inits)) if i not in match.steps]
        starts = {i: as_scalar(loop.inits[i], Scalars(ip, op.location)) for i in match.steps}

        def body(
            index: ir.Value, carried: list[ir.Value], inside: ir.InsertionPoint
        ) -> list[ir.Value]:
            values: ir.ValueMap = {loop.index: index}
            values.update({loop.carried[i]: v for i, v in zip(kept, carried, strict=True)})
            scalars = Scalars(inside, op.location)
            done = trips_before(loop, index, scalars)
            for position, step in match.steps.items():
                counted = count_from(starts[position], done, step, scalars)
                argument = loop.carried[position]
                values[argument] = as_type_of(argument, counted, scalars)
            ir.clone_ops(loop.body_ops(), values, inside)
            return [values.get(v, v) for v in (loop.yields[i] for i in kept)]

        inits = [loop.inits[i] for i in kept]
        bounds = (loop.lower, loop.upper, loop.step)
        new = build_for(*bounds, inits, body, loc=op.location, ip=ip, attributes=loop.attributes)
        rewriter.created(new.op)
        scalars = Scalars(ip, op.location)
        results: dict[int, ir.Value] = dict(zip(kept, new.op.results, strict=True))
        for position, step in match.steps.items():
            total = count_from(starts[position], trip_count(loop, ip), step, scalars)
            results[position] = as_type_of(loop.inits[position], total, scalars)
        rewriter.replace(op, [results[i] for i in range(len(loop.inits))])
