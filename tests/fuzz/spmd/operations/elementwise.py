"""Arithmetic, comparisons, selections and converts."""

from __future__ import annotations

from ..generator import ARITHMETIC, FLOAT_DTYPES, FP8_DTYPES, Generator, NoFit, operation
from ..lattice import BITS, Lattice, is_fp8, join
from ..programs import Value


def arithmetic(value: Value) -> bool:
    """Of a type that programs compute in."""
    return value.type.dtype in ARITHMETIC


def floating(value: Value) -> bool:
    return value.type.dtype in FLOAT_DTYPES


def integral(value: Value) -> bool:
    return value.type.dtype in ("int32", "int8", "uint8")


def boolean(value: Value) -> bool:
    return value.type.dtype == "bool"


def together(a: Value, b: Value) -> bool:
    """Broadcast against each other."""
    pairs = zip(reversed(a.type.shape), reversed(b.type.shape), strict=False)
    return all(m == n or 1 in (m, n) for m, n in pairs)


def partner(g: Generator, a: Value) -> Value:
    """Another operand of the same element type."""

    def fits(b: Value) -> bool:
        return b.type.dtype == a.type.dtype and together(a, b)

    if g.chance(0.15):
        return g.argument(a.type)
    return g.pick(fits)


@operation(8)
def exact_unary(g: Generator) -> None:
    a = g.pick(arithmetic)
    known = a.lattice
    half = None if known is None else Lattice(known.bound / 2, known.step / 2)
    forms = [
        ("-{0}", known),
        ("jnp.abs({0})", known),
        ("jnp.sign({0})", BITS),
        ("jnp.maximum({0}, 0)", known),
        ("jnp.clip({0}, -2, 2)", Lattice(2.0, known.step) if known else None),
        ("{0} * 2", known and known + known),
        ("{0} + 1", known and known + BITS),
        ("{0} * {0}", known and known * known),
        ("3 - {0}", known and known + Lattice(3.0)),
    ]
    if floating(a):
        forms += [
            ("{0} * 0.5", half),
            ("jnp.floor({0})", known and known.rounded()),
            ("jnp.round({0})", known and known.rounded()),
            ("jax.nn.relu({0})", known),
        ]
    text, lattice = g.choice(forms)
    g.compute(text, [a], lattice, a.type.dtype)


@operation(4)
def inexact_unary(g: Generator) -> None:
    a = g.pick(floating)
    text = g.choice(
        [
            "jnp.tanh({0})",
            "jnp.exp(-jnp.abs({0}))",
            "jnp.sin({0})",
            "jnp.cos({0})",
            "jnp.log1p(jnp.abs({0}))",
            "jnp.sqrt(jnp.abs({0}))",
            "lax.rsqrt(jnp.abs({0}) + 1)",
            "jax.nn.sigmoid({0})",
            "jax.nn.silu({0})",
            "jax.nn.gelu({0})",
            "lax.erf({0})",
            "1 / (1 + jnp.abs({0}))",
            "{0} * 0.3",
            "jax.nn.softplus({0})",
            "jnp.expm1(-jnp.abs({0}))",
            "jnp.power(jnp.abs({0}) + 1, 1.5)",
            "jnp.arctan2({0}, 2)",
            "{0} ** 3",
        ]
    )
    g.add(text, [a], noisy=True)


@operation(3)
def integer_unary(g: Generator) -> None:
    a = g.pick(integral)
    g.move(
        g.choice(
            [
                "~{0}",
                "{0} // 3",
                "{0} % 4",
                "{0} << 1",
                "{0} >> 1",
                "lax.population_count({0})",
                "{0} ^ 5",
                "lax.clz({0})",
                "jnp.bitwise_or({0}, 2)",
            ]
        ),
        a,
        lattice=None,
    )


@operation(10)
def binary(g: Generator) -> None:
    a = g.pick(arithmetic)
    b = partner(g, a)
    if g.chance(0.5):
        a, b = b, a
    x, y = a.lattice, b.lattice
    known = x is not None and y is not None
    text, lattice = g.choice(
        [
            ("{0} + {1}", x + y if known else None),
            ("{0} - {1}", x + y if known else None),
            ("{0} * {1}", x * y if known else None),
        ]
    )
    g.compute(text, [a, b], lattice, a.type.dtype)


