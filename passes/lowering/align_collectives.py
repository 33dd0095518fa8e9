"""Places pipelined collectives beside the matmuls that they overlap with."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.headrace import as_collective, is_collective
from ...dialects.op_traits import is_pure
from ...dialects.upstream.scf import ForLoop
from ..analysis.contractions import is_matmul, matmul_flops
from ..analysis.pipelined_mark import is_pipelined
from ..base import Pass
from ..loops.pipelining.stages import values_read


@dataclass(frozen=True)
class AlignCollectives(Pass):
    """Puts each pipelined collective right before an independent matmul of its loop.

    IREE schedules the ops of a loop body in waves, from the last op back: an
    op joins the earliest wave that is open and does not need it. So what
    stands right before a matmul, and neither needs it nor is needed by it,
    runs at once with it; what stands first in the body runs beside some small
    op at best. The collectives with the most bytes choose first, each a matmul
    of its own as long as there are some, that with the fewest bytes to hide per
    flop. What a collective's result goes into (a store, say) comes last in the
    body: anywhere else it could land beside the matmul, and the collective
    before both. A collective with such a result stands before a matmul that another
    matmul depends on: the last matmul is in the wave of what comes last.

    Of independent matmuls whose results meet in one pointwise op (the gate and
    the up projection of an MLP) only the first is chosen: IREE fuses that op
    into the first and moves the others ahead of it.

    Before::

        scf.for ... { %g = collective(%w) {pipelined}; %q = quantize(%x); %y = matmul(%q, %c) ... }

    After::

        scf.for ... { %q = quantize(%x); %g = collective(%w) {pipelined}; %y = matmul(%q, %c) ... }
    """

    name: ClassVar[str] = "align-collectives"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module, bodies=False):
            if op.name == "scf.for":
                _align(ForLoop(op))


# Where an op goes: the position that it stands by; before (-1), at (0) or
# after (1) it; and a number that keeps the order of those in one place.
_Place = tuple[int, int, int]


def _align(loop: ForLoop) -> None:
    ops = loop.body_ops()
    collectives = [p for p, op in enumerate(ops) if is_collective(op) and is_pipelined(op)]
    matmuls = [p for p, op in enumerate(ops) if is_matmul(op)]
    if not collectives or not matmuls:
        return
    body = _Body(ops)
    # The work of the matmuls to stand before, and the bytes that do so far.
    work = {m: matmul_flops(ops[m]) or 1 for m in _first_of_group(body, matmuls)}
    hidden, count = dict.fromkeys(work, 0), dict.fromkeys(work, 0)
    sizes = {p: as_collective(ops[p]).received_bytes() or 0 for p in collectives}
    for collective in sorted(collectives, key=lambda p: (-sizes[p], p)):
        before, after = body.producers_of(collective), body.users_of(collective)
        dependent = {*before, *after}
        beside = [
            m
            for m in work
            if m not in dependent
            and not body.is_moved(m)
            and body.place[m] > body.place[collective]
        ]
        if after:
            # One in the last wave would share it with what comes last.
            beside = [m for m in beside if not body.users_of(m).isdisjoint(matmuls)]
        if not beside or not all(is_pure(ops[p]) for p in after):
            continue
        # Of two in one place the second runs beside the first one's preparation.
        chosen = min(beside, key=lambda m: (count[m], (hidden[m] + sizes[collective]) / work[m], m))
        count[chosen] += 1
        hidden[chosen] += sizes[collective]
        body.move(collective, chosen, after)
    body.apply(loop.terminator)


def _first_of_group(body: _Body, matmuls: list[int]) -> list[int]:
    """The matmuls but for those whose result meets that of an independent earlier one."""
    first: list[int] = []
    stop = frozenset(matmuls)
    feeds: dict[int, list[int]] = {}  # ops between matmuls, and what they are fed by
    for matmul in matmuls:
        near = body.users_of(matmul, stop) - stop
        met = {other for op in near for other in feeds.get(op, ())}
        if met <= body.producers_of(matmul):
            first.append(matmul)
        for op in near:
            feeds.setdefault(op, []).append(matmul)
    return first


class _Body:
    """A loop body as a graph of positions, and where each op shall stand."""

    def __init__(self, ops: list[ir.Operation]) -> None:
        self._ops = ops
        self._producers: list[list[int]] = [[] for _ in ops]
        self._readers: list[list[int]] = [[] for _ in ops]
        position: dict[ir.Value, int] = {}
        effect: int | None = None
        for reader, op in enumerate(ops):
            for value in values_read(op):
                if value in position:
                    self._producers[reader].append(position[value])
                    self._readers[position[value]].append(reader)
            for result in op.results:
                position[result] = reader
            if not is_pure(op):
                # Effects keep their order.
                if effect is not None:
                    self._producers[reader].append(effect)
                    self._readers[effect].append(reader)
                effect = reader
        self.place: list[_Place] = [(p, 0, 0) for p in range(len(ops))]
        self._moved = 0

    def producers_of(self, op: int) -> set[int]:
        """All that the op at a position needs, without itself."""
        return _reach(op, self._producers)

    def users_of(self, op: int, stop: frozenset[int] = frozenset()) -> set[int]:
        """All that uses the op at a position, without itself; nothing past ``stop``."""
        return _reach(op, self._readers, stop)

    def is_moved(self, op: int) -> bool:
        return self.place[op][1] != 0

    def move(self, op: int, to: int, dependents: set[int]) -> None:
        """Puts ``op`` before ``to``, and what depends on it last."""
        self._put(op, (to, -1))
        for dependent in sorted(dependents, key=self.place.__getitem__):
            self._put(dependent, (len(self._ops), 1))

    def _put(self, op: int, where: tuple[int, int]) -> None:
        self._moved += 1
        # The first that came, with the most bytes, stands closest to its matmul.
        self.place[op] = (*where, self._moved * where[1])

    def apply(self, terminator: ir.Operation) -> None:
        """Reorders the body: by place, but nothing before what it needs."""
        if not self._moved:
            return
        missing = [len(producers) for producers in self._producers]
        ready = [(self.place[p], p) for p, count in enumerate(missing) if not count]
        heapq.heapify(ready)
        while ready:
            _, position = heapq.heappop(ready)
            self._ops[position].move_before(terminator)
            for reader in self._readers[position]:
                missing[reader] -= 1
                if not missing[reader]:
                    heapq.heappush(ready, (self.place[reader], reader))


def _reach(start: int, edges: list[list[int]], stop: frozenset[int] = frozenset()) -> set[int]:
    found: set[int] = set()
    work = list(edges[start])
    while work:
        current = work.pop()
        if current not in found:
            found.add(current)
            if current not in stop:
                work += edges[current]
    return found
