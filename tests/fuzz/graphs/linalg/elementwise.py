"""Steps that add elementwise linalg ops, and constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from headrace.compiler.iree.element_types import Array

from .. import scalars
from ..graph import Type, Value
from ..numerics import FLOATS, FP8, INTEGERS, Numbers, Unfit, exactly, is_float
from ..writer import Writer
from .text import dims_map, empty, fill, ins, kinds


def elementwise(writer: Writer) -> None:
    """A generic of a few scalar ops: operands broadcast and transposed, one
    result or two, in other types, now and then from its indices."""
    rng = writer.rng
    first = writer.value(lambda t: t.element not in FP8 and t.rank <= 4)
    loops = len(first.type.shape)
    order = _order(writer, loops)
    shape = [0] * loops
    for position, dim in enumerate(order):
        shape[dim] = first.type.shape[position]
    operands, maps = [first], [order]
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        kept = [d for d in range(loops) if rng.random() < 0.75]
        if rng.random() < 0.2:
            rng.shuffle(kept)
        element = first.type.element if rng.random() < 0.8 else rng.choice(writer.profile.elements)
        operands.append(writer.shaped([shape[d] for d in kept], element))
        maps.append(tuple(kept))
    body = scalars.Scalars([o.type.element for o in operands])
    given = body.arguments
    iotas: list[int] = []
    if loops and rng.random() < 0.15:
        dim = rng.randrange(loops)
        iotas.append(dim)
        body = scalars.Scalars([*body.elements, "index"])
    if any(e in FP8 for e in body.elements):
        for i in range(given):
            if body.elements[i] in FP8:
                scalars.convert(body, i, rng.choice(("f32", "bf16", "f16")))
    results = [scalars.grow(body, rng, writer.exact) for _ in range(rng.choice((1, 1, 2, 3, 4)))]
    # Back in the first operand's type, mostly: loops carry one type.
    element = first.type.element
    if rng.random() < 0.6 and body.elements[results[-1]] not in (element, "index"):
        wide = scalars.convert(body, results[-1], "f32") if is_float(element) else results[-1]
        results.append(scalars.convert(body, wide, element))
    chosen = [results[-1]]
    if len(results) > 1 and rng.random() < 0.3:
        chosen.append(results[0])
    if any(body.elements[c] == "index" for c in chosen):
        raise Unfit
    out = _order(writer, loops)
    _generic(writer, operands, maps, shape, body, iotas, chosen, out)


def _order(writer: Writer, rank: int) -> tuple[int, ...]:
    """The identity, mostly."""
    dims = [*range(rank)]
    if writer.rng.random() < 0.2:
        writer.rng.shuffle(dims)
    return tuple(dims)


def _generic(
    writer: Writer,
    operands: Sequence[Value],
    maps: Sequence[Sequence[int]],
    shape: Sequence[int],
    body: scalars.Scalars,
    iotas: Sequence[int],
    chosen: Sequence[int],
    out: Sequence[int],
) -> list[Value]:
    rank = len(shape)
    sources, known = _sources(operands, maps, rank)
    dynamic = tuple(
        not known[d] or (sources[d] is not None and writer.rng.random() < 0.3) for d in out
    )
    if tuple(maps[0]) == tuple(out) and writer.rng.random() < 0.7:
        dynamic = operands[0].type.dynamic
    types = [Type(tuple(shape[d] for d in out), body.elements[c], dynamic) for c in chosen]
    where = [sources[d] or (0, 0) for d in out]
    lines: list[str] = []
    for index, type_ in enumerate(types):
        lines += empty(f"e{index}", type_, operands, where)
    listed = ", ".join([*(dims_map(rank, m) for m in maps), *[dims_map(rank, out)] * len(types)])
    names = ", ".join(f"%~e{i}" for i in range(len(types)))
    texts = ", ".join(str(t) for t in types)
    blocks = [f"{body.name(i)}: {o.type.element}" for i, o in enumerate(operands)]
    blocks += [f"%o{i}: {t.element}" for i, t in enumerate(types)]
    many = len(types) > 1
    inputs = f"{ins(operands)} " if operands else ""
    lines += [
        f"%={f':{len(types)}' if many else ''} = linalg.generic {{indexing_maps = [{listed}], "
        f"iterator_types = {kinds(rank)}}} {inputs}outs({names} : {texts}) {{",
        f"^bb0({', '.join(blocks)}):",
        *(
            f"  {body.name(len(operands) + i)} = linalg.index {d} : index"
            for i, d in enumerate(iotas)
        ),
        *(f"  {line}" for line in body.lines),
        f"  linalg.yield {', '.join(body.name(c) for c in chosen)} : "
        f"{', '.join(t.element for t in types)}",
        f"}} -> {f'({texts})' if many else texts}",
    ]

    def compute(*arrays: Numbers) -> list[Numbers]:
        spread = [spread_out(a, m, shape) for a, m in zip(arrays, maps, strict=True)]
        spread += [exactly(np.broadcast_to(_iota(d, rank, shape), tuple(shape))) for d in iotas]
        values = body.run(spread)
        found: list[Numbers] = []
        for c in chosen:
            data = np.broadcast_to(values[c].data, tuple(shape))
            error = np.broadcast_to(values[c].error, tuple(shape))
            found.append(Numbers(data, error).map(lambda x: x.transpose(out)))
        return found

    return writer.add("generic", operands, types, lines, compute)


def _iota(dim: int, rank: int, shape: Sequence[int]) -> Array:
    return np.arange(shape[dim], dtype=np.int64).reshape(
        [-1 if d == dim else 1 for d in range(rank)]
    )


def _sources(
    operands: Sequence[Value], maps: Sequence[Sequence[int]], rank: int
) -> tuple[list[tuple[int, int] | None], list[bool]]:
    """For each loop an operand's dimension of unknown size, and whether an operand knows it."""
    unknown: list[tuple[int, int] | None] = [None] * rank
    known = [False] * rank
    for index, (operand, dims) in enumerate(zip(operands, maps, strict=True)):
        for position, dim in enumerate(dims):
            if operand.type.dynamic[position]:
                unknown[dim] = unknown[dim] or (index, position)
            else:
                known[dim] = True
    return unknown, known


