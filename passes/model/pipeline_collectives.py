"""Overlaps collectives with computation by moving them between loop trips."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...dialects.arith import Scalars
from ...dialects.cloning import clone_op
from ...dialects.mlir import (
    BoolAttr,
    HeadraceError,
    InsertionPoint,
    Operation,
    StringAttr,
    Value,
    walk,
)
from ...dialects.scf import ForLoop, build_if, trip_count
from ...dialects.wire_bytes import received_bytes, tensor_bytes
from ..base import Pass
from ..remarks import remark
from .loop_stages import Chain, LoopBody, Refusal, Tail
from .pipeline_backward import pipeline_backward
from .pipeline_forward import pipeline_forward
from .pipeline_sink import sink, sink_refusal
from .pipelined_mark import PIPELINE_REASON, collective_view, is_collective, mark_peeled

KINDS = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute")
MODES = ("off", "on", "explicit")
Direction = Literal["backward", "forward", "sink"]

REQUEST = "headrace.pipeline"


@dataclass(frozen=True)
class _Candidate:
    """One way to move one collective."""

    position: int
    direction: Direction
    plan: Chain | Tail
    wire_bytes: int  # what the collective receives per trip
    live_bytes: int  # what the loop has to carry for it


@dataclass(frozen=True)
class PipelineCollectives(Pass):
    """Issues a collective a trip ahead of its use, or uses it a trip behind.

    Works on `scf.for`, inner loops first. *Backward*: a collective computed
    from the loop's index and invariants alone is issued one trip earlier
    (prologue, rotated body, peeled last trip). *Forward*: one whose result
    only flows into carried values that nothing else reads is finished one
    trip later. *Sink*: a small one of that kind leaves the loop and runs once
    on the data of all trips. In each, n trips execute n collectives (sink: 1),
    and results are the same bit for bit.

    A loop with a dynamic number of trips is pipelined under a guard of two
    trips; a static count below two is left alone. A collective that is not
    moved gets the attribute `headrace.pipeline_reason`. Moved ones are
    marked `pipelined` and not moved again.
    """

    name = "pipeline-collectives"

    modes: tuple[str, ...] = dataclasses.field(
        default=(),
        metadata={
            "help": "kind:mode pairs; kinds all-gather, all-reduce, reduce-scatter, all-to-all, "
            "collective-permute, all; modes off, on, explicit (only ops with the attribute "
            "headrace.pipeline). Later pairs win; all:on is the default"
        },
    )
    budget: int = dataclasses.field(
        default=-1, metadata={"help": "bytes a loop may carry more than before; -1: no limit"}
    )
    max_in_flight: int = dataclasses.field(
        default=-1, metadata={"help": "collectives moved per loop; -1: no limit"}
    )
    sink_below: int = dataclasses.field(
        default=10240,
        metadata={"help": "bytes received per trip below which a collective is sunk"},
    )

    def __post_init__(self) -> None:
        try:
            mode_of_kinds(self.modes)
        except ValueError as error:
            raise HeadraceError(f"pass '{self.name}': {error}") from None

    def run(self, module: Operation) -> None:
        modes = mode_of_kinds(self.modes)
        for op in reversed([o for o in walk(module) if o.name == "scf.for"]):
            _LoopPipeliner(self, modes).pipeline(ForLoop(op))
        for op in walk(module):
            if not is_collective(op) or BoolAttr(op.attributes["pipelined"]).value:
                continue
            if PIPELINE_REASON not in op.attributes:
                _refuse(op, "it is in no counted loop, or in the peeled trip of one")
            remark(op, f"not pipelined: {StringAttr(op.attributes[PIPELINE_REASON]).value}")


def mode_of_kinds(pairs: Sequence[str]) -> dict[str, str]:
    """The mode of each kind after ``kind:mode`` pairs, of which later ones win.

    A kind may be spelt as the report does, ``all_gather``. Raises
    ValueError for unknown names.
    """
    found: dict[str, str] = dict.fromkeys(KINDS, "on")
    for pair in pairs:
        kind, colon, mode = pair.partition(":")
        kind = kind.replace("_", "-")
        if not colon:
            raise ValueError(f"expected kind:mode, got '{pair}'")
        if kind not in (*KINDS, "all"):
            raise ValueError(f"unknown kind '{kind}'; known: all, {', '.join(KINDS)}")
        if mode not in MODES:
            raise ValueError(f"unknown mode '{mode}'; known: {', '.join(MODES)}")
        found.update(dict.fromkeys(KINDS if kind == "all" else (kind,), mode))
    return found


class _LoopPipeliner:
    """Moves what it can in one loop, within the budget of that loop."""

    def __init__(self, options: PipelineCollectives, modes: dict[str, str]) -> None:
        self._options = options
        self._modes = modes
        self._taken = 0
        self._live = 0

    def pipeline(self, loop: ForLoop) -> None:
        """Rewrites the loop once for all that goes ahead, then once per tail.

        Each rewrite gives a new loop, which is read anew.
        """
        while True:
            body = LoopBody(loop)
            found = [self._candidate(body, p) for p, op in enumerate(body.ops) if is_collective(op)]
            candidates = [c for c in found if c is not None]
            group = self._affordable(body, candidates)
            if not group:
                return
            loop = _replace(body, group)

    def _candidate(self, body: LoopBody, position: int) -> _Candidate | None:
        """How to move a collective; leaves the reason on it where there is no way."""
        op = body.ops[position]
        if BoolAttr(op.attributes["pipelined"]).value:
            return None
        mode = self._modes[op.name.partition(".")[2].replace("_", "-")]
        trips = body.loop.trips()
        if mode == "off":
            return _refuse(op, "pipelining of its kind is off")
        if mode == "explicit" and REQUEST not in op.attributes:
            return _refuse(op, f"it does not carry the attribute {REQUEST}")
        if trips is not None and trips < 2:
            return _refuse(op, f"its loop has {trips} trip{'s' * (trips != 1)}")
        plan = self._plan(body, position, trips)
        if isinstance(plan, Refusal):
            return _refuse(op, plan.reason)
        return plan

    def _plan(self, body: LoopBody, position: int, trips: int | None) -> _Candidate | Refusal:
        op = body.ops[position]
        received = received_bytes(collective_view(op)) or 0
        chain = body.chain(position)
        if isinstance(chain, Chain):
            live = sum(tensor_bytes(r.type) or 0 for r in op.results)
            return _Candidate(position, "backward", chain, received, live)
        tail = body.tail(position)
        if isinstance(tail, Refusal):
            return Refusal(f"not ahead, since {chain.reason}; not behind, since {tail.reason}")
        live = sum(tensor_bytes(v.type) or 0 for v in tail.crossing)
        if (
            received < self._options.sink_below
            and trips is not None
            and sink_refusal(tail, trips) is None
        ):
            return _Candidate(position, "sink", tail, received, live * trips)
        return _Candidate(position, "forward", tail, received, live)

    def _affordable(self, body: LoopBody, candidates: list[_Candidate]) -> list[_Candidate]:
        """What to move now, within budget and cap: the most bytes on the wire first.

        All that goes ahead in one rewrite, else one tail.
        """
        ahead = [c for c in candidates if c.direction == "backward"]
        group = [c for c in self._by_use(ahead) if self._take(body, c)]
        if group:
            return sorted(group, key=lambda c: c.position)
        behind = [c for c in candidates if c.direction != "backward"]
        for candidate in self._by_use(behind):
            if self._take(body, candidate):
                return [candidate]
        return []

    @staticmethod
    def _by_use(candidates: list[_Candidate]) -> list[_Candidate]:
        return sorted(candidates, key=lambda c: (-c.wire_bytes, c.position))

    def _take(self, body: LoopBody, candidate: _Candidate) -> bool:
        """Whether the candidate fits; it then counts as taken."""
        op, cap, budget = body.ops[candidate.position], *self._limits()
        if 0 <= cap <= self._taken:
            _refuse(op, f"the cap of {cap} collectives per loop is reached")
            return False
        if 0 <= budget < self._live + candidate.live_bytes:
            left = budget - self._live
            _refuse(op, f"it needs {candidate.live_bytes} bytes, {left} of the budget are left")
            return False
        self._taken += 1
        self._live += candidate.live_bytes
        return True

    def _limits(self) -> tuple[int, int]:
        return self._options.max_in_flight, self._options.budget


def _refuse(op: Operation, reason: str) -> None:
    with op.context:
        op.attributes[PIPELINE_REASON] = StringAttr.get(reason)


def _last_index(loop: ForLoop, scalars: Scalars, trips: int | Value) -> Value:
    """The index of the last trip: ``lower + (trips - 1) * step``."""
    if isinstance(trips, int):
        before = scalars.constant(trips - 1, loop.lower.type)
    else:
        before = scalars.binary("subi", trips, 1)
    span = scalars.binary("muli", before, loop.step)
    return scalars.binary("addi", loop.lower, span)


def _replace(body: LoopBody, group: list[_Candidate]) -> ForLoop:
    """Writes the loop with a group of candidates moved; returns the new loop."""
    loop = body.loop
    ip = InsertionPoint(loop.op)
    trips = loop.trips()
    if trips is None:
        new, results = _guarded(body, group, ip)
    else:
        last = _last_index(loop, Scalars(ip, loop.op.location), trips)
        new, results = _write(body, group, last, trips, ip)
    for old, value in zip(loop.op.results, results, strict=True):
        old.replace_all_uses_with(value)
    loop.op.erase()
    return new


def _guarded(
    body: LoopBody, group: list[_Candidate], ip: InsertionPoint
) -> tuple[ForLoop, list[Value]]:
    """The pipelined loop where there are two trips or more, else the loop as it was."""
    loop = body.loop
    location = loop.op.location
    trips = trip_count(loop, ip)
    enough = Scalars(ip, location).compare("sge", trips, 2)
    made: list[ForLoop] = []

    def then(at: InsertionPoint) -> list[Value]:
        last = _last_index(loop, Scalars(at, location), trips)
        new, results = _write(body, group, last, None, at)
        made.append(new)
        return results

    def otherwise(at: InsertionPoint) -> list[Value]:
        kept = clone_op(loop.op, {}, at)
        mark_peeled([kept])
        for op in walk(kept):
            if is_collective(op) and PIPELINE_REASON not in op.attributes:
                _refuse(op, "it runs where its loop has fewer than two trips")
        return [*kept.results]

    guard = build_if(enough, [*loop.op.results], then, otherwise, loc=location, ip=ip)
    return made[0], [*guard.results]


def _write(
    body: LoopBody, group: list[_Candidate], last: Value, trips: int | None, ip: InsertionPoint
) -> tuple[ForLoop, list[Value]]:
    ahead = [c.plan for c in group if isinstance(c.plan, Chain)]
    if ahead:
        return pipeline_backward(body, ahead, last, ip)
    (candidate,) = group
    assert isinstance(candidate.plan, Tail)
    if candidate.direction == "sink" and trips is not None:
        return sink(body, candidate.plan, trips, ip)
    return pipeline_forward(body, candidate.plan, last, ip)
