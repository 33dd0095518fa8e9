"""Moves what a fused op needs in front of the region that it goes into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ....dialects.ir.bindings import (
    Attribute,
    Block,
    InsertionPoint,
    Operation,
    Type,
    Value,
    address_of,
    blocks_of,
    defining_op,
    operations_of,
    walk,
)
from ....dialects.iree.dispatch import DISPATCH_REGION, RETURN
from ....dialects.purity import is_pure
from ....dialects.upstream.linalg import TensorBuilder
from ...rewriting import Miss

_Place = tuple[int, ...]


class Hoister:
    """The order of one block's ops, kept up to date as some are moved up.

    MLIR numbers a block anew after a few insertions at one place, which makes
    moving and asking in turn quadratic.
    """

    def __init__(self, block: Block) -> None:
        self._block = block
        self._places: dict[int, _Place] = {}
        self._inserted: dict[_Place, int] = {}
        for index, op in enumerate(operations_of(block)):
            self._places[address_of(op)] = (index,)

    def needed(self, values: Iterable[Value], region: Operation) -> list[Operation] | Miss:
        """The ops to be moved before ``region`` for ``values`` to be there.

        In their order in the block. A miss says what cannot be moved.
        """
        limit = self._places[address_of(region)]
        found: dict[int, Operation] = {}
        waiting = list(values)
        while waiting:
            op = defining_op(waiting.pop())
            if op is None or op.block != self._block or address_of(op) in found:
                continue
            if self._places[address_of(op)] < limit:
                continue
            if op == region:
                return Miss("its sizes depend on the dispatch region itself")
            if not _is_movable(op):
                return Miss(f"its sizes need '{op.name}', which is not moved before the region")
            found[address_of(op)] = op
            waiting += _read_by(op)
        return sorted(found.values(), key=lambda op: self._places[address_of(op)])

    def move(self, ops: Iterable[Operation], region: Operation) -> None:
        """Moves ops, as given by ``needed``, right before ``region``."""
        for op in ops:
            op.move_before(region)
            self.insert(op, region)

    def insert(self, op: Operation, before: Operation) -> None:
        """Tells that ``op`` now stands right before another op."""
        place = self._places[address_of(before)]
        gap = (*place[:-1], place[-1] - 1)
        count = self._inserted[gap] = self._inserted.get(gap, 0) + 1
        self._places[address_of(op)] = (*gap, count)

    def builder_before(self, region: Operation) -> TensorBuilder:
        """Makes ops right before ``region``."""
        return _BuilderBefore(InsertionPoint(region), region.location, self, region)

    def replace(self, old: Operation, new: Operation) -> None:
        """Tells that ``new`` will stand in place of ``old``."""
        self._places[address_of(new)] = self._places[address_of(old)]


def _read_by(op: Operation) -> list[Value]:
    """Operands, and what nested ops read; some may be from within."""
    inside = walk(op) if len(op.regions) else (op,)
    return [value for inner in inside for value in inner.operands]


def _is_movable(op: Operation) -> bool:
    if op.name != DISPATCH_REGION:
        return is_pure(op)
    inside = [inner for block in blocks_of(op) for inner in operations_of(block)]
    return all(inner.name == RETURN or is_pure(inner) for inner in inside)


@dataclass(frozen=True)
class _BuilderBefore(TensorBuilder):
    """A builder whose ops the hoister knows."""

    hoister: Hoister
    region: Operation

    def op(
        self,
        name: str,
        operands: list[Value],
        type_: Type,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        value = super().op(name, operands, type_, attributes)
        made = defining_op(value)
        assert made is not None
        self.hoister.insert(made, self.region)
        return value
