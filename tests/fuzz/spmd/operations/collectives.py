"""All collectives, over one axis of the mesh or both."""

from __future__ import annotations

from ..generator import ARITHMETIC, Generator, NoFit, operation
from ..lattice import Lattice
from .elementwise import arithmetic
from .movement import ranked


def axes(g: Generator) -> tuple[str, int, bool]:
    """Text for the axes, how many devices meet, and whether that is all."""
    if not g.scope.together:
        raise NoFit
    chosen = g.choice([(a,) for a in g.axes] + [tuple(g.axes)])
    if len(chosen) == 2 and g.chance(0.3):
        chosen = chosen[::-1]
    count = 1
    for axis in chosen:
        count *= g.mesh[g.axes.index(axis)]
    text = repr(chosen[0]) if len(chosen) == 1 else repr(chosen)
    return text, count, len(chosen) == len(g.axes)


@operation(8)
def all_gather(g: Generator) -> None:
    names, _, whole = axes(g)
    a = g.pick()
    if a.type.rank and g.chance(0.8):
        text = f"lax.all_gather({{0}}, {names}, axis={g.dim(a)}, tiled=True)"
    else:
        text = f"lax.all_gather({{0}}, {names}, axis={g.random.randint(0, a.type.rank)})"
    g.move(text, a, uniform=whole or a.uniform)


@operation(5)
def psum(g: Generator) -> None:
    names, count, whole = axes(g)
    a = g.pick(arithmetic)
    lattice = a.lattice and a.lattice.times(count)
    value = g.compute(f"lax.psum({{0}}, {names})", [a], lattice, a.type.dtype)
    if whole:
        g.scope.values[-1] = value.__class__(value.name, value.type, value.lattice, True)


@operation(3)
def pmax(g: Generator) -> None:
    names, _, whole = axes(g)
    a = g.pick(arithmetic)
    g.move(f"lax.{g.choice(['pmax', 'pmin'])}({{0}}, {names})", a, uniform=whole or a.uniform)


@operation(5)
def psum_scatter(g: Generator) -> None:
    names, count, _ = axes(g)
    a = g.pick(lambda v: arithmetic(v) and any(n % count == 0 for n in v.type.shape))
    d = g.choice([d for d, n in enumerate(a.type.shape) if n % count == 0])
    tiled = a.type.shape[d] != count or g.chance(0.8)
    text = f"lax.psum_scatter({{0}}, {names}, scatter_dimension={d}, tiled={tiled})"
    lattice = a.lattice and a.lattice.times(count)
    value = g.compute(text, [a], lattice, a.type.dtype)
    differs(g, value)


def differs(g: Generator, value: object) -> None:
    """The last value is one of each device's own."""
    last = g.scope.values[-1]
    assert last is value
    g.scope.values[-1] = last.__class__(last.name, last.type, last.lattice, False)


@operation(5)
def all_to_all(g: Generator) -> None:
    names, count, _ = axes(g)
    a = g.pick(lambda v: ranked(v) and any(n % count == 0 for n in v.type.shape))
    s = g.choice([d for d, n in enumerate(a.type.shape) if n % count == 0])
    c = g.dim(a)
    if g.chance(0.8):
        text = f"lax.all_to_all({{0}}, {names}, {s}, {c}, tiled=True)"
    elif a.type.shape[s] == count:
        text = f"lax.all_to_all({{0}}, {names}, {s}, {c}, tiled=False)"
    else:
        raise NoFit
    g.move(text, a, uniform=False)


@operation(5)
def ppermute(g: Generator) -> None:
    names, count, _ = axes(g)
    a = g.pick()
    way = g.choice(["ring", "shuffle", "some"])
    if way == "ring":
        pairs = [(i, (i + 1) % count) for i in range(count)]
    else:
        order = list(range(count))
        g.random.shuffle(order)
        pairs = list(enumerate(order))
        if way == "some":
            pairs = pairs[: max(1, count - 1)]
    text = f"lax.ppermute({{0}}, {names}, {pairs})"
    g.move(text, a, uniform=False)


@operation(3)
def axis_index(g: Generator) -> None:
    names, count, _ = axes(g)
    a = g.pick(lambda v: v.type.dtype in ARITHMETIC)
    index = g.add(f"lax.axis_index({names})", [], Lattice(float(count)), uniform=False)[0]
    if g.chance(0.6):
        lattice = a.lattice and a.lattice + Lattice(float(count))
        text = f"{{0}} + {{1}}.astype(jnp.{a.type.dtype})"
        g.compute(text, [a, index], lattice, a.type.dtype)
