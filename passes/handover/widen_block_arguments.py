"""Keeps narrow scalars out of branches."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.upstream.arith import Scalars
from ..base import Pass
from .buffers.branches import forwarded_operand

_WIDTH = 64


@dataclass(frozen=True)
class WidenBlockArguments(Pass):
    """Passes scalars between blocks as i64.

    IREE's VM, which keeps an i64 in two i32 registers, miscompiles branches that
    forward both together (quirks.MIXED_BRANCH_OPERANDS). A loop's i32 counter
    beside buffer sizes and offsets (i64) is enough; results are silently wrong.
    With i64 values alone the registers are equal or apart, and all is well.

    Before::

        cf.br ^bb1(%i : i32)
      ^bb1(%j: i32):

    After::

        %w = arith.extsi %i : i32 to i64
        cf.br ^bb1(%w : i64)
      ^bb1(%j64: i64):
        %j = arith.trunci %j64 : i64 to i32
    """

    name = "widen-block-arguments"

    def run(self, module: ir.Operation) -> None:
        for function in [op for op in ir.walk(module) if op.name == "func.func"]:
            for region in function.regions:
                for block in [*region.blocks][1:]:
                    _widen(block)


def _widen(block: ir.Block) -> None:
    narrow = [a for a in block.arguments if _is_narrow(a)]
    if not narrow:
        return
    branches = [ir.operations_of(b)[-1] for b in block.predecessors]
    for argument in narrow:
        _widen_argument(block, ir.BlockArgument(argument), branches)


def _is_narrow(value: ir.Value) -> bool:
    return isinstance(value.type, ir.IntegerType | ir.FloatType) and value.type.width < _WIDTH


def _to_wide(value: ir.Value, scalars: Scalars) -> ir.Value:
    """A narrow scalar's bits in an i64."""
    if isinstance(value.type, ir.FloatType):
        bits = scalars.integer_type(value.type.width)
        value = scalars.convert("bitcast", value, bits)
    return scalars.convert("extsi", value, scalars.integer_type(_WIDTH))


def _to_narrow(value: ir.Value, type_: ir.Type, scalars: Scalars) -> ir.Value:
    """The scalar whose bits ``_to_wide`` put into an i64."""
    if isinstance(type_, ir.FloatType):
        bits = scalars.convert("trunci", value, scalars.integer_type(type_.width))
        return scalars.convert("bitcast", bits, type_)
    return scalars.convert("trunci", value, type_)


def _widen_argument(
    block: ir.Block, argument: ir.BlockArgument, branches: list[ir.Operation]
) -> None:
    narrow = argument.type
    first = ir.operations_of(block)[0]
    inside = Scalars(ir.InsertionPoint(first), first.location)
    wide = inside.integer_type(_WIDTH)
    # Uses are moved first: the type of the argument changes under them.
    uses = [(use.owner.operation, use.operand_number) for use in argument.uses]
    argument.set_type(wide)
    back = _to_narrow(argument, narrow, inside)
    for owner, index in uses:
        owner.operands[index] = back
    for branch in branches:
        for index in forwarded_operand(branch, block, argument.arg_number):
            value = branch.operands[index]
            if value.type != wide:
                outside = Scalars(ir.InsertionPoint(branch), branch.location)
                branch.operands[index] = _to_wide(value, outside)
