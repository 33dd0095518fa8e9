"""Numbers that a program must give, and how far a right result may be off.

Every value of a generated program is a ``Numbers``: what numpy computes, and
for each element a bound on the error of a right implementation. The bound is
zero where every number on the way is representable: small integers, powers
of two. Then results must be equal. Elsewhere it follows the arithmetic: each
operation hands on the errors of its operands, and adds the spacing of its
format, once, if its result had to be rounded. It allows what compilers may
do: fuse a multiply and an add, keep a value wider, sum in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from headrace.compiler.iree.element_types import Array, finfo, parse_tensor_type

FLOATS = ("f32", "bf16", "f16", "f64")
FP8 = ("f8E4M3FN", "f8E5M2")
INTEGERS = ("i8", "i16", "i32", "i64")

# Of what IREE's own expansions of exp, tanh, erf and so on promise, in units
# of f32's spacing: its widest is erf's, by a few.
FUNCTION_UNITS = 32


class Unfit(Exception):
    """The operation has no single right result on these numbers; choose another one."""


@dataclass(frozen=True)
class Numbers:
    """``data`` in its own type; ``error``: f64, of the same shape, absolute."""

    data: Array
    error: Array

    @property
    def wide(self) -> Array:
        """The values as f64."""
        return self.data.astype(np.float64)

    @property
    def exact(self) -> bool:
        return not self.error.any()

    def map(self, move: Callable[[Array], Array]) -> Numbers:
        """Of an operation that only moves elements."""
        data, error = (np.array(move(v), order="C") for v in (self.data, self.error))
        return Numbers(data, error)


def dtype_of(element: str) -> np.dtype[Any]:
    """numpy's type; ``index`` is held as i64."""
    return parse_tensor_type(f"tensor<{'i64' if element == 'index' else element}>").element.dtype


def is_float(element: str) -> bool:
    return element in FLOATS or element in FP8


def exactly(data: Array) -> Numbers:
    return Numbers(data, np.zeros(data.shape))


def spacing(magnitude: Array, element: str) -> Array:
    """Distance of neighbours in the format at these magnitudes."""
    info = finfo(dtype_of(element))
    exponent = np.frexp(np.maximum(magnitude, float(info.smallest_normal)))[1] - 1
    return np.ldexp(1.0, exponent - int(info.nmant))


def rounded(exact: Array, error: Array, element: str) -> Numbers:
    """Values computed in f64, as a float format holds them.

    Unfit where one is out of the format's range, or may be.
    """
    exact, error = np.broadcast_arrays(np.asarray(exact, np.float64), error)
    magnitude = np.abs(exact) + error
    if not np.all(np.isfinite(magnitude)) or np.any(
        magnitude > float(finfo(dtype_of(element)).max)
    ):
        raise Unfit
    data = exact.astype(dtype_of(element))
    inexact = (data.astype(np.float64) != exact) | (error > 0)
    unit = spacing(magnitude, element)
    if element in ("f32", "bf16", "f16"):
        # Numbers below the normal ones may become zero; those of f16 do on CPUs
        # without instructions for it.
        smallest = float(finfo(dtype_of(element)).smallest_normal)
        inexact |= (magnitude < smallest) & (magnitude > 0)
        unit = np.where(magnitude < smallest, smallest, unit)
    return Numbers(data, error + np.where(inexact, unit, 0.0))


def function(
    f: Callable[[Array], Array], x: Numbers, element: str, *, least: float = 0.0
) -> Numbers:
    """A monotone function that IREE expands; ``least``: near zero its error is
    that of a result of this size."""
    with np.errstate(all="ignore"):
        value = f(x.wide)
        moved = np.maximum(np.abs(f(x.wide + x.error) - value), np.abs(f(x.wide - x.error) - value))
        # At the edge of its domain the bound ends where the domain does.
        moved = np.where(np.isfinite(moved), moved, np.inf if x.error.any() else 0.0)
    unit = FUNCTION_UNITS * spacing(np.maximum(np.abs(value), least), "f32")
    found = rounded(value, moved + unit, element)
    return found


