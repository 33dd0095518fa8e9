"""Random bodies of elementwise ops: scalar arithmetic as text and as numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from headrace.compiler.iree.element_types import Array

from .numerics import (
    FLOATS,
    FP8,
    INTEGERS,
    Numbers,
    Unfit,
    converted,
    dtype_of,
    exactly,
    function,
    is_float,
    ordered,
    rounded,
)

Apply = Callable[..., Numbers]


@dataclass
class Scalars:
    """A straight line of scalar ops. ``elements`` are the types of all values,
    the first ``arguments`` of them given; ``steps`` make the others."""

    elements: list[str]
    arguments: int = field(init=False)
    lines: list[str] = field(default_factory=list[str])
    steps: list[tuple[Apply, tuple[int, ...]]] = field(
        default_factory=list[tuple[Apply, tuple[int, ...]]]
    )

    def __post_init__(self) -> None:
        self.arguments = len(self.elements)

    def name(self, index: int) -> str:
        return f"%s{index}"

    def add(self, text: str, element: str, operands: Sequence[int], apply: Apply) -> int:
        """``text`` holds ``{0}`` for an operand's name."""
        names = [self.name(o) for o in operands]
        self.lines.append(f"{self.name(len(self.elements))} = {text.format(*names)}")
        self.elements.append(element)
        self.steps.append((apply, tuple(operands)))
        return len(self.elements) - 1

    def run(self, given: Sequence[Numbers]) -> list[Numbers]:
        values = [*given]
        with np.errstate(all="ignore"):
            for apply, operands in self.steps:
                values.append(apply(*(values[o] for o in operands)))
        return values

    def constant(self, value: float, element: str) -> int:
        number = exactly(np.array(value).astype(dtype_of(element)))
        literal = f"{value:e}" if is_float(element) else str(int(value))
        if element == "i1":
            literal = "true" if value else "false"
        if element != "i1":
            literal = f"{literal} : {element}"
        return self.add(f"arith.constant {literal}", element, (), lambda: number)


def grow(body: Scalars, rng: random.Random, exact: bool) -> int:
    """Adds an op or two that read a recent value; returns the last."""
    index = rng.choice(range(max(0, len(body.elements) - 3), len(body.elements)))
    element = body.elements[index]
    if element == "i1":
        return _on_bool(body, rng, index)
    if element in FP8:
        return convert(body, index, rng.choice(FLOATS[:3]))
    if element in FLOATS:
        return _on_float(body, rng, index, exact)
    return _on_integer(body, rng, index)


def convert(body: Scalars, index: int, element: str, unsigned: bool = False) -> int:
    """The value in another type, by the op for the two."""
    source = body.elements[index]
    if source == element:
        return index
    if is_float(source) and is_float(element):
        bits = [dtype_of(e).itemsize for e in (source, element)]
        if bits[0] == bits[1]:  # no op converts between them
            return convert(body, convert(body, index, "f32"), element)
        op = "extf" if bits[0] < bits[1] else "truncf"
    elif is_float(source):
        if element == "i1":
            return compare(body, index, body.constant(0.0, source), "une")
        op = "fptosi"
    elif is_float(element):
        op = "uitofp" if unsigned or source == "i1" else "sitofp"
    else:
        widens = source == "i1" or (
            element != "i1" and dtype_of(source).itemsize < dtype_of(element).itemsize
        )
        op = ("extui" if unsigned or source == "i1" else "extsi") if widens else "trunci"

    def apply(x: Numbers) -> Numbers:
        if op == "trunci" and element == "i1":
            return exactly((x.data & 1).astype(np.bool_))
        if op in ("uitofp", "extui") and source != "i1":
            x = exactly(x.data.view(f"u{x.data.dtype.itemsize}"))
        return converted(x, source, element)

    return body.add(f"arith.{op} {{0}} : {source} to {element}", element, (index,), apply)


def compare(body: Scalars, a: int, b: int, predicate: str) -> int:
    element = body.elements[a]
    relation: dict[str, Callable[[Array, Array], Array]] = {
        "lt": np.less, "le": np.less_equal, "gt": np.greater,
        "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
    }  # fmt: skip

    def apply(x: Numbers, y: Numbers) -> Numbers:
        ordered(x.wide - y.wide, x.error + y.error)
        p, q = x.data, y.data
        if not is_float(element) and predicate[0] == "u":
            p, q = (v.view(f"u{v.dtype.itemsize}") for v in (p, q))
        return exactly(relation[predicate[-2:]](p, q))

    op = "cmpf" if is_float(element) else "cmpi"
    return body.add(f"arith.{op} {predicate}, {{0}}, {{1}} : {element}", "i1", (a, b), apply)


