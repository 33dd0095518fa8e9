"""The ops around a collective, in its block: how far it may move."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key

from ....dialects import ir
from ....dialects.headrace import MOVING_COLLECTIVES
from .parts import MOST_OPS, operand_dims


def reached(op: ir.Operation) -> list[ir.Operation]:
    """Ops of the block that the collective's result goes through, in program order."""
    found: dict[ir.Operation, None] = {}
    pending = [op.results[0]]
    for value in pending:
        for use in value.uses:
            user = use.owner.operation
            if user in found or user.block != op.block or len(found) == MOST_OPS:
                continue
            if operand_dims(user, use.operand_number) is not None:
                found[user] = None
                pending.append(user.results[0])
    return sorted(found, key=_PROGRAM_ORDER)


def neighbours(op: ir.Operation) -> list[ir.Operation]:
    """Collectives of the block that the collective's operand is computed of, and those
    that send what is computed of its result: they may move further once it has."""
    found: dict[ir.Operation, None] = {}
    back = [op]
    for reader in back:
        producers = map(ir.defining_op, reader.operands)
        for producer in (m for m in producers if m is not None and m.block == op.block):
            if producer.name in MOVING_COLLECTIVES:
                found[producer] = None
            elif len(back) < MOST_OPS and producer not in back:
                back.append(producer)
    for producer in (op, *reached(op)):
        users = (use.owner.operation for use in producer.results[0].uses)
        found |= {user: None for user in users if user.name in MOVING_COLLECTIVES}
    return list(found)


def last_first(op: ir.Operation, values: Iterable[ir.Value]) -> list[ir.Operation]:
    """What makes these values in the block of ``op``, but for itself; users before producers."""
    producers = {made for value in values if (made := ir.defining_op(value)) is not None}
    own = (producer for producer in producers if producer != op and producer.block == op.block)
    return sorted(own, key=_PROGRAM_ORDER, reverse=True)


def _compare(a: ir.Operation, b: ir.Operation) -> int:
    return -1 if a.is_before_in_block(b) else int(a != b)


_PROGRAM_ORDER = cmp_to_key(_compare)