@operation(4)
def extremum(g: Generator) -> None:
    a = g.pick(arithmetic)
    g.move(g.choice(["jnp.maximum({0}, {1})", "jnp.minimum({0}, {1})"]), a, partner(g, a))


@operation(2)
def division(g: Generator) -> None:
    a = g.pick(arithmetic)
    b = partner(g, a)
    if floating(a):
        g.add("{0} / (1 + jnp.abs({1}))", [a, b], noisy=True)
    else:
        text = g.choice(["{0} // ({1} | 1)", "{0} % ({1} | 1)", "lax.div({0}, {1} | 1)"])
        g.add(text, [a, b])


@operation(2)
def shift(g: Generator) -> None:
    a = g.pick(lambda v: v.type.dtype in ("int32", "int8"))
    text = g.choice(
        ["{0} << ({1} & 3)", "{0} >> ({1} & 3)", "lax.shift_right_logical({0}, {1} & 3)"]
    )
    g.add(text, [a, partner(g, a)])


@operation(4)
def comparison(g: Generator) -> None:
    a = g.pick(lambda v: arithmetic(v) or (is_fp8(v.type.dtype)))
    sign = g.choice(["<", "<=", "==", "!=", ">", ">="])
    if g.chance(0.4):
        g.add(f"{{0}} {sign} {g.choice([0, 1, -1])}", [a], BITS)
    else:
        g.add(f"{{0}} {sign} {{1}}", [a, partner(g, a)], BITS)


@operation(2)
def logic(g: Generator) -> None:
    a = g.pick(boolean)
    if g.chance(0.3):
        g.add("~{0}", [a], BITS)
    else:
        g.add(f"{{0}} {g.choice('&|^')} {{1}}", [a, partner(g, a)], BITS)


@operation(6)
def where(g: Generator) -> None:
    c = g.pick(boolean)
    a = g.pick(lambda v: not boolean(v) and together(c, v))
    if g.chance(0.3) and not is_fp8(a.type.dtype):
        g.move("jnp.where({0}, {1}, 0)", c, a, lattice=join(a.lattice, BITS))
    else:
        b = partner(g, a)
        g.move("jnp.where({0}, {1}, {2})", c, a, b, lattice=join(a.lattice, b.lattice))


@operation(7)
def convert(g: Generator) -> None:
    a = g.pick()
    dtypes = (*ARITHMETIC, *ARITHMETIC, "bool", "uint8", *FP8_DTYPES, "float8_e4m3fnuz")
    dtype = g.choice([d for d in dtypes if d != a.type.dtype])
    g.convert(a, dtype)


@operation(2)
def bitcast(g: Generator) -> None:
    pairs = {"float32": "int32", "bfloat16": "uint16", "float16": "int16", "int8": "uint8"}
    pairs |= {"float8_e4m3fn": "uint8"}
    a = g.pick(lambda v: v.type.dtype in pairs and (v.lattice is not None or not v.type.is_float))
    back = f"lax.bitcast_convert_type(lax.bitcast_convert_type({{0}}, jnp.{pairs[a.type.dtype]})"
    bits = g.choice(["& 0x7F", "^ 1", "| 1"])
    g.move(f"{back} {bits}, jnp.{a.type.dtype})", a, lattice=None)


@operation(5)
def quantize_dequantize(g: Generator) -> None:
    """As fp8 layers write it, with a scale that divides exactly."""
    a = g.pick(lambda v: v.type.dtype in ("float32", "bfloat16"))
    fp8 = g.choice(["float8_e4m3fn", "float8_e5m2"])
    most = {"float8_e4m3fn": 448, "float8_e5m2": 57344}[fp8]
    scale = g.choice([0.5, 2.0, 0.25, 1.0])
    q = g.add(f"jnp.clip({{0}} / {scale}, -{most}, {most}).astype(jnp.{fp8})", [a])[0]
    if g.chance(0.3):
        return
    if g.chance(0.3) and g.scope.together:
        axis = g.choice(g.axes)
        if not q.type.rank:
            raise NoFit
        q = g.move(f"lax.all_gather({{0}}, '{axis}', axis={g.dim(q)}, tiled=True)", q)
    wide = g.choice(["bfloat16", "float32", a.type.dtype])
    g.add(f"{{0}}.astype(jnp.{wide}) * {scale}", [q])