def spread_out(x: Numbers, dims: Sequence[int], shape: Sequence[int]) -> Numbers:
    """``x``, whose dimensions are these loops, over all loops."""

    def move(data: Array) -> Array:
        order = sorted(range(len(dims)), key=lambda i: dims[i])
        ordered = data.transpose(order)
        sizes = [shape[d] if d in dims else 1 for d in range(len(shape))]
        return np.broadcast_to(ordered.reshape(sizes), tuple(shape))

    return Numbers(move(x.data), move(x.error))


def cast_elements(writer: Writer) -> None:
    """The whole tensor in another type; fp8 comes and goes here."""
    rng = writer.rng
    value = writer.value()
    targets = [*FLOATS[:3], *FP8, "i32", "i8", "i16"]
    element = rng.choice([e for e in targets if e != value.type.element])
    if value.type.element == "i1" and element in FP8:
        raise Unfit
    body = scalars.Scalars([value.type.element])
    index = 0
    if not is_float(value.type.element) and element in FP8:
        index = scalars.convert(body, index, "f32")
    if value.type.element in FP8 and not is_float(element):
        index = scalars.convert(body, index, "f32")
    index = scalars.convert(body, index, element)
    dims = tuple(range(value.type.rank))
    _generic(writer, [value], [dims], value.type.shape, body, [], [index], dims)


def named_elementwise(writer: Writer) -> None:
    """linalg.map, or an op with a name of its own."""
    rng = writer.rng
    a = writer.value(lambda t: t.element in (*FLOATS[:3], *INTEGERS) and t.is_static)
    type_, element = a.type, a.type.element
    name = rng.choice(("add", "sub", "mul", "max", "min"))
    scalar = {"add": "add", "sub": "sub", "mul": "mul", "max": "maxs", "min": "mins"}[name]
    scalar = f"{scalar}i"
    if is_float(element):
        scalar = {"max": "maximumf", "min": "minimumf"}.get(name, f"{name}f")
    b = writer.shaped(type_.shape, element)
    if not b.type.is_static:
        raise Unfit
    op = f"linalg.elementwise<{name if name in ('add', 'sub', 'mul') else f'{name}_signed'}>"
    if rng.random() < 0.5:
        op = f"linalg.map {{ arith.{scalar} }}"
    lines = [*empty("e", type_, [a, b], []), f"%= = {op} {ins([a, b])} outs(%~e : {type_})"]
    if not op.startswith("linalg.map"):
        lines[-1] += f" -> {type_}"
    body = scalars.Scalars([element, element])
    if is_float(element):
        body.add("", element, (0, 1), scalars.float_op(element, scalar))
    else:
        scalars.integer_binary(body, 0, 1, scalar)
    writer.add(op.split()[0], [a, b], [type_], lines, lambda x, y: [body.run([x, y])[-1]])


def constant(writer: Writer) -> None:
    """A dense constant, or a filled tensor."""
    rng = writer.rng
    shape = (
        (writer.size(),) if rng.random() < 0.5 else (rng.choice((1, 2, 4)), rng.choice((1, 3, 8)))
    )
    type_ = Type(shape, writer.element)
    if type_.element in FP8:
        raise Unfit
    numbers = writer.numbers(type_)
    if rng.random() < 0.5:
        value = numbers.data.reshape(-1)[:1]
        numbers = exactly(np.broadcast_to(value, type_.shape).copy())
        lines = [
            *empty("e", type_, [], []),
            *fill("f", "e", _literal(value[0], type_.element), type_),
        ]
        lines[-1] = lines[-1].replace("%~f =", "%= =")
    else:
        lines = [f"%= = arith.constant dense<{_dense(numbers.data, type_.element)}> : {type_}"]
    writer.add("constant", [], [type_], lines, lambda: [numbers])


def _literal(value: object, element: str) -> str:
    if element == "i1":
        return "true" if value else "false"
    return f"{float(value):.9e}" if is_float(element) else str(int(value))  # pyright: ignore


def _dense(data: Array, element: str) -> str:
    if data.ndim == 0:
        return _literal(data, element)
    return f"[{', '.join(_dense(np.asarray(row), element) for row in data)}]"
