"""Steps that add torch's products, convolutions and attention."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from headrace.compiler.iree.element_types import Array

from .. import scalars
from ..graph import Type, Value
from ..linalg.windows import windows
from ..numerics import Numbers, Unfit, is_float, rounded, sums
from ..writer import MOST_ELEMENTS, Writer
from .calls import FLOAT, call, integer, ints
from .elementwise import spread


def _product(
    writer: Writer, op: str, operands: Sequence[Value], equation: str, type_: Type, length: int,
    lines: Sequence[str] = (), extra: Sequence[tuple[str, str]] = (), bias: bool = False,
) -> None:  # fmt: skip
    """``bias``: the last operand is added to the result."""
    element = type_.element
    names = [f"%${i}" for i in range(len(operands))]
    types = [o.type.torch for o in operands]
    if op == "aten.addmm":
        names, types = [names[2], *names[:2]], [types[2], *types[:2]]
    text = call(op, [*names, *(n for n, _ in extra)], [*types, *(t for _, t in extra)], [type_])

    def compute(a: Numbers, b: Numbers, *c: Numbers) -> list[Numbers]:
        total = sums(
            [a, b],
            lambda p, q: np.asarray(np.einsum(equation, p, q)),
            length,
            element if not is_float(element) else "f32",
        )
        total = rounded(total.wide, total.error, element) if is_float(element) else total
        if bias:
            total = scalars.float_op(element, "addf")(total, spread(c[0], type_.shape))
        return [total]

    writer.add(op, operands, [type_], [*lines, text], compute)


def mm(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.element in FLOAT and t.rank in (2, 3))
    element = x.type.element
    if x.type.rank == 3:
        b, m, k = x.type.shape
        n = writer.size()
        if b * m * n > MOST_ELEMENTS or x.type.dynamic[2] or x.type.dynamic[0]:
            raise Unfit
        y = writer.shaped((b, k, n), element, new=0.6)
        if y.type.dynamic[0] or y.type.dynamic[1]:
            raise Unfit
        op = rng.choice(("aten.bmm", "aten.matmul"))
        type_ = Type((b, m, n), element, (False, x.type.dynamic[1], y.type.dynamic[2]))
        _product(writer, op, [x, y], "bmk,bkn->bmn", type_, k)
        return
    m, k = x.type.shape
    n = writer.size()
    if m * n > MOST_ELEMENTS or x.type.dynamic[1]:
        raise Unfit
    y = writer.shaped((k, n), element, new=0.6)
    if y.type.dynamic[0]:
        raise Unfit
    type_ = Type((m, n), element, (x.type.dynamic[0], y.type.dynamic[1]))
    op = rng.choice(("aten.mm", "aten.mm", "aten.matmul", "aten.addmm"))
    if op == "aten.addmm":
        c = writer.shaped((n,), element)
        if not (c.type.is_static and y.type.is_static):
            raise Unfit
        lines = [integer("o", 1)]
        extra = [("%~o", "!torch.int")] * 2
        _product(writer, op, [x, y, c], "mk,kn->mn", type_, k, lines, extra, bias=True)
        return
    _product(writer, op, [x, y], "mk,kn->mn", type_, k)


def linear(writer: Writer) -> None:
    x = writer.value(lambda t: t.element in FLOAT and t.rank in (2, 3))
    k, n = x.type.shape[-1], writer.size()
    if x.type.size // k * n > MOST_ELEMENTS or x.type.dynamic[-1]:
        raise Unfit
    w = writer.make(Type((n, k), x.type.element))
    shape = (*x.type.shape[:-1], n)
    type_ = Type(shape, x.type.element, (*x.type.dynamic[:-1], False))
    operands = [x, w]
    bias = writer.rng.random() < 0.5
    extra = [] if bias else [("%none", "!torch.none")]
    if bias:
        operands.append(writer.make(Type((n,), x.type.element)))
    letters = "abc"[: x.type.rank - 1]
    _product(
        writer, "aten.linear", operands, f"{letters}k,nk->{letters}n", type_, k, (), extra, bias
    )


def conv2d(writer: Writer) -> None:
    rng = writer.rng
    element = rng.choice(("f32", "f32", "bf16", "f16"))
    n, c, f = (rng.choice((1, 2, 3, 8)) for _ in range(3))
    window = [rng.choice((1, 2, 3)) for _ in range(2)]
    stride, dilation = ([rng.choice((1, 1, 2)) for _ in range(2)] for _ in range(2))
    padding = [rng.choice((0, 0, 1)) for _ in range(2)]
    image = [
        (w - 1) * d + 1 + s * rng.randint(0, 5)
        for w, d, s in zip(window, dilation, stride, strict=True)
    ]
    x = writer.shaped((n, c, *image), element)
    if any(x.type.dynamic[1:]):
        raise Unfit
    w = writer.make(Type((f, c, *window), element))
    out = [
        (i + 2 * p - (k - 1) * d - 1) // s + 1
        for i, p, k, d, s in zip(image, padding, window, dilation, stride, strict=True)
    ]
    type_ = Type((n, f, *out), element, (x.type.dynamic[0], False, False, False))
    lines = [
        *ints("s", stride), *ints("p", padding), *ints("d", dilation), integer("g", 1),
        call(
            "aten.conv2d", ["%$0", "%$1", "%none", "%~s", "%~p", "%~d", "%~g"],
            [x.type.torch, w.type.torch, "!torch.none", *["!torch.list<int>"] * 3, "!torch.int"], [type_],
        ),
    ]  # fmt: skip

    def add_up(p: Array, q: Array) -> Array:
        padded = np.pad(p, [(0, 0), (0, 0), *((v, v) for v in padding)])
        spread = windows(padded, window, stride, dilation, (2, 3))
        return np.asarray(np.einsum("nchwst,fcst->nfhw", spread, q))

    def compute(a: Numbers, b: Numbers) -> list[Numbers]:
        total = sums([a, b], add_up, c * window[0] * window[1], "f32")
        return [rounded(total.wide, total.error, element)]

    writer.add("aten.conv2d", [x, w], [type_], lines, compute)


def max_pool(writer: Writer) -> None:
    rng = writer.rng
    element = rng.choice(("f32", "f16", "bf16"))
    window, stride = ([rng.choice((1, 2, 3)) for _ in range(2)] for _ in range(2))
    padding = [min(rng.choice((0, 0, 1)), w // 2) for w in window]
    image = [w + s * rng.randint(0, 5) for w, s in zip(window, stride, strict=True)]
    x = writer.shaped((rng.choice((1, 2)), rng.choice((1, 3)), *image), element)
    if any(x.type.dynamic[1:]):
        raise Unfit
    out = [
        (i + 2 * p - w) // s + 1 for i, p, w, s in zip(image, padding, window, stride, strict=True)
    ]
    type_ = Type((*x.type.shape[:2], *out), element, x.type.dynamic)
    lines = [
        *ints("k", window), *ints("s", stride), *ints("p", padding), *ints("d", [1, 1]),
        call(
            "aten.max_pool2d", ["%$0", "%~k", "%~s", "%~p", "%~d", "%false"],
            [x.type.torch, *["!torch.list<int>"] * 4, "!torch.bool"], [type_],
        ),
    ]  # fmt: skip

    def compute(a: Numbers) -> list[Numbers]:
        widths = [(0, 0), (0, 0), *((v, v) for v in padding)]
        wide = windows(
            np.pad(a.wide, widths, constant_values=-np.inf), window, stride, [1, 1], (2, 3)
        )
        error = windows(np.pad(a.error, widths), window, stride, [1, 1], (2, 3))
        return [Numbers(wide.max((-2, -1)).astype(a.data.dtype), np.asarray(error.max((-2, -1))))]

    writer.add("aten.max_pool2d", [x], [type_], lines, compute)


def attention(writer: Writer) -> None:
    """Scaled dot product attention, with or without a mask."""
    rng = writer.rng
    element = rng.choice(("f32", "f32", "f16", "bf16"))
    b, h, length, keys, d = (
        rng.choice((1, 2)),
        rng.choice((1, 3)),
        rng.choice((1, 4, 7, 16)),
        rng.choice((1, 5, 16)),
        rng.choice((4, 8, 16)),
    )
    causal = rng.random() < 0.3
    if causal:
        keys = length
    q = writer.make(Type((b, h, length, d), element))
    k, v = (writer.make(Type((b, h, keys, d), element)) for _ in range(2))
    lines = [
        "%~p = torch.constant.float 0.0",
        call(
            "aten.scaled_dot_product_attention",
            ["%$0", "%$1", "%$2", "%none", "%~p", "%true" if causal else "%false", "%none", "%false"],
            [*[t.type.torch for t in (q, k, v)], "!torch.none", "!torch.float", "!torch.bool", "!torch.none", "!torch.bool"],
            [q.type],
        ),
    ]  # fmt: skip

    def compute(x: Numbers, y: Numbers, z: Numbers) -> list[Numbers]:
        scores = np.einsum("bhld,bhkd->bhlk", x.wide, y.wide) / math.sqrt(d)
        if causal:
            scores = np.where(np.tril(np.ones((length, keys), bool)), scores, -np.inf)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        weights = powers / powers.sum(-1, keepdims=True)
        value = np.einsum("bhlk,bhkd->bhld", weights, z.wide)
        size = np.einsum("bhlk,bhkd->bhld", weights, np.abs(z.wide))
        if not (x.exact and y.exact and z.exact):
            raise Unfit
        # Scores and weights are held in the format.
        unit = {"f32": 2.0**-18, "f16": 2.0**-10, "bf16": 2.0**-7}[element]
        blur = 2 * unit * size * (2 + np.abs(np.where(np.isfinite(scores), scores, 0)).max())
        return [rounded(value, blur, element)]

    writer.add("aten.scaled_dot_product_attention", [q, k, v], [q.type], lines, compute)
