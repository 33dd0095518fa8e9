"""Loops, branches, nested functions and gradients."""

from __future__ import annotations

from collections.abc import Sequence

from ..generator import Generator, NoFit, operation
from ..lattice import Lattice, is_float
from ..programs import Block, Type, Value
from .elementwise import arithmetic, boolean, floating
from .movement import ranked, scalar

DEEPEST = 2


def check_depth(g: Generator) -> None:
    if g.depth >= DEEPEST:
        raise NoFit


def carried(value: Value) -> Lattice | None:
    """What holds of a carried value in every trip, if each ends in ``settled``."""
    if value.lattice is None:
        return None
    if not is_float(value.type.dtype):
        return Lattice(max(value.lattice.bound, 4.0))
    return Lattice(max(value.lattice.bound, 4.0), min(value.lattice.step, 1.0))


def settled(g: Generator, value: Value, type_: Type, lattice: Lattice | None) -> Value:
    """The value as one of the type, on the lattice."""
    value = g.as_type(value, type_)
    if lattice is None or (value.lattice is not None and value.lattice.within(lattice)):
        return value
    if type_.dtype == "bool":
        return value
    text = "jnp.clip({0}, -4, 4)"
    if type_.is_float:
        text = "jnp.round(jnp.nan_to_num(jnp.clip({0}, -4, 4)))"
    return g.add(text, [value], Lattice(4.0))[0]


def own(g: Generator, parameters: Sequence[Value]) -> Value:
    """The latest value of the present scope that is not a parameter, else one of them."""
    made = [v for v in g.scope.values if v not in parameters]
    return g.choice(made[-3:]) if made else g.choice(parameters)


@operation(5)
def scan(g: Generator) -> None:
    check_depth(g)
    c = g.pick(lambda v: arithmetic(v) or boolean(v))
    xs = g.pick(lambda v: ranked(v) and v.type.shape[0] <= 8)
    known = carried(c)
    # What a trip may change is no longer the same everywhere.
    carry = g.parameter(c.type, known, False)
    x = g.parameter(Type(xs.type.shape[1:], xs.type.dtype), xs.lattice, xs.uniform)
    with g.inside([carry, x], together=True) as scope:
        g.fill(g.choice([1, 2, 3, 4]))
        y = g.pick(lambda v: v in scope.values)
        after = settled(g, own(g, [carry, x]), c.type, known)
    block = Block((carry, x), tuple(scope.statements), (after.name, y.name), "{0}, {1}")
    reverse = g.choice(["", "", ", reverse=True"])
    g.add(
        f"lax.scan({{f}}, {{0}}, {{1}}{reverse})",
        [c, xs],
        [known, y.lattice],
        blocks=[block],
        count=2,
        uniform=False,
    )


@operation(3)
def fori(g: Generator) -> None:
    """Counted by the program; the bound may be a value, even each device's own."""
    check_depth(g)
    c = g.pick(lambda v: arithmetic(v) or boolean(v))
    known = carried(c)
    limit, text = scalar(g, device=False)
    bound, uniform = "3", True
    operands = [c]
    if g.chance(0.6) and limit is not None:
        operands.append(limit)
        bound, uniform = f"jnp.abs({text}) % 5", limit.uniform
    i = g.parameter(Type((), "int32"), Lattice(8.0), uniform)
    carry = g.parameter(c.type, known, False)
    with g.inside([i, carry], together=uniform) as scope:
        g.fill(g.choice([1, 2, 3]))
        after = settled(g, own(g, [i, carry]), c.type, known)
    block = Block((i, carry), tuple(scope.statements), (after.name,), "{0}")
    g.add(
        f"lax.fori_loop(0, {bound}, {{f}}, {{0}})", operands, known, blocks=[block], uniform=False
    )


@operation(3)
def while_loop(g: Generator) -> None:
    """Ends by what its body computes."""
    check_depth(g)
    c = g.pick(lambda v: ranked(v) and v.type.dtype in ("int32", "float32"))
    limit = (
        g.pick(lambda v: v.type.dtype == "int32" and v.type.rank == 0) if g.chance(0.3) else None
    )
    n = g.parameter(Type((), "int32"), Lattice(8.0), True)
    known = carried(c)
    carry = g.parameter(c.type, known, False)
    uniform = limit is None or limit.uniform
    with g.inside([n, carry], together=uniform) as scope:
        g.fill(g.choice([1, 2, 3]))
        after = settled(g, own(g, [n, carry]), c.type, known)
        step = g.add("{0} + 1", [n], Lattice(8.0))[0]
    body = Block((n, carry), tuple(scope.statements), (step.name, after.name), "({0}, {1})")
    m = g.parameter(Type((), "int32"), Lattice(8.0), True)
    other = g.parameter(c.type, known, False)
    with g.inside([m, other], together=False) as scope:
        if limit is None:
            more = g.add(f"{{0}} < {g.choice([0, 1, 3, 4])}", [m])[0]
        else:
            more = g.add("{0} < {1} % 5", [m, limit])[0]
    test = Block((m, other), tuple(scope.statements), (more.name,), "{0}")
    start = g.choice(["0", "0", "jnp.int32(1)"])
    g.add(
        f"lax.while_loop({{g}}, {{f}}, ({start}, {{0}}))",
        [c],
        [Lattice(8.0), known],
        blocks=[body, test],
        count=2,
        uniform=False,
    )


