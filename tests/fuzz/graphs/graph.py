"""Graphs of operations as MLIR text, with what they compute.

A node's ``template`` is its text, in which ``%$0`` stands for an operand,
``%=`` for the result (``%=:2`` defines two), ``%~name`` for a value of the
node's own; with bodies, ``%^0.1`` for argument 1 of body 0, ``%!0.1`` for what
it yields, and a line ``<<0>>`` is where its nodes stand. So any value can be put in another one's place, which is what
shrinking does.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .numerics import Numbers

_MARK = re.compile(r"%(\$\d+|=|~)")


@dataclass(frozen=True)
class Type:
    """A tensor of a known shape, some sizes of which the program does not know."""

    shape: tuple[int, ...]
    element: str
    dynamic: tuple[bool, ...] = ()
    scalar: bool = False

    def __post_init__(self) -> None:
        if not self.dynamic:
            object.__setattr__(self, "dynamic", (False,) * len(self.shape))

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def is_static(self) -> bool:
        return not any(self.dynamic)

    @property
    def sizes(self) -> tuple[str, ...]:
        """As the program spells them: ``?`` where it does not know."""
        return tuple("?" if d else str(s) for s, d in zip(self.shape, self.dynamic, strict=True))

    def with_element(self, element: str) -> Type:
        return replace(self, element=element)

    def __str__(self) -> str:
        if self.scalar:
            return self.element
        return f"tensor<{''.join(f'{s}x' for s in self.sizes)}{self.element}>"

    @property
    def torch(self) -> str:
        """The type of torch-mlir, whose integers have a sign."""
        element = self.element
        if element in ("i8", "i16", "i32", "i64"):
            element = f"s{element}"
        return f"!torch.vtensor<[{','.join(self.sizes)}],{element}>"


INDEX = Type((), "index", scalar=True)


@dataclass(eq=False)
class Value:
    """An SSA value; two of them are never equal."""

    type: Type


Environment = dict[Value, Numbers]
Compute = Callable[..., Sequence[Numbers]]


@dataclass(eq=False)
class Body:
    """The block of an op: what it reads from outside it names itself."""

    arguments: list[Value]
    nodes: list[Node]
    results: list[Value]


@dataclass(eq=False)
class Node:
    """One or a few ops. ``compute``: operands' numbers to results'; with bodies
    it is handed functions of their arguments first."""

    op: str
    operands: list[Value]
    results: list[Value]
    template: tuple[str, ...]
    compute: Compute
    bodies: list[Body] = field(default_factory=list[Body])


@dataclass
class Graph:
    """A function. ``dialect`` is ``linalg`` or ``torch``: how types are written."""

    name: str
    dialect: str
    arguments: list[Value]
    inputs: list[Numbers]
    nodes: list[Node]
    results: list[Value]

    def evaluate(self) -> Environment:
        """The numbers of all values outside bodies; Unfit if they have none."""
        env: Environment = dict(zip(self.arguments, self.inputs, strict=True))
        run(self.nodes, env)
        return env

    def expected(self) -> list[Numbers]:
        env = self.evaluate()
        return [env[value] for value in self.results]

    def cleaned(self) -> Graph:
        """Without nodes and arguments that nothing reads."""
        nodes, read = _live(self.nodes, dict.fromkeys(self.results))
        kept = [(a, x) for a, x in zip(self.arguments, self.inputs, strict=True) if a in read]
        return replace(
            self, nodes=nodes, arguments=[a for a, _ in kept], inputs=[x for _, x in kept]
        )

    @property
    def text(self) -> str:
        writer = _Printer(self.dialect)
        arguments = ", ".join(writer.define(a) for a in self.arguments)
        lines = [line for node in self.nodes for line in writer.lines(node)]
        names = ", ".join(writer.names[r] for r in self.results)
        types = ", ".join(writer.type(r) for r in self.results)
        body = "\n".join(f"  {line}" for line in lines)
        if self.dialect == "torch":
            body = "\n".join(f"  {line}" for line in (*_TORCH_CONSTANTS, *lines))
        return (
            f"func.func @{self.name}({arguments}) -> ({types}) {{\n{body}\n"
            f"  return {names} : {types}\n}}\n"
        )


_TORCH_CONSTANTS = (
    "%none = torch.constant.none",
    "%true = torch.constant.bool true",
    "%false = torch.constant.bool false",
)


def run(nodes: Sequence[Node], env: Environment) -> None:
    """Adds the numbers of what the nodes define."""
    for node in nodes:
        bodies = [_callable(body, env) for body in node.bodies]
        found = node.compute(*bodies, *(env[o] for o in node.operands))
        env.update(zip(node.results, found, strict=True))


def _callable(body: Body, outer: Environment) -> Callable[..., list[Numbers]]:
    def call(*arguments: Numbers) -> list[Numbers]:
        env = {**outer, **dict(zip(body.arguments, arguments, strict=True))}
        run(body.nodes, env)
        return [env[value] for value in body.results]

    return call


def all_nodes(nodes: Sequence[Node]) -> Iterator[Node]:
    """Those in bodies, too."""
    for node in nodes:
        yield node
        for body in node.bodies:
            yield from all_nodes(body.nodes)


def _live(nodes: Sequence[Node], wanted: dict[Value, None]) -> tuple[list[Node], dict[Value, None]]:
    """The nodes that ``wanted`` values need, and all values that these read."""
    read = {**wanted}
    kept: list[Node] = []
    for node in reversed(nodes):
        if not any(r in read for r in node.results):
            continue
        bodies: list[Body] = []
        for body in node.bodies:
            inner, outer = _live(body.nodes, dict.fromkeys(body.results))
            bodies.append(replace(body, nodes=inner))
            read |= outer
        read |= dict.fromkeys(node.operands)
        kept.append(replace(node, bodies=bodies))
    return kept[::-1], read


class _Printer:
    """Gives names in order of definition."""

    def __init__(self, dialect: str) -> None:
        self.names: dict[Value, str] = {}
        self._dialect = dialect
        self._counter = itertools.count()

    def type(self, value: Value) -> str:
        return value.type.torch if self._dialect == "torch" else str(value.type)

    def define(self, value: Value) -> str:
        self.names[value] = f"%a{len(self.names)}"
        return f"{self.names[value]}: {self.type(value)}"

    def lines(self, node: Node) -> Iterator[str]:
        name = f"%v{next(self._counter)}"
        operands = [self.names[o] for o in node.operands]

        def named(match: re.Match[str]) -> str:
            mark = match[1]
            return (
                operands[int(mark[1:])] if mark[0] == "$" else name + ("_" if mark == "~" else "")
            )

        for line in node.template:
            if line.startswith("<<"):
                yield from self._body(node.bodies[int(line[2:-2])])
            else:
                yield self._with_body_names(_MARK.sub(named, line), node)
        many = len(node.results) > 1
        for index, result in enumerate(node.results):
            self.names[result] = f"{name}#{index}" if many else name

    def _with_body_names(self, line: str, node: Node) -> str:
        """``%^b.i`` is argument i of body b, ``%!b.i`` what it yields."""

        def named(match: re.Match[str]) -> str:
            body = node.bodies[int(match[2])]
            if match[1] == "!":
                return self.names[body.results[int(match[3])]]
            value = body.arguments[int(match[3])]
            return self.names.setdefault(value, f"%b{len(self.names)}")

        return re.sub(r"%([\^!])(\d+)\.(\d+)", named, line)

    def _body(self, body: Body) -> Iterator[str]:
        for node in body.nodes:
            yield from (f"  {line}" for line in self.lines(node))
