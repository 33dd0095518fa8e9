"""Chooses what to move in one loop, and replaces the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ....dialects import ir
from ....dialects.headrace import as_collective
from ....dialects.ops.constraints import tensor_bytes
from ....dialects.upstream.arith import Scalars
from ....dialects.upstream.scf import ForLoop, build_if, constant_value, trip_count
from ...analysis.pipelined_mark import (
    PEELED,
    forget_reason,
    give_reason,
    give_reasons,
    is_pipelined,
    mark_peeled,
)
from .backward import pipeline_backward
from .forward import pipeline_forward
from .sink import sink, sink_refusal
from .stages import Ahead, Chain, LoopBody, Refusal, Tail

# On a collective: pipeline it, where its kind is pipelined on request only.
REQUEST = "headrace.pipeline"

_CAP = "the cap of {} collectives is reached"

Direction = Literal["sink", "backward", "forward"]
# Sinking runs a collective once instead of in each iteration, so it comes first. Of the
# other two, backward: a collective that is issued an iteration early delays nothing, while
# after the loop somebody still waits for one that is issued late.
_PREFERENCE: tuple[Direction, ...] = ("sink", "backward", "forward")


@dataclass(frozen=True)
class Limits:
    """The options of the pass. A negative number is no limit.

    ``modes`` holds off, on or explicit for each kind of collective; ``budget``
    is in bytes that a loop carries in addition, ``in_flight`` in collectives
    that it moves to other iterations; ``sink_below`` is in bytes that a collective
    receives per iteration.
    """

    modes: dict[str, str]
    budget: int
    in_flight: int
    sink_below: int


@dataclass(frozen=True)
class _Candidate:
    """A collective, and how it could move."""

    position: int
    wire_bytes: int  # what it receives per iteration
    chain: Chain | Refusal
    tail: Tail | Refusal | None  # None: not looked for, as it can go ahead
    sinks: bool


@dataclass(frozen=True)
class _Group:
    """What moves in one direction, in one rewrite of a loop."""

    direction: Direction
    roots: tuple[int, ...]
    plan: Ahead | Tail


def pipeline_loop(loop: ForLoop, limits: Limits) -> None:
    """Rewrites a loop until nothing in it can or may move any more.

    One rewrite per direction takes all that moves that way, so that the code
    grows with the body, not with the number of collectives in it.
    """
    _LoopPipeliner(limits).run(loop)


class _LoopPipeliner:
    """Moves what it can in one loop, within the limits of that loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._taken = 0
        self._live = 0

    def run(self, loop: ForLoop) -> None:
        body = LoopBody(loop)
        for position in body.collectives:
            forget_reason(body.ops[position])
        # What earlier runs moved counts, so that a second run moves no more. (What else they
        # left carried beside it cannot be told from the source's own values.)
        before = [p for p in body.collectives if is_pipelined(body.ops[p])]
        self._taken = len(before)
        self._live = sum(_carried_for(body, p) for p in before)
        work = self._move(body, left=False)
        while work:
            new, left = work.pop()
            work += self._move(LoopBody(new), left)

    def _move(self, body: LoopBody, left: bool) -> list[tuple[ForLoop, bool]]:
        """Rewrites a loop once; the new loops, none where nothing moved.

        The flag of each loop says whether it is what is ``left`` after sinking.
        Such a loop reads its inputs from stacks, so that all its collectives could go
        backward, but sinking them as well is better.
        """
        candidates = self._candidates(body, left)
        for direction in _PREFERENCE:
            group = self._group(body, direction, candidates)
            if group is not None:
                last, *others = _replace(body, group)
                return [(last, direction == "sink"), *((loop, False) for loop in others)]
        return []

    def _candidates(self, body: LoopBody, left: bool) -> list[_Candidate]:
        """The most bytes on the wire first. Leaves reasons on all others."""
        found = [self._candidate(body, p, left) for p in body.collectives]
        return sorted(
            (c for c in found if c is not None), key=lambda c: (-c.wire_bytes, c.position)
        )

    def _candidate(self, body: LoopBody, position: int, left: bool) -> _Candidate | None:
        op = body.ops[position]
        if is_pipelined(op):
            return None
        trips = body.loop.trips()
        refusal = self._refusal(op, body.loop, trips)
        if refusal is not None:
            return give_reason(op, refusal)
        chain = body.chain(position)
        tail = body.tail(position) if left or isinstance(chain, Refusal) else None
        if isinstance(chain, Refusal) and isinstance(tail, Refusal):
            reason = f"not ahead, since {chain.reason}; not behind, since {tail.reason}"
            return give_reason(op, reason)
        received = as_collective(op).received_bytes() or 0
        sinks = (
            # What can go ahead does, however small: it overlaps with its trip.
            (left or isinstance(chain, Refusal))
            and received < self._limits.sink_below
            and isinstance(tail, Tail)
            and sink_refusal([*tail.crossing, op.operands[0]], trips) is None
        )
        return _Candidate(position, received, chain, tail, sinks)

    def _refusal(self, op: ir.Operation, loop: ForLoop, trips: int | None) -> str | None:
        """Why nothing of the kind, or nothing in the loop, is moved."""
        mode = self._limits.modes[as_collective(op).kind()]
        if mode == "off":
            return "pipelining of its kind is off"
        if mode == "explicit" and REQUEST not in op.attributes:
            return f"it does not carry the attribute {REQUEST}"
        if loop.index_width < 2:
            return "its loop counts in i1"
        step = constant_value(loop.step)
        if trips is None and step is not None and step <= 0 and not loop.unsigned:
            return "its step is not positive"
        if trips is not None and trips < 2:
            return f"its loop has {trips} trip{'s' * (trips != 1)}"
        return None

    def _group(
        self, body: LoopBody, direction: Direction, candidates: list[_Candidate]
    ) -> _Group | None:
        """All that may move in a direction; None where nothing does."""
        if direction == "backward":
            chains = {c.position: c.chain for c in candidates if isinstance(c.chain, Chain)}

            def plan(taken: Sequence[int]) -> Ahead | Tail:
                return body.ahead(chains[p] for p in taken)

            return self._taken_of(body, direction, list(chains), plan)
        movable = [c for c in candidates if c.sinks or direction == "forward"]
        found = {c.position: c.tail or body.tail(c.position) for c in movable}
        tails = {position: tail for position, tail in found.items() if isinstance(tail, Tail)}

        def joined(taken: Sequence[int]) -> Ahead | Tail:
            given = [body.ops[p].operands[0] for p in sorted(taken)] if direction == "sink" else []
            return body.joined([tails[p] for p in taken], given)

        # What another's tail holds goes with it, so that one comes first.
        while tails:
            held = {p for own, tail in tails.items() for p in tail.positions if p != own}
            outer = [p for p in tails if p not in held]
            assert outer, "two tails hold one another"
            group = self._taken_of(body, direction, outer, joined)
            if group is not None:
                return group
            tails = {p: tail for p, tail in tails.items() if p in held}
        return None

    def _taken_of(
        self,
        body: LoopBody,
        direction: Direction,
        positions: list[int],
        plan: Callable[[Sequence[int]], Ahead | Tail],
    ) -> _Group | None:
        """The first of ``positions`` that fit together; reasons on the others."""
        taken: list[int] = []
        found: tuple[int, int] = (0, 0)
        cap = self._limits.in_flight
        if self._limits.in_flight < 0 and self._limits.budget < 0:
            taken = positions
        else:
            held: frozenset[int] = frozenset()
            for position in positions:
                # Full: not even tried, unless it moves along anyway.
                full = direction != "sink" and self._taken + found[0] >= cap >= 0
                if full and position not in held:
                    give_reason(body.ops[position], _CAP.format(cap))
                    continue
                tried = plan([*taken, position])
                moved, live = self._cost(body, direction, tried)
                reason = self._over_limits(moved, live, found)
                if reason is not None:
                    give_reason(body.ops[position], reason)
                else:
                    taken.append(position)
                    found = (moved, live or 0)
                    held = frozenset(_positions(tried))
        if not taken:
            return None
        self._taken += found[0]
        self._live += found[1]
        return _Group(direction, tuple(sorted(taken)), plan(taken))

    def _cost(
        self, body: LoopBody, direction: Direction, plan: Ahead | Tail
    ) -> tuple[int, int | None]:
        """Collectives in flight, and bytes that the loop carries for them.

        None for the bytes where a size is dynamic.
        """
        live = _bytes_of(plan.carried if isinstance(plan, Ahead) else plan.crossing)
        if direction == "sink":
            # Those that leave the loop are not in flight in it.
            return 0, None if live is None else live * (body.loop.trips() or 0)
        within = set(_positions(plan))
        moved = sum(p in within and not is_pipelined(body.ops[p]) for p in body.collectives)
        return moved, live

    def _over_limits(self, moved: int, live: int | None, so_far: tuple[int, int]) -> str | None:
        """Why a group may not grow to that cost, from what it costs ``so_far``."""
        cap, budget = self._limits.in_flight, self._limits.budget
        if moved and 0 <= cap < self._taken + moved:
            return _CAP.format(cap)
        if budget < 0:
            return None
        if live is None:
            return "how many bytes it needs is not known, and there is a budget"
        if self._live + live > budget:
            left = budget - self._live - so_far[1]
            return f"it needs {live - so_far[1]} bytes, {left} of the budget are left"
        return None


