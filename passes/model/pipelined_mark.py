"""The mark on collectives that the pipeliner has moved."""

from __future__ import annotations

from collections.abc import Iterable

from ...dialects.headrace import CollectiveOp
from ...dialects.mlir import BoolAttr, Operation

PIPELINE_REASON = "headrace.pipeline_reason"


def is_collective(op: Operation) -> bool:
    return isinstance(op.opview, CollectiveOp)


def collective_view(op: Operation) -> CollectiveOp:
    """The typed view of a collective; AssertionError for any other op."""
    view = op.opview
    assert isinstance(view, CollectiveOp), op.name
    return view


def mark_pipelined(ops: Iterable[Operation]) -> None:
    """Sets ``pipelined`` on the collectives among freshly cloned ops."""
    for op in ops:
        if is_collective(op):
            with op.context:
                op.attributes["pipelined"] = BoolAttr.get(True)
            if PIPELINE_REASON in op.attributes:
                del op.attributes[PIPELINE_REASON]