def select(body: Scalars, condition: int, a: int, b: int) -> int:
    element = body.elements[a]
    text = f"arith.select {{0}}, {{1}}, {{2}} : {element}"
    return body.add(text, element, (condition, a, b), _where)


def _where(c: Numbers, a: Numbers, b: Numbers) -> Numbers:
    return Numbers(np.where(c.data, a.data, b.data), np.where(c.data, a.error, b.error))


def float_op(element: str, name: str) -> Apply:
    """Of ``addf``, ``subf``, ``mulf``, ``divf``, and the extrema."""

    def apply(x: Numbers, y: Numbers) -> Numbers:
        a, b, e, f = x.wide, y.wide, x.error, y.error
        if name in ("addf", "subf"):
            return rounded(a + b if name == "addf" else a - b, e + f, element)
        if name == "mulf":
            return rounded(a * b, np.abs(a) * f + np.abs(b) * e + e * f, element)
        if name == "divf":
            if np.any(np.abs(b) <= f) or np.any(b == 0):
                raise Unfit
            quotient = a / b
            found = rounded(quotient, (e + np.abs(quotient) * f) / (np.abs(b) - f), element)
            # Division may become a product with the reciprocal.
            return Numbers(found.data, 2 * found.error)
        pick = np.maximum if name in ("maximumf", "maxnumf") else np.minimum
        return Numbers(pick(x.data, y.data), np.where(e + f == 0, 0.0, np.maximum(e, f)))

    return apply


_FUNCTIONS: dict[str, tuple[Callable[[Array], Array], float]] = {
    "math.exp": (np.exp, 0.0),
    "math.tanh": (np.tanh, 2.0**-4),
    "math.sqrt": (np.sqrt, 0.0),
    "math.rsqrt": (lambda x: 1 / np.sqrt(x), 0.0),
    "math.log": (np.log, 1.0),
    "math.erf": (lambda x: np.vectorize(math.erf, otypes=[np.float64])(x), 1.0),
    "math.exp2": (np.exp2, 0.0),
    "math.log1p": (np.log1p, 1.0),
    "math.expm1": (np.expm1, 1.0),
}
_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.roundeven": np.rint,
    "math.trunc": np.trunc,
}


def _on_float(body: Scalars, rng: random.Random, index: int, exact: bool) -> int:
    element = body.elements[index]
    kind = rng.choice(
        ("sign", "binary", "binary", "binary", "compare", "round", "convert", "fma", "quantize")
        if exact
        else ("sign", "binary", "binary", "compare", "function", "function", "convert", "fma")
    )
    if kind == "sign":
        name, of = rng.choice((("arith.negf", np.negative), ("math.absf", np.abs)))
        return body.add(
            f"{name} {{0}} : {element}", element, (index,), lambda x: Numbers(of(x.data), x.error)
        )
    if kind == "round":
        name = rng.choice([*_ROUNDINGS])
        return body.add(f"{name} {{0}} : {element}", element, (index,), _rounding(name))
    if kind == "function":
        return _function(body, rng, index)
    if kind == "convert":
        return convert(
            body, index, rng.choice([e for e in (*FLOATS[:3], "i32", "i8") if e != element])
        )
    if kind == "quantize":
        # As models quantize: clamped to the format, narrowed, and widened again.
        low, high = body.constant(-448.0, element), body.constant(448.0, element)
        least = _binary(body, index, low, "maximumf")
        fp8 = convert(
            body, _binary(body, least, high, "minimumf"), rng.choice(("f8E4M3FN", "f8E5M2"))
        )
        return convert(body, fp8, element)
    other = _other(body, rng, element)
    if kind == "compare":
        condition = compare(
            body, index, other, rng.choice(("olt", "ole", "ogt", "oge", "oeq", "une", "ult", "uge"))
        )
        return select(body, condition, index, other)
    if kind == "fma":
        product = _binary(body, index, other, "mulf")
        return _binary(body, product, index, rng.choice(("addf", "subf")))
    names = ["addf", "subf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"]
    name = rng.choice(names if exact else [*names, "divf"])
    return _binary(body, *rng.choice(((index, other), (other, index))), name)


def _rounding(name: str) -> Apply:
    def apply(x: Numbers) -> Numbers:
        whole = _ROUNDINGS[name](x.wide)
        if not x.exact and not np.array_equal(
            _ROUNDINGS[name](x.wide - x.error), _ROUNDINGS[name](x.wide + x.error)
        ):
            raise Unfit
        return exactly(whole.astype(x.data.dtype))

    return apply


