"""Small programs that update tensors in place, as StableHLO and in numpy.

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
from headrace.compiler.element_types import Array

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
    values = list(arguments)
    for op in graph.ops:
        values.append(_evaluate(op, [values[v] for v in op.operands], moving))
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
        case "scatter":
            found = a.copy()
            found[_rows(len(inputs[1]))] = inputs[1]
            return found
        case _:
            assert op.body is not None
            for trip in range(TRIPS):
                inputs = evaluate(op.body, inputs, trip)
            return inputs[op.result]


def _rows(count: int) -> list[int]:
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


def text_of(graphs: dict[str, Graph]) -> str:
    """A module with one function for each graph: its arguments, then Moving's number."""
    return "\n".join(_function(name, graph) for name, graph in graphs.items())


def _type(shape: Sequence[int], element: str) -> str:
    return f"tensor<{'x'.join(str(n) for n in (*shape, element))}>"


def _function(name: str, graph: Graph) -> str:
    arguments = [f"%v{i}: {_type(s, graph.element)}" for i, s in enumerate(graph.arguments)]
    types = [_type(graph.shape(v), graph.element) for v in graph.results]
    lines = _Writer(graph, "%moving", "").lines()
    returned = ", ".join(f"%v{v}" for v in graph.results)
    return "\n".join(
        [
            f"func.func @{name}({', '.join(arguments)}, %moving: tensor<i32>)"
            f" -> ({', '.join(types)}) {{",
            *lines,
            f"return {returned} : {', '.join(types)}",
            "}",
        ]
    )


