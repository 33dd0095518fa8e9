"""How far rounding alone may move the results of a program.

The model is the usual one of rounding noise (Widrow and Kollar, Quantization
Noise, 2008): each rounding to a type adds an error that is uniform in one
spacing of its numbers, so of variance spacing^2 / 12, and independent errors
add up in their variances. It is a measure, not a proof: a program may amplify
what it is given, and two programs that compare rounded numbers may go two ways.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..iree.element_types import Array, TensorType, finfo, largest_magnitude

# Of the noise of a result, how many standard deviations count as rounding.
DEVIATIONS = 4.0
# More than this is never rounding: half of the largest number is lost.
MOST = 0.5
# f32 and f64 are accumulators: one step stands for a sum of so many terms,
# whose order is free, for functions that are right to some units, and for
# what cancels. The default tolerance of these types is the same.
WIDE_SPACINGS = 64.0
WIDE_TERMS = int(WIDE_SPACINGS**2)

_FORMAT = re.compile(r"f\d+E\d+M(\d+)")
_MANTISSAS = {"bf16": 7, "f16": 10, "tf32": 10, "f32": 23, "f64": 52, "f80": 63, "f128": 112}


def spacing(type_: str) -> float:
    """The distance of neighbouring numbers of an MLIR type, relative to their size.

    64 such distances for the wide types. For an integer of n bits that holds
    rounded numbers, one unit relative to those of ordinary size, which lie two
    bits below the largest. Zero for types of powers of two: as scales, they
    cancel out.
    """
    if integer := re.fullmatch(r"[su]?i(\d+)", type_):
        return 2.0 ** (3 - int(integer[1]))
    mantissa = mantissa_bits(type_)
    if mantissa == 0:
        return 0.0
    return (WIDE_SPACINGS if is_wide(type_) else 1.0) * 2.0**-mantissa


def mantissa_bits(type_: str) -> int:
    """Of an MLIR float type; as f32's for one that is unknown."""
    found = _FORMAT.match(type_)
    return int(found[1]) if found else _MANTISSAS.get(type_, _MANTISSAS["f32"])


def is_wide(type_: str) -> bool:
    """Whether sums are accumulated in that float type."""
    return mantissa_bits(type_) > _MANTISSAS["f16"]


@dataclass(frozen=True)
class Roundings:
    """What a value went through on the way from the arguments to it.

    ``counts`` says for each MLIR element type, in order of names, how often
    values were rounded to it, along that path whose noise is largest.
    """

    counts: tuple[tuple[str, float], ...] = ()

    @property
    def variance(self) -> float:
        """Of the error, relative to the numbers' own size."""
        return sum(count * spacing(type_) ** 2 / 12 for type_, count in self.counts)

    def then(self, type_: str, count: float = 1.0) -> Roundings:
        """The same, rounded to ``type_`` so many times more."""
        counts = dict(self.counts)
        counts[type_] = counts.get(type_, 0.0) + count
        return Roundings(tuple(sorted(counts.items())))

    def repeated(self, before: Roundings, times: float) -> Roundings:
        """What comes of adding ``times`` more of what was added since ``before``."""
        found = self
        start = dict(before.counts)
        for type_, count in self.counts:
            found = found.then(type_, times * max(0.0, count - start.get(type_, 0.0)))
        return found

    def bound(self, type_: TensorType, expected: Array) -> float:
        """The largest error, as ``relative_error`` has it, that rounding explains.

        Never less than the default tolerance of the result's type. An integer
        is rounded only where a float on the way to it was made an integer;
        then it may be off by one. Where ``expected`` is zero all over, no
        size is known that an error could be small beside.
        """
        element = type_.element
        is_integer = element.dtype.kind in "biu"
        if element.dtype.kind == "b" or (is_integer and not self.counts):
            return 0.0
        tolerance, largest = element.tolerance, largest_magnitude(expected)
        unit = 1.0 if is_integer else float(finfo(element.dtype).smallest_subnormal)
        if largest == 0.0:
            return max(tolerance, unit)
        spread = DEVIATIONS * math.sqrt(self.variance)
        return max(tolerance, min(MOST, tolerance + spread)) + unit / largest

    def __str__(self) -> str:
        """``12 roundings to f8E4M3FN and 30 to bf16``, coarsest first."""
        order = sorted(self.counts, key=lambda entry: -spacing(entry[0]))
        named = [(t, math.ceil(count)) for t, count in order if spacing(t)]
        if not named:
            return "no rounding"
        first, *others = [f"{count} to {t}" for t, count in named]
        head, _, tail = first.partition(" ")
        words = [f"{head} rounding{'s' if head != '1' else ''} {tail}", *others]
        return ", ".join(words[:-1]) + " and " + words[-1] if others else words[0]


EXACT = Roundings()


def worst(several: Sequence[Roundings]) -> Roundings:
    """The noisiest; the first of equal ones."""
    return max(several, key=lambda r: r.variance, default=EXACT)
