"""Where to pack an operand that loops do not change."""

from __future__ import annotations

from ....dialects import ir


def before_loops(op: ir.Operation, value: ir.Value) -> ir.Operation:
    """The op before which ``value`` can be packed for ``op``: itself, or the
    outermost loop around it that ``value`` comes from outside of.

    Not a conditional: it would be packed where nobody asks for it.
    """
    place = op
    while ir.block_of(value) != place.block:
        parent = place.parent
        if parent is None or parent.operation.name != "scf.for":
            break
        place = parent.operation
    return place
