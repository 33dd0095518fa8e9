"""Makes a failing program small: fewer outputs, statements, devices, elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from .generator import infer
from .lattice import of_type
from .programs import Block, Input, Program, Statement, Value, cleaned

Test = Callable[[Program], bool]


def shrink(program: Program, fails: Test, trials: int = 120) -> Program:
    """The smallest program found that ``fails`` takes; it is asked ``trials`` times at most."""
    asked = 0
    improved = True
    while improved:
        improved = False
        for steps in (outputs, prefixes, replaced, dropped, plain_inputs, meshes, extents):
            position = 0
            while asked < trials:
                candidates = list(steps(program))
                if position >= len(candidates):
                    break
                candidate = valid(candidates[position])
                if (
                    candidate is None
                    or candidate == program
                    or weight(candidate) >= weight(program)
                ):
                    position += 1
                    continue
                asked += 1
                if fails(candidate):
                    program, improved = candidate, True
                else:
                    position += 1
    return program


def weight(program: Program) -> tuple[int, int, int, int]:
    """What shall become small, most important first."""
    cuts = sum(1 for i in program.inputs for axes in i.cut if axes)
    size = sum(i.value.type.size for i in program.inputs)
    length = 4 * program.length() + len(program.outputs) + len(program.inputs)
    return length, program.devices * len(program.mesh), size, cuts


def valid(program: Program) -> Program | None:
    """Typed anew and cleaned; None if JAX does not take it."""
    if not program.outputs:
        return None
    values = {i.value.name: i.value for i in program.inputs}
    statements: list[Statement] = []
    try:
        for statement in program.statements:
            types = infer(program.mesh, statement, values)
            if any(t.size == 0 for t in types):
                return None
            results = tuple(
                replace(v, type=t) for v, t in zip(statement.results, types, strict=True)
            )
            statements.append(replace(statement, results=results))
            values |= {v.name: v for v in results}
        kept = tuple(values[v.name] for v in program.outputs)
    except Exception:  # whatever JAX says, this is no program
        return None
    return cleaned(replace(program, statements=tuple(statements), outputs=kept))


def outputs(program: Program) -> Iterator[Program]:
    """One output only."""
    if len(program.outputs) > 1:
        for value in program.outputs:
            yield replace(program, outputs=(value,))


def prefixes(program: Program) -> Iterator[Program]:
    """An earlier value as the output."""
    for statement in program.statements[:-1]:
        for value in statement.results:
            yield replace(program, outputs=(value,))


def replaced(program: Program) -> Iterator[Program]:
    """A statement's result made an input, or an earlier value of its type."""
    for index, statement in enumerate(program.statements):
        before = [i.value for i in program.inputs]
        before += [v for s in program.statements[:index] for v in s.results]
        rest = program.statements[:index] + program.statements[index + 1 :]
        new = tuple(as_input(program, v) for v in statement.results)
        yield replace(program, statements=rest, inputs=program.inputs + new)
        for operand in before:
            if len(statement.results) == 1 and operand.type == statement.results[0].type:
                yield renamed(
                    replace(program, statements=rest), statement.results[0].name, operand.name
                )


def as_input(program: Program, value: Value) -> Input:
    lattice = value.lattice or of_type(value.type.dtype)
    cut = [()] * value.type.rank
    if value.type.rank and not value.uniform:
        cut[0] = program.axes
    return Input(replace(value, lattice=lattice), tuple(cut), len(program.inputs))


def renamed(program: Program, old: str, new: str) -> Program:
    """With another name read wherever the old one is."""
    outputs = tuple(replace(v, name=new) if v.name == old else v for v in program.outputs)
    return replace(program, statements=rename(program.statements, old, new), outputs=outputs)


def rename(statements: Sequence[Statement], old: str, new: str) -> tuple[Statement, ...]:
    def name(n: str) -> str:
        return new if n == old else n

    return tuple(
        replace(
            s,
            operands=tuple(map(name, s.operands)),
            blocks=tuple(
                replace(
                    b,
                    statements=rename(b.statements, old, new),
                    results=tuple(map(name, b.results)),
                )
                for b in s.blocks
            ),
        )
        for s in statements
    )


def dropped(program: Program) -> Iterator[Program]:
    """A nested function's statement left out, another value of its type in its place."""
    for index, statement in enumerate(program.statements):
        outside = [i.value for i in program.inputs]
        outside += [v for s in program.statements[:index] for v in s.results]
        for smaller in smaller_blocks(statement, outside):
            statements = list(program.statements)
            statements[index] = smaller
            yield replace(program, statements=tuple(statements))


def smaller_blocks(statement: Statement, outside: Sequence[Value]) -> Iterator[Statement]:
    for place, block in enumerate(statement.blocks):
        for smaller in smaller_block(block, outside):
            blocks = list(statement.blocks)
            blocks[place] = smaller
            yield replace(statement, blocks=tuple(blocks))


def smaller_block(block: Block, outside: Sequence[Value]) -> Iterator[Block]:
    for index, statement in enumerate(block.statements):
        before = [*block.parameters, *(v for s in block.statements[:index] for v in s.results)]
        rest = block.statements[:index] + block.statements[index + 1 :]
        if len(statement.results) == 1:
            (result,) = statement.results
            for other in (*before, *outside):
                if other.type == result.type:
                    yield replace(
                        block,
                        statements=rename(rest, result.name, other.name),
                        results=tuple(other.name if n == result.name else n for n in block.results),
                    )
        for smaller in smaller_blocks(statement, (*before, *outside)):
            statements = list(block.statements)
            statements[index] = smaller
            yield replace(block, statements=tuple(statements))


def plain_inputs(program: Program) -> Iterator[Program]:
    """Inputs that are not cut."""
    for index, input_ in enumerate(program.inputs):
        if any(input_.cut):
            inputs = list(program.inputs)
            inputs[index] = replace(input_, cut=((),) * input_.value.type.rank)
            yield replace(program, inputs=tuple(inputs))


def meshes(program: Program) -> Iterator[Program]:
    """Fewer devices."""
    for axis, size in enumerate(program.mesh):
        for smaller in range(1, size):
            mesh = (*program.mesh[:axis], smaller, *program.mesh[axis + 1 :])
            yield replace(program, mesh=mesh)


def extents(program: Program) -> Iterator[Program]:
    """One size made smaller, in all inputs or in one dim of one."""
    sizes = sorted({n for i in program.inputs for n in i.value.type.shape if n > 1}, reverse=True)
    for size in sizes:
        for smaller in sorted({1, 2, size // 2, size - 1} - {0, size}):
            if smaller < size:
                yield resized(program, lambda i, d, n: smaller if n == size else n)  # noqa: B023
    for place, input_ in enumerate(program.inputs):
        for dim, size in enumerate(input_.value.type.shape):
            for smaller in sorted({1, 2, size // 2, size - 1}):
                if 0 < smaller < size:
                    yield resized(
                        program,
                        lambda i, d, n: smaller if (i, d) == (place, dim) else n,  # noqa: B023
                    )


def resized(program: Program, size: Callable[[int, int, int], int]) -> Program:
    inputs = tuple(
        replace(
            i,
            value=replace(
                i.value,
                type=replace(
                    i.value.type,
                    shape=tuple(size(p, d, n) for d, n in enumerate(i.value.type.shape)),
                ),
            ),
        )
        for p, i in enumerate(program.inputs)
    )
    return replace(program, inputs=inputs)
