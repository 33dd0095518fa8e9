"""Who may still read a buffer when an op writes into it.

IREE lets an op that updates a tensor take over the tensor's buffer
where it is the last user in program order. It then cuts the program into
pieces that run as soon as their operands are there, so that a reader that
stands before the update may run after it, or beside it, and finds what the
update wrote (quirks.READER_AFTER_UPDATE). On one device it moves what runs at once
to where its operands are there (quirks.UPDATE_BEFORE_READER). The one order that
always holds is that of values: a reader is done where the update is computed
from what it gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.iree.barriers import BARRIER
from ....dialects.op_traits import MADE_OF_SCALARS, STORED, VIEWS
from .branches import forwarded_operand

# IREE never writes where these are, or makes them anew for each user.
_NEVER_WRITTEN = MADE_OF_SCALARS | STORED
_VIEWS = VIEWS | {"tensor.extract_slice", "flow.tensor.tie_shape"}
# The operand whose buffer the result takes over.
_UPDATES = {"tensor.insert_slice": 1, "flow.tensor.update": 0}
# Their last operands, as many as results, are what they update.
_DESTINATION_STYLE = ("linalg.", "iree_linalg_ext.", "tm_tensor.")


@dataclass(frozen=True)
class Use:
    """Operand ``index`` of ``op``."""

    op: ir.Operation
    index: int

    @property
    def value(self) -> ir.Value:
        return self.op.operands[self.index]

    def same_as(self, other: Use) -> bool:
        return self.index == other.index and self.op == other.op


class LaterReaders:
    """Answers for one function whose loops are branches; the ops may change between questions.

    ``devices`` are the devices of values, as ``flow.tensor.transfer`` has
    them: one to where its operand is makes no copy.
    """

    def __init__(self, function: ir.Operation, devices: dict[ir.Value, ir.Attribute]) -> None:
        self._blocks = list(function.regions[0].blocks)
        self._devices = devices
        self._reached: dict[tuple[int, int], list[bool]] = {}

    def exposed(self, op: ir.Operation) -> list[Use]:
        """The uses that need a copy of their own, so that nothing reads what ``op`` writes.

        They are operands that ``op``, or a dispatch region that it is, may
        write into, or those of branches by which what is written comes in.
        """
        updated = _updated(op)
        sources = ir.all_operands(op) if updated else []
        return _each_once(found for use in updated for found in self._exposed(use, op, sources, {}))

    def borrowed(self, op: ir.Operation) -> list[Use]:
        """The uses by which ``op`` would write into what a caller owns: an argument of
        the function, as an operand or as what branches bring."""
        return _each_once(found for use in _updated(op) for found in self._borrowed(use, {}))

    def _borrowed(self, use: Use, seen: dict[ir.Value, None]) -> list[Use]:
        root = self.root(use.value)
        if root in seen or not isinstance(root, ir.BlockArgument):
            return []
        seen[root] = None
        argument = ir.BlockArgument(root)
        if self._block_index(argument.owner) == 0:
            return [use]
        found: list[Use] = []
        for branch, start in _edges(argument.owner):
            found += self._borrowed(Use(branch, start + argument.arg_number), seen)
        return found

    def _exposed(
        self, use: Use, op: ir.Operation, sources: Sequence[ir.Value], seen: dict[ir.Value, None]
    ) -> list[Use]:
        """For a buffer that ``op`` uses and that is written when all ``sources`` are there."""
        root = self.root(use.value)
        if root in seen or self.written_root(use.value) is None:
            return []
        seen[root] = None
        readers = [r for r in self.readers(root) if not r.same_as(use)]
        argument = ir.BlockArgument(root) if isinstance(root, ir.BlockArgument) else None
        if not readers and argument is None:
            return []
        done, arguments = computed_by(sources)
        if any(self._may_be_late(reader.op, op, root, done) for reader in readers):
            return [use]
        found: list[Use] = []
        if argument is not None:
            block = argument.owner
            positions = [a.arg_number for a in arguments if a.owner == block]
            for branch, start in _edges(block):
                came = Use(branch, start + argument.arg_number)
                needed = [branch.operands[start + position] for position in positions]
                found += self._exposed(came, branch, needed, seen)
        return found

    def _may_be_late(
        self, reader: ir.Operation, op: ir.Operation, root: ir.Value, done: set[int]
    ) -> bool:
        """Whether a reader of ``root`` may run after ``op`` or beside it."""
        top = self.top(reader)
        if top == op and not op.name.startswith("cf."):
            return False
        before, at, home = (self._block_index(o) for o in (top.block, op.block, ir.block_of(root)))
        if before == at:
            return op.is_before_in_block(top) or top == op or ir.address_of(top) not in done
        if self._reaches(at, before, home):
            return True
        return self._reaches(before, at, home) and ir.address_of(top) not in done

    def _reaches(self, start: int, end: int, home: int) -> bool:
        """Whether control may go from block ``start`` to ``end`` and not through ``home``,
        where there would be another value."""
        if (start, home) not in self._reached:
            found = [False] * len(self._blocks)
            pending = [start]
            while pending:
                for successor in self._blocks[pending.pop()].successors:
                    index = self._block_index(successor)
                    if index != home and not found[index]:
                        found[index] = True
                        pending.append(index)
            self._reached[start, home] = found
        return self._reached[start, home][end]

    def _block_index(self, block: ir.Block) -> int:
        return self._blocks.index(block)

    def top(self, op: ir.Operation) -> ir.Operation:
        """``op``, or the op of the function's own blocks that it is in."""
        while (parent := op.parent) is not None and parent.name != "func.func":
            op = parent.operation
        return op

    def written_root(self, value: ir.Value) -> ir.Value | None:
        """The value whose buffer ``value`` is in; None where IREE writes into a copy of it.

        What comes out of a barrier IREE writes into whatever it is: quirks.BARRIER_OWNS.
        """
        root, is_held = self._trace(value)
        return None if self._is_never_written(root) and not is_held else root

    def _is_never_written(self, root: ir.Value) -> bool:
        op = ir.defining_op(root)
        if op is None:
            return self._block_index(ir.block_of(root)) == 0  # what a caller owns
        return op.name in _NEVER_WRITTEN

    def root(self, value: ir.Value) -> ir.Value:
        """The value whose buffer ``value`` is in."""
        return self._trace(value)[0]

    def _trace(self, value: ir.Value) -> tuple[ir.Value, bool]:
        """The root, and whether there is a barrier on the way."""
        is_held = False
        while (op := ir.defining_op(value)) is not None and self._is_view(op):
            is_held = is_held or op.name == BARRIER
            value = op.operands[ir.result_number(value)]
        return value, is_held

    def _is_view(self, op: ir.Operation) -> bool:
        """Whether each result is in the buffer of the operand of its number."""
        if op.name == "flow.tensor.transfer":
            device = self._devices.get(op.operands[0])
            return device is not None and device == op.attributes["target"]
        return op.name == BARRIER or op.name in _VIEWS

    def readers(self, root: ir.Value) -> Iterator[Use]:
        """Who reads ``root``, a view of it, or what is sent to the same device of the
        same value: equal transfers become one, also where a view stands between."""
        pending = self._equal_transfers(root)
        while pending:
            for operand in pending.pop().uses:
                user = operand.owner.operation
                if self._is_view(user):
                    pending += _results_of(operand)
                elif user.name != "tensor.dim":
                    yield Use(user, operand.operand_number)

    def _equal_transfers(self, root: ir.Value) -> list[ir.Value]:
        """``root``; where it is sent, all that is sent so."""
        transfer = ir.defining_op(root)
        if transfer is None or transfer.name != "flow.tensor.transfer":
            return [root]
        target = transfer.attributes["target"]
        found: list[ir.Value] = []
        pending = [self.root(transfer.operands[0])]
        while pending:
            for operand in pending.pop().uses:
                user = operand.owner.operation
                if self._is_view(user):
                    pending += _results_of(operand)
                elif user.name == "flow.tensor.transfer" and user.attributes["target"] == target:
                    found.append(user.results[0])
        return found


