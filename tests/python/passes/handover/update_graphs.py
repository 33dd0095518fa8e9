"""Small programs that update tensors in place, and what they give in numpy.

A graph is a list of ops on tensors of one element type. Every op is exact in
every type, so that what a program gives is compared bit by bit. No value is
zero in a float type: the maximum of two zeros has no certain sign.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from headrace.compiler.iree.element_types import Array

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
}
SIZE = 16

# Where a slice starts in each dimension: a number, or one added to the function's
# argument (or, in a loop, to the trip's number). Clamped, as StableHLO has it.
Start = tuple["int | Moving", ...]


@dataclass(frozen=True)
class Moving:
    """``by`` more than a number that is known at run time only."""

    by: int


@dataclass(frozen=True)
class Op:
    kind: str
    operands: tuple[int, ...]
    shape: tuple[int, ...]
    start: Start = ()
    dim: int = 0
    body: Graph | None = None
    result: int = 0  # the number of the loop's result


@dataclass
class Graph:
    """Values are numbers: the arguments first, then each op's result."""

    element: str
    arguments: tuple[tuple[int, ...], ...] = ((SIZE, SIZE), (SIZE, SIZE))
    ops: list[Op] = field(default_factory=list[Op])
    results: list[int] = field(default_factory=list[int])

    def shape(self, value: int) -> tuple[int, ...]:
        count = len(self.arguments)
        return self.arguments[value] if value < count else self.ops[value - count].shape

    def _add(self, op: Op) -> int:
        self.ops.append(op)
        return len(self.arguments) + len(self.ops) - 1

    def negate(self, a: int) -> int:
        return self._add(Op("negate", (a,), self.shape(a)))

    def maximum(self, a: int, b: int) -> int:
        return self._add(Op("maximum", (a, b), self.shape(a)))

    def reverse(self, a: int, dim: int = 0) -> int:
        return self._add(Op("reverse", (a,), self.shape(a), dim=dim))

    def transpose(self, a: int) -> int:
        return self._add(Op("transpose", (a,), self.shape(a)[::-1]))

    def row_maximum(self, a: int) -> int:
        """Each row's largest element in all its places."""
        return self._add(Op("row_maximum", (a,), self.shape(a)))

    def reshape(self, a: int, *shape: int) -> int:
        return self._add(Op("reshape", (a,), shape))

    def pad(self, a: int) -> int:
        """A row of ones before and one after."""
        rows, columns = self.shape(a)
        return self._add(Op("pad", (a,), (rows + 2, columns)))

    def join(self, *parts: int) -> int:
        shapes = [self.shape(p) for p in parts]
        return self._add(Op("join", parts, (sum(s[0] for s in shapes), *shapes[0][1:])))

    def window(self, a: int, start: Start, *shape: int) -> int:
        return self._add(Op("window", (a,), shape, start))

    def update(self, target: int, by: int, start: Start) -> int:
        return self._add(Op("update", (target, by), self.shape(target), start))

    def scatter(self, target: int, rows: int) -> int:
        """Puts ``rows`` at every other row of ``target``, the last one first."""
        return self._add(Op("scatter", (target, rows), self.shape(target)))

    def gather(self, a: int, row: int) -> int:
        """As many rows as ``a`` has of all devices' together, from ``row`` on."""
        return self._add(Op("gather", (a,), self.shape(a), (row, 0)))

    def loop(
        self, carried: Sequence[int], body: Callable[[Graph, list[int]], list[int]]
    ) -> list[int]:
        """``TRIPS`` rounds; Moving in the body is the number of the round."""
        inner = Graph(self.element, tuple(self.shape(v) for v in carried))
        inner.results = body(inner, list(range(len(carried))))
        return [
            self._add(Op("loop", tuple(carried), self.shape(v), body=inner, result=i))
            for i, v in enumerate(carried)
        ]


TRIPS = 3


def evaluate(graph: Graph, arguments: Sequence[Array], moving: int) -> list[Array]:
    """What the graph gives, as numpy computes it."""
    return [values[0] for values in evaluate_on([[a] for a in arguments], graph, moving)]


def evaluate_on(
    arguments: Sequence[Sequence[Array]], graph: Graph, moving: int
) -> list[list[Array]]:
    """The same on several devices: a list with each device's for every value."""
    values = [list(each) for each in arguments]
    for op in graph.ops:
        inputs = [values[v] for v in op.operands]
        if op.kind == "loop":
            assert op.body is not None
            for trip in range(TRIPS):
                inputs = evaluate_on(inputs, op.body, trip)
            values.append(inputs[op.result])
        elif op.kind == "gather":
            whole = np.concatenate(inputs[0])
            rows = whole[_slices(op.start, op.shape, whole.shape, 0)]
            values.append([rows] * len(inputs[0]))
        else:
            each_device = zip(*inputs, strict=True)
            values.append([_evaluate(op, list(each), moving) for each in each_device])
    return [values[v] for v in graph.results]


