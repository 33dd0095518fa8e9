"""lower-loops: ``scf`` to ``cf``, but for loops that IREE gets wrong as blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ...dialects.functions import functions_of
from ...dialects.mlir import (
    BlockArgument,
    Operation,
    RankedTensorType,
    Value,
    blocks_of,
    defining_op,
    operations_of,
    walk,
)
from ...dialects.native_passes import run_native_pipeline
from ..base import Pass

_SAME_BUFFER = ("tensor.cast", "tensor.collapse_shape", "tensor.expand_shape")


@dataclass(frozen=True)
class LowerLoops(Pass):
    """Turns loops and branches into blocks, where IREE gets those right.

    In ``scf`` form IREE runs nothing in a loop at once, so blocks are wanted.
    But IREE 3.13 loses buffers in a branch that hands a block's tensors on to
    other places of it: their offsets and sizes (i64) change places with
    them, and its VM gets the two kinds of moves into each other's way. The
    program fails at run time (``indirect buffer reference slot 0 is out
    range``). A function with such a loop stays in ``scf`` form, unless it has
    an ``scf.index_switch``, which IREE does not take. ``jax.random`` rotates
    its keys in such a loop.
    """

    name: ClassVar[str] = "lower-loops"

    def run(self, module: Operation) -> None:
        for index in range(len(functions_of(module))):
            # Looked up again: the native pass ends the life of handles.
            function = functions_of(module)[index]
            ops = walk(function)
            switches = any(op.name == "scf.index_switch" for op in ops)
            if switches or not any(_moves_tensors(op) for op in ops):
                run_native_pipeline(function, "func.func(convert-scf-to-cf)")


def _moves_tensors(loop: Operation) -> bool:
    """Whether a tensor that the loop carries gets to another place of it."""
    if loop.name == "scf.for":
        handed_on = list(enumerate(_terminator(loop, 0).operands, 1))  # after the index
    elif loop.name == "scf.while":
        handed_on = [
            *enumerate(_terminator(loop, 1).operands),
            *enumerate(list(_terminator(loop, 0).operands)[1:]),  # after the condition
        ]
    else:
        return False
    return any(_is_from_elsewhere(value, place, loop) for place, value in handed_on)


def _terminator(loop: Operation, region: int) -> Operation:
    (block,) = loop.regions[region].blocks
    return operations_of(block)[-1]


def _is_from_elsewhere(value: Value, place: int, loop: Operation) -> bool:
    if not isinstance(value.type, RankedTensorType):
        return False
    op = defining_op(value)
    while op is not None and op.name in _SAME_BUFFER:
        value = op.operands[0]
        op = defining_op(value)
    if op is not None or not _belongs_to(value, loop):
        return False
    return BlockArgument(value).arg_number != place


def _belongs_to(argument: Value, loop: Operation) -> bool:
    blocks: Iterable[object] = blocks_of(loop)
    return any(block == BlockArgument(argument).owner for block in blocks)
