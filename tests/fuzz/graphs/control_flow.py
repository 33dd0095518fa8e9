"""Steps that put a small graph into a loop or a branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .graph import INDEX, Body, Type, Value
from .numerics import Numbers, Unfit, exactly
from .writer import Writer

Steps = Sequence[Callable[[Writer], None]]
Call = Callable[..., list[Numbers]]


class ControlFlow:
    """``steps``: what bodies are made of."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    def loop(self, writer: Writer) -> None:
        """``scf.for`` that carries one or two values; the trip count is constant or read."""
        rng = writer.rng
        if writer.depth > 1:
            raise Unfit
        carried = [writer.value() for _ in range(rng.choice((1, 1, 2)))]
        trips, step, low = rng.choice((0, 1, 2, 3, 4)), rng.choice((1, 1, 2)), rng.choice((0, 0, 1))
        high = low + trips * step - rng.randrange(step) if trips else low
        count = exactly(np.array(high, np.int64))
        bound = [writer.make(Type((), "i64"), count)] if rng.random() < 0.4 else []
        counter = Value(INDEX)
        arguments = [counter, *(Value(c.type) for c in carried)]
        start = [exactly(np.array(low, np.int64)), *(writer.env[c] for c in carried)]
        body = self._body(writer, arguments, start, [c.type for c in carried], arguments[1:])
        lines = [f"%~low = arith.constant {low} : index", f"%~step = arith.constant {step} : index"]
        if bound:
            place = f"%${len(carried)}"
            lines += [
                f"%~n = tensor.extract {place}[] : tensor<i64>",
                "%~high = arith.index_cast %~n : i64 to index",
            ]
        else:
            lines.append(f"%~high = arith.constant {high} : index")
        starts = ", ".join(f"%^0.{i + 1} = %${i}" for i in range(len(carried)))
        types = ", ".join(str(c.type) for c in carried)
        lines += [
            f"%={_many(carried)} = scf.for %^0.0 = %~low to %~high step %~step "
            f"iter_args({starts}) -> ({types}) {{",
            "<<0>>",
            f"  scf.yield {_yielded(0, len(carried))} : {types}",
            "}",
        ]

        def compute(call: Call, *values: Numbers) -> list[Numbers]:
            state = [*values[: len(carried)]]
            end = int(values[-1].data) if bound else high
            if bound and end - low > 8:
                raise Unfit
            for index in range(low, end, step):
                state = call(exactly(np.array(index, np.int64)), *state)
            return state

        writer.add("scf.for", [*carried, *bound], [c.type for c in carried], lines, compute, [body])

    def repeat(self, writer: Writer) -> None:
        """``scf.while`` that counts down what an argument says."""
        rng = writer.rng
        if writer.depth > 1:
            raise Unfit
        carried = writer.value()
        count = writer.make(Type((), "i32"), exactly(np.array(rng.randrange(4), np.int32)))
        left = Value(Type((), "i32", scalar=True))
        inner = Value(carried.type)
        start = [writer.env[count], writer.env[carried]]
        body = self._body(writer, [left, inner], start, [carried.type], [inner])
        lines = [
            "%~n = tensor.extract %$1[] : tensor<i32>",
            "%~zero = arith.constant 0 : i32",
            "%~one = arith.constant 1 : i32",
            f"%~w:2 = scf.while (%~l = %~n, %~c = %$0) : (i32, {carried.type}) -> (i32, {carried.type}) {{",
            "  %~t = arith.cmpi sgt, %~l, %~zero : i32",
            f"  scf.condition(%~t) %~l, %~c : i32, {carried.type}",
            "} do {",
            f"^bb0(%^0.0: i32, %^0.1: {carried.type}):",
            "<<0>>",
            "  %~m = arith.subi %^0.0, %~one : i32",
            f"  scf.yield %~m, %!0.0 : i32, {carried.type}",
            "}",
            f"%= = tensor.cast %~w#1 : {carried.type} to {carried.type}",
        ]

        def compute(call: Call, value: Numbers, times: Numbers) -> list[Numbers]:
            if int(times.data) > 8:
                raise Unfit
            for n in range(int(times.data), 0, -1):
                (value,) = call(exactly(np.array(n, np.int32)), value)
            return [value]

        writer.add("scf.while", [carried, count], [carried.type], lines, compute, [body])

    def branch(self, writer: Writer) -> None:
        """``scf.if`` on an element of a tensor."""
        if writer.depth > 1:
            raise Unfit
        condition = writer.shaped((), "i1", new=0.6)
        result = writer.value().type
        sides = [self._body(writer, [], [], [result], []) for _ in range(2)]
        lines = [
            "%~c = tensor.extract %$0[] : tensor<i1>",
            f"%= = scf.if %~c -> ({result}) {{",
            "<<0>>",
            f"  scf.yield %!0.0 : {result}",
            "} else {",
            "<<1>>",
            f"  scf.yield %!1.0 : {result}",
            "}",
        ]

        def compute(yes: Call, no: Call, choice: Numbers) -> list[Numbers]:
            return yes() if choice.data else no()

        writer.add("scf.if", [condition], [result], lines, compute, sides)

    def _body(
        self,
        writer: Writer,
        arguments: Sequence[Value],
        numbers: Sequence[Numbers],
        wanted: Sequence[Type],
        others: Sequence[Value],
    ) -> Body:
        """A block of a few nodes that yields values of the ``wanted`` types."""
        rng = writer.rng
        with writer.body(arguments, numbers) as nodes:
            made: list[Value] = []
            least = rng.choice((1, 2, 3))
            # Until something of each type is there to yield.
            for _ in range(12):
                writer.step(self.steps)
                made = [r for node in nodes for r in node.results]
                if len(nodes) >= least and all(any(v.type == t for v in made) for t in wanted):
                    break
            results: list[Value] = []
            for type_ in wanted:
                fits = [v for v in made if v.type == type_] or [
                    v for v in (*others, *writer.pool) if v.type == type_
                ]
                results.append(fits[-1])
            return Body([*arguments], [*nodes], results)


def _many(values: Sequence[Value]) -> str:
    return f":{len(values)}" if len(values) > 1 else ""


def _yielded(body: int, count: int) -> str:
    return ", ".join(f"%!{body}.{i}" for i in range(count))
