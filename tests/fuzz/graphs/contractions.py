"""Steps that add matmuls, convolutions, reductions and what is built of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from headrace.compiler.iree.element_types import Array

from . import scalars
from .graph import Type, Value
from .linalg_text import dims_map, empty, fill, ins, kinds, zero
from .numerics import (
    FLOATS,
    FP8,
    INTEGERS,
    Numbers,
    Unfit,
    exactly,
    function,
    is_float,
    ordered,
    sums,
)
from .writer import MOST_ELEMENTS, Writer


def _accumulator(writer: Writer, element: str) -> str:
    if element == "i8":
        return "i32"
    if element in ("bf16", "f16", *FP8):
        return writer.rng.choice(("f32", "f32", element)) if element not in FP8 else "f32"
    return element


def _operands(writer: Writer, lhs: Sequence[int], rhs: Sequence[int], element: str) -> list[Value]:
    return [writer.shaped(lhs, element), writer.shaped(rhs, element, new=0.6)]


def _first(writer: Writer, ranks: Sequence[int]) -> Value:
    return writer.value(lambda t: t.rank in ranks and t.element in (*FLOATS[:3], *FP8, "i8", "i32"))


def _start(
    writer: Writer, type_: Type, operands: list[Value], sources: Sequence[tuple[int, int]]
) -> tuple[list[str], str]:
    """Zeros to add to, or now and then a value that there is."""
    if writer.rng.random() < 0.2 and type_.is_static:
        given = writer.shaped(type_.shape, type_.element, new=0.3)
        if given.type.is_static:
            operands.append(given)
            return [], f"%${len(operands) - 1}"
    lines = empty("e", type_, operands, sources)
    return [*lines, *fill("f", "e", zero(type_.element), type_)], "%~f"


_MATMULS = {
    # Name: maps of lhs, rhs and result over (m, n, k), with b before them where batched.
    "linalg.matmul": ("mk", "kn", "mn"),
    "linalg.matmul transpose_a": ("km", "kn", "mn"),
    "linalg.matmul transpose_b": ("mk", "nk", "mn"),
    "linalg.batch_matmul": ("bmk", "bkn", "bmn"),
    "linalg.batch_matmul transpose_b": ("bmk", "bnk", "bmn"),
    "linalg.matvec": ("mk", "k", "m"),
    "linalg.vecmat": ("k", "kn", "n"),
    "linalg.batch_matvec": ("bmk", "bk", "bm"),
    "linalg.dot": ("k", "k", ""),
    "linalg.contract": ("mk", "kn", "nm"),
    "linalg.contract batch": ("bmk", "kn", "bmn"),
    "linalg.contract two": ("mkl", "nlk", "mn"),
    "generic heads": ("bmhk", "bnhk", "bhmn"),
    "generic sum": ("mk", "mk", "m"),
    "generic outer": ("m", "n", "mn"),
}


def matmul(writer: Writer) -> None:
    rng = writer.rng
    name = rng.choice([*_MATMULS, *[n for n in _MATMULS if "linalg.matmul" in n] * 2])
    lhs, rhs, out = _MATMULS[name]
    a = _first(writer, (len(lhs),))
    extents = dict(zip(lhs, a.type.shape, strict=True))
    for letter in rhs:
        extents.setdefault(letter, writer.size())
    if np.prod([extents[d] for d in out]) > MOST_ELEMENTS or np.prod([*extents.values()]) > 1 << 18:
        raise Unfit
    b = writer.shaped([extents[d] for d in rhs], a.type.element, new=0.6)
    if name == "linalg.dot" and rng.random() < 0.2:
        b = a
    contraction(writer, name, [a, b], (lhs, rhs, out), extents)


def contraction(
    writer: Writer,
    name: str,
    operands: list[Value],
    letters: tuple[str, str, str],
    extents: dict[str, int],
) -> Value:
    lhs, rhs, out = letters
    a, b = operands
    accumulator = _accumulator(writer, a.type.element)
    unknown = {
        d: all(o.type.dynamic[x.index(d)] for o, x in ((a, lhs), (b, rhs)) if d in x)
        for d in extents
    }
    type_ = Type(tuple(extents[d] for d in out), accumulator, tuple(unknown[d] for d in out))
    sources = [(0, lhs.index(d)) if d in lhs else (1, rhs.index(d)) for d in out]
    operands = [*operands]
    lines, start = _start(writer, type_, operands, sources)
    loops = [*out, *[d for d in dict.fromkeys(lhs + rhs) if d not in out]]
    if (
        name.startswith("linalg")
        and "batch" not in name
        and "two" not in name
        and "transpose" not in name
    ):
        loops = sorted(loops, key="bmnkl".index)
    maps = ", ".join(dims_map(len(loops), [loops.index(d) for d in x]) for x in (lhs, rhs, out))
    op, _, variant = name.partition(" ")
    if op == "generic":
        mul, add = ("mulf", "addf") if is_float(accumulator) else ("muli", "addi")
        body = scalars.Scalars([a.type.element, b.type.element])
        ends = [scalars.convert(body, i, accumulator) for i in range(2)]
        reduced = len(loops) - len(out)
        lines += [
            f"%= = linalg.generic {{indexing_maps = [{maps}], iterator_types = {kinds(len(out), reduced)}}} "
            f"{ins([a, b])} outs({start} : {type_}) {{",
            f"^bb0(%s0: {a.type.element}, %s1: {b.type.element}, %o: {accumulator}):",
            *(f"  {line}" for line in body.lines),
            f"  %p = arith.{mul} {body.name(ends[0])}, {body.name(ends[1])} : {accumulator}",
            f"  %q = arith.{add} %o, %p : {accumulator}",
            f"  linalg.yield %q : {accumulator}",
            f"}} -> {type_}",
        ]
    else:
        shown = (
            f" indexing_maps = [{maps}]"
            if variant.startswith("transpose") or op == "linalg.contract"
            else ""
        )
        lines.append(f"%= = {op}{shown} {ins([a, b])} outs({start} : {type_}) -> {type_}")
    length = int(np.prod([extents[d] for d in loops if d not in out]))
    equation = f"{lhs},{rhs}->{out}"

    def compute(x: Numbers, y: Numbers, *start: Numbers) -> list[Numbers]:
        def add_up(p: Array, q: Array) -> Array:
            return np.asarray(np.einsum(equation, p, q))

        return [sums([x, y], add_up, length, accumulator, *start)]

    return writer.add(name, operands, [type_], lines, compute)[0]


def matmul_family(writer: Writer) -> None:
    """A value times one, two or three weights, the results bound together, and
    read elsewhere: what encodings are fused over."""
    rng = writer.rng
    a = writer.value(lambda t: t.rank == 2 and t.element in (*FLOATS[:3], "i8"))
    m, k = a.type.shape
    for _ in range(rng.choice((1, 2, 3))):
        n = writer.size()
        if m * n > MOST_ELEMENTS:
            raise Unfit
        b = writer.shaped((k, n), a.type.element, new=0.9)
        extents = {"m": m, "n": n, "k": k}
        contraction(writer, "linalg.matmul", [a, b], ("mk", "kn", "mn"), extents)


def scaled_matmul(writer: Writer) -> None:
    """fp8 values with scales, decoded and multiplied."""
    rng = writer.rng
    m, n, k = (writer.size() for _ in range(3))
    element, wide = rng.choice(FP8), rng.choice(("f32", "bf16"))
    if m * n > MOST_ELEMENTS:
        raise Unfit
    decoded: list[Value] = []
    for shape in ((m, k), (k, n)):
        codes = writer.shaped(shape, element)
        scale = writer.shaped((), wide, new=0.5)
        type_ = Type(shape, wide, codes.type.dynamic)
        lines = [
            *empty("e", type_, [codes], [(0, 0), (0, 1)]),
            f"%= = linalg.generic {{indexing_maps = [{dims_map(2, (0, 1))}, {dims_map(2, ())}, {dims_map(2, (0, 1))}], "
            f"iterator_types = {kinds(2)}}} {ins([codes, scale])} outs(%~e : {type_}) {{",
            f"^bb0(%q: {element}, %s: {wide}, %o: {wide}):",
            f"  %x = arith.extf %q : {element} to {wide}",
            f"  %y = arith.mulf %x, %s : {wide}",
            f"  linalg.yield %y : {wide}",
            f"}} -> {type_}",
        ]

        def compute(q: Numbers, s: Numbers, wide: str = wide) -> list[Numbers]:
            return [scalars.float_op(wide, "mulf")(q, s)]

        decoded += writer.add("dequantize", [codes, scale], [type_], lines, compute)
    extents = {"m": m, "n": n, "k": k}
    contraction(writer, "linalg.matmul", decoded, ("mk", "kn", "mn"), extents)


def quantized_matmul(writer: Writer) -> None:
    """i8 with zero points."""
    rng = writer.rng
    a = writer.value(lambda t: t.rank == 2 and t.element == "i8")
    m, k = a.type.shape
    n = writer.size()
    b = writer.shaped((k, n), "i8")
    points = [rng.randint(-5, 5) for _ in range(2)]
    type_ = Type((m, n), "i32", (a.type.dynamic[0], b.type.dynamic[1]))
    lines = [
        *(f"%~p{i} = arith.constant {p} : i32" for i, p in enumerate(points)),
        *empty("e", type_, [a, b], [(0, 0), (1, 1)]),
        *fill("f", "e", "0", type_),
        f"%= = linalg.quantized_matmul ins(%$0, %$1, %~p0, %~p1 : {a.type}, {b.type}, i32, i32) "
        f"outs(%~f : {type_}) -> {type_}",
    ]

    def compute(x: Numbers, y: Numbers) -> list[Numbers]:
        left, right = (v.data.astype(np.int64) - p for v, p in zip((x, y), points, strict=True))
        return [exactly((left @ right).astype(np.int32))]

    writer.add("linalg.quantized_matmul", [a, b], [type_], lines, compute)


# --- windows ---


def windows(
    x: Array,
    extents: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    axes: Sequence[int],
) -> Array:
    """``x`` with one more dimension per axis at its end: the places of a window."""
    span = [(e - 1) * d + 1 for e, d in zip(extents, dilations, strict=True)]
    found = np.lib.stride_tricks.sliding_window_view(x, span, tuple(axes))
    picks = [slice(None)] * found.ndim
    for axis, stride in zip(axes, strides, strict=True):
        picks[axis] = slice(None, None, stride)
    for position, dilation in enumerate(dilations):
        picks[x.ndim + position] = slice(None, None, dilation)
    return found[tuple(picks)]


_CONVS = {
    # Layouts of image, filter and result; letters as in einsum, s and t the window.
    "linalg.conv_2d_nhwc_hwcf": ("nhwc", "stcf", "nhwf"),
    "linalg.conv_2d_nhwc_fhwc": ("nhwc", "fstc", "nhwf"),
    "linalg.conv_2d_nchw_fchw": ("nchw", "fcst", "nfhw"),
    "linalg.depthwise_conv_2d_nhwc_hwc": ("nhwc", "stc", "nhwc"),
    "linalg.depthwise_conv_2d_nchw_chw": ("nchw", "cst", "nchw"),
    "linalg.conv_1d_nwc_wcf": ("nwc", "tcf", "nwf"),
    "linalg.conv_1d_ncw_fcw": ("ncw", "fct", "nfw"),
}


def convolution(writer: Writer) -> None:
    rng = writer.rng
    name = rng.choice([*_CONVS])
    image, kernel, out = _CONVS[name]
    element = rng.choice([e for e in (writer.element, "f32", "i8") if e in (*FLOATS[:3], "i8")])
    extents = {d: rng.choice((1, 2, 3, 5, 8)) for d in "ncf"}
    extents |= {"s": rng.choice((1, 2, 3)), "t": rng.choice((1, 2, 3))}
    axes = [d for d in "hw" if d in image]
    window = {"h": "s", "w": "t"}
    strides, dilations = ({d: rng.choice((1, 1, 2)) for d in axes} for _ in range(2))
    for d in axes:
        # Now and then wider than the last window reaches.
        span = (extents[window[d]] - 1) * dilations[d] + 1
        extents[d] = span + strides[d] * rng.randint(0, 6) + rng.randint(0, strides[d] - 1)
    shape = [extents[d] for d in image]
    x = writer.shaped(shape, element)
    if any(x.type.dynamic[1:]):
        raise Unfit
    w = writer.shaped([extents[d] for d in kernel], element, new=0.9)
    if not w.type.is_static:
        raise Unfit
    result = {
        d: (extents[d] - (extents[window[d]] - 1) * dilations[d] - 1) // strides[d] + 1
        if d in axes
        else extents[d]
        for d in out
    }
    accumulator = _accumulator(writer, element)
    type_ = Type(
        tuple(result[d] for d in out), accumulator, (x.type.dynamic[0], *[False] * (len(out) - 1))
    )
    operands = [x, w]
    lines, start = _start(writer, type_, operands, [(0, 0)] * len(out))
    n = len(axes)
    attributes = ", ".join(
        f"{k} = dense<[{', '.join(str(v[d]) for d in axes)}]> : tensor<{n}xi64>"
        for k, v in (("dilations", dilations), ("strides", strides))
    )
    lines.append(f"%= = {name} {{{attributes}}} {ins([x, w])} outs({start} : {type_}) -> {type_}")
    spots = "".join(window[d] for d in axes)
    equation = f"{image}{spots},{kernel}->{out}"
    summed = [d for d in dict.fromkeys(image + kernel) if d not in out]
    length = int(np.prod([extents[d] for d in summed if d not in axes]))

    def compute(image_numbers: Numbers, kernel_numbers: Numbers, *start: Numbers) -> list[Numbers]:
        def add_up(p: Array, q: Array) -> Array:
            spread = windows(
                p, [extents[window[d]] for d in axes], [strides[d] for d in axes],
                [dilations[d] for d in axes], [image.index(d) for d in axes],
            )  # fmt: skip
            return np.asarray(np.einsum(equation, spread, q))

        return [sums([image_numbers, kernel_numbers], add_up, length, accumulator, *start)]

    writer.add(name, operands, [type_], lines, compute)


_POOLS = (
    "linalg.pooling_nhwc_sum",
    "linalg.pooling_nhwc_max",
    "linalg.pooling_nhwc_min",
    "linalg.pooling_nchw_max",
    "linalg.pooling_nchw_sum",
)


def pooling(writer: Writer) -> None:
    rng = writer.rng
    name = rng.choice(_POOLS)
    element = rng.choice(
        [e for e in (writer.element, "f32", "i32") if e in (*FLOATS[:3], "i32", "i8")]
    )
    axes = (1, 2) if "nhwc" in name else (2, 3)
    extents, strides = ([rng.choice((1, 2, 3)) for _ in range(2)] for _ in range(2))
    dilations = [rng.choice((1, 1, 2)) for _ in range(2)]
    shape = [rng.choice((1, 2, 3, 8)) for _ in range(4)]
    for i, axis in enumerate(axes):
        shape[axis] = (extents[i] - 1) * dilations[i] + 1 + strides[i] * rng.randint(0, 5)
    x = writer.shaped(shape, element)
    if any(x.type.dynamic[1:]):
        raise Unfit
    out = [*shape]
    for i, axis in enumerate(axes):
        out[axis] = (shape[axis] - (extents[i] - 1) * dilations[i] - 1) // strides[i] + 1
    type_ = Type(tuple(out), element, (x.type.dynamic[0], False, False, False))
    kind = name[-3:]
    literal = {"sum": zero(element), "max": _lowest(element), "min": _highest(element)}[kind]
    attributes = ", ".join(
        f"{k} = dense<{v}> : tensor<2xi64>"
        for k, v in (("dilations", dilations), ("strides", strides))
    )
    lines = [
        *empty("e", type_, [x], [(0, 0)] * 4),
        *fill("f", "e", literal, type_),
        f"%~w = tensor.empty() : tensor<{extents[0]}x{extents[1]}x{element}>",
        f"%= = {name} {{{attributes}}} ins(%$0, %~w : {x.type}, tensor<{extents[0]}x{extents[1]}x{element}>) "
        f"outs(%~f : {type_}) -> {type_}",
    ]

    def spread(a: Array) -> Array:
        return windows(a, extents, strides, dilations, axes)

    def compute(image: Numbers) -> list[Numbers]:
        if kind == "sum":
            return [
                sums([image], lambda a: spread(a).sum((-2, -1)), extents[0] * extents[1], element)
            ]
        pick = np.max if kind == "max" else np.min
        data = pick(spread(image.wide), axis=(-2, -1)).astype(image.data.dtype)
        return [Numbers(data, np.max(spread(image.error), axis=(-2, -1)))]

    writer.add(name, [x], [type_], lines, compute)


def _lowest(element: str) -> str:
    if is_float(element):
        return {"f32": "0xFF800000", "bf16": "0xFF80", "f16": "0xFC00"}[element]
    return str(-(1 << (int(element[1:]) - 1)))


def _highest(element: str) -> str:
    if is_float(element):
        return {"f32": "0x7F800000", "bf16": "0x7F80", "f16": "0x7C00"}[element]
    return str((1 << (int(element[1:]) - 1)) - 1)


# --- reductions ---

_REDUCTIONS: dict[str, tuple[str, str, Callable[[Array, tuple[int, ...]], Array]]] = {
    "sum": ("addf", "addi", lambda a, d: a.sum(d)),
    "max": ("maximumf", "maxsi", lambda a, d: a.max(d)),
    "min": ("minimumf", "minsi", lambda a, d: a.min(d)),
}


def reduction(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.rank >= 1 and t.size > 0 and t.element in (*FLOATS[:3], *INTEGERS))
    element = x.type.element
    rank = x.type.rank
    dims = sorted(rng.sample(range(rank), rng.choice((1, 1, min(2, rank)))))
    kept = [d for d in range(rank) if d not in dims]
    name = rng.choice([*_REDUCTIONS])
    type_ = Type(
        tuple(x.type.shape[d] for d in kept), element, tuple(x.type.dynamic[d] for d in kept)
    )
    op = _REDUCTIONS[name][0 if is_float(element) else 1]
    literal = {"sum": zero(element), "max": _lowest(element), "min": _highest(element)}[name]
    lines = [*empty("e", type_, [x], [(0, d) for d in kept]), *fill("f", "e", literal, type_)]
    if rng.random() < 0.4:
        lines.append(
            f"%= = linalg.reduce {{ arith.{op} }} {ins([x])} outs(%~f : {type_}) dimensions = {dims}"
        )
    else:
        order = [*kept, *dims]
        maps = f"{dims_map(rank, [order.index(d) for d in range(rank)])}, {dims_map(rank, range(len(kept)))}"
        lines += [
            f"%= = linalg.generic {{indexing_maps = [{maps}], iterator_types = {kinds(len(kept), len(dims))}}} "
            f"{ins([x])} outs(%~f : {type_}) {{",
            f"^bb0(%x: {element}, %o: {element}):",
            f"  %r = arith.{op} %o, %x : {element}",
            f"  linalg.yield %r : {element}",
            f"}} -> {type_}",
        ]
    writer.add(
        f"reduce {name}", [x], [type_], lines, lambda a: [reduced(a, name, tuple(dims), element)]
    )


def reduced(x: Numbers, name: str, dims: tuple[int, ...], element: str) -> Numbers:
    length = int(np.prod([x.data.shape[d] for d in dims]))
    if name == "sum":
        return sums([x], lambda a: np.asarray(a.sum(dims)), length, element)
    data = np.asarray(_REDUCTIONS[name][2](x.wide if is_float(element) else x.data, dims))
    return Numbers(data.astype(x.data.dtype), np.asarray(x.error.max(dims)))


def argmax(writer: Writer) -> None:
    """Two results: the largest along the last dimension, and where it is first."""
    x = writer.value(lambda t: t.rank in (1, 2) and t.element in ("f32", "f16", "bf16", "i32"))
    rank, element = x.type.rank, x.type.element
    kept = Type(x.type.shape[:-1], element, x.type.dynamic[:-1])
    places = Type(kept.shape, "i32", kept.dynamic)
    out = dims_map(rank, range(rank - 1))
    where = [(0, d) for d in range(rank - 1)]
    greater = (
        f"arith.cmpf ogt, %x, %m : {element}"
        if is_float(element)
        else f"arith.cmpi sgt, %x, %m : {element}"
    )
    lines = [
        *empty("e", kept, [x], where),
        *fill("f", "e", _lowest(element), kept),
        *empty("g", places, [x], where),
        *fill("h", "g", "0", places),
        f"%=:2 = linalg.generic {{indexing_maps = [{dims_map(rank, range(rank))}, {out}, {out}], "
        f"iterator_types = {kinds(rank - 1, 1)}}} {ins([x])} outs(%~f, %~h : {kept}, {places}) {{",
        f"^bb0(%x: {element}, %m: {element}, %p: i32):",
        f"  %i = linalg.index {rank - 1} : index",
        "  %n = arith.index_cast %i : index to i32",
        f"  %c = {greater}",
        f"  %r = arith.select %c, %x, %m : {element}",
        "  %s = arith.select %c, %n, %p : i32",
        f"  linalg.yield %r, %s : {element}, i32",
        f"}} -> ({kept}, {places})",
    ]

    def compute(a: Numbers) -> list[Numbers]:
        place = (
            np.asarray(a.data.argmax(-1))
            if a.data.dtype.kind == "i"
            else np.asarray(a.wide.argmax(-1))
        )
        at = np.expand_dims(place, -1)
        top, error = (np.take_along_axis(v, at, -1) for v in (a.wide, a.error))
        others = a.wide.copy()
        np.put_along_axis(others, at, -np.inf, -1)
        if not a.exact:
            ordered(top - others, a.error + error)
        return [
            Numbers(np.take_along_axis(a.data, at, -1)[..., 0], np.asarray(error[..., 0])),
            exactly(place.astype(np.int32)),
        ]

    writer.add("argmax", [x], [kept, places], lines, compute)


def softmax(writer: Writer) -> None:
    """Along the last dimension, spelled out as four generics."""
    x = writer.value(lambda t: t.rank in (1, 2, 3) and t.element in FLOATS[:3])
    type_, rank, element = x.type, x.type.rank, x.type.element
    rows = Type(type_.shape[:-1], element, type_.dynamic[:-1])
    whole, row = dims_map(rank, range(rank)), dims_map(rank, range(rank - 1))
    where = [(0, d) for d in range(rank)]
    reduce = f"iterator_types = {kinds(rank - 1, 1)}"
    same = f"iterator_types = {kinds(rank)}"
    lines = [
        *empty("r", rows, [x], where),
        *empty("w", type_, [x], where),
        *fill("l", "r", _lowest(element), rows),
        *fill("z", "r", "0.0", rows),
        f"%~m = linalg.generic {{indexing_maps = [{whole}, {row}], {reduce}}} ins(%$0 : {type_}) outs(%~l : {rows}) {{",
        f"^bb0(%x: {element}, %o: {element}):",
        f"  %r = arith.maximumf %x, %o : {element}",
        f"  linalg.yield %r : {element}",
        f"}} -> {rows}",
        f"%~p = linalg.generic {{indexing_maps = [{whole}, {row}, {whole}], {same}}} ins(%$0, %~m : {type_}, {rows}) outs(%~w : {type_}) {{",
        f"^bb0(%x: {element}, %y: {element}, %o: {element}):",
        f"  %d = arith.subf %x, %y : {element}",
        f"  %r = math.exp %d : {element}",
        f"  linalg.yield %r : {element}",
        f"}} -> {type_}",
        f"%~s = linalg.generic {{indexing_maps = [{whole}, {row}], {reduce}}} ins(%~p : {type_}) outs(%~z : {rows}) {{",
        f"^bb0(%x: {element}, %o: {element}):",
        f"  %r = arith.addf %x, %o : {element}",
        f"  linalg.yield %r : {element}",
        f"}} -> {rows}",
        f"%= = linalg.generic {{indexing_maps = [{whole}, {row}, {whole}], {same}}} ins(%~p, %~s : {type_}, {rows}) outs(%~w : {type_}) {{",
        f"^bb0(%x: {element}, %y: {element}, %o: {element}):",
        f"  %r = arith.divf %x, %y : {element}",
        f"  linalg.yield %r : {element}",
        f"}} -> {type_}",
    ]
    writer.add("softmax", [x], [type_], lines, lambda a: [softmax_of(a, element)])


def softmax_of(x: Numbers, element: str) -> Numbers:
    """Along the last dimension."""
    top = Numbers(x.data.max(-1, keepdims=True), x.error.max(-1, keepdims=True))
    shifted = scalars.float_op(element, "subf")(x, top)
    powers = function(np.exp, shifted, element)
    total = sums([powers], lambda a: a.sum(-1, keepdims=True), x.data.shape[-1], element)
    return scalars.float_op(element, "divf")(powers, total)


CONTRACTIONS = (
    matmul,
    matmul,
    matmul,
    matmul_family,
    scaled_matmul,
    quantized_matmul,
    convolution,
    pooling,
)
REDUCTIONS = (reduction, reduction, argmax, softmax)