def _positions(plan: Ahead | Tail) -> tuple[int, ...]:
    return plan.moved if isinstance(plan, Ahead) else plan.positions


def _bytes_of(values: Iterable[ir.Value]) -> int | None:
    total = 0
    for value in values:
        # Scalars are in registers.
        if isinstance(value.type, ir.IntegerType | ir.IndexType | ir.FloatType):
            continue
        size = tensor_bytes(value.type) if isinstance(value.type, ir.RankedTensorType) else None
        if size is None:
            return None
        total += size
    return total


def _carried_for(body: LoopBody, position: int) -> int:
    """What a loop carries for a collective that was moved in it before."""
    op = body.ops[position]
    behind = any(v in body.carried for v in op.operands)
    return _bytes_of(op.operands if behind else op.results) or 0


def _replace(body: LoopBody, group: _Group) -> list[ForLoop]:
    """Writes the loop with a group moved; returns the new loops."""
    loop = body.loop
    ip = ir.InsertionPoint(loop.op)
    trips = loop.trips()
    if trips is None:
        new, results = _guarded(body, group, ip)
    else:
        new, results = _write(body, group, trips, ip)
    for old, value in zip(loop.op.results, results, strict=True):
        old.replace_all_uses_with(value)
    loop.op.erase()
    return new


