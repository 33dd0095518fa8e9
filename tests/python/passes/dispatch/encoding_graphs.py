"""Random graphs of dispatch regions and encodings, with what they compute in numpy."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from headrace.compiler.iree.element_types import Array

Shape = tuple[int, int]
Evaluate = Callable[[list[Array]], Array]

SHAPES: tuple[Shape, ...] = ((32, 48), (64, 64), (96, 128), (40, 16), (8, 256), (33, 20))


def tensor(shape: Shape, encoding: str = "") -> str:
    return f"tensor<{shape[0]}x{shape[1]}xf32{', ' if encoding else ''}{encoding}>"


def encoding(operand: str, m: int, n: int, k: int) -> str:
    """The encoding of ``lhs``, ``rhs`` or ``out`` of an f32 matmul."""
    index = ("lhs", "rhs", "out").index(operand)
    maps = ("(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)")
    listed = ", ".join(f"affine_map<{text}>" for text in maps)
    return (
        f"#iree_encoding.encoding<operand_index = {index} : index, op_type = matmul, "
        f"element_types = [f32, f32, f32], user_indexing_maps = [{listed}], "
        f"iteration_sizes = [{m}, {n}, {k}]>"
    )


@dataclass
class Value:
    """An SSA value and how to compute it from the arguments."""

    name: str
    shape: Shape
    evaluate: Evaluate


@dataclass
class Graph:
    """One function: its text, and its results as numpy functions."""

    name: str
    lines: list[str] = field(default_factory=list[str])
    arguments: list[Shape] = field(default_factory=list[Shape])
    results: list[Value] = field(default_factory=list[Value])
    count: int = 0
    yields_twice: bool = False  # one value for two results, which IREE 3.13 gets wrong

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def argument(self, shape: Shape) -> Value:
        index = len(self.arguments)
        self.arguments.append(shape)
        return Value(f"%arg{index}", shape, lambda inputs: inputs[index])

    def add(self, *lines: str) -> None:
        self.lines += lines

    @property
    def text(self) -> str:
        arguments = ", ".join(f"%arg{i}: {tensor(s)}" for i, s in enumerate(self.arguments))
        types = ", ".join(tensor(v.shape) for v in self.results)
        names = ", ".join(v.name for v in self.results)
        body = "\n".join(f"  {line}" for line in self.lines)
        return (
            f"func.func @{self.name}({arguments}) -> ({types}) {{\n{body}\n"
            f"  return {names} : {types}\n}}\n"
        )

    def inputs(self, seed: int) -> list[Array]:
        rng = np.random.default_rng(seed)
        return [rng.uniform(-1, 1, s).astype(np.float32) for s in self.arguments]


def random_graph(name: str, seed: int) -> Graph:
    """A few regions in a row, whose results are packed and used in several ways."""
    rng = random.Random(seed)
    graph = Graph(name)
    values = [graph.argument(rng.choice(SHAPES))]
    for _ in range(rng.randint(1, 3)):
        made = rng.choice(_REGIONS)(graph, rng.choice(values), rng)
        for value in made:
            _use(graph, value, rng)
        values += made
    if not graph.results:
        graph.results.append(values[-1])
    return graph


def _region(graph: Graph, body: list[str], outputs: list[tuple[str, Value]]) -> list[Value]:
    """A region of body lines; each output is what is yielded and the value it stands for."""
    types = ", ".join(tensor(v.shape) for _, v in outputs)
    name = graph.fresh()
    count = f":{len(outputs)}" if len(outputs) > 1 else ""
    yielded = ", ".join(text for text, _ in outputs)
    graph.add(f"{name}{count} = flow.dispatch.region -> ({types}) {{")
    graph.add(*(f"  {line}" for line in body), f"  flow.return {yielded} : {types}", "}")
    names = [f"{name}#{i}" for i in range(len(outputs))] if count else [name]
    return [Value(n, v.shape, v.evaluate) for n, (_, v) in zip(names, outputs, strict=True)]


def _map(graph: Graph, op: str, inputs: list[str], shape: Shape) -> tuple[str, list[str]]:
    name, init, type_ = graph.fresh(), graph.fresh(), tensor(shape)
    types = ", ".join([type_] * len(inputs))
    return name, [
        f"{init} = tensor.empty() : {type_}",
        f"{name} = linalg.map {{ {op} }} ins({', '.join(inputs)} : {types}) outs({init} : {type_})",
    ]


def _elementwise(graph: Graph, x: Value, rng: random.Random) -> list[Value]:
    name, body = _map(graph, "math.tanh", [x.name], x.shape)
    return _region(
        graph, body, [(name, Value("", x.shape, lambda inputs: np.tanh(x.evaluate(inputs))))]
    )


def _two_results(graph: Graph, x: Value, rng: random.Random) -> list[Value]:
    """Both from one loop; now and then the second is yielded twice."""
    type_, name, init = tensor(x.shape), graph.fresh(), graph.fresh()
    identity = "affine_map<(i, j) -> (i, j)>"
    body = [
        f"{init} = tensor.empty() : {type_}",
        f"{name}:2 = linalg.generic {{indexing_maps = [{', '.join([identity] * 3)}], "
        f'iterator_types = ["parallel", "parallel"]}} ins({x.name} : {type_}) '
        f"outs({init}, {init} : {type_}, {type_}) {{",
        "^bb0(%a: f32, %o: f32, %p: f32):",
        "  %s = arith.addf %a, %a : f32",
        "  %t = arith.mulf %a, %a : f32",
        "  linalg.yield %s, %t : f32, f32",
        f"}} -> ({type_}, {type_})",
    ]
    twice = Value("", x.shape, lambda inputs: 2 * x.evaluate(inputs))
    square = Value("", x.shape, lambda inputs: x.evaluate(inputs) ** 2)
    outputs = [(f"{name}#0", twice), (f"{name}#1", square)]
    if rng.random() < 0.3:
        outputs.append((f"{name}#1", square))
        graph.yields_twice = True
    return _region(graph, body, outputs)


def _normalized(graph: Graph, x: Value, rng: random.Random) -> list[Value]:
    """Rows times their sums; now and then the plain rows are a result, too."""
    type_, rows = tensor(x.shape), f"tensor<{x.shape[0]}xf32>"
    total, init, zero, fill, name, out = (graph.fresh() for _ in range(6))
    identity, row = "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (i)>"
    body = [
        f"{zero} = arith.constant 0.0 : f32",
        f"{init} = tensor.empty() : {rows}",
        f"{fill} = linalg.fill ins({zero} : f32) outs({init} : {rows}) -> {rows}",
        f"{total} = linalg.generic {{indexing_maps = [{identity}, {row}], "
        f'iterator_types = ["parallel", "reduction"]}} ins({x.name} : {type_}) '
        f"outs({fill} : {rows}) {{",
        "^bb0(%a: f32, %o: f32):",
        "  %s = arith.addf %a, %o : f32",
        "  linalg.yield %s : f32",
        f"}} -> {rows}",
        f"{out} = tensor.empty() : {type_}",
        f"{name} = linalg.generic {{indexing_maps = [{identity}, {row}, {identity}], "
        f'iterator_types = ["parallel", "parallel"]}} ins({x.name}, {total} : {type_}, {rows}) '
        f"outs({out} : {type_}) {{",
        "^bb0(%a: f32, %b: f32, %o: f32):",
        "  %s = arith.mulf %a, %b : f32",
        "  linalg.yield %s : f32",
        f"}} -> {type_}",
    ]

    def evaluate(inputs: list[Array]) -> Array:
        data = x.evaluate(inputs)
        return data * data.sum(axis=1, keepdims=True)

    return _region(graph, body, [(name, Value("", x.shape, evaluate))])


def _transposed(graph: Graph, x: Value, rng: random.Random) -> list[Value]:
    shape = (x.shape[1], x.shape[0])
    name, init = graph.fresh(), graph.fresh()
    body = [
        f"{init} = tensor.empty() : {tensor(shape)}",
        f"{name} = linalg.transpose ins({x.name} : {tensor(x.shape)}) "
        f"outs({init} : {tensor(shape)}) permutation = [1, 0]",
    ]
    return _region(graph, body, [(name, Value("", shape, lambda inputs: x.evaluate(inputs).T))])


_REGIONS = (_elementwise, _elementwise, _two_results, _normalized, _transposed)


def _use(graph: Graph, value: Value, rng: random.Random) -> None:
    """Some of: returned, reshaped and returned, packed, reshaped and packed."""
    if rng.random() < 0.4:
        graph.results.append(value)
    source = value
    if rng.random() < 0.35:
        source = _reshaped(graph, value)
        if rng.random() < 0.4:
            graph.results.append(source)
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        _pack(graph, source, rng)


def _reshaped(graph: Graph, value: Value) -> Value:
    rows, columns = value.shape
    shape = (rows * columns // 4, 4) if columns % 8 else (rows * 2, columns // 2)
    flat, name = graph.fresh(), graph.fresh()
    line = f"tensor<{rows * columns}xf32>"
    graph.add(
        f"{flat} = tensor.collapse_shape {value.name} [[0, 1]] : {tensor(value.shape)} into {line}",
        f"{name} = tensor.expand_shape {flat} [[0, 1]] output_shape [{shape[0]}, {shape[1]}] : "
        f"{line} into {tensor(shape)}",
    )
    return Value(name, shape, lambda inputs: value.evaluate(inputs).reshape(shape))


def _pack(graph: Graph, value: Value, rng: random.Random) -> None:
    other = rng.choice((16, 64, 64, 256))
    rows, columns = value.shape
    operand = rng.choice(("lhs", "lhs", "rhs", "out"))
    sizes = {"lhs": (rows, other, columns), "rhs": (other, columns, rows)}
    m, n, k = sizes.get(operand, (rows, columns, other))
    code = encoding(operand, m, n, k)
    packed = graph.fresh()
    graph.add(
        f"{packed} = iree_encoding.set_encoding {value.name} : "
        f"{tensor(value.shape)} -> {tensor(value.shape, code)}"
    )
    if operand == "lhs" and rng.random() < 0.6:
        graph.results.append(_multiplied(graph, Value(packed, value.shape, value.evaluate), n))
        return
    name = graph.fresh()
    graph.add(
        f"{name} = iree_encoding.unset_encoding {packed} : "
        f"{tensor(value.shape, code)} -> {tensor(value.shape)}"
    )
    graph.results.append(Value(name, value.shape, value.evaluate))


def _multiplied(graph: Graph, lhs: Value, n: int) -> Value:
    """A matmul of a packed value and a weight."""
    m, k = lhs.shape
    weight = graph.argument((k, n))
    lhs_type, rhs_type, out_type = (
        tensor(shape, encoding(operand, m, n, k))
        for operand, shape in (("lhs", (m, k)), ("rhs", (k, n)), ("out", (m, n)))
    )
    rhs, init, zero, fill, product, plain = (graph.fresh() for _ in range(6))
    graph.add(f"{rhs} = iree_encoding.set_encoding {weight.name} : {tensor((k, n))} -> {rhs_type}")
    body = [
        f"{zero} = arith.constant 0.0 : f32",
        f"{init} = tensor.empty() : {out_type}",
        f"{fill} = linalg.fill ins({zero} : f32) outs({init} : {out_type}) -> {out_type}",
        f"{product} = linalg.matmul ins({lhs.name}, {rhs} : {lhs_type}, {rhs_type}) "
        f"outs({fill} : {out_type}) -> {out_type}",
        f"{plain} = iree_encoding.unset_encoding {product} : {out_type} -> {tensor((m, n))}",
    ]

    def evaluate(inputs: list[Array]) -> Array:
        return lhs.evaluate(inputs) @ weight.evaluate(inputs)

    return _region(graph, body, [(plain, Value("", (m, n), evaluate))])[0]
