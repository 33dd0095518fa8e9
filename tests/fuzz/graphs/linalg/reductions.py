"""Steps that add reductions, and softmax."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from headrace.compiler.iree.element_types import Array

from .. import scalars
from ..graph import Type
from ..numerics import FLOATS, INTEGERS, Numbers, exactly, function, is_float, ordered, sums
from ..writer import Writer
from .text import dims_map, empty, fill, ins, kinds, zero


def lowest(element: str) -> str:
    if is_float(element):
        return {"f32": "0xFF800000", "bf16": "0xFF80", "f16": "0xFC00"}[element]
    return str(-(1 << (int(element[1:]) - 1)))


def highest(element: str) -> str:
    if is_float(element):
        return {"f32": "0x7F800000", "bf16": "0x7F80", "f16": "0x7C00"}[element]
    return str((1 << (int(element[1:]) - 1)) - 1)


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
    literal = {"sum": zero(element), "max": lowest(element), "min": highest(element)}[name]
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
        *fill("f", "e", lowest(element), kept),
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
        *fill("l", "r", lowest(element), rows),
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
