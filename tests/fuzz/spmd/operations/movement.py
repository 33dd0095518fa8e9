"""Operations that give elements of their operands, in other places."""

from __future__ import annotations

from ..generator import ARITHMETIC, FLOAT_DTYPES, FP8_DTYPES, Generator, NoFit, operation
from ..lattice import BITS, Lattice, is_fp8, join
from ..programs import Type, Value
from .elementwise import boolean


def ranked(value: Value) -> bool:
    return value.type.rank > 0


def bounds(g: Generator, size: int) -> tuple[int, int]:
    """A part of a dim that is not empty."""
    low = g.random.randrange(size)
    return low, g.random.randint(low + 1, size)


@operation(8)
def concatenate(g: Generator) -> None:
    a = g.pick(ranked)
    d = g.dim(a)

    def fits(b: Value) -> bool:
        s, t = list(a.type.shape), list(b.type.shape)
        if a.type.dtype != b.type.dtype or len(s) != len(t):
            return False
        s[d] = t[d] = 0
        return s == t

    parts = [a, *(g.pick(fits) for _ in range(g.choice([1, 1, 2])))]
    g.random.shuffle(parts)
    places = ", ".join(f"{{{i}}}" for i in range(len(parts)))
    g.move(f"jnp.concatenate([{places}], axis={d})", *parts)


@operation(2)
def stack(g: Generator) -> None:
    a = g.pick()
    b = g.pick(lambda v: v.type == a.type)
    g.move(f"jnp.stack([{{0}}, {{1}}], axis={g.random.randint(0, a.type.rank)})", a, b)


def slice_text(g: Generator, shape: tuple[int, ...], strides: bool = True) -> str:
    parts: list[str] = []
    for size in shape:
        low, high = bounds(g, size)
        step = g.choice([1, 1, 2, 3]) if strides and high - low > 2 else 1
        whole = g.chance(0.4)
        parts.append(":" if whole else f"{low}:{high}" + (f":{step}" if step > 1 else ""))
    return ", ".join(parts)


@operation(8)
def static_slice(g: Generator) -> None:
    a = g.pick(ranked)
    g.move(f"{{0}}[{slice_text(g, a.type.shape)}]", a)


@operation(4)
def halves(g: Generator) -> None:
    """Rotary embedding's way to swap halves."""
    a = g.pick(lambda v: ranked(v) and v.type.shape[-1] % 2 == 0 and v.type.dtype in ARITHMETIC)
    n = a.type.shape[-1] // 2
    g.move(f"jnp.concatenate([-{{0}}[..., {n}:], {{0}}[..., :{n}]], axis=-1)", a)


@operation(4)
def pad(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and not is_fp8(v.type.dtype))
    widths = [(g.choice([0, 0, 1, 2]), g.choice([0, 0, 1, 3])) for _ in a.type.shape]
    text = f"jnp.pad({{0}}, {widths})"
    lattice = join(a.lattice, BITS)
    if g.chance(0.3) and a.type.dtype in ARITHMETIC:
        config = [(g.choice([-1, 0, 1]), g.choice([-1, 0, 2]), g.choice([0, 0, 1])) for _ in widths]
        text = f"lax.pad({{0}}, jnp.{a.type.dtype}(1), {config})"
    elif g.chance(0.3):
        text = f"jnp.pad({{0}}, {widths}, mode='{g.choice(['edge', 'wrap', 'reflect'])}')"
    g.move(text, a, lattice=lattice)


@operation(5)
def roll(g: Generator) -> None:
    a = g.pick(ranked)
    g.move(f"jnp.roll({{0}}, {g.choice([-2, -1, 1, 2, 3])}, axis={g.dim(a)})", a)


@operation(6)
def transpose(g: Generator) -> None:
    a = g.pick(lambda v: v.type.rank > 1)
    order = list(range(a.type.rank))
    g.random.shuffle(order)
    g.move(f"jnp.transpose({{0}}, {order})", a)


