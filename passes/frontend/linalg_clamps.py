"""Recognises clamps of linalg and arith programs."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.mlir import IntegerAttr, Operation
from ..rewriting import Miss
from .linalg_terms import Term, maker, number_of

_LIMITS = {"arith.maximumf": False, "arith.minimumf": True}
_DROP_NAN = ("arith.maxnumf", "arith.minnumf")
# arith.cmpf's predicates for less and greater, ordered and unordered, with
# and without equality.
_GREATER, _LESS = (2, 3, 9, 10), (4, 5, 11, 12)


@dataclass(frozen=True)
class LinalgClamp:
    """``min(max(input, low), high)``."""

    input: Term
    low: float
    high: float


@dataclass(frozen=True)
class _Limit:
    input: Term
    bound: float
    is_upper: bool


def find_clamp(term: Term) -> LinalgClamp | Miss | None:
    """The clamp that makes ``term``, None if there is none.

    Takes maximumf and minimumf, and select of a compare as torch-mlir writes
    ``torch.clamp``: its compares put a NaN at a bound, where PyTorch keeps
    it; so do we. A Miss says why what looks like a clamp is none.
    """
    outer = _limit(term)
    if not isinstance(outer, _Limit):
        return outer
    inner = _limit(outer.input)
    if isinstance(inner, Miss):
        return inner
    if inner is not None and inner.is_upper != outer.is_upper:
        low, high = (inner.bound, outer.bound)[:: 1 if outer.is_upper else -1]
        return LinalgClamp(inner.input, low, high)
    if outer.bound == 0 and not outer.is_upper:
        return None  # a relu, which nobody means as saturation
    kind = "an upper" if outer.is_upper else "a lower"
    return Miss(f"the value has only {kind} bound ({outer.bound:g})")


def _limit(term: Term) -> _Limit | Miss | None:
    made = maker(term)
    if made is None:
        return None
    op, operands = made
    if op.name in _DROP_NAN:
        return Miss(f"'{op.name}' turns NaN into a number, arith.maximumf and minimumf keep it")
    if op.name in _LIMITS:
        for bound, other in (operands, operands[::-1]):
            if (number := number_of(bound)) is not None:
                return _Limit(other, number, _LIMITS[op.name])
        return None
    return _selected(op, operands) if op.name == "arith.select" else None


def _selected(op: Operation, operands: tuple[Term, ...]) -> _Limit | None:
    """``x < c ? c : x`` and its other spellings."""
    condition, true, false = operands
    compared = maker(condition)
    if compared is None or compared[0].name != "arith.cmpf":
        return None
    predicate = IntegerAttr(compared[0].attributes["predicate"]).value
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
        return _Limit(x, number, above)
    if x == true and number_of(false) == number:
        return _Limit(x, number, not above)
    return None
