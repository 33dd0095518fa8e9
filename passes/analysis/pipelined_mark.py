"""The marks that the pipeliner leaves on collectives and on copies of matmuls."""

from __future__ import annotations

from collections.abc import Iterable

from ...dialects import ir
from ...dialects.headrace import is_collective
from .contractions import may_be_product

PIPELINE_REASON = "headrace.pipeline_reason"

# On a copy whose original is in a pipelined loop: a matmul, which the report
# counts once, and the loop that runs where there are too few iterations.
PEELED = "headrace.peeled"


def is_pipelined(op: ir.Operation) -> bool:
    """Whether the pipeliner has moved that collective."""
    return ir.BoolAttr(op.attributes["pipelined"]).value


def give_reason(op: ir.Operation, reason: str) -> None:
    """Says why a collective is not pipelined. The first reason stays."""
    if PIPELINE_REASON not in op.attributes:
        with op.context:
            op.attributes[PIPELINE_REASON] = ir.StringAttr.get(reason)


def forget_reason(op: ir.Operation) -> None:
    """Before a collective is tried anew."""
    if PIPELINE_REASON in op.attributes:
        del op.attributes[PIPELINE_REASON]


def mark_pipelined(ops: Iterable[ir.Operation]) -> None:
    """Sets ``pipelined`` on the collectives among copies of ops, nested ones included."""
    for op in _within(ops):
        if is_collective(op):
            with op.context:
                op.attributes["pipelined"] = ir.BoolAttr.get(True)
            forget_reason(op)


def mark_peeled(ops: Iterable[ir.Operation]) -> None:
    """Marks the matmuls among copies of ops that a loop still holds, nested ones included.

    Each ``linalg.generic`` gets the mark: whether it is fused depends on it.
    """
    for op in _within(ops):
        if may_be_product(op):
            with op.context:
                op.attributes[PEELED] = ir.UnitAttr.get()


def give_reasons(ops: Iterable[ir.Operation], reason: str) -> None:
    """Gives a reason to those collectives, nested ones included, that are not
    pipelined and have none."""
    for op in _within(ops):
        if is_collective(op) and not is_pipelined(op):
            give_reason(op, reason)


def _within(ops: Iterable[ir.Operation]) -> list[ir.Operation]:
    return [inner for op in ops for inner in ir.walk(op)]
