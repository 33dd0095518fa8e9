"""Elementwise arithmetic, step by step: of StableHLO, and of linalg and arith.

What is computed is an element of a tensor, or a scalar in the body of a generic
(``linalg_terms``); StableHLO's ops compute each element of the same place.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.ops.constraints import is_wide_float
from ....dialects.upstream.linalg import tensor_type
from ...analysis.linalg_terms import Term, number_of, producer
from . import linalg_scales, stablehlo_scales
from .stablehlo_constants import uniform_value

Scale = stablehlo_scales.Scale | linalg_scales.LinalgScale

MODES = {
    "stablehlo.multiply": "multiply",
    "stablehlo.divide": "divide",
    "arith.mulf": "multiply",
    "arith.divf": "divide",
}
_KINDS = {
    **MODES,
    "stablehlo.clamp": "clamp",
    "stablehlo.maximum": "maximum",
    "stablehlo.minimum": "minimum",
    "arith.maximumf": "maximum",
    "arith.minimumf": "minimum",
    "arith.maxnumf": "maximum_number",
    "arith.minnumf": "minimum_number",
}
# arith.cmpf's predicates for less and greater, ordered and unordered, with
# and without equality.
_GREATER, _LESS = (2, 3, 9, 10), (4, 5, 11, 12)


@dataclass(frozen=True)
class Step:
    """One op, and what it computes from: ``kind`` is a value of the table above, or empty."""

    op: ir.Operation
    kind: str
    operands: tuple[Term, ...]


def element_at(tensor: ir.Value) -> Term:
    """The element of a tensor at the place of the result's."""
    return Term(tensor, tuple(range(tensor_type(tensor).rank)))


def step_of(term: Term) -> Step | None:
    """What computes ``term``; None where that is no elementwise op.

    Takes select of a compare, as torch-mlir writes ``torch.clamp``, for a
    maximum or minimum: its compares put a NaN at a bound, where PyTorch keeps
    it; so do we.
    """
    op = ir.defining_op(term.value)
    if op is not None and op.name.startswith("stablehlo."):
        made = op, tuple(Term(v, term.place) for v in op.operands)
    elif (made := producer(term)) is None:
        return None
    op, operands = made
    limit = _selected(op, operands) if op.name == "arith.select" else None
    return limit or Step(op, _KINDS.get(op.name, ""), operands)


def _selected(op: ir.Operation, operands: tuple[Term, ...]) -> Step | None:
    """``x < c ? c : x`` and its other spellings."""
    condition, true, false = operands
    compared = producer(condition)
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
        return Step(op, "minimum" if above else "maximum", (bound, x))
    if x == true and number_of(false) == number:
        return Step(op, "maximum" if above else "minimum", (bound, x))
    return None


def number_everywhere(term: Term) -> float | None:
    """The one number that a term is at all places, if it is known."""
    number = number_of(term)
    return uniform_value(term.value) if number is None else number


def scale_of(factor: Term, user: ir.Operation, shape: list[int]) -> Scale | None:
    """What ``user`` scales data of ``shape`` with, if it repeats itself over them."""
    if user.name.startswith("stablehlo."):
        return stablehlo_scales.find_scale(factor.value)
    return linalg_scales.find_scale(factor, shape)


def is_wide(type_: ir.Type) -> bool:
    """Whether it is bf16, f16, f32 or f64, or a plain tensor of one."""
    if isinstance(type_, ir.RankedTensorType):
        return type_.encoding is None and is_wide_float(type_.element_type)
    return is_wide_float(type_)
