"""The ops of one block by position, and who reads whom."""

from __future__ import annotations

from collections.abc import Iterator

from ...dialects.dispatch import DISPATCH_REGION
from ...dialects.mlir import Block, Operation, Value, operations_of, walk

# What is in them is somebody's dispatch already.
OPAQUE = (DISPATCH_REGION, "flow.dispatch.workgroups")


class BlockGraph:
    """Positions of a block's ops, fixed while groups are chosen.

    What is nested in an op counts as read by that op.
    """

    def __init__(self, block: Block) -> None:
        self.ops = operations_of(block)
        self._makers: dict[Value, int] = {}
        self._readers: dict[Value, list[int]] = {}
        for position, op in enumerate(self.ops):
            for operand in _all_operands(op):
                if operand in self._makers:
                    readers = self._readers[operand]
                    if not readers or readers[-1] != position:
                        readers.append(position)
            for result in op.results:
                self._makers[result] = position
                self._readers[result] = []

    def maker(self, value: Value) -> int | None:
        """The position of the op that makes ``value``; None if it is not in the block."""
        return self._makers.get(value)

    def readers(self, value: Value) -> list[int]:
        """Positions of the ops that read a value of this block, in order, each once."""
        return self._readers[value]

    def all_readers(self, position: int) -> Iterator[int]:
        """Of all results of an op; in order for each result."""
        for result in self.ops[position].results:
            yield from self._readers[result]


def _all_operands(op: Operation) -> Iterator[Value]:
    yield from op.operands
    if len(op.regions):
        for inner in walk(op)[1:]:
            yield from inner.operands
