"""Brings loops into the one form that the pipeliner knows."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ..base import Pass
from ..rewriting import apply_patterns
from .counted.loop_counters import CounterToIndex
from .counted.scalar_tensors import SCALAR_PATTERNS
from .counted.while_to_for import WhileToFor


@dataclass(frozen=True)
class NormalizeLoops(Pass):
    """Counted loops become `scf.for`, counters functions of the index.

    `scf.while` with LE, GE, GT, NE, EQ or unsigned compares or with negative
    steps becomes `scf.for` from 0 by 1. A carried integer that only counts is
    computed from the index. Integer arithmetic on rank-0 tensors that ends in
    `tensor.extract` is done on scalars. A loop that stays `scf.while` leaves a
    remark with the reason.
    """

    name = "normalize-loops"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, SCALAR_PATTERNS)
        apply_patterns(module, [WhileToFor()])
        apply_patterns(module, [CounterToIndex()])
        # Counters are scalars now, so more of what depends on them can be.
        apply_patterns(module, SCALAR_PATTERNS)
