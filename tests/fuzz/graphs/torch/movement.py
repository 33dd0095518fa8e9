"""Steps that add torch ops that move data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..graph import Type
from ..numerics import Numbers, Unfit
from ..writer import MOST_ELEMENTS, Writer
from .calls import FLOAT, call, integer, ints


def cat(writer: Writer) -> None:
    rng = writer.rng
    first = writer.value(lambda t: t.rank >= 1 and t.is_static)
    dim = rng.randrange(first.type.rank)
    operands = [first]
    for _ in range(rng.choice((1, 2))):
        shape = [*first.type.shape]
        shape[dim] = rng.choice((shape[dim], writer.size()))
        operands.append(writer.shaped(shape, first.type.element))
    if not all(o.type.is_static for o in operands):
        raise Unfit
    shape = [*first.type.shape]
    shape[dim] = sum(o.type.shape[dim] for o in operands)
    if np.prod(shape) > 2 * MOST_ELEMENTS:
        raise Unfit
    type_ = Type(tuple(shape), first.type.element)
    names = ", ".join(f"%${i}" for i in range(len(operands)))
    types = ", ".join(o.type.torch for o in operands)
    lines = [
        integer("d", dim),
        f"%~l = torch.prim.ListConstruct {names} : ({types}) -> !torch.list<vtensor>",
        call("aten.cat", ["%~l", "%~d"], ["!torch.list<vtensor>", "!torch.int"], [type_]),
    ]

    def compute(*parts: Numbers) -> list[Numbers]:
        return [
            Numbers(
                np.concatenate([p.data for p in parts], dim),
                np.concatenate([p.error for p in parts], dim),
            )
        ]

    writer.add("aten.cat", operands, [type_], lines, compute)


def slice_(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.rank >= 1)
    dims = [d for d in range(x.type.rank) if not x.type.dynamic[d]]
    if not dims:
        raise Unfit
    dim = rng.choice(dims)
    extent = x.type.shape[dim]
    start, step = rng.randrange(extent), rng.choice((1, 1, 2, 3))
    end = rng.randint(start + 1, extent)
    shape = [*x.type.shape]
    shape[dim] = -(-(end - start) // step)
    type_ = replace(x.type, shape=tuple(shape))
    lines = [
        *(
            integer(n, v)
            for n, v in (
                ("d", dim),
                ("s", start),
                ("e", end if rng.random() < 0.7 or end < extent else 2**63 - 1),
                ("t", step),
            )
        ),
        call(
            "aten.slice.Tensor",
            ["%$0", "%~d", "%~s", "%~e", "%~t"],
            [x.type.torch, *["!torch.int"] * 4],
            [type_],
        ),
    ]
    where = tuple(slice(start, end, step) if d == dim else slice(None) for d in range(x.type.rank))
    writer.add("aten.slice.Tensor", [x], [type_], lines, lambda a: [a.map(lambda v: v[where])])


def view(writer: Writer) -> None:
    """Dimensions collapsed or split; sizes that it does not know stay as they are."""
    rng = writer.rng
    x = writer.value(lambda t: t.rank >= 1 and t.is_static)
    shape = [*x.type.shape]
    at = rng.randrange(len(shape))
    if len(shape) > 1 and at and rng.random() < 0.5:
        shape[at - 1 : at + 1] = [shape[at - 1] * shape[at]]
    else:
        inner = rng.choice([f for f in range(1, shape[at] + 1) if shape[at] % f == 0])
        shape[at : at + 1] = [shape[at] // inner, inner]
    type_ = Type(tuple(shape), x.type.element)
    given = [*shape]
    if rng.random() < 0.4:
        given[rng.randrange(len(given))] = -1
    lines = [
        *ints("s", given),
        call("aten.view", ["%$0", "%~s"], [x.type.torch, "!torch.list<int>"], [type_]),
    ]
    writer.add("aten.view", [x], [type_], lines, lambda a: [a.map(lambda v: v.reshape(shape))])


def transpose(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.rank >= 2)
    if rng.random() < 0.5:
        i, j = rng.sample(range(x.type.rank), 2)
        order = [*range(x.type.rank)]
        order[i], order[j] = j, i
        name = "aten.transpose.int"
        lines = [integer("i", i), integer("j", j - x.type.rank)]
        names, types = ["%~i", "%~j"], ["!torch.int"] * 2
    else:
        order = [*range(x.type.rank)]
        rng.shuffle(order)
        name = "aten.permute"
        lines, names, types = ints("p", order), ["%~p"], ["!torch.list<int>"]
    type_ = Type(
        tuple(x.type.shape[d] for d in order),
        x.type.element,
        tuple(x.type.dynamic[d] for d in order),
    )
    lines = [*lines, call(name, ["%$0", *names], [x.type.torch, *types], [type_])]
    writer.add(name, [x], [type_], lines, lambda a: [a.map(lambda v: v.transpose(order))])


def unsqueeze_expand(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: 1 <= t.rank <= 3 and t.is_static)
    dim, extent = rng.randint(0, x.type.rank), rng.choice((1, 2, 3))
    if x.type.size * extent > MOST_ELEMENTS:
        raise Unfit
    shape = [*x.type.shape]
    shape.insert(dim, 1)
    middle = Type(tuple(shape), x.type.element)
    shape[dim] = extent
    type_ = Type(tuple(shape), x.type.element)
    lines = [
        integer("d", dim),
        call(
            "aten.unsqueeze", ["%$0", "%~d"], [x.type.torch, "!torch.int"], [middle], target="%~u"
        ),
        *ints("s", shape),
        call(
            "aten.expand",
            ["%~u", "%~s", "%false"],
            [middle.torch, "!torch.list<int>", "!torch.bool"],
            [type_],
        ),
    ]
    writer.add(
        "aten.expand", [x], [type_], lines,
        lambda a: [a.map(lambda v: np.broadcast_to(np.expand_dims(v, dim), shape))],
    )  # fmt: skip


def index_select(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.rank >= 1)
    dim = rng.randrange(x.type.rank)
    count = writer.size()
    if x.type.size // x.type.shape[dim] * count > MOST_ELEMENTS:
        raise Unfit
    at = writer.integers((count,), 0, x.type.shape[dim], "i64")
    shape, dynamic = [*x.type.shape], [*x.type.dynamic]
    shape[dim], dynamic[dim] = count, at.type.dynamic[0]
    type_ = Type(tuple(shape), x.type.element, tuple(dynamic))
    lines = [
        integer("d", dim),
        call(
            "aten.index_select",
            ["%$0", "%~d", "%$1"],
            [x.type.torch, "!torch.int", at.type.torch],
            [type_],
        ),
    ]

    def compute(a: Numbers, where: Numbers) -> list[Numbers]:
        return [a.map(lambda v: np.take(v, where.data, dim))]

    writer.add("aten.index_select", [x, at], [type_], lines, compute)


def embedding(writer: Writer) -> None:
    table = writer.value(lambda t: t.rank == 2 and t.element in FLOAT and t.is_static)
    at = writer.integers((writer.rng.choice((1, 2)), writer.size()), 0, table.type.shape[0], "i64")
    type_ = Type(
        (*at.type.shape, table.type.shape[1]), table.type.element, (*at.type.dynamic, False)
    )
    if type_.size > MOST_ELEMENTS:
        raise Unfit
    lines = [
        integer("p", -1),
        call(
            "aten.embedding", ["%$0", "%$1", "%~p", "%false", "%false"],
            [table.type.torch, at.type.torch, "!torch.int", "!torch.bool", "!torch.bool"], [type_],
        ),
    ]  # fmt: skip

    def compute(a: Numbers, where: Numbers) -> list[Numbers]:
        return [a.map(lambda v: v[where.data])]

    writer.add("aten.embedding", [table, at], [type_], lines, compute)


def pad(writer: Writer) -> None:
    x = writer.value(lambda t: t.rank >= 1 and t.element in FLOAT and t.is_static)
    low, high = (writer.rng.choice((0, 1, 2)) for _ in range(2))
    shape = (*x.type.shape[:-1], x.type.shape[-1] + low + high)
    type_ = Type(shape, x.type.element)
    lines = [
        *ints("w", [low, high]),
        "%~z = torch.constant.float 1.000000e+00",
        call(
            "aten.constant_pad_nd",
            ["%$0", "%~w", "%~z"],
            [x.type.torch, "!torch.list<int>", "!torch.float"],
            [type_],
        ),
    ]
    widths = [*[(0, 0)] * (x.type.rank - 1), (low, high)]

    def compute(a: Numbers) -> list[Numbers]:
        data = np.pad(a.wide, widths, constant_values=1.0)
        return [Numbers(data.astype(a.data.dtype), np.pad(a.error, widths))]

    writer.add("aten.constant_pad_nd", [x], [type_], lines, compute)
