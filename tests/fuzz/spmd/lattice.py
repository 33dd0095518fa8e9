"""Which values a tensor can hold, as far as exact arithmetic needs to know.

A lattice says that all elements are multiples of ``step`` (a power of two) of
magnitude ``bound`` at most. An operation whose result's lattice fits the
significand of its type gives the same bits in every order of evaluation, with
or without fused multiply-adds, so that its results are compared bit for bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Bits of the significand, largest finite value, smallest subnormal.
FLOATS: dict[str, tuple[int, float, float]] = {
    "float32": (24, 3.4e38, 2.0**-126),
    "bfloat16": (8, 3.38e38, 2.0**-126),
    "float16": (11, 65504.0, 2.0**-24),
    "float8_e4m3fn": (4, 448.0, 2.0**-9),
    "float8_e5m2": (3, 57344.0, 2.0**-16),
    "float8_e4m3fnuz": (4, 240.0, 2.0**-10),
    "float8_e5m2fnuz": (3, 57344.0, 2.0**-17),
}
INTEGERS: dict[str, float] = {
    "int32": 2.0**31,
    "int8": 128.0,
    "uint8": 255.0,
    "uint32": 2.0**32,
    "int16": 2.0**15,
    "bool": 1.0,
}


def is_float(dtype: str) -> bool:
    return dtype in FLOATS


def is_fp8(dtype: str) -> bool:
    return dtype.startswith("float8")


@dataclass(frozen=True)
class Lattice:
    """Multiples of ``step``, at most ``bound`` in magnitude."""

    bound: float
    step: float = 1.0

    def fits(self, dtype: str) -> bool:
        """Every such value is one of the type's, and so is every sum on the way."""
        if dtype not in FLOATS:
            return True
        bits, largest, smallest = FLOATS[dtype]
        return self.bound <= min(largest, self.step * 2.0**bits) and self.step >= smallest

    def within(self, other: Lattice) -> bool:
        return self.bound <= other.bound and self.step >= other.step

    def __or__(self, other: Lattice) -> Lattice:
        return Lattice(max(self.bound, other.bound), min(self.step, other.step))

    def __add__(self, other: Lattice) -> Lattice:
        return Lattice(self.bound + other.bound, min(self.step, other.step))

    def __mul__(self, other: Lattice) -> Lattice:
        return Lattice(self.bound * other.bound, self.step * other.step)

    def times(self, count: float) -> Lattice:
        """The sum of ``count`` of them."""
        return Lattice(self.bound * max(count, 1), self.step)

    def rounded(self) -> Lattice:
        return Lattice(math.ceil(self.bound), max(self.step, 1.0))


BITS = Lattice(1.0)


def of_type(dtype: str) -> Lattice | None:
    """What a type says of itself: integers only."""
    return Lattice(INTEGERS[dtype]) if dtype in INTEGERS else None


def join(*lattices: Lattice | None) -> Lattice | None:
    """What holds of values of any of these."""
    found = lattices[0]
    for other in lattices[1:]:
        found = None if found is None or other is None else found | other
    return found
