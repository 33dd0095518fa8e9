"""Moves what a fused op needs in front of the region that it goes into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.iree.dispatch import DISPATCH_REGION, RETURN
from ....dialects.op_traits import is_pure
from ....dialects.upstream.linalg import TensorBuilder
from ...rewriting import Miss

_Place = tuple[int, ...]


class Hoister:
    """The order of one block's ops, kept up to date as some are moved up.

    MLIR numbers a block anew after a few insertions at one place, which makes
    moving and asking in turn quadratic.
    """

    def __init__(self, block: ir.Block) -> None:
        self._block = block
        self._places: dict[int, _Place] = {}
        self._inserted: dict[_Place, int] = {}
        for index, op in enumerate(ir.operations_of(block)):
            self._places[ir.address_of(op)] = (index,)

    def needed(self, values: Iterable[ir.Value], region: ir.Operation) -> list[ir.Operation] | Miss:
        """The ops to be moved before ``region`` for ``values`` to be there.

        In their order in the block. A miss says what cannot be moved.
        """
        limit = self._places[ir.address_of(region)]
        found: dict[int, ir.Operation] = {}
        waiting = list(values)
        while waiting:
            op = ir.defining_op(waiting.pop())
            if op is None or op.block != self._block or ir.address_of(op) in found:
                continue
            if self._places[ir.address_of(op)] < limit:
                continue
            if op == region:
                return Miss("its sizes depend on the dispatch region itself")
            if not _is_movable(op):
                return Miss(f"its sizes need '{op.name}', which is not moved before the region")
            found[ir.address_of(op)] = op
            waiting += ir.all_operands(op)
        return sorted(found.values(), key=lambda op: self._places[ir.address_of(op)])

    def move(self, ops: Iterable[ir.Operation], region: ir.Operation) -> None:
        """Moves ops, as given by ``needed``, right before ``region``."""
        for op in ops:
            op.move_before(region)
            self.insert(op, region)

    def insert(self, op: ir.Operation, before: ir.Operation) -> None:
        """Tells that ``op`` now stands right before another op."""
        place = self._places[ir.address_of(before)]
        gap = (*place[:-1], place[-1] - 1)
        count = self._inserted[gap] = self._inserted.get(gap, 0) + 1
        self._places[ir.address_of(op)] = (*gap, count)

    def builder_before(self, region: ir.Operation) -> TensorBuilder:
        """Makes ops right before ``region``."""
        return _BuilderBefore(ir.InsertionPoint(region), region.location, self, region)

    def replace(self, old: ir.Operation, new: ir.Operation) -> None:
        """Tells that ``new`` will stand in place of ``old``."""
        self._places[ir.address_of(new)] = self._places[ir.address_of(old)]


def _is_movable(op: ir.Operation) -> bool:
    if op.name != DISPATCH_REGION:
        return is_pure(op)
    inside = [inner for block in ir.blocks_of(op) for inner in ir.operations_of(block)]
    return all(inner.name == RETURN or is_pure(inner) for inner in inside)


@dataclass(frozen=True)
class _BuilderBefore(TensorBuilder):
    """A builder whose ops the hoister knows."""

    hoister: Hoister
    region: ir.Operation

    def op(
        self,
        name: str,
        operands: list[ir.Value],
        type_: ir.Type,
        attributes: dict[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        value = super().op(name, operands, type_, attributes)
        made = ir.defining_op(value)
        assert made is not None
        self.hoister.insert(made, self.region)
        return value
