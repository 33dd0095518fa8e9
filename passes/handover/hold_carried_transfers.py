"""The pass ``hold-carried-transfers``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.barriers import hold
from ...dialects.op_traits import VIEWS
from ...dialects.upstream.linalg import TensorBuilder
from ...dialects.upstream.tensor import dynamic_sizes
from ..base import Pass
from .buffers.branches import forwarded_operand


@dataclass(frozen=True)
class HoldCarriedTransfers(Pass):
    """Put a barrier behind a transfer whose result a loop starts with and only copies.

    As a permute that is pipelined and whose result nothing but the stack of a scan
    reads until the loop has ended: quirks.CARRIED_TRANSFER. The barrier stands before
    the loop, where it costs one wait, not one in each iteration.

    Before::

        %t = flow.tensor.transfer %x to @dev1
        cf.br ^bb1(%t)
      ^bb1(%a: tensor<4xf32>):
        %s = tensor.insert_slice %a into %stack[%i, 0] [1, 4] [1, 1]

    After::

        %t = flow.tensor.transfer %x to @dev1
        %b = util.optimization_barrier %t
        cf.br ^bb1(%b)
    """

    name: ClassVar[str] = "hold-carried-transfers"

    def run(self, module: ir.Operation) -> None:
        for function in [op for op in ir.walk(module) if op.name == "func.func"]:
            for region in function.regions:
                earlier: list[ir.Block] = []
                for block in region.blocks:
                    arguments = list(block.arguments) if earlier else []
                    loop = _blocks_of_loop(block) if arguments else []
                    for argument in arguments:
                        if _is_only_copied(argument, loop):
                            _hold(block, ir.BlockArgument(argument), earlier)
                    earlier.append(block)


def _blocks_of_loop(header: ir.Block) -> list[ir.Block]:
    """The blocks from which control comes to ``header``, but for those it is entered from."""
    found: list[ir.Block] = [header]
    pending = list(header.predecessors)
    while pending:
        block = pending.pop()
        if block not in found and _reaches(header, block):
            found.append(block)
            pending += block.predecessors
    return found


def _reaches(start: ir.Block, end: ir.Block) -> bool:
    seen: list[ir.Block] = []
    pending = [start]
    while pending:
        for successor in pending.pop().successors:
            if successor == end:
                return True
            if successor not in seen:
                seen.append(successor)
                pending.append(successor)
    return False


def _is_only_copied(value: ir.Value, loop: list[ir.Block]) -> bool:
    """Whether all that reads a tensor in a loop puts it into others."""
    if not isinstance(value.type, ir.RankedTensorType):
        return False
    uses = [(use.owner.operation, use.operand_number) for use in value.uses]
    users = [(user, number) for user, number in uses if user.block in loop]
    return bool(users) and all(
        (user.name == "tensor.insert_slice" and number == 0)
        or (user.name in VIEWS and number == 0 and _is_only_copied(user.results[0], loop))
        for user, number in users
    )


def _hold(block: ir.Block, argument: ir.BlockArgument, earlier: list[ir.Block]) -> None:
    """What blocks before ``block``, so none of its loop, pass as the argument."""
    for branch in [ir.operations_of(b)[-1] for b in block.predecessors if b in earlier]:
        for index in forwarded_operand(branch, block, argument.arg_number):
            value = branch.operands[index]
            producer = ir.defining_op(value)
            if producer is not None and producer.name == "flow.tensor.transfer":
                b = TensorBuilder(ir.InsertionPoint(branch), branch.location)
                branch.operands[index] = hold(b, value, dynamic_sizes(b, value))[0]
