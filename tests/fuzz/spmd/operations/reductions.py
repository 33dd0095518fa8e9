"""Reductions, scans along a dim, sorting."""

from __future__ import annotations

from ..generator import ARITHMETIC, Generator, NoFit, operation
from ..lattice import BITS, Lattice
from ..programs import Value
from .elementwise import arithmetic, boolean, floating
from .movement import ranked


def axis(g: Generator, a: Value) -> tuple[str, int]:
    """Text for the dims to reduce, and how many elements that are."""
    dims = sorted(g.random.sample(range(a.type.rank), g.choice([1, 1, min(2, a.type.rank)])))
    count = 1
    for d in dims:
        count *= a.type.shape[d]
    return str(dims[0] if len(dims) == 1 else tuple(dims)), count


@operation(6)
def reduce_sum(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and arithmetic(v))
    dims, count = axis(g, a)
    keep = g.choice(["", ", keepdims=True"])
    lattice = a.lattice and a.lattice.times(count)
    g.compute(f"jnp.sum({{0}}, axis={dims}{keep})", [a], lattice, a.type.dtype)


@operation(2)
def reduce_all(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and arithmetic(v))
    g.compute("jnp.sum({0})", [a], a.lattice and a.lattice.times(a.type.size), a.type.dtype)


@operation(5)
def reduce_extremum(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and arithmetic(v))
    dims, _ = axis(g, a)
    keep = g.choice(["", ", keepdims=True"])
    g.move(f"jnp.{g.choice(['max', 'min'])}({{0}}, axis={dims}{keep})", a)


@operation(2)
def mean(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and floating(v))
    dims, _ = axis(g, a)
    g.add(f"jnp.{g.choice(['mean', 'var'])}({{0}}, axis={dims})", [a], noisy=True)


@operation(2)
def any_all(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and boolean(v))
    dims, _ = axis(g, a)
    g.add(f"jnp.{g.choice(['any', 'all'])}({{0}}, axis={dims})", [a], BITS)


@operation(1)
def product(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and arithmetic(v))
    dims, _ = axis(g, a)
    g.compute(f"jnp.prod({{0}}, axis={dims})", [a], None, a.type.dtype)


@operation(3)
def argument_extremum(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and arithmetic(v))
    d = g.dim(a)
    size = Lattice(float(a.type.shape[d]))
    g.add(f"jnp.{g.choice(['argmax', 'argmin'])}({{0}}, axis={d})", [a], size)


@operation(4)
def cumulative(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and arithmetic(v))
    d = g.dim(a)
    reverse = g.choice(["", ", reverse=True"])
    if g.chance(0.6):
        lattice = a.lattice and a.lattice.times(a.type.shape[d])
        g.compute(f"lax.cumsum({{0}}, axis={d}{reverse})", [a], lattice, a.type.dtype)
    else:
        g.move(f"lax.{g.choice(['cummax', 'cummin'])}({{0}}, axis={d}{reverse})", a)


@operation(3)
def softmax(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and floating(v))
    text = g.choice(
        [
            "jax.nn.softmax({0}, axis=D)",
            "jax.nn.log_softmax({0}, axis=D)",
            "jax.nn.logsumexp({0}, axis=D)",
            "jax.nn.standardize({0}, axis=D)",
            "{0} * lax.rsqrt(jnp.mean({0} * {0}, axis=D, keepdims=True) + 1e-5)",
        ]
    )
    g.add(text.replace("D", str(g.dim(a))), [a], noisy=True)


@operation(3)
def sort(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and arithmetic(v))
    d = g.dim(a)
    text = g.choice([f"jnp.sort({{0}}, axis={d})", f"jnp.sort({{0}}, axis={d}, descending=True)"])
    g.move(text, a)


@operation(2)
def argsort(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and arithmetic(v))
    d = g.dim(a)
    g.add(f"jnp.argsort({{0}}, axis={d})", [a], Lattice(float(a.type.shape[d])))


@operation(2)
def sort_pairs(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and arithmetic(v))
    b = g.pick(lambda v: v.type.shape == a.type.shape and v.type.dtype in ARITHMETIC)
    text = f"lax.sort(({{0}}, {{1}}), dimension={g.dim(a)}, num_keys={g.choice([1, 2])})"
    g.add(text, [a, b], [a.lattice, b.lattice], count=2)


@operation(3)
def top_k(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and arithmetic(v))
    k = g.random.randint(1, a.type.shape[-1])
    size = Lattice(float(a.type.shape[-1]))
    # It tells 0 from -0, and whether a product of zero and -1 is -0 is a matter of how it is
    # summed up.
    x = "jnp.where({0} == 0, 0, {0})" if floating(a) else "{0}"
    g.add(f"lax.top_k({x}, {k})", [a], [a.lattice, size], count=2)


@operation(2)
def pool(g: Generator) -> None:
    a = g.pick(lambda v: v.type.rank > 1 and arithmetic(v))
    window = tuple(min(n, g.choice([1, 2, 3])) for n in a.type.shape)
    strides = tuple(g.choice([1, 1, 2]) for _ in window)
    count = 1
    for n in window:
        count *= n
    padding = g.choice(["VALID", "SAME"])
    end = f"{window}, {strides}, '{padding}')"
    if g.chance(0.5):
        zero = f"jnp.{a.type.dtype}(0)"
        lattice = a.lattice and a.lattice.times(count)
        text = f"lax.reduce_window({{0}}, {zero}, lax.add, {end}"
        g.compute(text, [a], lattice, a.type.dtype)
    elif floating(a):
        if padding == "SAME":
            raise NoFit
        g.move(f"lax.reduce_window({{0}}, -jnp.inf, lax.max, {end}", a)