def _results_of(use: ir.OpOperand) -> list[ir.Value]:
    """Of a view, the result that is in the operand's buffer; a size has none."""
    results = use.owner.operation.results
    return [results[use.operand_number]] if use.operand_number < len(results) else []


def _each_once(uses: Iterable[Use]) -> list[Use]:
    found: list[Use] = []
    for use in uses:
        if not any(use.same_as(other) for other in found):
            found.append(use)
    return found


def _updated(op: ir.Operation) -> list[Use]:
    """The operands whose buffers a result of ``op``, or of what is in it, may take over."""
    ops = ir.walk(op) if op.name.startswith("flow.dispatch.") else [op]
    made = {result for each in ops[1:] for result in each.results}
    return [use for each in ops for use in _destinations(each) if use.value not in made]


def _destinations(op: ir.Operation) -> list[Use]:
    if op.name in _UPDATES:
        return [Use(op, _UPDATES[op.name])]
    tensors = [result for result in op.results if isinstance(result.type, ir.RankedTensorType)]
    if not tensors or not op.name.startswith(_DESTINATION_STYLE):
        return []
    count = len(op.operands)
    return [Use(op, index) for index in range(count - len(tensors), count)]


def computed_by(values: Iterable[ir.Value]) -> tuple[set[int], list[ir.BlockArgument]]:
    """Addresses of the ops that ``values`` are computed by, and the block
    arguments that these start from. The set is for membership only."""
    done: set[int] = set()
    arguments: dict[ir.Value, None] = {}
    pending = list(values)
    while pending:
        value = pending.pop()
        op = ir.defining_op(value)
        if op is None:
            arguments[value] = None
        elif ir.address_of(op) not in done:
            done.add(ir.address_of(op))
            pending.extend(ir.all_operands(op))
    return done, [ir.BlockArgument(value) for value in arguments]


def _edges(block: ir.Block) -> Iterator[tuple[ir.Operation, int]]:
    """The branches to ``block``, each with the position of its first operand for it."""
    branches: dict[int, ir.Operation] = {}
    for predecessor in block.predecessors:
        last = ir.operations_of(predecessor)[-1]
        branches.setdefault(ir.address_of(last), last)
    for branch in branches.values():
        for start in forwarded_operand(branch, block, 0):
            yield branch, start