def _evaluate(op: Op, inputs: list[Array], moving: int) -> Array:
    a = inputs[0]
    match op.kind:
        case "negate":
            return -a
        case "maximum":
            return np.maximum(a, inputs[1])
        case "reverse":
            return np.flip(a, op.dim)
        case "transpose":
            return a.T
        case "row_maximum":
            return np.broadcast_to(a.max(axis=-1, keepdims=True), a.shape)
        case "reshape":
            return a.reshape(op.shape)
        case "pad":
            return np.pad(a, ((1, 1), (0, 0)), constant_values=a.dtype.type(1))
        case "join":
            return np.concatenate(inputs)
        case "window":
            return a[_slices(op.start, op.shape, a.shape, moving)]
        case "update":
            found = a.copy()
            found[_slices(op.start, inputs[1].shape, a.shape, moving)] = inputs[1]
            return found
        case _:
            found = a.copy()
            found[scattered_rows(len(inputs[1]))] = inputs[1]
            return found


def scattered_rows(count: int) -> list[int]:
    """Where a scatter puts its rows."""
    return [2 * row for row in reversed(range(count))]


def _slices(
    start: Start, shape: Sequence[int], of: Sequence[int], moving: int
) -> tuple[slice, ...]:
    found: list[slice] = []
    for offset, size, whole in zip(start, shape, of, strict=True):
        first = offset.by + moving if isinstance(offset, Moving) else offset
        first = min(max(first, 0), whole - size)
        found.append(slice(first, first + size))
    return tuple(found)


def arguments(element: str, count: int = 2, seed: int = 0) -> list[Array]:
    """Square tensors of small numbers, none of them zero."""
    numbers = np.random.default_rng(seed)
    shape = (count, SIZE, SIZE)
    values = numbers.integers(1, 8, shape) * numbers.choice([-1, 1], shape)
    return [v.astype(np.float32).astype(DTYPES[element]) for v in values]


def random_graph(seed: int, element: str, devices: int = 1) -> Graph:
    """A random graph in which most values are updates of others; on several devices
    with gathers between."""
    choose = random.Random(seed)
    gathers = devices - 1
    graph = Graph(element)
    pool = [graph.negate(0), graph.maximum(0, 1)]
    for _ in range(choose.randint(3, 8)):
        pool.append(_random_value(graph, pool, choose, gathers))
    if choose.random() < 0.3:
        carried = choose.sample(pool, 2)

        def body(inner: Graph, values: list[int]) -> list[int]:
            for _ in range(choose.randint(1, 3)):
                values.append(_random_value(inner, values, choose, gathers))
            return values[-2:]

        pool += graph.loop(carried, body)
        pool.append(_random_value(graph, pool, choose, gathers))
    others = choose.sample(pool[:-1], choose.randint(0, 2))
    graph.results = [pool[-1], *others]
    return graph


def _random_value(graph: Graph, pool: list[int], choose: random.Random, gathers: int) -> int:
    a, b = choose.choice(pool), choose.choice(pool)
    kind = choose.choice(
        ["update"] * 6 + ["negate", "maximum", "reverse", "row_maximum"] + ["gather"] * gathers
    )
    if kind == "gather":
        return graph.gather(a, choose.randint(0, SIZE * gathers))
    if kind == "negate":
        return graph.negate(a)
    if kind == "maximum":
        return graph.maximum(a, b)
    if kind == "reverse":
        return graph.reverse(a, choose.randint(0, 1))
    if kind == "row_maximum":
        return graph.row_maximum(a)
    return graph.update(
        a, _random_part(graph, choose.choice([a, b]), choose), _random_start(choose)
    )


def _random_start(choose: random.Random) -> Start:
    first = choose.randint(0, SIZE - 8)  # no part has more than eight rows
    return (Moving(first) if choose.random() < 0.4 else first, choose.choice([0, 0, 0, 2]))


def _random_part(graph: Graph, source: int, choose: random.Random) -> int:
    """Some rows, or a window, of a value, changed in some way."""
    rows, columns = choose.randint(1, 8), choose.choice([SIZE, SIZE, SIZE, 8])
    shape = (rows, columns)
    start = _random_start(choose)
    if columns == SIZE:
        start = (start[0], 0)
    kind = choose.choice(["plain", "negate", "reverse", "row_maximum", "whole", "scaled"])
    if kind == "whole":
        return graph.window(graph.row_maximum(source), start, *shape)
    part = graph.window(source, start, *shape)
    if kind == "negate":
        return graph.negate(part)
    if kind == "reverse":
        return graph.negate(graph.reverse(part))
    if kind == "row_maximum":
        return graph.row_maximum(part)
    if kind == "scaled":
        return graph.maximum(graph.negate(part), graph.window(source, (1, 0), *shape))
    return part


def random_parts(seed: int, element: str) -> Graph:
    """A tensor of which parts that lie beside each other are written and read, again and again."""
    choose = random.Random(seed)
    graph = Graph(element)
    rows = 4
    y = graph.join(*(graph.window(0, (rows * i, 0), rows, SIZE) for i in (1, 0, 3, 2)))
    if choose.random() < 0.7:
        y = graph.negate(0)
    reads: list[int] = []
    for _ in range(choose.randint(3, 8)):
        place = (choose.randrange(0, SIZE - rows + 1, choose.choice([rows, rows, 2])), 0)
        kind = choose.choice(["update", "update", "computed", "own", "read"])
        source = graph.window(
            y if kind == "own" else 1, (choose.randrange(SIZE - rows), 0), rows, SIZE
        )
        if kind == "read":
            reads.append(graph.window(y, place, rows, SIZE))
        else:
            y = graph.update(y, source if kind == "update" else graph.negate(source), place)
    graph.results = [y, *reads[:3]]
    return graph
