"""Steps that add matmuls of all kinds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from headrace.compiler.iree.element_types import Array

from .. import scalars
from ..graph import Type, Value
from ..numerics import FLOATS, FP8, Numbers, Unfit, exactly, is_float, sums
from ..writer import MOST_ELEMENTS, Writer
from .text import dims_map, empty, fill, ins, kinds, zero


def accumulator_of(writer: Writer, element: str) -> str:
    if element == "i8":
        return "i32"
    if element in ("bf16", "f16", *FP8):
        return writer.rng.choice(("f32", "f32", element)) if element not in FP8 else "f32"
    return element


def _operands(writer: Writer, lhs: Sequence[int], rhs: Sequence[int], element: str) -> list[Value]:
    return [writer.shaped(lhs, element), writer.shaped(rhs, element, new=0.6)]


def _first(writer: Writer, ranks: Sequence[int]) -> Value:
    return writer.value(lambda t: t.rank in ranks and t.element in (*FLOATS[:3], *FP8, "i8", "i32"))


def sum_start(
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
    accumulator = accumulator_of(writer, a.type.element)
    unknown = {
        d: all(o.type.dynamic[x.index(d)] for o, x in ((a, lhs), (b, rhs)) if d in x)
        for d in extents
    }
    type_ = Type(tuple(extents[d] for d in out), accumulator, tuple(unknown[d] for d in out))
    sources = [(0, lhs.index(d)) if d in lhs else (1, rhs.index(d)) for d in out]
    operands = [*operands]
    lines, start = sum_start(writer, type_, operands, sources)
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
