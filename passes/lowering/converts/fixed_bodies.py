"""Ops of linalg whose bodies no pass may rewrite."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.upstream.contraction import contraction_loops, scaled_contraction_loops
from ....dialects.upstream.generic import GENERIC

_FREE_BODIES = ("linalg.map", "linalg.reduce")


def is_in_fixed_body(op: ir.Operation) -> bool:
    """Whether ``op`` is of a contraction, or of a linalg op whose name says what its body is."""
    parent = op.parent
    if parent is None:
        return False
    around = parent.operation
    if not around.name.startswith("linalg.") or around.name in _FREE_BODIES:
        return False
    if around.name != GENERIC:
        return True
    return contraction_loops(around) is not None or scaled_contraction_loops(around) is not None
