"""Splits the body of an ``scf.for`` into two stages, for pipelining.

Backward: the *chain* of a collective, all that it is computed from, depends
only on the loop's index and on invariants, so it can run a trip ahead.
Forward: the *tail* of a collective, all that is computed from it, has carried
values of its own that nothing else reads, so it can run a trip behind.

Neither looks at what the ops compute: only at who reads what.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...dialects.mlir import Operation, Value, walk
from ...dialects.purity import is_pure
from ...dialects.scf import ForLoop

# Cheaper to compute again than to carry from trip to trip.
_CHEAP_DIALECTS = ("arith", "index")
_CHEAP = frozenset(("tensor.dim", "tensor.empty", "tensor.from_elements"))


@dataclass(frozen=True)
class Refusal:
    """Why a collective cannot be moved in a direction."""

    reason: str


@dataclass(frozen=True)
class Chain:
    """Body ops in order, the collective last; all may run a trip ahead."""

    positions: tuple[int, ...]
    uses_index: bool


@dataclass(frozen=True)
class Tail:
    """Body ops in order, the collective first; all may run a trip behind.

    ``slots`` are the carried values that only the tail reads and writes.
    ``crossing`` are the values of the first stage that the tail reads, in
    the order of its ops; ``recomputed`` are positions of cheap ops that the
    tail computes again instead.
    """

    positions: tuple[int, ...]
    slots: tuple[int, ...]
    crossing: tuple[Value, ...]
    recomputed: tuple[int, ...]


def values_read(op: Operation) -> list[Value]:
    """Operands of ``op`` and what its regions read from outside of it."""
    found = list(op.operands)
    if not len(op.regions):
        return found
    inside: set[Value] = set()
    nested: list[Value] = []
    for inner in walk(op):
        for region in inner.regions:
            for block in region.blocks:
                inside.update(block.arguments)
        if inner != op:
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
        self._position: dict[Value, int] = {}
        self._reads: list[list[Value]] = []
        self._readers: dict[Value, list[int]] = {}
        for position, op in enumerate(self.ops):
            for result in op.results:
                self._position[result] = position
            self._reads.append(values_read(op))
            for value in dict.fromkeys(self._reads[-1]):
                self._readers.setdefault(value, []).append(position)
        self._slot = {value: slot for slot, value in enumerate(self.carried)}

    def reads(self, position: int) -> list[Value]:
        """What the op at that position reads."""
        return self._reads[position]

    def is_invariant(self, slot: int) -> bool:
        """Whether a carried value never changes."""
        return self.yields[slot] == self.carried[slot]

    def chain(self, position: int) -> Chain | Refusal:
        """The op at ``position`` with all that it is computed from."""
        found = {position}
        work = [position]
        uses_index = False
        while work:
            current = work.pop()
            if not is_pure(self.ops[current]):
                return Refusal(f"'{self.ops[current].name}' before it may have side effects")
            for value in self._reads[current]:
                maker = self._position.get(value)
                if maker is not None:
                    if maker not in found:
                        found.add(maker)
                        work.append(maker)
                elif value == self.loop.index:
                    uses_index = True
                elif value in self._slot and not self.is_invariant(self._slot[value]):
                    return Refusal("it depends on a value carried by the loop")
        return Chain(tuple(sorted(found)), uses_index)

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
            if not is_pure(self.ops[current]):
                return Refusal(f"'{self.ops[current].name}' after it may have side effects")
            for result in self.ops[current].results:
                work += self._readers.get(result, ())
                for slot, yielded in enumerate(self.yields):
                    if yielded == result and slot not in slots:
                        slots.add(slot)
                        work += self._readers.get(self.carried[slot], ())
        if any(self._position.get(v) in found for v in self._reads[position]):
            return Refusal("it depends on a value carried by the loop that depends on it")
        for slot, value in enumerate(self.yields):
            if value in self._slot and self._slot[value] in slots and self._slot[value] != slot:
                return Refusal("its result is carried on to a further trip")
        if not slots:
            return Refusal("its result is not used")
        return self._with_crossing(tuple(sorted(found)), tuple(sorted(slots)))

    def _with_crossing(self, positions: tuple[int, ...], slots: tuple[int, ...]) -> Tail:
        own = {self.carried[s] for s in slots}
        tail = set(positions)
        crossing: dict[Value, None] = {}
        recomputed: set[int] = set()
        for position in positions:
            for value in self._reads[position]:
                if value in own or value == self.loop.index or value in crossing:
                    continue
                maker = self._position.get(value)
                slot = self._slot.get(value)
                if maker is None and (slot is None or self.is_invariant(slot)):
                    continue
                if maker is not None and maker in tail:
                    continue
                cheap = self._cheap_chain(maker)
                if cheap is not None:
                    recomputed.update(cheap)
                else:
                    crossing[value] = None
        return Tail(positions, slots, tuple(crossing), tuple(sorted(recomputed)))

    def _cheap_chain(self, maker: int | None) -> tuple[int, ...] | None:
        """What to compute again for a value of the first stage, None if dear."""
        if maker is None:
            return None
        chain = self.chain(maker)
        if isinstance(chain, Refusal) or not all(_is_cheap(self.ops[p]) for p in chain.positions):
            return None
        return chain.positions

    def rest(self, moved: Iterable[int], provided: Iterable[int]) -> list[int]:
        """What is left when some ops moved away and some results are given.

        A moved op that others read as well stays (it is computed twice); the
        ``provided`` ones never do.
        """
        gone, given = set(moved), set(provided)
        wanted = {self._position.get(v) for v in self.yields}
        keep: list[int] = []
        for position in range(len(self.ops) - 1, -1, -1):
            if position in given or (position in gone and position not in wanted):
                continue
            keep.append(position)
            wanted.update(self._position.get(v) for v in self._reads[position])
        return keep[::-1]

    def readers_outside(self, position: int, inside: Iterable[int]) -> bool:
        """Whether others than the ops at ``inside`` read a result of an op."""
        within = set(inside)
        results = list(self.ops[position].results)
        return any(v in results for v in self.yields) or any(
            reader not in within for v in results for reader in self._readers.get(v, ())
        )


def _is_cheap(op: Operation) -> bool:
    return op.name.partition(".")[0] in _CHEAP_DIALECTS or op.name in _CHEAP
