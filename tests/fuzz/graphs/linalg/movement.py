"""Steps that move the data of a tensor, but for slices."""

from __future__ import annotations

import numpy as np

from ..graph import Type
from ..numerics import FP8, Numbers, Unfit, is_float
from ..writer import MOST_ELEMENTS, Writer
from .text import dims_map, empty, ins, kinds, size


def transpose(writer: Writer) -> None:
    value = writer.value(lambda t: t.rank >= 2)
    order = [*range(value.type.rank)]
    writer.rng.shuffle(order)
    type_ = Type(
        tuple(value.type.shape[d] for d in order), value.type.element,
        tuple(value.type.dynamic[d] for d in order),
    )  # fmt: skip
    lines = [
        *empty("e", type_, [value], [(0, d) for d in order]),
        f"%= = linalg.transpose {ins([value])} outs(%~e : {type_}) permutation = {order}",
    ]
    writer.add(
        "linalg.transpose", [value], [type_], lines, lambda x: [x.map(lambda a: a.transpose(order))]
    )


def broadcast(writer: Writer) -> None:
    value = writer.value(lambda t: t.rank <= 3)
    dim, extent = writer.rng.randint(0, value.type.rank), writer.size()
    if value.type.size * extent > MOST_ELEMENTS:
        raise Unfit
    shape, dynamic = [*value.type.shape], [*value.type.dynamic]
    shape.insert(dim, extent)
    dynamic.insert(dim, False)
    type_ = Type(tuple(shape), value.type.element, tuple(dynamic))
    where = [(0, d) for d in range(value.type.rank)]
    where.insert(dim, (0, 0))
    lines = [
        *empty("e", type_, [value], where),
        f"%= = linalg.broadcast {ins([value])} outs(%~e : {type_}) dimensions = [{dim}]",
    ]
    writer.add(
        "linalg.broadcast", [value], [type_], lines,
        lambda x: [x.map(lambda a: np.broadcast_to(np.expand_dims(a, dim), type_.shape))],
    )  # fmt: skip


def concat(writer: Writer) -> None:
    rng = writer.rng
    first = writer.value(lambda t: t.rank >= 1)
    dim = rng.randrange(first.type.rank)
    operands = [first]
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.2:
            operands.append(first)
            continue
        shape = [*first.type.shape]
        shape[dim] = rng.choice((shape[dim], writer.size()))
        operands.append(writer.shaped(shape, first.type.element))
    shape = [*first.type.shape]
    shape[dim] = sum(o.type.shape[dim] for o in operands)
    if np.prod(shape) > 2 * MOST_ELEMENTS:
        raise Unfit
    unknown = [all(o.type.dynamic[d] for o in operands) for d in range(first.type.rank)]
    unknown[dim] = any(o.type.dynamic[dim] for o in operands)
    type_ = Type(tuple(shape), first.type.element, tuple(unknown))
    names = ", ".join(f"%${i}" for i in range(len(operands)))
    types = ", ".join(str(o.type) for o in operands)
    line = f"%= = tensor.concat dim({dim}) {names} : ({types}) -> {type_}"

    def compute(*parts: Numbers) -> list[Numbers]:
        return [
            Numbers(
                np.concatenate([p.data for p in parts], dim),
                np.concatenate([p.error for p in parts], dim),
            )
        ]

    writer.add("tensor.concat", operands, [type_], [line], compute)


