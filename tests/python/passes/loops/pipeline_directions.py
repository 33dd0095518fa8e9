"""Loops for tests of the pipeliner: their bounds, a body per direction, and what it computes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from headrace.compiler.iree.element_types import Array

DEVICES = 4
GROUPS = "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"


@dataclass(frozen=True)
class Loop:
    """``for i in range(start, upper, step)``; the upper bound may be an argument."""

    start: int
    step: int
    trips: int
    dynamic: bool

    @property
    def upper(self) -> int:
        # One short of a whole step, so that the count has to be rounded up.
        return self.start + self.trips * self.step - (self.step > 1 and self.trips > 0)

    @property
    def indices(self) -> range:
        return range(self.start, self.upper, self.step)

    def __str__(self) -> str:
        kind = "dynamic" if self.dynamic else "static"
        return f"{self.start}+{self.trips}x{self.step} {kind}"


GRID = [
    Loop(*point)
    for point in itertools.product((0, 1, 5), (1, 2, 3), (0, 1, 2, 3, 7), (False, True))
]

Expected = Callable[[Sequence[int], Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Direction:
    """A loop body that moves in one direction, and what it computes.

    The body has ``%i``, the carried ``%h`` and ``%out``, the stacked weights
    ``%w``; it defines ``%h2`` and ``%out2``. All types are fixed.
    """

    name: str
    body: str
    expected: Expected
    collectives: int  # per trip
    sink_below: int = 0
    index_type: str = "i32"
    # As a ``scf.while`` that counts down to the start.
    downwards: bool = False

    def indices(self, loop: Loop) -> Sequence[int]:
        return loop.indices[::-1] if self.downwards else loop.indices

    def bound(self, loop: Loop) -> int:
        """What a dynamic loop gets as an argument: where it ends, or begins."""
        if self.downwards:
            return loop.start + (loop.trips - 1) * loop.step
        return loop.upper


def _collective(name: str, attributes: str) -> str:
    return f'"headrace.{name}"(%x) {{{attributes}, {GROUPS}, pipelined = false}}'


SLICE = """
%s = tensor.extract_slice %w[%i, 0] [1, 8] [1, 1] : tensor<27x8xf32> to tensor<8xf32>"""
GATHER = (
    """
%x = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<27x8xf32> to tensor<2xf32>
%g = """
    + _collective("all_gather", "dim = 0 : i64")
    + """ : (tensor<2xf32>) -> tensor<8xf32>"""
)
REDUCE = (
    """
%x = arith.addf %s, %h : tensor<8xf32>
%g = """
    + _collective("all_reduce", 'reduction = "add"')
    + """ : (tensor<8xf32>) -> tensor<8xf32>"""
)
SCATTER = (
    """
