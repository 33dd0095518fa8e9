"""Data movement: ops that copy elements without looking at them.

Such an op commutes with quantize and dequantize, so it can be done on the fp8
value instead of the wide one. There is one interface with two sets of ops:

    movement = movement_of(op)            # StableHLO, linalg, tensor
    if not isinstance(movement, Movement): ...   # why not, or None: it moves no data at all
    movement.sources                      # the values whose elements it copies
    movement.scale_after([64, 1])         # shape of a per-axis scale behind it
    new = movement.clone([narrow], ip)    # the op on values of another type
    scale = movement.carry_scale(scale, ip)

Which op may move with which scale: DESIGN.md's legality rules. A value that
is filled in (padding, the other branch of a select) must be the literal +0,
since any other number would have to be divided by the scale; -0 is refused
too, for f8E4M3FNUZ and f8E5M2FNUZ have none. (0 times an infinite or NaN
scale is NaN: with such a scale the padding is NaN after the move, next to
data that are all NaN or infinite before it.)
"""

from __future__ import annotations

from ....dialects import ir
from ...rewriting import Miss
from . import linalg as data_movement_linalg, stablehlo as data_movement_stablehlo
from .interface import Movement, Recognizer, is_positive_zero

__all__ = ["Movement", "is_positive_zero", "movement_of"]

_RECOGNIZERS: dict[str, Recognizer] = {
    **data_movement_stablehlo.RECOGNIZERS,
    **data_movement_linalg.RECOGNIZERS,
}


def movement_of(op: ir.Operation) -> Movement | Miss | None:
    """The data movement that ``op`` is, or why it is none; None for something
    else altogether."""
    recognizer = _RECOGNIZERS.get(op.name)
    return None if recognizer is None else recognizer(op)
