"""Clamps, and whether they are an fp8 type's saturation."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.fp8 import Fp8Format
from ....dialects.ops.constraints import is_per_tensor, shape_of
from ....dialects.upstream.stablehlo import constant_elements
from ...analysis.linalg_terms import Term
from ...rewriting import Miss
from .steps import number_everywhere, step_of

_NOT_CONSTANT = "a bound of the clamp is not a constant"


@dataclass(frozen=True)
class Clamp:
    """``min(max(input, low), high)``; NaN stays NaN."""

    input: Term
    low: float
    high: float


@dataclass(frozen=True)
class _Limit:
    """One maximum or minimum with a number."""

    input: Term
    bound: float
    is_upper: bool


def find_clamp(term: Term) -> Clamp | Miss | None:
    """The clamp that makes ``term``, None if there is none.

    One op, or a maximum and a minimum in either nesting and operand order. A
    Miss says why what looks like a clamp is not one with two constant bounds.
    """
    step = step_of(term)
    if step is not None and step.kind == "clamp":
        lower, source, upper = step.operands
        low, high = number_everywhere(lower), number_everywhere(upper)
        if low is None or high is None:
            return Miss(_bound_reason(lower if low is None else upper) or _NOT_CONSTANT)
        return Clamp(source, low, high)
    outer = _limit(term)
    if not isinstance(outer, _Limit):
        return outer
    inner = _limit(outer.input)
    if isinstance(inner, Miss):
        return inner
    if inner is not None and inner.is_upper != outer.is_upper:
        low, high = (inner.bound, outer.bound)[:: 1 if outer.is_upper else -1]
        return Clamp(inner.input, low, high)
    if outer.bound == 0 and not outer.is_upper:
        return None  # a relu, which nobody means as saturation
    kind = "an upper" if outer.is_upper else "a lower"
    return Miss(f"the value has only {kind} bound ({outer.bound:g})")


def _limit(term: Term) -> _Limit | Miss | None:
    step = step_of(term)
    if step is not None and step.kind in ("maximum_number", "minimum_number"):
        name = step.op.name
        return Miss(f"'{name}' turns NaN into a number, arith.maximumf and minimumf keep it")
    if step is None or step.kind not in ("maximum", "minimum"):
        return None
    for bound, other in (step.operands, step.operands[::-1]):
        if (number := number_everywhere(bound)) is not None:
            return _Limit(other, number, step.kind == "minimum")
    # Without a reason it is one of two ordinary tensors.
    reasons = map(_bound_reason, step.operands)
    return next((Miss(reason) for reason in reasons if reason), None)


def _bound_reason(bound: Term) -> str | None:
    """Why what looks like a bound is no number."""
    if constant_elements(bound.value) is not None:
        return "a bound of the clamp is not the same for all elements"
    op = ir.defining_op(bound.value)
    if op is None or not op.name.endswith("broadcast_in_dim"):
        return None
    source = op.operands[0]
    is_scalar = isinstance(source.type, ir.RankedTensorType) and is_per_tensor(shape_of(source))
    return _NOT_CONSTANT if is_scalar else None


def bounds_miss(clamp: Clamp, format_: Fp8Format) -> Miss | None:
    """Why a clamp is not the saturation of the type; None if it is."""
    if (clamp.low, clamp.high) == (-format_.max, format_.max):
        return None
    return Miss(
        f"the value is clamped to [{clamp.low:g}, {clamp.high:g}], "
        f"{format_.name} needs [{-format_.max:g}, {format_.max:g}]"
    )
