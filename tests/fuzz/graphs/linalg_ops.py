"""Steps that add linalg and tensor ops to a graph: elementwise and data movement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from headrace.compiler.iree.element_types import Array

from . import scalars
from .graph import INDEX, Type, Value
from .linalg_text import dims_map, empty, fill, ins, kinds, size
from .numerics import FLOATS, FP8, INTEGERS, Numbers, Unfit, exactly, is_float
from .writer import MOST_ELEMENTS, Writer


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


def _window(
    writer: Writer, shape: Sequence[int], strides: bool
) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides of a part of a tensor."""
    rng = writer.rng
    offsets, sizes, steps = [], [], []
    for extent in shape:
        step = rng.choice((1, 1, 1, 2, 3)) if strides else 1
        count = (
            rng.randint(1, max(1, (extent + step - 1) // step))
            if rng.random() < 0.7
            else (extent + step - 1) // step
        )
        offsets.append(rng.randint(0, extent - 1 - (count - 1) * step))
        sizes.append(count)
        steps.append(step)
    return offsets, sizes, steps


def _slices(
    offsets: Sequence[int], sizes: Sequence[int], steps: Sequence[int]
) -> tuple[slice, ...]:
    return tuple(
        slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, steps, strict=True)
    )


def _moving(
    writer: Writer, offsets: list[int], shape: Sequence[int], sizes: Sequence[int]
) -> tuple[list[str], list[Value], int | None]:
    """Offsets as text; now and then one of them a value: the loop's counter, or an argument's."""
    texts = [str(o) for o in offsets]
    counters = [v for v in writer.pool if v.type == INDEX]
    if not counters or not shape or writer.rng.random() < 0.3:
        return texts, [], None
    dim = writer.rng.randrange(len(shape))
    return texts, [writer.rng.choice(counters)], dim


def extract_slice(writer: Writer) -> None:
    value = writer.value(lambda t: t.rank >= 1 and t.size > 1)
    offsets, sizes, steps = _window(writer, value.type.shape, strides=True)
    texts, index, dim = _moving(writer, offsets, value.type.shape, sizes)
    if dim is not None:
        texts[dim], steps[dim] = "%$1", 1
        sizes[dim] = writer.rng.choice((1, 1, max(1, sizes[dim] // 2)))
    kept = [d for d in range(value.type.rank) if sizes[d] > 1 or writer.rng.random() < 0.7]
    type_ = Type(tuple(sizes[d] for d in kept), value.type.element)
    line = (
        f"%= = tensor.extract_slice %$0[{', '.join(texts)}] {sizes} {steps} : "
        f"{value.type} to {type_}"
    )

    def compute(x: Numbers, *at: Numbers) -> list[Numbers]:
        where = [*offsets]
        if dim is not None:
            where[dim] = _in_bounds(at[0], sizes[dim], value.type.shape[dim])
        part = _slices(where, sizes, steps)
        return [x.map(lambda a: a[part].reshape(type_.shape))]

    writer.add("tensor.extract_slice", [value, *index], [type_], [line], compute)


def _in_bounds(at: Numbers, extent: int, whole: int) -> int:
    offset = int(at.data)
    if not 0 <= offset <= whole - extent:
        raise Unfit
    return offset


def insert_slice(writer: Writer) -> None:
    """A part of a tensor is replaced by another value, in place or not."""
    target = writer.value(lambda t: t.rank >= 1 and t.size > 1)
    offsets, sizes, steps = _window(writer, target.type.shape, strides=writer.rng.random() < 0.3)
    texts, index, dim = _moving(writer, offsets, target.type.shape, sizes)
    if dim is not None:
        texts[dim], steps[dim], sizes[dim] = "%$2", 1, 1
    source = writer.shaped(sizes, target.type.element, new=0.2)
    if not source.type.is_static:
        raise Unfit
    line = (
        f"%= = tensor.insert_slice %$1 into %$0[{', '.join(texts)}] {sizes} {steps} : "
        f"{source.type} into {target.type}"
    )

    def compute(x: Numbers, y: Numbers, *at: Numbers) -> list[Numbers]:
        where = [*offsets]
        if dim is not None:
            where[dim] = _in_bounds(at[0], 1, target.type.shape[dim])
        part = _slices(where, sizes, steps)
        found = Numbers(x.data.copy(), x.error.copy())
        found.data[part], found.error[part] = y.data, y.error
        return [found]

    writer.add("tensor.insert_slice", [target, source, *index], [target.type], [line], compute)


def update_from_own_slice(writer: Writer) -> None:
    """``y[a:b] = f(y[c:d])``: a shifted cache."""
    rng = writer.rng
    target = writer.value(
        lambda t: t.rank >= 1 and t.shape[0] > 1 and t.element in (*FLOATS[:3], *INTEGERS)
    )
    count = rng.randint(1, target.type.shape[0] - 1)
    start, to = (rng.randint(0, target.type.shape[0] - count) for _ in range(2))
    rest = target.type.shape[1:]
    if any(target.type.dynamic[1:]):
        raise Unfit
    part = Type((count, *rest), target.type.element)
    element, rank = part.element, part.rank
    zeros, ones = ["0"] * (rank - 1), ["1"] * rank
    op = "arith.addf %x, %x" if is_float(element) else "arith.addi %x, %x"
    maps = dims_map(rank, range(rank))
    sizes = ", ".join(map(str, part.shape))
    lines = [
        f"%~s = tensor.extract_slice %$0[{', '.join([str(start), *zeros])}] [{sizes}] [{', '.join(ones)}] : {target.type} to {part}",
        f"%~e = tensor.empty() : {part}",
        f"%~g = linalg.generic {{indexing_maps = [{maps}, {maps}], iterator_types = {kinds(rank)}}} ins(%~s : {part}) outs(%~e : {part}) {{",
        f"^bb0(%x: {element}, %o: {element}):",
        f"  %y = {op} : {element}",
        f"  linalg.yield %y : {element}",
        f"}} -> {part}",
        f"%= = tensor.insert_slice %~g into %$0[{', '.join([str(to), *zeros])}] [{sizes}] [{', '.join(ones)}] : {part} into {target.type}",
    ]
    double = scalars.Scalars([element])
    if is_float(element):
        double.add("", element, (0, 0), scalars.float_op(element, "addf"))
    else:
        scalars.integer_binary(double, 0, 0, "addi")

    def compute(x: Numbers) -> list[Numbers]:
        (_, y) = double.run([x.map(lambda a: a[start : start + count])])
        found = Numbers(x.data.copy(), x.error.copy())
        found.data[to : to + count], found.error[to : to + count] = y.data, y.error
        return [found]

    writer.add("update_from_own_slice", [target], [target.type], lines, compute)


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


MOVEMENT = (
    transpose, broadcast, concat, pad, extract_slice, extract_slice, insert_slice, reshape, reshape,
    cast_shape, reverse, gather, splat_extract,
)  # fmt: skip
ELEMENTWISE = (elementwise, elementwise, elementwise, cast_elements, named_elementwise, constant)