def _function(body: Scalars, rng: random.Random, index: int) -> int:
    element = body.elements[index]
    name = rng.choice([*_FUNCTIONS])
    if name in ("math.sqrt", "math.rsqrt", "math.log", "math.log1p"):
        size = body.add(
            f"math.absf {{0}} : {element}",
            element,
            (index,),
            lambda x: Numbers(np.abs(x.data), x.error),
        )
        index = _binary(body, size, body.constant(0.5, element), "addf")
    f, least = _FUNCTIONS[name]
    return body.add(
        f"{name} {{0}} : {element}",
        element,
        (index,),
        lambda x: function(f, x, element, least=least),
    )


def _binary(body: Scalars, a: int, b: int, name: str) -> int:
    element = body.elements[a]
    text = f"arith.{name} {{0}}, {{1}} : {element}"
    return body.add(text, element, (a, b), float_op(element, name))


def _other(body: Scalars, rng: random.Random, element: str) -> int:
    """Another value in this type: one there is, a constant, or one converted."""
    same = [i for i, e in enumerate(body.elements) if e == element]
    if rng.random() < 0.25 or len(same) < 2:
        given = [i for i in range(body.arguments) if body.elements[i] not in (element, "index")]
        if given and rng.random() < 0.6:
            return convert(body, rng.choice(given), element)
        values = (0.5, 2.0, -1.0, 1.0, 0.25) if is_float(element) else (1, 2, 3, -1, 0)
        return body.constant(rng.choice(values), element)
    return rng.choice(same)


def _on_integer(body: Scalars, rng: random.Random, index: int) -> int:
    element = body.elements[index]
    if element == "index":
        text = "arith.index_cast {0} : index to i32"
        return body.add(text, "i32", (index,), lambda x: exactly(x.data.astype(np.int32)))
    bits = dtype_of(element).itemsize * 8
    kind = rng.choice(("binary", "binary", "divide", "shift", "compare", "convert", "convert"))
    if kind == "convert":
        others = [e for e in (*FLOATS[:3], *INTEGERS, "i1") if e != element]
        return convert(body, index, rng.choice(others), unsigned=rng.random() < 0.2)
    if kind == "shift":
        name, by = rng.choice(("shli", "shrsi", "shrui")), rng.randrange(bits)
        other = body.constant(by, element)
    elif kind == "divide":
        name, other = (
            rng.choice(("divsi", "remsi", "divui", "remui")),
            body.constant(rng.choice((1, 2, 3, 7)), element),
        )
    else:
        name = rng.choice(
            ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
        )
        other = _other(body, rng, element)
    if kind == "compare":
        predicate = rng.choice(("slt", "sge", "eq", "ne", "ult", "ugt"))
        return select(body, compare(body, index, other, predicate), index, other)
    return integer_binary(body, index, other, name)


def integer_binary(body: Scalars, a: int, b: int, name: str) -> int:
    element = body.elements[a]

    def apply(x: Numbers, y: Numbers) -> Numbers:
        return exactly(
            np.asarray(_INTEGER[name](*_as_read(name, x.data, y.data))).view(x.data.dtype)
        )

    return body.add(f"arith.{name} {{0}}, {{1}} : {element}", element, (a, b), apply)


def _as_read(name: str, *values: Array) -> list[Array]:
    """Unsigned for the ops that end in ``ui``."""
    if name.endswith("ui"):
        return [np.asarray(v).view(f"u{v.dtype.itemsize}") for v in values]
    return [*values]


_INTEGER: dict[str, Callable[[Array, Array], Array]] = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply,
    "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor,
    "maxsi": np.maximum, "minsi": np.minimum, "maxui": np.maximum, "minui": np.minimum,
    "shli": np.left_shift, "shrsi": np.right_shift, "shrui": np.right_shift,
    "divui": np.floor_divide, "remui": np.remainder,
    # Toward zero, where numpy's floor is; by positive numbers only.
    "divsi": lambda a, b: a // b + ((a % b != 0) & (a < 0)),
    "remsi": np.fmod,
}  # fmt: skip


def _on_bool(body: Scalars, rng: random.Random, index: int) -> int:
    others = [i for i in range(len(body.elements)) if body.elements[i] not in ("i1", "index")]
    if others and rng.random() < 0.4:
        chosen = rng.choice(others)
        return select(body, index, chosen, _other(body, rng, body.elements[chosen]))
    if rng.random() < 0.5:
        return convert(body, index, rng.choice(("f32", "bf16", "f16", "i32", "i8")))
    same = [i for i, e in enumerate(body.elements) if e == "i1"]
    other = rng.choice(same) if len(same) > 1 else body.constant(1, "i1")
    return integer_binary(body, index, other, rng.choice(("andi", "ori", "xori")))