def _guarded(
    body: LoopBody, group: _Group, ip: ir.InsertionPoint
) -> tuple[list[ForLoop], list[ir.Value]]:
    """The pipelined loop where there are two iterations or more, else the loop as it was."""
    loop = body.loop
    location = loop.op.location
    trips = trip_count(loop, ip)
    enough = Scalars(ip, location).compare("uge", trips, 2)
    made: list[ForLoop] = []

    def then(at: ir.InsertionPoint) -> list[ir.Value]:
        new, results = _write(body, group, trips, at)
        made.extend(new)
        return results

    def otherwise(at: ir.InsertionPoint) -> list[ir.Value]:
        kept = ir.clone_op(loop.op, {}, at)
        mark_peeled([kept])
        with kept.context:
            kept.attributes[PEELED] = ir.UnitAttr.get()
        give_reasons([kept], "it runs where its loop has fewer than two trips")
        return [*kept.results]

    guard = build_if(enough, [*loop.op.results], then, otherwise, loc=location, ip=ip)
    return made, [*guard.results]


def _write(
    body: LoopBody, group: _Group, trips: int | ir.Value, ip: ir.InsertionPoint
) -> tuple[list[ForLoop], list[ir.Value]]:
    if isinstance(group.plan, Ahead):
        new, results = pipeline_backward(body, group.plan, trips, ip)
        return [new], results
    if group.direction == "sink":
        assert isinstance(trips, int)
        return sink(body, group.plan, group.roots, trips, ip)
    new, results = pipeline_forward(body, group.plan, trips, ip)
    return [new], results
