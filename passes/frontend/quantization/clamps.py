"""Clamps of one maximum and one minimum, and whether they are an fp8 type's saturation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ....dialects.fp8 import Fp8Format
from ...rewriting import Miss

V = TypeVar("V")
"""What stands for a value: a tensor, or an element of one."""


@dataclass(frozen=True)
class Clamp(Generic[V]):
    """``min(max(input, low), high)``; NaN stays NaN."""

    input: V
    low: float
    high: float


@dataclass(frozen=True)
class Limit(Generic[V]):
    """One maximum or minimum with a number."""

    input: V
    bound: float
    is_upper: bool


def nested_clamp(
    value: V, limit_of: Callable[[V], Limit[V] | Miss | None]
) -> Clamp[V] | Miss | None:
    """The clamp that a maximum and a minimum in either nesting make, None if
    there is none. A Miss says why what looks like a clamp is none.
    """
    outer = limit_of(value)
    if not isinstance(outer, Limit):
        return outer
    inner = limit_of(outer.input)
    if isinstance(inner, Miss):
        return inner
    if inner is not None and inner.is_upper != outer.is_upper:
        low, high = (inner.bound, outer.bound)[:: 1 if outer.is_upper else -1]
        return Clamp(inner.input, low, high)
    if outer.bound == 0 and not outer.is_upper:
        return None  # a relu, which nobody means as saturation
    kind = "an upper" if outer.is_upper else "a lower"
    return Miss(f"the value has only {kind} bound ({outer.bound:g})")


def bounds_miss(clamp: Clamp[V], format_: Fp8Format) -> Miss | None:
    """Why a clamp is not the saturation of the type; None if it is."""
    if (clamp.low, clamp.high) == (-format_.max, format_.max):
        return None
    return Miss(
        f"the value is clamped to [{clamp.low:g}, {clamp.high:g}], "
        f"{format_.name} needs [{-format_.max:g}, {format_.max:g}]"
    )
