"""Clones ops with other operands, nested regions included."""

from __future__ import annotations

from collections.abc import Iterable

from .bindings import InsertionPoint, Operation, Value, walk

ValueMap = dict[Value, Value]


def clone_op(op: Operation, values: ValueMap, ip: InsertionPoint) -> Operation:
    """Clones ``op``, reading ``values[v]`` instead of ``v``, also inside it.

    Adds the op's results to ``values``. A value that is not in there is read
    as it is.
    """
    clone = op.clone(ip=ip).operation
    for inner in walk(clone):
        for index, operand in enumerate(inner.operands):
            if operand in values:
                inner.operands[index] = values[operand]
    for old, new in zip(op.results, clone.results, strict=True):
        values[old] = new
    return clone


def clone_ops(ops: Iterable[Operation], values: ValueMap, ip: InsertionPoint) -> list[Operation]:
    """Clones ops in order; each may use the results of those before it."""
    return [clone_op(op, values, ip) for op in ops]
