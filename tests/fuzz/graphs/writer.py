"""Grows a random graph node by node, from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from .graph import Body, Compute, Environment, Graph, Node, Type, Value, run
from .numerics import (
    FP8,
    INTEGERS,
    Numbers,
    Unfit,
    dtype_of,
    exactly,
    finfo,
    is_float,
    rounded,
)

SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 33)
MOST_ELEMENTS = 1 << 14
# Larger numbers overflow in a product or two, f16 first.
LARGEST = {"f16": 2.0**11, "f8E4M3FN": 448.0, "f8E5M2": 2.0**12}
# A bound on the error that is as large as the numbers would find no fault.
LARGEST_ERROR = 2.0**-3


@dataclass(frozen=True)
class Profile:
    """What graphs are made of: ``steps`` name functions that add a node or a few."""

    dialect: str
    steps: Sequence[Callable[[Writer], None]]
    elements: Sequence[str]
    sizes: Sequence[int] = SIZES
    ranks: Sequence[int] = (1, 2, 2, 2, 3, 3, 4)  # of the first value
    nodes: tuple[int, int] = (2, 8)
    dynamic: float = 0.3  # how many graphs have sizes that they do not know
    exact: float = 0.6  # how many have numbers that are never rounded at first


class Writer:
    """The state of a graph while it grows. Steps add through ``add`` and take
    what they need from ``value``, ``make`` and ``rng``."""

    def __init__(self, name: str, seed: int, profile: Profile) -> None:
        self.rng = random.Random(f"{profile.dialect} {seed}")
        self.profile = profile
        self.exact = self.rng.random() < profile.exact
        self.dynamic = self.rng.random() < profile.dynamic
        self.element = self.rng.choice(profile.elements)
        self.env: Environment = {}
        self.pool: list[Value] = []  # what may be read where the next node stands
        self.depth = 0
        self._numbers = np.random.default_rng(seed)
        self._nodes: list[Node] = []
        self._arguments: list[Value] = []
        self._name = name

    def graph(self) -> Graph:
        rng = self.rng
        self.make(self.random_type())
        wanted = rng.randint(*self.profile.nodes)
        for _ in range(20 * wanted):
            if len(self._nodes) >= wanted:
                break
            self.step(self.profile.steps)
        if not self._nodes:
            raise Unfit
        made = [r for node in self._nodes for r in node.results if not r.type.scalar]
        read = {o for node in self._nodes for o in node.operands}
        results = [r for r in made if r not in read][-6:]
        others = [r for r in made if r in read]
        if others and rng.random() < 0.5:
            results.append(rng.choice(others))
        inputs = [self.env[a] for a in self._arguments]
        dialect = self.profile.dialect
        grown = Graph(self._name, dialect, self._arguments, inputs, self._nodes, results)
        return grown.cleaned()

    def step(self, steps: Sequence[Callable[[Writer], None]]) -> None:
        """Tries one; what it had added goes where it does not fit."""
        marks = len(self._nodes), len(self.pool), len(self._arguments)
        try:
            self.rng.choice(steps)(self)
        except Unfit:
            del self._nodes[marks[0] :], self.pool[marks[1] :], self._arguments[marks[2] :]

    def add(
        self,
        op: str,
        operands: Sequence[Value],
        types: Sequence[Type],
        template: Sequence[str],
        compute: Compute,
        bodies: Sequence[Body] = (),
    ) -> list[Value]:
        """Appends a node; Unfit where its numbers grow or blur too much."""
        results = [Value(t) for t in types]
        node = Node(op, [*operands], results, tuple(template), compute, [*bodies])
        self.evaluate(node)
        self._nodes.append(node)
        self.pool += results
        return results

    def evaluate(self, node: Node) -> None:
        run([node], self.env)
        for result in node.results:
            _check(self.env[result], result.type)

    @contextmanager
    def body(self, arguments: Sequence[Value], numbers: Sequence[Numbers]) -> Iterator[list[Node]]:
        """A block: what is added within goes to the list that this gives."""
        outer, pool, count = self._nodes, [*self.pool], len(self._arguments)
        self._nodes, self.depth = [], self.depth + 1
        self.env.update(zip(arguments, numbers, strict=True))
        self.pool += arguments
        try:
            yield self._nodes
        finally:
            # Arguments of the function made within may be read outside.
            self.pool = pool + self._arguments[count:]
            self._nodes, self.depth = outer, self.depth - 1

    # What steps ask for.

    def size(self) -> int:
        return self.rng.choice(self.profile.sizes)

    def random_type(self, rank: int | None = None, element: str | None = None) -> Type:
        rng = self.rng
        rank = rng.choice(self.profile.ranks) if rank is None else rank
        shape: tuple[int, ...] = ()
        for _ in range(rank):
            extent = self.size()
            shape += (extent if np.prod(shape) * extent <= MOST_ELEMENTS else 1,)
        return Type(shape, element or self.element, self.unknown(shape))

    def unknown(self, shape: Sequence[int]) -> tuple[bool, ...]:
        """Which sizes of a new tensor the program does not know."""
        return tuple(self.dynamic and self.rng.random() < 0.5 for _ in shape)

    def value(self, fits: Callable[[Type], bool] = lambda _: True) -> Value:
        """A recent one, mostly; Unfit if there is none."""
        found = [v for v in self.pool if not v.type.scalar and fits(v.type)]
        if not found:
            raise Unfit
        return self.rng.choice(found[-4:] if self.rng.random() < 0.7 else found)

    def shaped(self, shape: Sequence[int], element: str, new: float = 0.4) -> Value:
        """A value of this shape, one that there is or a new argument."""
        same = [
            v
            for v in self.pool
            if v.type.shape == tuple(shape) and v.type.element == element and not v.type.scalar
        ]
        if same and self.rng.random() > new:
            return self.rng.choice(same)
        return self.make(Type(tuple(shape), element, self.unknown(shape)))

    def make(self, type: Type, numbers: Numbers | None = None) -> Value:
        """A new argument of the function."""
        value = Value(type)
        self.env[value] = numbers if numbers is not None else self.numbers(type)
        self._arguments.append(value)
        self.pool.append(value)
        return value

    def numbers(self, type: Type) -> Numbers:
        """Small integers or their quarters, or anything of the format's."""
        random, dtype = self._numbers, dtype_of(type.element)
        if type.element == "i1":
            return exactly(random.random(type.shape) < 0.5)
        if type.element in INTEGERS:
            return exactly(random.integers(-9, 10, type.shape).astype(dtype))
        if self.exact:
            unit = float(self.rng.choice((1, 1, 0.5, 0.25)))
            values = unit * random.integers(-4, 5, type.shape)
        else:
            values = random.standard_normal(type.shape)
        return exactly(rounded(values, np.zeros(type.shape), type.element).data)

    def integers(self, shape: Sequence[int], low: int, high: int, element: str = "i32") -> Value:
        """A new argument of integers in [low, high)."""
        data = self._numbers.integers(low, high, tuple(shape)).astype(dtype_of(element))
        return self.make(Type(tuple(shape), element, self.unknown(shape)), exactly(data))


def _check(x: Numbers, type: Type) -> None:
    assert x.data.shape == type.shape, (x.data.shape, type)
    assert x.error.shape == type.shape, (x.error.shape, type)
    assert x.data.dtype == dtype_of(type.element), (x.data.dtype, type)
    if not is_float(type.element) or not x.data.size:
        return
    magnitude = np.abs(x.wide)
    if not np.isfinite(magnitude).all() or magnitude.max() > LARGEST.get(type.element, 2.0**20):
        raise Unfit
    largest = max(float(magnitude.max()), float(finfo(dtype_of(type.element)).smallest_normal))
    if type.element not in FP8 and x.error.max() > LARGEST_ERROR * largest:
        raise Unfit
