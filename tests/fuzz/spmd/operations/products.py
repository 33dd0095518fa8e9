"""Dots, convolutions, and what attention is made of."""

from __future__ import annotations

from ..generator import ARITHMETIC, Generator, NoFit, operation
from ..lattice import Lattice, is_fp8
from ..programs import Type, Value
from .elementwise import arithmetic, floating


def factor(v: Value) -> bool:
    return v.type.rank > 0 and (arithmetic(v) or is_fp8(v.type.dtype))


def result_dtype(g: Generator, a: Value) -> str | None:
    """preferred_element_type, or None."""
    if is_fp8(a.type.dtype):
        return "float32"
    if a.type.dtype == "int8":
        return "int32"
    if a.type.dtype in ("bfloat16", "float16") and g.chance(0.5):
        return "float32"
    return None


def product_lattice(a: Value, b: Value, count: int) -> Lattice | None:
    if a.lattice is None or b.lattice is None:
        return None
    return (a.lattice * b.lattice).times(count)


def dot(g: Generator, a: Value, b: Value, numbers: str, count: int) -> Value:
    preferred = result_dtype(g, a)
    end = f", preferred_element_type=jnp.{preferred}" if preferred else ""
    lattice = product_lattice(a, b, count)
    text = f"lax.dot_general({{0}}, {{1}}, {numbers}{end})"
    return g.compute(text, [a, b], lattice, preferred or a.type.dtype)


@operation(10)
def dot_general(g: Generator) -> None:
    a = g.pick(factor)
    lhs = list(range(a.type.rank))
    g.random.shuffle(lhs)
    contracted = lhs[: g.choice([1, 1, 1, min(2, len(lhs))])]
    batch = [d for d in lhs if d not in contracted][: g.choice([0, 0, 1, 1, 2])]
    sizes = [a.type.shape[d] for d in (*batch, *contracted)]

    def match(b: Value) -> list[int] | None:
        """The dims of b for batch and contracted dims."""
        if b.type.dtype != a.type.dtype or b.type.rank < len(sizes):
            return None
        free = list(range(b.type.rank))
        found: list[int] = []
        for size in sizes:
            fit = [d for d in free if b.type.shape[d] == size]
            if not fit:
                return None
            found.append(fit[0])
            free.remove(fit[0])
        return found

    if g.chance(0.5) and not is_fp8(a.type.dtype):
        shape = [*sizes, *g.shape(g.choice([0, 1, 1, 2]))]
        g.random.shuffle(shape)
        b = g.argument(Type(tuple(shape), a.type.dtype))
    else:
        b = g.pick(lambda v: match(v) is not None)
    rhs = match(b)
    if rhs is None:
        raise NoFit
    n = len(batch)
    numbers = f"(({contracted}, {rhs[n:]}), ({batch}, {rhs[:n]}))"
    count = 1
    for size in sizes[n:]:
        count *= size
    dot(g, a, b, numbers, count)


@operation(4)
def matmul(g: Generator) -> None:
    a = g.pick(lambda v: v.type.rank == 2 and factor(v))
    k = a.type.shape[1]
    if g.chance(0.5):
        b = g.argument(Type((k, g.choice([1, 3, 8, 16, 32])), a.type.dtype))
    else:
        b = g.pick(
            lambda v: v.type.rank == 2 and v.type.shape[0] == k and v.type.dtype == a.type.dtype
        )
    dot(g, a, b, "(([1], [0]), ([], []))", k)


@operation(3)
def self_product(g: Generator) -> None:
    """A value with itself, as Gram matrices are."""
    a = g.pick(lambda v: v.type.rank >= 2 and factor(v))
    d = g.dim(a)
    dot(g, a, a, f"(([{d}], [{d}]), ([], []))", a.type.shape[d])


@operation(3)
def convolution(g: Generator) -> None:
    a = g.pick(lambda v: v.type.rank in (3, 4) and v.type.dtype in ARITHMETIC)
    spatial = a.type.rank - 2
    kernel = tuple(g.choice([1, 2, 3]) for _ in range(spatial))
    groups = 1
    channels = a.type.shape[1]
    if g.chance(0.3):
        groups = channels
    b = g.argument(Type((channels if groups > 1 else 3, channels // groups, *kernel), a.type.dtype))
    strides = tuple(g.choice([1, 1, 2]) for _ in kernel)
    count = channels // groups
    for n in kernel:
        count *= n
    options = f", feature_group_count={groups}" if groups > 1 else ""
    if g.chance(0.2):
        options += f", rhs_dilation={tuple(2 for _ in kernel)}"
    if g.chance(0.2):
        options += f", lhs_dilation={tuple(2 for _ in kernel)}"
    preferred = result_dtype(g, a)
    if preferred:
        options += f", preferred_element_type=jnp.{preferred}"
    padding = g.choice(["VALID", "SAME"])
    text = f"lax.conv_general_dilated({{0}}, {{1}}, {strides}, '{padding}'{options})"
    g.compute(text, [a, b], product_lattice(a, b, count), preferred or a.type.dtype)


@operation(4)
def rotary(g: Generator) -> None:
    """Rotary embedding of ``[..., positions, features]``."""
    a = g.pick(lambda v: floating(v) and v.type.rank >= 2 and v.type.shape[-1] % 2 == 0)
    s, d = a.type.shape[-2:]
    half = d // 2
    angle = g.add(
        f"jnp.arange({s}, dtype=jnp.float32)[:, None]"
        f" * 2.0 ** -jnp.arange({half}, dtype=jnp.float32)",
        [],
        uniform=True,
    )[0]
    c = g.add(f"jnp.cos({{0}}).astype(jnp.{a.type.dtype})", [angle], noisy=True)[0]
    z = g.add(f"jnp.sin({{0}}).astype(jnp.{a.type.dtype})", [angle], noisy=True)[0]
    lo, hi = f"{{0}}[..., :{half}]", f"{{0}}[..., {half}:]"
    text = f"jnp.concatenate([{lo} * {{1}} - {hi} * {{2}}, {hi} * {{1}} + {lo} * {{2}}], axis=-1)"
    g.add(text, [a, c, z], noisy=True)


@operation(3)
def attention(g: Generator) -> None:
    """Of one value with itself or a gathered one, with a causal mask or none."""
    q = g.pick(lambda v: floating(v) and v.type.rank in (2, 3))
    k = g.pick(
        lambda v: (
            v.type.dtype == q.type.dtype
            and v.type.rank == q.type.rank
            and v.type.shape[-1] == q.type.shape[-1]
            and v.type.shape[:-2] == q.type.shape[:-2]
        )
    )
    scores = g.add("jnp.einsum('...sd,...td->...st', {0}, {1}) * 0.5", [q, k], noisy=True)[0]
    if g.chance(0.4):
        s, t = scores.type.shape[-2:]
        mask = f"jnp.arange({s})[:, None] >= jnp.arange({t})"
        scores = g.add(f"jnp.where({mask}, {{0}}, -1e4)", [scores])[0]
    weights = g.add("jax.nn.softmax({0}, axis=-1)", [scores], noisy=True)[0]
    g.add("jnp.einsum('...st,...td->...sd', {0}, {1})", [weights, k], noisy=True)
