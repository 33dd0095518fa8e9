"""Steps that add torch's reductions."""

from __future__ import annotations

import numpy as np

from .. import scalars
from ..graph import Type
from ..linalg.reductions import softmax_of
from ..numerics import Numbers, Unfit, exactly, is_float, rounded, sums
from ..writer import Writer
from .calls import FLOAT, call, floats, integer, ints
from .elementwise import spread


def reduction(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.element in FLOAT and t.rank >= 1)
    element = x.type.element
    dims = sorted(rng.sample(range(x.type.rank), rng.choice((1, min(2, x.type.rank)))))
    keep = rng.random() < 0.5
    shape, dynamic = [*x.type.shape], [*x.type.dynamic]
    for d in reversed(dims):
        if keep:
            shape[d], dynamic[d] = 1, False
        else:
            del shape[d], dynamic[d]
    type_ = Type(tuple(shape), element, tuple(dynamic))
    name = rng.choice(("sum", "mean", "amax", "amin"))
    flag = "%true" if keep else "%false"
    op = {"sum": "aten.sum.dim_IntList", "mean": "aten.mean.dim"}.get(name, f"aten.{name}")
    extra = ["%none"] if name in ("sum", "mean") else []
    lines = [
        *ints("d", [d - (x.type.rank if rng.random() < 0.3 else 0) for d in dims]),
        call(
            op,
            ["%$0", "%~d", flag, *extra],
            [x.type.torch, "!torch.list<int>", "!torch.bool", *["!torch.none"] * len(extra)],
            [type_],
        ),
    ]
    axes = tuple(dims)

    def compute(a: Numbers) -> list[Numbers]:
        if name in ("amax", "amin"):
            pick = np.max if name == "amax" else np.min
            data = np.asarray(pick(a.wide, axes)).reshape(type_.shape)
            return [
                Numbers(
                    data.astype(a.data.dtype), np.asarray(a.error.max(axes)).reshape(type_.shape)
                )
            ]
        length = int(np.prod([x.type.shape[d] for d in dims]))
        total = sums([a], lambda v: np.asarray(v.sum(axes)).reshape(type_.shape), length, element)
        if name == "sum":
            return [total]
        count = exactly(np.array(length).astype(a.data.dtype))
        return [scalars.float_op(element, "divf")(total, spread(count, type_.shape))]

    writer.add(op, [x], [type_], lines, compute)


def softmax(writer: Writer) -> None:
    x = floats(writer, 1, 2, 3)
    rank = x.type.rank
    dim = writer.rng.choice((-1, rank - 1, 0))
    lines = [
        integer("d", dim),
        call(
            "aten.softmax.int",
            ["%$0", "%~d", "%none"],
            [x.type.torch, "!torch.int", "!torch.none"],
            [x.type],
        ),
    ]

    def compute(a: Numbers) -> list[Numbers]:
        found = softmax_of(a.map(lambda v: np.moveaxis(v, dim, -1)), x.type.element)
        return [found.map(lambda v: np.moveaxis(v, -1, dim))]

    writer.add("aten.softmax.int", [x], [x.type], lines, compute)


def layer_norm(writer: Writer) -> None:
    x = writer.value(
        lambda t: t.element == "f32" and t.rank in (2, 3) and not t.dynamic[-1] and t.shape[-1] > 1
    )
    n = x.type.shape[-1]
    w, b = (writer.shaped((n,), "f32") for _ in range(2))
    if not (w.type.is_static and b.type.is_static):
        raise Unfit
    lines = [
        *ints("n", [n]),
        "%~e = torch.constant.float 1.000000e-05",
        call(
            "aten.layer_norm", ["%$0", "%~n", "%$1", "%$2", "%~e", "%false"],
            [x.type.torch, "!torch.list<int>", w.type.torch, b.type.torch, "!torch.float", "!torch.bool"], [x.type],
        ),
    ]  # fmt: skip

    def compute(a: Numbers, scale: Numbers, shift: Numbers) -> list[Numbers]:
        mean = a.wide.mean(-1, keepdims=True)
        centered = a.wide - mean
        deviation = np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)
        value = centered / deviation * scale.wide + shift.wide
        worst = a.error.max(-1, keepdims=True) + 2.0**-22 * np.abs(a.wide).max(-1, keepdims=True)
        blur = 4 * worst / deviation * (np.abs(scale.wide) * (1 + np.abs(centered) / deviation))
        blur = (
            blur
            + scale.error * np.abs(centered) / deviation
            + shift.error
            + 2.0**-20 * np.abs(value)
        )
        return [rounded(value, blur, "f32")]

    writer.add("aten.layer_norm", [x, w, b], [x.type], lines, compute)


def cumsum(writer: Writer) -> None:
    x = writer.value(lambda t: t.element in ("f32", "i32", "i64") and t.rank >= 1)
    dim = writer.rng.randrange(x.type.rank)
    type_ = x.type if is_float(x.type.element) else x.type.with_element("i64")
    lines = [
        integer("d", dim),
        call(
            "aten.cumsum",
            ["%$0", "%~d", "%none"],
            [x.type.torch, "!torch.int", "!torch.none"],
            [type_],
        ),
    ]

    def compute(a: Numbers) -> list[Numbers]:
        return [sums([a], lambda v: np.cumsum(v, dim), x.type.shape[dim], type_.element)]

    writer.add("aten.cumsum", [x], [type_], lines, compute)


def argmax(writer: Writer) -> None:
    x = writer.value(lambda t: t.element in ("f32", "f16", "i32") and t.rank >= 1)
    dim = writer.rng.randrange(x.type.rank)
    keep = writer.rng.random() < 0.5
    shape, dynamic = [*x.type.shape], [*x.type.dynamic]
    if keep:
        shape[dim], dynamic[dim] = 1, False
    else:
        del shape[dim], dynamic[dim]
    type_ = Type(tuple(shape), "i64", tuple(dynamic))
    lines = [
        integer("d", dim),
        call(
            "aten.argmax",
            ["%$0", "%~d", "%true" if keep else "%false"],
            [x.type.torch, "!torch.int", "!torch.bool"],
            [type_],
        ),
    ]

    def compute(a: Numbers) -> list[Numbers]:
        if not a.exact:
            raise Unfit
        # Which of several equal ones PyTorch does not say; IREE takes the first.
        return [exactly(np.asarray(a.wide.argmax(dim)).reshape(type_.shape).astype(np.int64))]

    writer.add("aten.argmax", [x], [type_], lines, compute)


def topk(writer: Writer) -> None:
    x = writer.value(lambda t: t.element == "f32" and t.rank in (1, 2) and t.is_static)
    k = writer.rng.randint(1, min(4, x.type.shape[-1]))
    values = Type((*x.type.shape[:-1], k), "f32")
    lines = [
        integer("k", k),
        integer("d", -1),
        f"%~v, %~i = torch.aten.topk %$0, %~k, %~d, %true, %true : {x.type.torch}, !torch.int, !torch.int, "
        f"!torch.bool, !torch.bool -> {values.torch}, {values.with_element('i64').torch}",
        integer("z", 0),
        call("aten.clone", ["%~v", "%none"], [values.torch, "!torch.none"], [values]),
    ]

    def compute(a: Numbers) -> list[Numbers]:
        if not a.exact:
            raise Unfit
        return [a.map(lambda v: -np.sort(-v, -1)[..., :k])]

    writer.add("aten.topk", [x], [values], lines, compute)