@operation(4)
def cond(g: Generator) -> None:
    check_depth(g)
    uniform = g.chance(0.7)
    test = g.pick(
        lambda v: (
            v.type.size == 1 and v.type.dtype in ("bool", "int32") and (v.uniform or not uniform)
        )
    )
    a = g.pick()
    blocks: list[Block] = []
    result: Type | None = None
    known: list[Lattice | None] = []
    for _ in range(2):
        p = g.parameter(a.type, a.lattice, a.uniform)
        with g.inside([p], together=test.uniform) as scope:
            g.fill(g.choice([0, 1, 2, 3]))
            value = own(g, [p])
            if result is not None:
                value = g.as_type(value, result)
        result = value.type
        known.append(value.lattice)
        blocks.append(Block((p,), tuple(scope.statements), (value.name,), "{0}"))
    x, y = known
    lattice = x | y if x is not None and y is not None else None
    predicate = "{0}.reshape(())" + (" > 0" if test.type.dtype == "int32" else "")
    text = g.choice(
        [
            f"lax.cond({predicate}, {{f}}, {{g}}, {{1}})",
            f"lax.switch(({predicate}).astype(jnp.int32), [{{f}}, {{g}}], {{1}})",
        ]
    )
    g.add(text, [test, a], lattice, blocks=blocks, uniform=False)


@operation(3)
def nested_jit(g: Generator) -> None:
    check_depth(g)
    a, b = g.pick(), g.pick()
    p, q = (g.parameter(v.type, v.lattice, v.uniform) for v in (a, b))
    with g.inside([p, q], together=True) as scope:
        g.fill(g.choice([1, 2, 3]))
        value = own(g, [p, q])
    block = Block((p, q), tuple(scope.statements), (value.name,), "{0}")
    form = g.choice(["jax.jit({f})", "jax.checkpoint({f})", "jax.jit({f})"])
    g.add(f"{form}({{0}}, {{1}})", [a, b], value.lattice, blocks=[block])


@operation(2)
def vmap(g: Generator) -> None:
    check_depth(g)
    a = g.pick(lambda v: v.type.rank > 1)
    p = g.parameter(Type(a.type.shape[1:], a.type.dtype), a.lattice, a.uniform)
    with g.inside([p], together=False) as scope:
        g.fill(g.choice([1, 2, 3]))
        value = own(g, [p])
    block = Block((p,), tuple(scope.statements), (value.name,), "{0}")
    g.add("jax.vmap({f})({0})", [a], value.lattice, blocks=[block])


@operation(4)
def gradient(g: Generator) -> None:
    check_depth(g)
    a = g.pick(lambda v: floating(v) and ranked(v))
    # The derivative's arithmetic is not followed: what it gives is noisy.
    p = g.parameter(a.type, None, a.uniform)
    with g.inside([p], together=True) as scope:
        g.fill(g.choice([1, 2, 3, 4]), lambda name: name not in ("bitcast", "while_loop", "fori"))
        value = own(g, [p])
        if not floating(value):
            value = g.pick(lambda v: floating(v) and v in scope.values)
        total = g.add("jnp.sum(jnp.tanh({0}).astype(jnp.float32))", [value], noisy=True)[0]
    block = Block((p,), tuple(scope.statements), (total.name,), "{0}")
    g.add("jax.grad({f})({0})", [a], noisy=True, blocks=[block])


@operation(2)
def straight_through(g: Generator) -> None:
    """custom_vjp: quantized forward, the gradient passed through."""
    check_depth(g)
    a = g.pick(lambda v: v.type.dtype in ("float32", "bfloat16") and ranked(v))
    p = g.parameter(a.type, a.lattice, a.uniform)
    with g.inside([p], together=True) as scope:
        dtype = a.type.dtype
        q = g.add(f"jnp.clip({{0}}, -448, 448).astype(jnp.float8_e4m3fn).astype(jnp.{dtype})", [p])[
            0
        ]
    primal = Block((p,), tuple(scope.statements), (q.name,), "{0}")
    text = (
        "jax.grad(lambda x: jnp.sum((lambda f: (f.defvjp(lambda x: ({f}(x), x), "
        "lambda x, t: (t * jnp.sign(x),)), f(x))[1])(jax.custom_vjp({f}))"
        ".astype(jnp.float32) * 2))({0})"
    )
    g.add(text, [a], Lattice(2.0), blocks=[primal])