def pad(writer: Writer) -> None:
    rng = writer.rng
    value = writer.value(lambda t: t.rank >= 1 and t.element not in FP8)
    low, high = ([rng.choice((0, 0, 1, 2, 3)) for _ in value.type.shape] for _ in range(2))
    shape = tuple(s + a + b for s, a, b in zip(value.type.shape, low, high, strict=True))
    if np.prod(shape) > 2 * MOST_ELEMENTS:
        raise Unfit
    type_ = Type(shape, value.type.element, value.type.dynamic)
    filler = 0 if rng.random() < 0.6 else 1
    literal = (
        ("false", "true")
        if type_.element == "i1"
        else ("0.0", "1.0")
        if is_float(type_.element)
        else ("0", "1")
    )[filler]
    blocks = ", ".join(f"%i{d}: index" for d in range(type_.rank))
    lines = [
        f"%~z = arith.constant {literal}{'' if type_.element == 'i1' else f' : {type_.element}'}",
        f"%= = tensor.pad %$0 low{low} high{high} {{",
        f"^bb0({blocks}):",
        f"  tensor.yield %~z : {type_.element}",
        f"}} : {value.type} to {type_}",
    ]
    widths = [*zip(low, high, strict=True)]

    def compute(x: Numbers) -> list[Numbers]:
        data = np.pad(x.data.astype(np.float64), widths, constant_values=filler)
        if not is_float(type_.element):
            data = np.pad(x.data, widths, constant_values=filler)
        return [Numbers(data.astype(x.data.dtype), np.pad(x.error, widths))]

    writer.add("tensor.pad", [value], [type_], lines, compute)


