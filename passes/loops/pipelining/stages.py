"""Splits the body of an ``scf.for`` into two stages, for pipelining.

Backward: the *chain* of a collective, all that it is computed from, depends
only on the loop's index and on invariants, so it can run an iteration ahead.
Forward: the *tail* of a collective, all that is computed from it, has carried
values of its own that nothing else reads, so it can run an iteration behind.

Neither looks at what the ops compute: only at who reads what. A value that
one stage makes and the other reads is carried from trip to trip, or made
again where that costs less.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.headrace import is_collective
from ....dialects.op_traits import MADE_OF_SCALARS, VIEWS, is_pure
from ....dialects.upstream.scf import ForLoop

# Made again rather than carried: no work, or a copy at most.
_CHEAP = (
    VIEWS
    | MADE_OF_SCALARS
    | {"arith.constant", "tensor.dim", "tensor.extract", "tensor.extract_slice"}
)
_SCALAR_DIALECTS = ("affine", "arith", "index", "math")
# Never carried, as it has to stand beside its matmul: what it reads is.
_DEQUANTIZE = "headrace.dequantize"
# May stand between a dequantize and its matmul.
_MOVEMENT = _CHEAP | {"linalg.transpose"}


@dataclass(frozen=True)
class Refusal:
    """Why a collective cannot be moved in a direction."""

    reason: str


@dataclass(frozen=True)
class Chain:
    """Body ops in order, the collective last; all may run an iteration ahead."""

    positions: tuple[int, ...]
    uses_index: bool


@dataclass(frozen=True)
class Ahead:
    """Chains to run an iteration ahead, and what is left of the body.

    ``rest`` holds the positions of all other ops and of those ops of the
    chains that it makes again; ``carried`` are the values that it is given.
    """

    moved: tuple[int, ...]
    rest: tuple[int, ...]
    carried: tuple[ir.Value, ...]


@dataclass(frozen=True)
class Tail:
    """A collective and all that is computed from it, in order; all may run an iteration
    behind. What reads a carried value of its own may stand before it.

    ``slots`` are the carried values that only the tail reads and writes.
    ``crossing`` are the values of the first stage that the tail is given, in
    the order in which it reads them; ``recomputed`` are the positions of ops
    of the first stage that it makes again. ``rest`` is the first stage, empty
    in what is one of several tails still.
    """

    positions: tuple[int, ...]
    slots: tuple[int, ...]
    crossing: tuple[ir.Value, ...]
    recomputed: tuple[int, ...]
    rest: tuple[int, ...]


def values_read(op: ir.Operation) -> list[ir.Value]:
    """Operands of ``op`` and what its regions read from outside of it."""
    found = list(op.operands)
    if not len(op.regions):
        return found
    inside: set[ir.Value] = set()
    nested: list[ir.Value] = []
    for position, inner in enumerate(ir.walk(op)):
        for region in inner.regions:
            for block in region.blocks:
                inside.update(block.arguments)
        if position:
            inside.update(inner.results)
            nested += inner.operands
    return found + [v for v in nested if v not in inside]


class LoopBody:
    """One ``scf.for`` body, read once: who makes and who reads each value."""

    def __init__(self, loop: ForLoop) -> None:
        self.loop = loop
        self.ops = loop.body_ops()
        self.yields = loop.yields
        self.carried = loop.carried
        self._position: dict[ir.Value, int] = {}
        self._reads: list[list[ir.Value]] = []
        self._readers: dict[ir.Value, list[int]] = {}
        for position, op in enumerate(self.ops):
            for result in op.results:
                self._position[result] = position
            self._reads.append(list(dict.fromkeys(values_read(op))))
            for value in self._reads[-1]:
                self._readers.setdefault(value, []).append(position)
        self._slot = {value: slot for slot, value in enumerate(self.carried)}
        self._yielded = frozenset(self.yields)
        self._collectives = [is_collective(op) for op in self.ops]
        self._pure = [is_pure(op) for op in self.ops]
        self._again = self._made_again()

    @property
    def collectives(self) -> list[int]:
        """Positions of the collectives that stand in the body itself."""
        return [p for p, is_one in enumerate(self._collectives) if is_one]

    def is_invariant(self, slot: int) -> bool:
        """Whether a carried value never changes."""
        return self.yields[slot] == self.carried[slot]

    def stays_beside(self, position: int) -> bool:
        """Whether the op has to stay where its results are read."""
        return self.ops[position].name == _DEQUANTIZE

    def _varies(self, value: ir.Value) -> bool:
        """Whether it is carried and changes from trip to trip."""
        slot = self._slot.get(value)
        return slot is not None and not self.is_invariant(slot)

    def _made_again(self) -> list[bool]:
        """Which ops to make again where their results are read in both stages."""
        cheap: list[bool] = []
        invariant: list[bool] = []
        beside: list[bool] = []
        for position, op in enumerate(self.ops):
            producers = [self._position.get(v) for v in self._reads[position]]
            known = [m for m in producers if m is not None]
            free = self._pure[position] and not any(map(self._varies, self._reads[position]))
            cheap.append(free and _is_cheap(op) and all(cheap[m] for m in known))
            invariant.append(
                free
                and not _communicates(op)
                and self.loop.index not in self._reads[position]
                and all(invariant[m] for m in known)
            )
            moves = op.name in _MOVEMENT and any(beside[m] for m in known)
            beside.append(
                self.stays_beside(position)
                or (moves and all(cheap[m] or invariant[m] or beside[m] for m in known))
            )
        return [any(kinds) for kinds in zip(cheap, invariant, beside, strict=True)]

    def chain(self, position: int) -> Chain | Refusal:
        """The op at ``position`` with all that it is computed from."""
        found = {position}
        work = [position]
        uses_index = False
        while work:
            current = work.pop()
            if not self._pure[current]:
                return Refusal(f"'{self.ops[current].name}' before it may have side effects")
            for value in self._reads[current]:
                producer = self._position.get(value)
                if producer is not None:
                    if producer not in found:
                        found.add(producer)
                        work.append(producer)
                elif value == self.loop.index:
                    uses_index = True
                elif self._varies(value):
                    return Refusal("it depends on a value carried by the loop")
        return Chain(tuple(sorted(found)), uses_index)

    def ahead(self, chains: Iterable[Chain]) -> Ahead:
        """What is left of the body when chains run an iteration ahead."""
        moved = {p for chain in chains for p in chain.positions}
        wanted = set(self.yields)
        rest: list[int] = []
        carried: dict[ir.Value, None] = {}
        for position in reversed(range(len(self.ops))):
            results = [r for r in self.ops[position].results if r in wanted]
            if position in moved:
                if not results:
                    continue
                if not self._again[position]:
                    carried.update(dict.fromkeys(reversed(results)))
                    continue
            rest.append(position)
            wanted.update(self._reads[position])
        return Ahead(tuple(sorted(moved)), tuple(rest[::-1]), tuple(carried)[::-1])

    def tail(self, position: int) -> Tail | Refusal:
        """The op at ``position`` with all that is computed from it."""
        found: set[int] = set()
        slots: set[int] = set()
        work = [position]
        while work:
            current = work.pop()
            if current in found:
                continue
            found.add(current)
            if not self._pure[current]:
                return Refusal(f"'{self.ops[current].name}' after it may have side effects")
            for result in self.ops[current].results:
                work += self._readers.get(result, ())
                if result in self._yielded:
                    new = [s for s, v in enumerate(self.yields) if v == result and s not in slots]
                    slots.update(new)
                    for slot in new:
                        work += self._readers.get(self.carried[slot], ())
        own = {self.carried[slot] for slot in slots}
        if any(v in own or self._position.get(v) in found for v in self._reads[position]):
            return Refusal("it depends on a value carried by the loop that depends on it")
        if any(v in own and self._slot[v] != slot for slot, v in enumerate(self.yields)):
            return Refusal("its result is carried on to a further trip")
        if not slots:
            return Refusal("its result is not used")
        return self._tail(found, slots, ())

    def joined(self, tails: Sequence[Tail], given: Iterable[ir.Value] = ()) -> Tail:
        """Several tails as one; ``given`` are values that it need not be able
        to make again."""
        positions = {p for tail in tails for p in tail.positions}
        tail = self._tail(positions, {s for tail in tails for s in tail.slots}, given)
        return dataclasses.replace(tail, rest=self._first_stage(tail))

    def read_at(
        self, positions: Iterable[int], without: Iterable[int], values: Iterable[ir.Value]
    ) -> list[ir.Value]:
        """Which of ``values`` the ops at some positions, less others, read, or
        need for what they make again."""
        left_out = set(without)
        work = [v for p in positions if p not in left_out for v in self._reads[p]]
        seen: set[ir.Value] = set()
        known = set(values)
        while work:
            value = work.pop()
            if value in seen:
                continue
            seen.add(value)
            producer = self._position.get(value)
            if value not in known and producer is not None and producer not in left_out:
                work += self._reads[producer]
        return [v for v in values if v in seen]

    def _tail(self, positions: set[int], slots: set[int], given: Iterable[ir.Value]) -> Tail:
        own = {self.carried[s] for s in slots}
        crossing = dict.fromkeys(given)
        recomputed: set[int] = set()
        work = [v for p in sorted(positions, reverse=True) for v in reversed(self._reads[p])]
        while work:
            value = work.pop()
            producer = self._position.get(value)
            if value in own or value in crossing or producer in positions or producer in recomputed:
                continue
            if producer is None:
                if self._varies(value):
                    crossing[value] = None
            elif self._again[producer]:
                recomputed.add(producer)
                work += reversed(self._reads[producer])
            else:
                crossing[value] = None
        in_order = tuple(sorted(positions))
        return Tail(in_order, tuple(sorted(slots)), tuple(crossing), tuple(sorted(recomputed)), ())

    def _first_stage(self, tail: Tail) -> tuple[int, ...]:
        positions, recomputed = set(tail.positions), set(tail.recomputed)
        wanted = {v for slot, v in enumerate(self.yields) if slot not in tail.slots}
        wanted.update(tail.crossing)
        rest: list[int] = []
        for position in reversed(range(len(self.ops))):
            unread = not any(r in wanted for r in self.ops[position].results)
            if position in positions or (position in recomputed and unread):
                continue
            rest.append(position)
            wanted.update(self._reads[position])
        return tuple(rest[::-1])


def _communicates(op: ir.Operation) -> bool:
    return any(is_collective(inner) for inner in ir.walk(op))


def _is_cheap(op: ir.Operation) -> bool:
    if op.name in _CHEAP:
        return True
    on_scalars = not any(isinstance(r.type, ir.RankedTensorType) for r in op.results)
    return on_scalars and op.name.partition(".")[0] in _SCALAR_DIALECTS
