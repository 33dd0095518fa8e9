"""Steps that add elementwise torch ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from headrace.compiler.iree.element_types import Array

from .. import scalars
from ..graph import Value
from ..numerics import FP8, Numbers, Unfit, converted, function, is_float, ordered, rounded
from ..writer import Writer
from .calls import CODES, FLOAT, call, floats, integer

_UNARY: dict[str, tuple[Callable[[Array], Array], float]] = {
    "aten.exp": (np.exp, 0.0),
    "aten.tanh": (np.tanh, 2.0**-4),
    "aten.sigmoid": (lambda x: 1 / (1 + np.exp(-x)), 2.0**-2),
    "aten.erf": (lambda x: np.vectorize(math.erf, otypes=[np.float64])(x), 1.0),
}


def unary(writer: Writer) -> None:
    rng = writer.rng
    x = floats(writer)
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
    x = floats(writer)
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
    x = floats(writer)
    element = x.type.element

    def compute(a: Numbers) -> list[Numbers]:
        gate = function(lambda v: 1 / (1 + np.exp(-v)), a, element, least=0.25)
        return [scalars.float_op(element, "mulf")(a, gate)]

    line = call("aten.silu", ["%$0"], [x.type.torch], [x.type])
    writer.add("aten.silu", [x], [x.type], [line], compute)


def binary(writer: Writer) -> None:
    """Of two tensors, one of them broadcast at times."""
    rng = writer.rng
    x = writer.value(lambda t: t.element in (*FLOAT, "i32", "i64") and t.rank >= 1)
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
        found = apply(*(spread(v, x.type.shape) for v in (a, b)))
        return [spread(found, x.type.shape)]

    writer.add(op, [x, y], [x.type], lines, compute)


def spread(x: Numbers, shape: Sequence[int]) -> Numbers:
    return x.map(lambda a: np.broadcast_to(a, tuple(shape)))


def scalar_binary(writer: Writer) -> None:
    rng = writer.rng
    x = writer.value(lambda t: t.element in (*FLOAT, "i32", "i64"))
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
        lambda a: [spread(body.run([a])[-1], x.type.shape)],
    )


def clamp(writer: Writer) -> None:
    x = floats(writer)
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
    x = writer.value(lambda t: t.element in (*FLOAT, "i32", "i64") and t.is_static)
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
    element = rng.choice([e for e in (*FLOAT, *FP8, "i32", "i64", "i8") if e != x.type.element])
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