@dataclass
class _Writer:
    """Writes the ops of a graph. ``prefix`` keeps names of nested loops apart."""

    graph: Graph
    moving: str
    prefix: str
    found: list[str] = field(default_factory=list[str])
    count: int = 0

    def lines(self) -> list[str]:
        for number, op in enumerate(self.graph.ops):
            self._op(op, len(self.graph.arguments) + number)
        return self.found

    def _name(self, value: int) -> str:
        return f"%{self.prefix}v{value}"

    def _new(self) -> str:
        self.count += 1
        return f"%{self.prefix}t{self.count}"

    def _value(self, text: str) -> str:
        name = self._new()
        self.found.append(f"{name} = {text}")
        return name

    def _op(self, op: Op, number: int) -> None:
        element = self.graph.element
        types = [_type(self.graph.shape(v), element) for v in op.operands]
        names = [self._name(v) for v in op.operands]
        result = _type(op.shape, element)
        if op.kind == "loop":
            self._loop(op, number, names, types)
            return
        if element.startswith("f8") and op.kind in ("negate", "maximum", "row_maximum"):
            wide = [_type(self.graph.shape(v), "f32") for v in op.operands]
            names = [
                self._value(f"stablehlo.convert {n} : ({t}) -> {w}")
                for n, t, w in zip(names, types, wide, strict=True)
            ]
            made = self._value(self._text(op, names, wide, _type(op.shape, "f32"), "f32"))
            text = f"stablehlo.convert {made} : ({_type(op.shape, 'f32')}) -> {result}"
        else:
            text = self._text(op, names, types, result, element)
        self.found.append(f"{self._name(number)} = {text}")

    def _text(self, op: Op, names: list[str], types: list[str], result: str, element: str) -> str:
        arguments, signature = ", ".join(names), f"({', '.join(types)}) -> {result}"
        match op.kind:
            case "negate" | "maximum":
                return f"stablehlo.{op.kind} {arguments} : {result}"
            case "reverse":
                return f"stablehlo.reverse {arguments}, dims = [{op.dim}] : {result}"
            case "transpose":
                return f"stablehlo.transpose {arguments}, dims = [1, 0] : {signature}"
            case "row_maximum":
                return self._row_maximum(op, names[0], types[0], result, element)
            case "reshape":
                return f"stablehlo.reshape {arguments} : {signature}"
            case "pad":
                number = "1" if element == "i8" else "1.0"
                one = self._value(f"stablehlo.constant dense<{number}> : tensor<{element}>")
                return (
                    f"stablehlo.pad {arguments}, {one}, low = [1, 0], high = [1, 0], "
                    f"interior = [0, 0] : ({types[0]}, tensor<{element}>) -> {result}"
                )
            case "join":
                return f"stablehlo.concatenate {arguments}, dim = 0 : {signature}"
            case "window":
                return self._window(op, names[0], types[0], result)
            case "update":
                starts = self._starts(op.start)
                kinds = ", ".join([*types, *["tensor<i32>"] * len(starts)])
                return (
                    f"stablehlo.dynamic_update_slice {', '.join([*names, *starts])} : "
                    f"({kinds}) -> {result}"
                )
            case _:
                return self._scatter(op, names, types, result)

    def _row_maximum(self, op: Op, name: str, type_: str, result: str, element: str) -> str:
        least = "-127" if element == "i8" else "-4.0e+01"
        low = self._value(f"stablehlo.constant dense<{least}> : tensor<{element}>")
        rank = len(op.shape)
        reduced = _type(op.shape[:-1], element)
        row = self._value(
            f"stablehlo.reduce({name} init: {low}) applies stablehlo.maximum across dimensions = "
            f"[{rank - 1}] : ({type_}, tensor<{element}>) -> {reduced}"
        )
        dims = ", ".join(str(d) for d in range(rank - 1))
        return f"stablehlo.broadcast_in_dim {row}, dims = [{dims}] : ({reduced}) -> {result}"

    def _window(self, op: Op, name: str, type_: str, result: str) -> str:
        if any(isinstance(s, Moving) for s in op.start):
            starts = self._starts(op.start)
            kinds = ", ".join([type_, *["tensor<i32>"] * len(starts)])
            sizes = ", ".join(str(n) for n in op.shape)
            return (
                f"stablehlo.dynamic_slice {', '.join([name, *starts])}, sizes = [{sizes}] : "
                f"({kinds}) -> {result}"
            )
        fixed = [s for s in op.start if isinstance(s, int)]
        parts = [f"{s}:{s + n}" for s, n in zip(fixed, op.shape, strict=True)]
        return f"stablehlo.slice {name} [{', '.join(parts)}] : ({type_}) -> {result}"

    def _starts(self, start: Start) -> list[str]:
        found: list[str] = []
        for offset in start:
            by = offset.by if isinstance(offset, Moving) else offset
            name = self._value(f"stablehlo.constant dense<{by}> : tensor<i32>")
            if isinstance(offset, Moving):
                name = self._value(f"stablehlo.add {name}, {self.moving} : tensor<i32>")
            found.append(name)
        return found

    def _scatter(self, op: Op, names: list[str], types: list[str], result: str) -> str:
        rows = self.graph.shape(op.operands[1])[0]
        where = "[" + ", ".join(f"[{row}]" for row in _rows(rows)) + "]"
        index = self._value(f"stablehlo.constant dense<{where}> : tensor<{rows}x1xi32>")
        scalar = f"tensor<{self.graph.element}>"
        return (
            f'"stablehlo.scatter"({names[0]}, {index}, {names[1]}) <{{scatter_dimension_numbers = '
            "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
            "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, "
            f"unique_indices = true}}> ({{\n^bb0(%old: {scalar}, %new: {scalar}):\n"
            f"stablehlo.return %new : {scalar}\n}}) : "
            f"({types[0]}, tensor<{rows}x1xi32>, {types[1]}) -> {result}"
        )

    def _loop(self, op: Op, number: int, names: list[str], types: list[str]) -> None:
        if op.result:  # written with the first result
            return
        assert op.body is not None
        prefix = f"{self.prefix}l{number}_"
        counter = self._value("stablehlo.constant dense<0> : tensor<i32>")
        inside = [f"%{prefix}v{i}" for i in range(len(names))]
        pairs = ", ".join(f"{i} = {n}" for i, n in zip(inside, names, strict=True))
        made = f"%{prefix}r"
        one, limit = f"%{prefix}one", f"%{prefix}limit"
        self.found += [
            f"{one} = stablehlo.constant dense<1> : tensor<i32>",
            f"{limit} = stablehlo.constant dense<{TRIPS}> : tensor<i32>",
            f"{made}:{len(names) + 1} = stablehlo.while(%{prefix}k = {counter}, {pairs}) : "
            f"{', '.join(['tensor<i32>', *types])}",
            "cond {",
            f"%{prefix}c = stablehlo.compare LT, %{prefix}k, {limit}, SIGNED : "
            "(tensor<i32>, tensor<i32>) -> tensor<i1>",
            f"stablehlo.return %{prefix}c : tensor<i1>",
            "} do {",
            *_Writer(op.body, f"%{prefix}k", prefix).lines(),
            f"%{prefix}n = stablehlo.add %{prefix}k, {one} : tensor<i32>",
            "stablehlo.return "
            + ", ".join([f"%{prefix}n", *(f"%{prefix}v{v}" for v in op.body.results)])
            + f" : {', '.join(['tensor<i32>', *types])}",
            "}",
        ]
        # The results of one loop follow each other: no op makes them.
        for index in range(len(names)):
            self.found.append(
                f"{self._name(number + index)} = stablehlo.reshape {made}#{index + 1} : "
                f"({types[index]}) -> {types[index]}"
            )


def arguments(element: str, count: int = 2, seed: int = 0) -> list[Array]:
    """Square tensors of small numbers, none of them zero."""
    numbers = np.random.default_rng(seed)
    shape = (count, SIZE, SIZE)
    values = numbers.integers(1, 8, shape) * numbers.choice([-1, 1], shape)
    return [v.astype(np.float32).astype(DTYPES[element]) for v in values]


def random_graph(seed: int, element: str) -> Graph:
    """A random graph in which most values are updates of others."""
    choose = random.Random(seed)
    graph = Graph(element)
    pool = [graph.negate(0), graph.maximum(0, 1)]
    for _ in range(choose.randint(3, 8)):
        pool.append(_random_value(graph, pool, choose))
    if choose.random() < 0.3:
        carried = choose.sample(pool, 2)

        def body(inner: Graph, values: list[int]) -> list[int]:
            for _ in range(choose.randint(1, 3)):
                values.append(_random_value(inner, values, choose))
            return values[-2:]

        pool += graph.loop(carried, body)
        pool.append(_random_value(graph, pool, choose))
    others = choose.sample(pool[:-1], choose.randint(0, 2))
    graph.results = [pool[-1], *others]
    return graph


def _random_value(graph: Graph, pool: list[int], choose: random.Random) -> int:
    a, b = choose.choice(pool), choose.choice(pool)
    kind = choose.choice(["update"] * 6 + ["negate", "maximum", "reverse", "row_maximum"])
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
