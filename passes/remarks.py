"""Remarks: what a pass did not do, and why, at a place in the IR."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ..dialects.ir.bindings import Diagnostic, Location, Operation, OpView, source_position

_collector: ContextVar[list[Diagnostic] | None] = ContextVar("remarks", default=None)


def remark(place: Operation | OpView | Location, message: str) -> None:
    """Leaves a remark; heard only inside ``collect_remarks``."""
    collector = _collector.get()
    if collector is not None:
        location = place if isinstance(place, Location) else place.location
        collector.append(Diagnostic("remark", message, *source_position(location)))


@contextmanager
def collect_remarks() -> Generator[list[Diagnostic]]:
    """All remarks left in the block, in order."""
    found: list[Diagnostic] = []
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)
