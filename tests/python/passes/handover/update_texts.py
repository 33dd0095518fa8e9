"""The programs of ``update_graphs`` as StableHLO, and pipelines that leave guards out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from update_graphs import TRIPS, Graph, Moving, Op, Start, scattered_rows

DEVICES = 4


def text_of(graphs: dict[str, Graph]) -> str:
    """A module with one function for each graph: its arguments, then Moving's number."""
    return "\n".join(_function(name, graph) for name, graph in graphs.items())


def text_on_devices(graphs: dict[str, Graph]) -> str:
    """The same for four devices, each of which has arguments of its own."""
    attributes = f"mhlo.num_partitions = {DEVICES} : i32, mhlo.num_replicas = 1 : i32"
    return f"module attributes {{{attributes}}} {{\n{text_of(graphs)}\n}}"


def pipeline_without(pipeline: str, *passes: str) -> str:
    """The text of a pipeline without passes that it has."""
    for name in passes:
        pipeline, count = re.subn(rf",{name}(\{{[^}}]*\}})?,", ",", pipeline)
        assert count == 1, name
    return pipeline


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
            case "gather":
                return self._gather(op, names[0], types[0], result)
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

    def _gather(self, op: Op, name: str, type_: str, result: str) -> str:
        rows, columns = op.shape
        whole = _type((DEVICES * rows, columns), self.graph.element)
        groups = ", ".join(str(d) for d in range(DEVICES))
        gathered = self._value(
            f'"stablehlo.all_gather"({name}) <{{all_gather_dim = 0 : i64, '
            "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
            f"replica_groups = dense<[[{groups}]]> : tensor<1x{DEVICES}xi64>, "
            f"use_global_device_ids}}> : ({type_}) -> {whole}"
        )
        first = op.start[0]
        assert isinstance(first, int)
        return (
            f"stablehlo.slice {gathered} [{first}:{first + rows}, 0:{columns}] : "
            f"({whole}) -> {result}"
        )

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
        where = "[" + ", ".join(f"[{row}]" for row in scattered_rows(rows)) + "]"
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
