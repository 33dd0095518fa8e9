"""Steps that add torch ops, as torch-mlir writes them, to a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from headrace.compiler.iree.element_types import Array

from . import scalars
from .contractions import softmax_of, windows
from .graph import Type, Value
from .numerics import (
    FLOATS,
    FP8,
    Numbers,
    Unfit,
    converted,
    exactly,
    function,
    is_float,
    ordered,
    rounded,
    sums,
)
from .writer import MOST_ELEMENTS, Writer

# PyTorch's numbers of its types.
CODES = {
    "i8": 1, "i16": 2, "i32": 3, "i64": 4, "f16": 5, "f32": 6, "f64": 7, "i1": 11, "bf16": 15,
    "f8E5M2": 23, "f8E4M3FN": 24,
}  # fmt: skip
_FLOAT = FLOATS[:3]


def ints(name: str, values: Sequence[int]) -> list[str]:
    """Defines ``%~name``: a list of integers."""
    parts = [f"%~{name}{i}" for i in range(len(values))]
    lines = [f"{p} = torch.constant.int {v}" for p, v in zip(parts, values, strict=True)]
    types = ", ".join(["!torch.int"] * len(values))
    listed = (
        f"torch.prim.ListConstruct {', '.join(parts)}" if values else "torch.prim.ListConstruct"
    )
    return [*lines, f"%~{name} = {listed} : ({types}) -> !torch.list<int>"]


def integer(name: str, value: int) -> str:
    return f"%~{name} = torch.constant.int {value}"


_NONE = {"%none": "!torch.none", "%true": "!torch.bool", "%false": "!torch.bool"}


def call(
    op: str,
    operands: Sequence[str],
    types: Sequence[str],
    results: Sequence[Type],
    target: str = "%=",
) -> str:
    """One op. Types of operands by name, where not given as ``None``."""
    shown = [*types]
    many = f":{len(results)}" if len(results) > 1 else ""
    made = ", ".join(r.torch for r in results)
    return f"{target}{many} = torch.{op} {', '.join(operands)} : {', '.join(shown)} -> {made}"


def _floats(writer: Writer, *ranks: int) -> Value:
    return writer.value(lambda t: t.element in _FLOAT and (not ranks or t.rank in ranks))


# --- elementwise ---

_UNARY: dict[str, tuple[Callable[[Array], Array], float]] = {
    "aten.exp": (np.exp, 0.0),
    "aten.tanh": (np.tanh, 2.0**-4),
    "aten.sigmoid": (lambda x: 1 / (1 + np.exp(-x)), 2.0**-2),
    "aten.erf": (lambda x: np.vectorize(math.erf, otypes=[np.float64])(x), 1.0),
}


def unary(writer: Writer) -> None:
    rng = writer.rng
    x = _floats(writer)
    element = x.type.element
    if writer.exact:
        name = rng.choice(
            ("aten.relu", "aten.neg", "aten.abs", "aten.floor", "aten.ceil", "aten.round")
        )
        of: Callable[[Array], Array] = {
            "aten.relu": lambda a: np.maximum(a, 0), "aten.neg": np.negative, "aten.abs": np.abs,
            "aten.floor": np.floor, "aten.ceil": np.ceil, "aten.round": np.rint,
        }[name]  # fmt: skip

        def exact(a: Numbers) -> list[Numbers]:
            if name in ("aten.floor", "aten.ceil", "aten.round") and not a.exact:
                raise Unfit
            return [Numbers(of(a.wide).astype(a.data.dtype), a.error)]

        line = call(name, ["%$0"], [x.type.torch], [x.type])
        writer.add(name, [x], [x.type], [line], exact)
        return
    name = rng.choice([*_UNARY])
    f, least = _UNARY[name]
    writer.add(
        name, [x], [x.type], [call(name, ["%$0"], [x.type.torch], [x.type])],
        lambda a: [function(f, a, element, least=least)],
    )  # fmt: skip


def gelu(writer: Writer) -> None:
    x = _floats(writer)
    element = x.type.element
    kind = writer.rng.choice(("none", "tanh"))
    lines = [
        f'%~k = torch.constant.str "{kind}"',
        call("aten.gelu", ["%$0", "%~k"], [x.type.torch, "!torch.str"], [x.type]),
    ]

    def of(a: Array) -> Array:
        if kind == "none":
            return a / 2 * (1 + np.vectorize(math.erf, otypes=[np.float64])(a / math.sqrt(2)))
        return a / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))

    def compute(a: Numbers) -> list[Numbers]:
        # Its steps are rounded to the format one by one.
        value = of(a.wide)
        blur = 1.2 * a.error + 8 * np.spacing(np.float32(1)) * np.abs(a.wide)
        if kind == "tanh":  # torch-mlir has 0.797724 for sqrt(2 / pi)
            blur = blur + 2.0**-12 * np.abs(a.wide)
        if element != "f32":
            blur = blur + 4 * 2.0 ** (-7 if element == "bf16" else -10) * np.maximum(
                np.abs(a.wide), 2.0**-6
            )
        return [rounded(value, blur, element)]

    writer.add("aten.gelu", [x], [x.type], lines, compute)


def silu(writer: Writer) -> None:
    x = _floats(writer)
    element = x.type.element

    def compute(a: Numbers) -> list[Numbers]:
        gate = function(lambda v: 1 / (1 + np.exp(-v)), a, element, least=0.25)
        return [scalars.float_op(element, "mulf")(a, gate)]

    line = call("aten.silu", ["%$0"], [x.type.torch], [x.type])
    writer.add("aten.silu", [x], [x.type], [line], compute)


def binary(writer: Writer) -> None:
    """Of two tensors, one of them broadcast at times."""
    rng = writer.rng
    x = writer.value(lambda t: t.element in (*_FLOAT, "i32", "i64") and t.rank >= 1)
    element = x.type.element
    kept = rng.randint(0, x.type.rank)
    shape = [1 if rng.random() < 0.2 else s for s in x.type.shape[x.type.rank - kept :]]
    y = writer.shaped(shape, element)
    # torch-mlir asks for a broadcast that it can see.
    if any(y.type.dynamic) or (
        x.type.dynamic != (False,) * x.type.rank and kept and y.type.shape != (1,) * kept
    ):
        same = y.type.dynamic == x.type.dynamic and y.type.shape == x.type.shape
        if not same:
            raise Unfit
    name = rng.choice(("add", "sub", "mul", "maximum", "minimum"))
    scaled = name in ("add", "sub")
    op = {"maximum": "aten.maximum", "minimum": "aten.minimum"}.get(name, f"aten.{name}.Tensor")
    lines = [
        integer("o", 1),
        call(
            op, ["%$0", "%$1", *(["%~o"] if scaled else [])],
            [x.type.torch, y.type.torch, *(["!torch.int"] if scaled else [])], [x.type],
        ),
    ]  # fmt: skip
    _binary(writer, op, x, y, name, lines)


def _binary(writer: Writer, op: str, x: Value, y: Value, name: str, lines: list[str]) -> None:
    element = x.type.element
    if is_float(element):
        name = {"maximum": "maximumf", "minimum": "minimumf"}.get(name, f"{name}f")
        apply = scalars.float_op(element, name)
    else:
        body = scalars.Scalars([element, element])
        scalars.integer_binary(
            body, 0, 1, {"maximum": "maxsi", "minimum": "minsi"}.get(name, f"{name}i")
        )
        apply = body.steps[0][0]

    def compute(a: Numbers, b: Numbers) -> list[Numbers]:
        found = apply(*(_spread(v, x.type.shape) for v in (a, b)))
        return [_spread(found, x.type.shape)]

    writer.add(op, [x, y], [x.type], lines, compute)


def _spread(x: Numbers, shape: Sequence[int]) -> Numbers:
    return x.map(lambda a: np.broadcast_to(a, tuple(shape)))


def scalar_binary(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.element in (*_FLOAT, "i32", "i64"))
    element = x.type.element
    name = rng.choice(("add", "sub", "mul"))
    value = rng.choice((0.5, 2.0, -1.0)) if is_float(element) else rng.choice((1, 2, -3))
    scaled = name in ("add", "sub")
    kind = "float" if is_float(element) else "int"
    lines = [
        f"%~s = torch.constant.{kind} {f'{value:e}' if is_float(element) else value}",
        integer("o", 1),
        call(
            f"aten.{name}.Scalar", ["%$0", "%~s", *(["%~o"] if scaled else [])],
            [x.type.torch, f"!torch.{kind}", *(["!torch.int"] if scaled else [])], [x.type],
        ),
    ]  # fmt: skip
    body = scalars.Scalars([element])
    other = body.constant(value, element)
    if is_float(element):
        body.add("", element, (0, other), scalars.float_op(element, f"{name}f"))
    else:
        scalars.integer_binary(body, 0, other, f"{name}i")
    writer.add(
        f"aten.{name}.Scalar",
        [x],
        [x.type],
        lines,
        lambda a: [_spread(body.run([a])[-1], x.type.shape)],
    )


def clamp(writer: Writer) -> None:
    x = _floats(writer)
    low, high = -1.0, writer.rng.choice((1.0, 448.0))
    lines = [
        f"%~l = torch.constant.float {low:e}",
        f"%~h = torch.constant.float {high:e}",
        call(
            "aten.clamp",
            ["%$0", "%~l", "%~h"],
            [x.type.torch, "!torch.float", "!torch.float"],
            [x.type],
        ),
    ]
    writer.add(
        "aten.clamp", [x], [x.type], lines,
        lambda a: [Numbers(np.clip(a.wide, low, high).astype(a.data.dtype), a.error)],
    )  # fmt: skip


def compare_where(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.element in (*_FLOAT, "i32", "i64") and t.is_static)
    y, z = (writer.shaped(x.type.shape, x.type.element, new=0.3) for _ in range(2))
    if not (y.type.is_static and z.type.is_static):
        raise Unfit
    name = rng.choice(("gt", "lt", "ge", "eq"))
    of = {"gt": np.greater, "lt": np.less, "ge": np.greater_equal, "eq": np.equal}[name]
    flags = x.type.with_element("i1")
    lines = [
        call(
            f"aten.{name}.Tensor",
            ["%$0", "%$1"],
            [x.type.torch, y.type.torch],
            [flags],
            target="%~c",
        ),
        call(
            "aten.where.self",
            ["%~c", "%$0", "%$2"],
            [flags.torch, x.type.torch, z.type.torch],
            [x.type],
        ),
    ]

    def compute(a: Numbers, b: Numbers, c: Numbers) -> list[Numbers]:
        ordered(a.wide - b.wide, a.error + b.error)
        pick = of(a.data, b.data)
        return [Numbers(np.where(pick, a.data, c.data), np.where(pick, a.error, c.error))]

    writer.add(f"aten.{name} aten.where", [x, y, z], [x.type], lines, compute)


def to_dtype(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value()
    element = rng.choice([e for e in (*_FLOAT, *FP8, "i32", "i64", "i8") if e != x.type.element])
    if element in FP8 and not is_float(x.type.element):
        raise Unfit
    type_ = x.type.with_element(element)
    lines = [
        integer("d", CODES[element]),
        call("prims.convert_element_type", ["%$0", "%~d"], [x.type.torch, "!torch.int"], [type_]),
    ]
    if rng.random() < 0.5:
        lines[1] = call(
            "aten.to.dtype", ["%$0", "%~d", "%false", "%false", "%none"],
            [x.type.torch, "!torch.int", "!torch.bool", "!torch.bool", "!torch.none"], [type_],
        )  # fmt: skip
    writer.add("to.dtype", [x], [type_], lines, lambda a: [converted(a, x.type.element, element)])


# --- products ---


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
            total = scalars.float_op(element, "addf")(total, _spread(c[0], type_.shape))
        return [total]

    writer.add(op, operands, [type_], [*lines, text], compute)


def mm(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.element in _FLOAT and t.rank in (2, 3))
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
    x = writer.value(lambda t: t.element in _FLOAT and t.rank in (2, 3))
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


# --- reductions ---


def reduction(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.element in _FLOAT and t.rank >= 1)
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
        return [scalars.float_op(element, "divf")(total, _spread(count, type_.shape))]

    writer.add(op, [x], [type_], lines, compute)


def softmax(writer: Writer) -> None:
    x = _floats(writer, 1, 2, 3)
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


# --- movement ---


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
    table = writer.value(lambda t: t.rank == 2 and t.element in _FLOAT and t.is_static)
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
    x = writer.value(lambda t: t.rank >= 1 and t.element in _FLOAT and t.is_static)
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


TORCH = (
    unary, unary, gelu, silu, binary, binary, binary, scalar_binary, clamp, compare_where, to_dtype, to_dtype,
    mm, mm, mm, linear, linear, conv2d, max_pool, attention, reduction, reduction, softmax, layer_norm,
    cumsum, argmax, topk, cat, slice_, slice_, view, view, transpose, transpose, unsqueeze_expand,
    index_select, embedding, pad,
)  # fmt: skip