%x = arith.addf %s, %h : tensor<8xf32>
%g = """
    + _collective("reduce_scatter", 'dim = 0 : i64, reduction = "add"')
    + """ : (tensor<8xf32>) -> tensor<2xf32>"""
)
STORE = """
%out2 = tensor.insert_slice %g into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<27x8xf32>"""
STORE_PART = """
%out2 = tensor.insert_slice %g into %out[%i, 2] [1, 2] [1, 1] : tensor<2xf32> into tensor<27x8xf32>"""
# %h2 = %h / 2 + (what the trip made of the weights)
ADVANCE = """
%half = arith.constant dense<0.5> : tensor<8xf32>
%scaled = arith.mulf %h, %half : tensor<8xf32>
%h2 = arith.addf %scaled, %{0} : tensor<8xf32>"""


def gathered(w: Array, i: int) -> Array:
    """What every device gets: the first two columns of all shards."""
    return np.tile(w[:, i, :2].reshape(1, 8), (DEVICES, 1))


def expect_backward(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        h = (h * np.float32(0.5) + gathered(w, i)).astype(np.float32)
        out[:, i] = h
    return h, out


def expect_reduced(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        out[:, i] = (w[:, i] + h).sum(axis=0, dtype=np.float32)
        h = (h * np.float32(0.5) + w[:, i]).astype(np.float32)
    return h, out


def expect_scattered(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        total = (w[:, i] + h).sum(axis=0, dtype=np.float32)
        out[:, i, 2:4] = total.reshape(DEVICES, 2)
        h = (h * np.float32(0.5) + w[:, i]).astype(np.float32)
    return h, out


def expect_accumulated(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        out[:, 0] += (w[:, i] + h).sum(axis=0, dtype=np.float32)
        h = (h * np.float32(0.5) + w[:, i]).astype(np.float32)
    return h, out


def expect_both(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        got = gathered(w, i)
        out[:, i] = (got + h).sum(axis=0, dtype=np.float32)
        h = (h * np.float32(0.5) + got).astype(np.float32)
    return h, out


STORE_H = STORE.replace("%g into", "%h2 into")
ACCUMULATE = """
%old = tensor.extract_slice %out[0, 0] [1, 8] [1, 1] : tensor<27x8xf32> to tensor<8xf32>
%sum = arith.addf %old, %g : tensor<8xf32>
%out2 = tensor.insert_slice %sum into %out[0, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<27x8xf32>"""
BOTH = (
    GATHER
    + """
%y = arith.addf %g, %h : tensor<8xf32>
%r = """
    + _collective("all_reduce", 'reduction = "add"').replace("%x", "%y")
    + """ : (tensor<8xf32>) -> tensor<8xf32>
%out2 = tensor.insert_slice %r into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<27x8xf32>"""
)


# Two gathers, one of them read in three places, a sum, and a scatter that a
# third gather follows; the sum and the gathered scatter meet before the store.
SEVERAL = (
    GATHER
    + """
%x2 = tensor.extract_slice %w[%i, 4] [1, 2] [1, 1] : tensor<27x8xf32> to tensor<2xf32>
%k = """
    + _collective("all_gather", "dim = 0 : i64").replace("%x", "%x2")
    + """ : (tensor<2xf32>) -> tensor<8xf32>
%y = arith.addf %g, %h : tensor<8xf32>
%r = """
    + _collective("all_reduce", 'reduction = "add"').replace("%x", "%y")
    + """ : (tensor<8xf32>) -> tensor<8xf32>
%z = arith.addf %k, %y : tensor<8xf32>
%p = """
    + _collective("reduce_scatter", 'dim = 0 : i64, reduction = "add"').replace("%x", "%z")
    + """ : (tensor<8xf32>) -> tensor<2xf32>
%q = """
    + _collective("all_gather", "dim = 0 : i64").replace("%x", "%p")
    + """ : (tensor<2xf32>) -> tensor<8xf32>
%t = arith.addf %r, %q : tensor<8xf32>
%u = arith.addf %t, %g : tensor<8xf32>
%out2 = tensor.insert_slice %u into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<27x8xf32>
%gk = arith.addf %g, %k : tensor<8xf32>"""
)

# An inner loop that gathers by its own index, with what the outer one gathered.
NESTED = (
    GATHER
    + """
%n0 = arith.constant 0 : index
%n1 = arith.constant 1 : index
%n3 = arith.constant 3 : index
%hin = scf.for %m = %n0 to %n3 step %n1 iter_args(%c = %h) -> tensor<8xf32> {
%x2 = tensor.extract_slice %w[%m, 4] [1, 2] [1, 1] : tensor<27x8xf32> to tensor<2xf32>
%k = """
    + _collective("all_gather", "dim = 0 : i64").replace("%x", "%x2")
    + """ : (tensor<2xf32>) -> tensor<8xf32>
%c1 = arith.addf %c, %k : tensor<8xf32>
%c2 = arith.addf %c1, %g : tensor<8xf32>
scf.yield %c2 : tensor<8xf32>
}
%r = """
    + _collective("all_reduce", 'reduction = "add"').replace("%x", "%hin")
    + """ : (tensor<8xf32>) -> tensor<8xf32>
%out2 = tensor.insert_slice %r into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<27x8xf32>"""
)


def gathered_second(w: Array, i: int) -> Array:
    return np.tile(w[:, i, 4:6].reshape(1, 8), (DEVICES, 1))


def expect_several(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        g, k = gathered(w, i), gathered_second(w, i)
        out[:, i] = (g + h).sum(axis=0) + (k + g + h).sum(axis=0) + g
        h = h * np.float32(0.5) + g + k
    return h, out


def expect_nested(indices: Sequence[int], h: Array, w: Array) -> tuple[Array, Array]:
    out = np.zeros_like(w)
    for i in indices:
        inner = h + sum(gathered_second(w, m) + gathered(w, i) for m in range(3))
        out[:, i] = inner.sum(axis=0)
        h = h * np.float32(0.5) + inner
    return h, out


DIRECTIONS = [
    Direction("backward", GATHER + ADVANCE.format("g") + STORE_H, expect_backward, 1),
    Direction("forward", SLICE + REDUCE + STORE + ADVANCE.format("s"), expect_reduced, 1),
    Direction("scatter", SLICE + SCATTER + STORE_PART + ADVANCE.format("s"), expect_scattered, 1),
    Direction(
        "accumulate", SLICE + REDUCE + ACCUMULATE + ADVANCE.format("s"), expect_accumulated, 1
    ),
    Direction("sink", SLICE + REDUCE + STORE + ADVANCE.format("s"), expect_reduced, 1, 1 << 20),
    Direction(
        "sink-accumulate",
        SLICE + REDUCE + ACCUMULATE + ADVANCE.format("s"),
        expect_accumulated,
        1,
        1 << 20,
    ),
    Direction("both", BOTH + ADVANCE.format("g"), expect_both, 2, index_type="i64"),
    Direction("several", SEVERAL + ADVANCE.format("gk"), expect_several, 5, index_type="index"),
    Direction("nested", NESTED + ADVANCE.format("hin"), expect_nested, 5),
    Direction(
        "downwards", BOTH + ADVANCE.format("g"), expect_both, 2, index_type="i64", downwards=True
    ),
]
