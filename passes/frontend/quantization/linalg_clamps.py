"""Recognises clamps of linalg and arith programs."""

from __future__ import annotations

from ....dialects import ir
from ...analysis.linalg_terms import Term, maker, number_of
from ...rewriting import Miss
from .clamps import Clamp, Limit, nested_clamp

_LIMITS = {"arith.maximumf": False, "arith.minimumf": True}
_DROP_NAN = ("arith.maxnumf", "arith.minnumf")
# arith.cmpf's predicates for less and greater, ordered and unordered, with
# and without equality.
_GREATER, _LESS = (2, 3, 9, 10), (4, 5, 11, 12)


def find_clamp(term: Term) -> Clamp[Term] | Miss | None:
    """The clamp that makes ``term``, None if there is none.

    Takes maximumf and minimumf, and select of a compare as torch-mlir writes
    ``torch.clamp``: its compares put a NaN at a bound, where PyTorch keeps
    it; so do we. A Miss says why what looks like a clamp is none.
    """
    return nested_clamp(term, _limit)


def _limit(term: Term) -> Limit[Term] | Miss | None:
    made = maker(term)
    if made is None:
        return None
    op, operands = made
    if op.name in _DROP_NAN:
        return Miss(f"'{op.name}' turns NaN into a number, arith.maximumf and minimumf keep it")
    if op.name in _LIMITS:
        for bound, other in (operands, operands[::-1]):
            if (number := number_of(bound)) is not None:
                return Limit(other, number, _LIMITS[op.name])
        return None
    return _selected(op, operands) if op.name == "arith.select" else None


def _selected(op: ir.Operation, operands: tuple[Term, ...]) -> Limit[Term] | None:
    """``x < c ? c : x`` and its other spellings."""
    condition, true, false = operands
    compared = maker(condition)
    if compared is None or compared[0].name != "arith.cmpf":
        return None
    predicate = ir.IntegerAttr(compared[0].attributes["predicate"]).value
    if predicate not in (*_GREATER, *_LESS):
        return None
    left, right = compared[1]
    # As x compared with c.
    swap = number_of(left) is not None
    x, bound = (right, left) if swap else (left, right)
    number = number_of(bound)
    if number is None:
        return None
    above = (predicate in _GREATER) != swap
    if x == false and number_of(true) == number:
        return Limit(x, number, above)
    if x == true and number_of(false) == number:
        return Limit(x, number, not above)
    return None