def ordered(difference: Array, error: Array) -> None:
    """Unfit where the sign of a difference is within its error."""
    if np.any((error > 0) & (np.abs(difference) <= error)):
        raise Unfit


def granularity(x: Numbers) -> int | None:
    """The largest power of two that divides all values, as exponent; None if inexact."""
    values = np.abs(x.wide[x.wide != 0])
    if not x.exact:
        return None
    if not values.size:
        return 0
    mantissa, exponent = np.frexp(values)
    digits = (mantissa * 2.0**53).astype(np.int64)
    low = np.log2((digits & -digits).astype(np.float64)).astype(np.int64)
    return int((low + exponent - 53).min())


def sums(
    terms: Sequence[Numbers],
    add_up: Callable[..., Array],
    length: int,
    accumulator: str,
    start: Numbers | None = None,
) -> Numbers:
    """A sum of products: ``add_up`` of one array per factor, linear in each.

    ``length``: terms per sum; ``start``: what they are added to. Float sums are exact where every partial sum is
    representable in ``accumulator`` in any order; integer ones always.
    """
    if accumulator in INTEGERS:
        with np.errstate(all="ignore"):
            total = add_up(*(t.data.astype(np.int64) for t in terms))
            total = total if start is None else total + start.data
        return exactly(total.astype(dtype_of(accumulator)))
    wide, sizes = [t.wide for t in terms], [np.abs(t.wide) for t in terms]
    total, size = add_up(*wide), add_up(*sizes)
    error = np.zeros_like(total)
    for index, term in enumerate(terms):
        if not term.exact:
            upper = [s + t.error for s, t in zip(sizes, terms, strict=True)]
            error = error + add_up(*upper[:index], term.error, *upper[index + 1 :])
    exponents = [granularity(t) for t in terms]
    exponent = None if None in exponents else sum(e for e in exponents if e is not None)
    if start is not None:
        own = granularity(start)
        exponent = None if own is None or exponent is None else min(own, exponent)
        total, size, error = total + start.wide, size + np.abs(start.wide), error + start.error
        length += 1
    if exponent is not None:
        unit = 2.0**exponent
        if size.size == 0 or size.max() <= unit * 2.0 ** (finfo(dtype_of(accumulator)).nmant + 1):
            return rounded(total, error, accumulator)
    error = error + length * spacing(size + error, accumulator)
    return rounded(total, error, accumulator)


def converted(x: Numbers, source: str, element: str) -> Numbers:
    """``x`` in another type: floats rounded to nearest even, floats to
    integers truncated (Unfit out of range), integers cut off or extended."""
    dtype = dtype_of(element)
    if source == "i1" and not is_float(element):
        return exactly(x.data.astype(dtype))
    if is_float(element):
        return rounded(x.wide, x.error, element)
    if not is_float(source):
        return exactly(x.data.astype(dtype))
    whole = np.trunc(x.wide)
    # The next integer must be farther than the error, on either side.
    near = np.minimum(np.abs(x.wide - np.floor(x.wide)), np.abs(np.ceil(x.wide) - x.wide))
    if np.any((x.error > 0) & (near <= x.error)):
        raise Unfit
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    if not np.all((whole >= low) & (whole <= high)):
        raise Unfit
    return exactly(whole.astype(dtype))


def wrong_elements(found: Array, expected: Numbers) -> Array:
    """Which elements are off by more than they may be; NaN must meet NaN."""
    if found.shape != expected.data.shape or found.dtype != expected.data.dtype:
        return np.ones(expected.data.shape or (1,), bool)
    if found.dtype.kind in "biu":
        return found != expected.data
    a, b = found.astype(np.float64), expected.wide
    with np.errstate(invalid="ignore"):
        good = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= expected.error)
    return ~good
