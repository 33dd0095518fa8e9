"""The ops of one block by position, and who reads whom."""

from __future__ import annotations

from collections.abc import Iterator

from ....dialects import ir
from ....dialects.iree.dispatch import DISPATCH_REGION

# What is in them is somebody's dispatch already.
OPAQUE = (DISPATCH_REGION, "flow.dispatch.workgroups")


class BlockGraph:
    """Positions of a block's ops, fixed while groups are chosen.

    What is nested in an op counts as read by that op.
    """

    def __init__(self, block: ir.Block) -> None:
        self.ops = ir.operations_of(block)
        self._producers: dict[ir.Value, int] = {}
        self._users: dict[ir.Value, list[int]] = {}
        self._captured: set[ir.Value] = set()
        for position, op in enumerate(self.ops):
            for operand, nested in _all_operands(op):
                if operand in self._producers:
                    if nested and op.name.startswith("linalg."):
                        self._captured.add(operand)
                    users = self._users[operand]
                    if not users or users[-1] != position:
                        users.append(position)
            for result in op.results:
                self._producers[result] = position
                self._users[result] = []

    def producer(self, value: ir.Value) -> int | None:
        """The position of the op that makes ``value``; None if it is not in the block."""
        return self._producers.get(value)

    def users(self, value: ir.Value) -> list[int]:
        """Positions of the ops that read a value of this block, in order, each once."""
        return self._users[value]

    def is_captured(self, value: ir.Value) -> bool:
        """Whether the body of a structured op reads a value of this block: no
        tile of it would do, as that may ask for any element."""
        return value in self._captured


def _all_operands(op: ir.Operation) -> Iterator[tuple[ir.Value, bool]]:
    """What an op reads, and whether something nested in it does."""
    for operand in op.operands:
        yield operand, False
    if len(op.regions):
        for inner in ir.walk(op)[1:]:
            for operand in inner.operands:
                yield operand, True