@operation(6)
def reshape(g: Generator) -> None:
    a = g.pick()
    shape = list(a.type.shape)
    if len(shape) > 1 and g.chance(0.5):
        d = g.random.randrange(len(shape) - 1)
        shape[d : d + 2] = [shape[d] * shape[d + 1]]
    else:
        d = g.dim(a)
        factors = [f for f in range(1, shape[d] + 1) if shape[d] % f == 0]
        f = g.choice(factors)
        shape[d : d + 1] = [f, shape[d] // f]
    if g.chance(0.2):
        shape = [a.type.size]
    g.move(f"{{0}}.reshape({', '.join(map(str, shape))})", a)


@operation(2)
def flip(g: Generator) -> None:
    a = g.pick(ranked)
    g.move(f"jnp.flip({{0}}, {g.dim(a)})", a)


@operation(4)
def broadcast(g: Generator) -> None:
    a = g.pick()
    n = g.choice([2, 3, g.devices])
    forms = ["jnp.broadcast_to({0}, (COUNT, *{0}.shape))", "{0}[None]", "{0}[..., None]"]
    if a.type.rank:
        d = g.dim(a)
        forms += [
            f"jnp.repeat({{0}}, COUNT, axis={d})",
            "jnp.tile({0}, COUNT)",
            f"jnp.expand_dims({{0}}, {d})",
            f"jnp.squeeze({{0}}[{':, ' * d}:1])",
        ]
    g.move(g.choice(forms).replace("COUNT", str(n)), a)


@operation(3)
def iota(g: Generator) -> None:
    dtype = g.choice(["int32", "float32", "bfloat16", "int8", "float16"])
    shape = g.shape(g.choice([1, 2]))
    d = g.random.randrange(len(shape))
    text = f"lax.broadcasted_iota(jnp.{dtype}, {shape}, {d})"
    g.add(text, [], Lattice(float(shape[d])), uniform=True)


@operation(2)
def constant(g: Generator) -> None:
    a = g.pick(lambda v: v.type.dtype in ARITHMETIC)
    form = g.choice(["jnp.zeros_like({0})", "jnp.ones_like({0})", "jnp.full_like({0}, 2)"])
    g.add(form, [a], Lattice(2.0), uniform=True)


@operation(2)
def triangle(g: Generator) -> None:
    a = g.pick(lambda v: v.type.rank > 1 and v.type.dtype in ARITHMETIC)
    text = f"jnp.{g.choice(['tril', 'triu'])}({{0}}, {g.choice([-1, 0, 1])})"
    g.move(text, a, lattice=join(a.lattice, BITS))


def indices(g: Generator, shape: tuple[int, ...] | None, size: int) -> tuple[Value, str]:
    """Whole numbers below ``size``, and the text that makes them so."""

    def fits(v: Value) -> bool:
        return v.type.dtype == "int32" and (
            v.type.shape == shape if shape is not None else ranked(v) and v.type.size <= 64
        )

    if g.chance(0.5) or not any(fits(v) for s in g.scopes for v in s.values):
        type_ = Type(shape if shape is not None else g.shape(1)[:1], "int32")
        return g.argument(type_), f"jnp.abs({{1}}) % {size}"
    return g.pick(fits), f"jnp.abs({{1}}) % {size}"


@operation(5)
def take(g: Generator) -> None:
    a = g.pick(ranked)
    d = g.dim(a)
    i, text = indices(g, None, a.type.shape[d])
    forms = [f"jnp.take({{0}}, {text}, axis={d})"]
    if d == 0:
        forms.append(f"{{0}}[{text}]")
        forms.append("jnp.take({0}, {1}, axis=0, mode='clip')")
    g.move(g.choice(forms), a, i, lattice=a.lattice)


@operation(2)
def take_along(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v))
    d = g.dim(a)
    shape = list(a.type.shape)
    shape[d] = g.choice([1, 2, 3])
    i, text = indices(g, tuple(shape), a.type.shape[d])
    g.move(f"jnp.take_along_axis({{0}}, {text}, axis={d})", a, i, lattice=a.lattice)


@operation(3)
def one_hot(g: Generator) -> None:
    i = g.pick(lambda v: v.type.dtype in ("int32", "int8") and v.type.size <= 128)
    dtype = g.choice([*FLOAT_DTYPES, "int8", "int32"])
    g.add(f"jax.nn.one_hot({{0}}, {g.choice([2, 3, 5, 8])}, dtype=jnp.{dtype})", [i], BITS)


