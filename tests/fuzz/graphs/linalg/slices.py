"""Steps that take slices of tensors, and put them into others."""

from __future__ import annotations

from collections.abc import Sequence

from .. import scalars
from ..graph import INDEX, Type, Value
from ..numerics import FLOATS, INTEGERS, Numbers, Unfit, is_float
from ..writer import Writer
from .text import dims_map, kinds


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
