"""A program as data: typed statements of one device's function, and their text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .lattice import Lattice, is_float

AXES = ("x", "y")


@dataclass(frozen=True)
class Type:
    """A tensor on one device; ``dtype`` is numpy's name."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def is_float(self) -> bool:
        return is_float(self.dtype)


@dataclass(frozen=True)
class Value:
    """``lattice`` is None where not known. ``uniform``: the same on all devices."""

    name: str
    type: Type
    lattice: Lattice | None = None
    uniform: bool = False


@dataclass(frozen=True)
class Input:
    """An argument: ``cut[d]`` names the mesh axes that dim d is cut over."""

    value: Value
    cut: tuple[tuple[str, ...], ...]
    seed: int


@dataclass(frozen=True)
class Statement:
    """``results = text``; ``{0}``, ``{1}`` ... in the text are the operands, ``{f}``
    and ``{g}`` the nested functions. ``noisy``: rounding may differ."""

    results: tuple[Value, ...]
    text: str
    operands: tuple[str, ...]
    blocks: tuple[Block, ...] = ()
    noisy: bool = False

    def reads(self) -> set[str]:
        """All names from outside of it, in nested functions too."""
        return set(self.operands).union(*(block.free() for block in self.blocks))


@dataclass(frozen=True)
class Block:
    """A nested function, which may read names from around it."""

    parameters: tuple[Value, ...]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    # What returns them: "({0}, {1}), {2}" for a scan's body.
    shape: str

    def free(self) -> set[str]:
        own = {p.name for p in self.parameters}
        own.update(v.name for s in self.statements for v in s.results)
        read = set(self.results).union(*(s.reads() for s in self.statements))
        return read - own


@dataclass(frozen=True)
class Program:
    """A function for each device of a mesh. The same seed gives the same program."""

    seed: int
    mesh: tuple[int, ...]
    inputs: tuple[Input, ...]
    statements: tuple[Statement, ...]
    outputs: tuple[Value, ...]
    cpu: str = field(default="host")

    @property
    def devices(self) -> int:
        count = 1
        for size in self.mesh:
            count *= size
        return count

    @property
    def axes(self) -> tuple[str, ...]:
        return AXES[: len(self.mesh)]

    def size_of(self, axes: Sequence[str]) -> int:
        count = 1
        for axis in axes:
            count *= self.mesh[AXES.index(axis)]
        return count

    def length(self) -> int:
        return sum(1 for _ in all_statements(self.statements))


def all_statements(statements: Sequence[Statement]) -> Iterator[Statement]:
    for statement in statements:
        yield statement
        for block in statement.blocks:
            yield from all_statements(block.statements)


def live(statements: Sequence[Statement], names: set[str]) -> tuple[Statement, ...]:
    """Those that ``names`` need, in order; nested functions cleaned the same way."""
    needed = set(names)
    kept: list[Statement] = []
    for statement in reversed(statements):
        if needed.isdisjoint(v.name for v in statement.results):
            continue
        blocks = tuple(
            replace(b, statements=live(b.statements, set(b.results))) for b in statement.blocks
        )
        statement = replace(statement, blocks=blocks)
        kept.append(statement)
        needed |= statement.reads()
    return tuple(reversed(kept))


def cleaned(program: Program) -> Program:
    """Without what no output needs."""
    statements = live(program.statements, {v.name for v in program.outputs})
    read = {v.name for v in program.outputs}.union(*(s.reads() for s in statements))
    inputs = tuple(i for i in program.inputs if i.value.name in read)
    # A function without arguments is no SPMD program: keep one.
    return replace(program, statements=statements, inputs=inputs or program.inputs[:1])


def function_lines(program: Program, noise: bool, name: str = "program") -> list[str]:
    """The device's function; with ``noise``, ``_n`` evaluates what rounding may change."""
    parameters = ", ".join(i.value.name for i in program.inputs)
    lines = [f"def {name}({parameters}):"]
    lines += ["    " + line for s in program.statements for line in statement_lines(s, noise)]
    # Devices are stacked along the first dim, which a scalar lacks.
    results = [v.name if v.type.rank else f"{v.name}[None]" for v in program.outputs]
    return [*lines, f"    return {', '.join(results)},"]


def statement_lines(statement: Statement, noise: bool) -> list[str]:
    number = statement.results[0].name[1:]
    disturbed = noise and statement.noisy
    lines: list[str] = []
    functions: dict[str, str] = {}
    for letter, block in zip("fgh", statement.blocks, strict=False):
        functions[letter] = f"{letter}{number}"
        parameters = ", ".join(p.name for p in block.parameters)
        lines.append(f"def {letter}{number}({parameters}):")
        # What is disturbed as a whole is disturbed once.
        for inner in block.statements:
            lines += ["    " + line for line in statement_lines(inner, noise and not disturbed)]
        lines.append("    return " + block.shape.format(*block.results))
    targets = ", ".join(v.name for v in statement.results)
    text = statement.text.format(*statement.operands, **functions)
    if disturbed:
        text = f"_n(lambda: {text})"
    return [*lines, f"{targets} = {text}"]


def define(lines: Sequence[str], name: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """The function that the lines define."""
    exec("\n".join(lines), namespace)
    return namespace[name]