def reshape(writer: Writer) -> None:
    """Two or more dimensions collapsed, or one of them split."""
    rng = writer.rng
    value = writer.value(lambda t: t.rank >= 1)
    type_ = value.type
    if type_.rank >= 2 and rng.random() < 0.5:
        at = rng.randrange(type_.rank - 1)
        groups = (
            [[d] for d in range(at)] + [[at, at + 1]] + [[d] for d in range(at + 2, type_.rank)]
        )
        shape = tuple(int(np.prod([type_.shape[d] for d in g])) for g in groups)
        new = Type(shape, type_.element, tuple(any(type_.dynamic[d] for d in g) for g in groups))
        line = f"%= = tensor.collapse_shape %$0 {groups} : {type_} into {new}"
        writer.add(
            "tensor.collapse_shape",
            [value],
            [new],
            [line],
            lambda x: [x.map(lambda a: a.reshape(shape))],
        )
        return
    at = rng.randrange(type_.rank)
    parts = [f for f in range(1, type_.shape[at] + 1) if type_.shape[at] % f == 0]
    inner = rng.choice(parts)
    shape = (*type_.shape[:at], type_.shape[at] // inner, inner, *type_.shape[at + 1 :])
    new = Type(shape, type_.element, (*type_.dynamic[: at + 1], False, *type_.dynamic[at + 1 :]))
    groups = (
        [[d] for d in range(at)] + [[at, at + 1]] + [[d + 1] for d in range(at + 1, type_.rank)]
    )
    lines: list[str] = []
    sizes = [*map(str, shape)]
    for d in range(new.rank):
        if new.dynamic[d]:
            old = d if d <= at else d - 1
            lines += size(f"n{d}", 0, old, type_)
            sizes[d] = f"%~n{d}"
            if d == at:
                lines += [
                    f"%~q = arith.constant {inner} : index",
                    f"%~w = arith.divui %~n{d}, %~q : index",
                ]
                sizes[d] = "%~w"
    lines.append(
        f"%= = tensor.expand_shape %$0 {groups} output_shape [{', '.join(sizes)}] : {type_} into {new}"
    )
    writer.add(
        "tensor.expand_shape", [value], [new], lines, lambda x: [x.map(lambda a: a.reshape(shape))]
    )


def cast_shape(writer: Writer) -> None:
    """Sizes are forgotten, or asserted."""
    value = writer.value(lambda t: t.rank >= 1)
    dynamic = tuple(writer.rng.random() < 0.5 for _ in value.type.shape)
    type_ = Type(value.type.shape, value.type.element, dynamic)
    if type_ == value.type or not writer.dynamic:
        raise Unfit
    writer.add(
        "tensor.cast",
        [value],
        [type_],
        [f"%= = tensor.cast %$0 : {value.type} to {type_}"],
        lambda x: [x],
    )


def reverse(writer: Writer) -> None:
    """Read backwards along a dimension, by ``tensor.extract`` in a generic."""
    value = writer.value(lambda t: t.rank >= 1)
    dim = writer.rng.randrange(value.type.rank)
    type_, rank = value.type, value.type.rank
    lines = [
        *empty("e", type_, [value], [(0, d) for d in range(rank)]),
        *size("n", 0, dim, type_),
        "%~one = arith.constant 1 : index",
        "%~last = arith.subi %~n, %~one : index",
        f"%= = linalg.generic {{indexing_maps = [{dims_map(rank, range(rank))}], iterator_types = "
        f"{kinds(rank)}}} outs(%~e : {type_}) {{",
        f"^bb0(%o: {type_.element}):",
        *(f"  %i{d} = linalg.index {d} : index" for d in range(rank)),
        f"  %r = arith.subi %~last, %i{dim} : index",
        f"  %x = tensor.extract %$0[{', '.join('%r' if d == dim else f'%i{d}' for d in range(rank))}] : {type_}",
        f"  linalg.yield %x : {type_.element}",
        f"}} -> {type_}",
    ]
    writer.add("reverse", [value], [type_], lines, lambda x: [x.map(lambda a: np.flip(a, dim))])


def gather(writer: Writer) -> None:
    """Rows by indices, as embeddings are read."""
    rng = writer.rng
    table = writer.value(lambda t: t.rank in (1, 2))
    count = writer.size()
    indices = writer.integers((count,), 0, table.type.shape[0], rng.choice(("i32", "i64")))
    rest, rank = table.type.shape[1:], table.type.rank
    type_ = Type(
        (count, *rest), table.type.element, (indices.type.dynamic[0], *table.type.dynamic[1:])
    )
    lines = [
        *empty("e", type_, [table, indices], [(1, 0), *((0, d) for d in range(1, rank))]),
        f"%= = linalg.generic {{indexing_maps = [{dims_map(rank, [0])}, {dims_map(rank, range(rank))}], "
        f"iterator_types = {kinds(rank)}}} ins(%$1 : {indices.type}) outs(%~e : {type_}) {{",
        f"^bb0(%n: {indices.type.element}, %o: {type_.element}):",
        f"  %r = arith.index_cast %n : {indices.type.element} to index",
        *(f"  %i{d} = linalg.index {d} : index" for d in range(1, rank)),
        f"  %x = tensor.extract %$0[{', '.join(['%r', *(f'%i{d}' for d in range(1, rank))])}] : {table.type}",
        f"  linalg.yield %x : {type_.element}",
        f"}} -> {type_}",
    ]

    def compute(x: Numbers, at: Numbers) -> list[Numbers]:
        if at.data.size and not (at.data.min() >= 0 and at.data.max() < x.data.shape[0]):
            raise Unfit
        return [x.map(lambda a: a[at.data])]

    writer.add("gather", [table, indices], [type_], lines, compute)


def splat_extract(writer: Writer) -> None:
    """One element of a tensor, everywhere."""
    value = writer.value(lambda t: t.rank >= 1)
    at = [writer.rng.randrange(s) for s in value.type.shape]
    shape = tuple(writer.size() for _ in range(writer.rng.choice((1, 2))))
    type_ = Type(shape, value.type.element)
    lines = [
        *(f"%~i{d} = arith.constant {i} : index" for d, i in enumerate(at)),
        f"%~x = tensor.extract %$0[{', '.join(f'%~i{d}' for d in range(len(at)))}] : {value.type}",
        *empty("e", type_, [], []),
        f"%= = linalg.fill ins(%~x : {type_.element}) outs(%~e : {type_}) -> {type_}",
    ]
    writer.add(
        "fill", [value], [type_], lines,
        lambda x: [x.map(lambda a: np.broadcast_to(a[tuple(at)], shape))],
    )  # fmt: skip
