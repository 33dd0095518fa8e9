"""Which values come from data that is on a device."""

from __future__ import annotations

from collections.abc import Iterable

from ....dialects import ir
from ....dialects.op_traits import SCF_CONTROL


def placed_values(function: ir.Operation) -> set[ir.Value]:
    """The values of a function that IREE can tell the device of.

    Those are the arguments, what loops and branches yield (the caller says
    where), and all that is computed from them; not constants and fills. The
    set is for membership only.
    """
    placed: set[ir.Value] = set(function.regions[0].blocks[0].arguments)
    for op in ir.walk(function):
        if op.name in SCF_CONTROL:
            placed.update(op.results)
            for block in ir.blocks_of(op):
                placed.update(block.arguments)
        elif _any_placed(op.operands, placed):
            placed.update(op.results)
            for around in ir.ancestors(op):
                if around.name.startswith(("scf.", "func.")):
                    break
                placed.update(around.results)
    return placed


def _any_placed(values: Iterable[ir.Value], placed: set[ir.Value]) -> bool:
    return any(value in placed for value in values)