def scalar(g: Generator, *, device: bool) -> tuple[Value | None, str]:
    """A dynamic offset: a scalar of the program, or the device's own index."""
    if device and g.chance(0.5):
        return None, f"lax.axis_index('{g.choice(g.axes)}')"
    found = [v for s in g.scopes for v in s.values if v.type == Type((), "int32")]
    value = g.choice(found) if found and g.chance(0.7) else g.argument(Type((), "int32"))
    return value, "{1}"


@operation(5)
def dynamic_slice(g: Generator) -> None:
    a = g.pick(ranked)
    d = g.dim(a)
    size = g.random.randint(1, a.type.shape[d])
    i, text = scalar(g, device=True)
    g.move(
        f"lax.dynamic_slice_in_dim({{0}}, {text}, {size}, axis={d})",
        a,
        *([i] if i else []),
        lattice=a.lattice,
    )


@operation(6)
def dynamic_update(g: Generator) -> None:
    a = g.pick(ranked)
    d = g.dim(a)

    def fits(b: Value) -> bool:
        s, t = list(a.type.shape), list(b.type.shape)
        if a.type.dtype != b.type.dtype or len(s) != len(t) or t[d] > s[d]:
            return False
        s[d] = t[d] = 0
        return s == t

    if g.chance(0.4):
        low, high = bounds(g, a.type.shape[d])
        part = ", ".join(f"{low}:{high}" if k == d else ":" for k in range(a.type.rank))
        b = g.move(f"{{0}}[{part}]", a)
        if b.type.dtype in ARITHMETIC and g.chance(0.7):
            b = g.compute("{0} + {0}", [b], b.lattice and b.lattice + b.lattice, b.type.dtype)
    else:
        b = g.pick(fits)
    i, text = scalar(g, device=True)
    text = text.replace("1", "2") if i else text
    if g.chance(0.3):
        i, text = None, str(g.random.randint(0, a.type.shape[d] - b.type.shape[d]))
    g.move(
        f"lax.dynamic_update_slice_in_dim({{0}}, {{1}}, {text}, axis={d})",
        a,
        b,
        *([i] if i else []),
        lattice=join(a.lattice, b.lattice),
    )


@operation(4)
def static_update(g: Generator) -> None:
    """``.at[...]``, from another part of the same value now and then."""
    a = g.pick(lambda v: ranked(v) and v.type.dtype in ARITHMETIC)
    d = g.dim(a)
    n = a.type.shape[d]
    if n < 2:
        raise NoFit
    size = g.random.randint(1, n - 1)
    source, target = g.random.randint(0, n - size), g.random.randint(0, n - size)

    def part(low: int) -> str:
        return ", ".join(f"{low}:{low + size}" if k == d else ":" for k in range(a.type.rank))

    verb = g.choice(["set", "set", "add", "max", "multiply"])
    known = a.lattice
    twice = known and known + known
    lattice = {"set": join(twice, known), "max": twice, "add": known and known + (known + known)}
    g.compute(
        f"{{0}}.at[{part(target)}].{verb}({{0}}[{part(source)}] * 2)",
        [a],
        lattice.get(verb, known and twice and (known * twice) | known),
        a.type.dtype,
    )


@operation(3)
def scatter(g: Generator) -> None:
    a = g.pick(lambda v: ranked(v) and v.type.dtype in ARITHMETIC)
    i, text = indices(g, None, a.type.shape[0])
    if i.type.rank != 1:
        raise NoFit
    verb = g.choice(["add", "add", "max", "min"])
    known = a.lattice
    most = known and known + BITS.times(i.type.size)
    g.compute(f"{{0}}.at[{text}].{verb}(1)", [a, i], most, a.type.dtype)


@operation(2)
def diagonal(g: Generator) -> None:
    a = g.pick(lambda v: v.type.rank == 2)
    g.move("jnp.diagonal({0})", a)


__all__ = ["FP8_DTYPES", "boolean"]
