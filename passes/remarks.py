"""Remarks: what a pass did not do, and why, at a place in the IR."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ..dialects import ir

_collector: ContextVar[list[ir.Diagnostic] | None] = ContextVar("remarks", default=None)


def remark(place: ir.Operation | ir.OpView | ir.Location, message: str) -> None:
    """Leaves a remark; heard only inside ``collect_remarks``."""
    collector = _collector.get()
    if collector is not None:
        location = place if isinstance(place, ir.Location) else place.location
        collector.append(ir.Diagnostic("remark", message, *ir.source_position(location)))


@contextmanager
def collect_remarks() -> Generator[list[ir.Diagnostic]]:
    """All remarks left in the block, in order."""
    found: list[ir.Diagnostic] = []
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)
