"""Random SPMD programs, for collectives that move to where the fewest bytes are.

A program is ops on an argument, a collective (several at times), and ops on its result:
elementwise chains, extrema over one or several dimensions, block views, movement, values
that are the same on all devices and others that are not; in a loop at times.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from collective_reference import random_array
from device_programs import Argument, Case
from headrace.compiler.iree.element_types import Array

WIDE = ("f32", "bf16", "f16")
FP8 = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ")
COLLECTIVES = ("all_gather", "all_to_all", "same_dims", "permute", "incomplete_permute")
UNARY = [
    "abs",
    "negate",
    "exponential",
    "tanh",
    "sqrt",
    "rsqrt",
    "log",
    "sine",
    "logistic",
    "floor",
    "sign",
]
OF_INTEGERS = ["add", "multiply", "maximum", "minimum", "and", "xor", "negate", "not", "abs"]
MOVEMENTS = ["transpose", "reverse", "concatenate", "split", "merge", "ones"]
LOWEST = {"f32": "0xFF800000", "bf16": "0xFF80", "f16": "0xFC00"}

Shape = tuple[int, ...]
Value = tuple[str, Shape, str]


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def grid(rows: list[list[int]]) -> str:
    return f"dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"


def groups_of(rng: random.Random, devices: int) -> list[list[int]]:
    """All devices, or those along one axis of a mesh, in any order."""
    size = rng.choice([s for s in (devices, devices, 2, 4) if s <= devices])
    mesh = np.arange(devices).reshape(-1, size)
    if rng.random() < 0.5:
        mesh = np.arange(devices).reshape(size, -1).T
    groups: list[list[int]] = mesh.tolist()
    if rng.random() < 0.2:
        groups = [group[::-1] for group in groups]
    return groups


class Program:
    """A function body in the making. ``u`` and ``v`` are a scalar and a vector of 8 that
    all devices have alike, ``p`` and ``w`` others that they do not."""

    def __init__(self, rng: random.Random, devices: int, names: Sequence[str], prefix: str) -> None:
        self.rng, self.devices, self.prefix = rng, devices, prefix
        self.lines: list[str] = []
        self.scalars = {"u": names[1], "p": names[2]}
        self.vectors = {"v": names[3], "w": names[4]}

    def add(self, text: str, shape: Shape, element: str) -> Value:
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name, shape, element

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        shape: Shape,
        element: str,
        rest: str = "",
        relation: str = "",
    ) -> Value:
        values = ", ".join([*[relation][: bool(relation)], *(v for v, _, _ in operands)]) + rest
        types = ", ".join(tensor(s, e) for _, s, e in operands)
        text = f"stablehlo.{name} {values} : ({types}) -> {tensor(shape, element)}"
        return self.add(text, shape, element)

    def constant(self, number: str, shape: Shape, element: str) -> Value:
        return self.add(
            f"stablehlo.constant dense<{number}> : {tensor(shape, element)}", shape, element
        )

    def convert(self, value: Value, element: str) -> Value:
        return self.op("convert", [value], value[1], element) if value[2] != element else value

    def broadcast(self, value: Value, shape: Shape, dims: Sequence[int]) -> Value:
        return self.op("broadcast_in_dim", [value], shape, value[2], f", dims = {list(dims)}")

    def other(self, like: Value) -> Value:
        """A value of that type: a constant, or a broadcast of an argument."""
        _, shape, element = like
        kind = self.rng.choice("cccuuuupvw" if 8 in shape else "cccuuuup")
        if kind == "c" or element not in ("f32", "f16"):
            numbers = ("0.5", "1.7", "-3.0") if element in WIDE else ("2", "3", "5")
            return self.constant(self.rng.choice(numbers), shape, element)
        is_scalar = kind in self.scalars
        names, inner = (self.scalars, ()) if is_scalar else (self.vectors, (8,))
        value: Value = (names[kind], inner, "f32")
        eights = [d for d, size in enumerate(shape) if size == 8]
        dims = [] if is_scalar else [self.rng.choice(eights)]
        if self.rng.random() < 0.3:
            value = self.same("abs", [value])
        if self.rng.random() < 0.5:
            return self.convert(self.broadcast(value, shape, dims), element)
        return self.broadcast(self.convert(value, element), shape, dims)

    def some_dims(self, shape: Shape) -> list[int]:
        count = self.rng.randint(1, len(shape))
        return sorted(self.rng.sample(range(len(shape)), count))

    def extrema(self, value: Value, dims: Sequence[int]) -> Value:
        """The largest (or least) magnitude over the dims."""
        _, shape, element = value
        kind, start = self.rng.choice(
            [("maximum", "0"), ("maximum", LOWEST.get(element, "-100")), ("minimum", "7")]
        )
        if self.rng.random() < 0.7:
            value = self.same("abs", [value])
        if element in WIDE and "0x" not in start:
            start += ".0"
        init = self.constant(start, (), element)
        left = tuple(size for d, size in enumerate(shape) if d not in dims)
        text = (
            f"stablehlo.reduce({value[0]} init: {init[0]}) applies stablehlo.{kind} across dimensions ="
            f" {list(dims)} : ({tensor(shape, element)}, {tensor((), element)}) -> {tensor(left, element)}"
        )
        return self.add(text, left, element)

    def same(self, name: str, operands: Sequence[Value]) -> Value:
        """An elementwise op of one type."""
        _, shape, element = operands[0]
        text = ", ".join(value for value, _, _ in operands)
        return self.add(f"stablehlo.{name} {text} : {tensor(shape, element)}", shape, element)

    def selected(self, relation: str, value: Value, to: Value, other: Value) -> Value:
        """``value`` where it has that relation ``to`` another, else ``other``."""
        _, shape, element = value
        known = self.op("compare", [value, to], shape, "i1", relation=relation)
        types = f"{tensor(shape, 'i1')}, {tensor(shape, element)}"
        text = f"stablehlo.select {known[0]}, {value[0]}, {other[0]} : {types}"
        return self.add(text, shape, element)

    def rounding(self, value: Value) -> Value:
        """A type to do arithmetic in. A value is rounded to bf16 last or not at all: which of
        these roundings IREE keeps depends on what it fuses (quirks.BF16_ROUNDINGS_DROPPED),
        and so on where the collectives are."""
        return self.convert(value, "f32") if value[2] == "bf16" else value

    def finite(self, value: Value) -> Value:
        """Not NaN, and no larger than what integers hold: their conversions are the CPU's else."""
        _, shape, element = value
        value = self.selected("EQ", value, value, self.constant("0.0", shape, element))
        low, high = (self.constant(n, (), element) for n in ("-100.0", "100.0"))
        return self.op("clamp", [low, value, high], shape, element)

    def to(self, value: Value, element: str) -> Value:
        if element in ("i8", "ui8") and value[2] in (*WIDE, *FP8):
            value = self.finite(value if value[2] in WIDE else self.convert(value, "f32"))
            if element == "ui8":
                value = self.same("abs", [value])
        return self.convert(value, element)

    def narrow(self, value: Value) -> Value:
        """The value as an element of a byte or two, as it is or with a scale."""
        _, shape, element = value
        if element in WIDE and self.rng.random() < 0.4:
            value = self.rounding(value)
            dims = self.some_dims(shape)
            left = [d for d in range(len(shape)) if d not in dims]
            scale = self.broadcast(self.extrema(value, dims), shape, left)
            value = self.same("divide", [value, scale])
        elif element in WIDE and self.rng.random() < 0.4:
            scale = self.convert((self.scalars["u"], (), "f32"), element)
            text = (
                f'"headrace.quantize"({value[0]}, {scale[0]}) {{operandSegmentSizes = array<i32: 1, 1>, saturate = true,'
                f' scale_mode = "divide"}} : ({tensor(shape, element)}, {tensor((), element)}) -> {tensor(shape, "f8E4M3FN")}'
            )
            return self.add(text, shape, "f8E4M3FN")
        return self.to(value, self.rng.choice([*FP8, "i8", "i8", "bf16", "f16"]))

    def elementwise(self, value: Value) -> Value:
        element = value[2]
        if element not in WIDE:
            if element in FP8 or element == "ui8" or self.rng.random() < 0.4:
                return self.convert(value, self.rng.choice(WIDE))
            name = self.rng.choice(OF_INTEGERS)
            is_unary = name in ("negate", "not", "abs")
            return self.same(name, [value] if is_unary else [value, self.other(value)])
        kind = self.rng.randrange(8)
        if kind not in (3, 4):
            value = self.rounding(value)
        if kind < 3:
            return self.same(self.rng.choice(UNARY), [value])
        if kind == 3:
            other = self.other(value)
            return self.selected("LT", value, other, other)
        if kind == 4:
            return self.to(value, self.rng.choice(["f32", "f16", "f16", "i8", "ui8", *FP8[:2]]))
        name = self.rng.choice(["add", "subtract", "multiply", "divide", "maximum", "minimum"])
        pair = [value, self.rng.choice([self.other(value), self.other(value), value])]
        return self.same(name, pair if self.rng.random() < 0.8 else pair[::-1])

    def movement(self, value: Value) -> Value:
        name, shape, element = value
        rank, kind = len(shape), self.rng.choice(MOVEMENTS)
        if kind == "transpose":
            order = self.rng.sample(range(rank), rank)
            turned = tuple(shape[d] for d in order)
            return self.op("transpose", [value], turned, element, f", dims = {order}")
        dim = self.rng.randrange(rank)
        if kind == "reverse":
            return self.same("reverse", [(f"{name}, dims = [{dim}]", shape, element)])
        if kind == "concatenate" and shape[dim] <= 32 and element in WIDE:
            pair = [value, self.rng.choice([value, self.other(value)])]
            longer = (*shape[:dim], 2 * shape[dim], *shape[dim + 1 :])
            return self.op("concatenate", pair, longer, element, f", dim = {dim}")
        if kind == "split" and rank < 4 and shape[dim] % 8 == 0:
            size = self.rng.choice([2, 4, 8])
            view = (*shape[:dim], shape[dim] // size, size, *shape[dim + 1 :])
            return self.op("reshape", [value], view, element)
        if kind == "merge" and rank > 1 and dim:
            view = (*shape[: dim - 1], shape[dim - 1] * shape[dim], *shape[dim + 1 :])
            return self.op("reshape", [value], view, element)
        if kind == "ones" and rank < 4:
            return self.op("reshape", [value], (*shape[:dim], 1, *shape[dim:]), element)
        return value

    def normalized(self, value: Value) -> Value:
        """Divided by its extrema over some dims, at times those within blocks."""
        if value[2] not in WIDE:
            return value
        _, shape, element = value
        blocks = [d for d, size in enumerate(shape) if size % 8 == 0]
        if blocks and len(shape) < 4 and self.rng.random() < 0.5:
            dim = self.rng.choice(blocks)
            view: Shape = (*shape[:dim], shape[dim] // 4, 4, *shape[dim + 1 :])
            value, dims = self.op("reshape", [value], view, element), [dim + 1]
        else:
            view, dims = shape, self.some_dims(shape)
        value = self.rounding(value)
        element = value[2]
        scale = self.extrema(value, dims)
        scale = self.same("multiply", [scale, self.constant("0.3", scale[1], element)])
        scale = self.broadcast(scale, view, [d for d in range(len(view)) if d not in dims])
        value = self.same("divide", [value, scale])
        return value if view == shape else self.op("reshape", [value], shape, element)

    def form(self, value: Value, most: int) -> Value:
        for _ in range(self.rng.randrange(most + 1)):
            steps = (self.elementwise, self.movement, self.normalized)
            value = self.rng.choices(steps, (65, 20, 15))[0](value)
        return value

    def collective(self, value: Value, name: str) -> Value:
        if value[2] == "ui8":  # is in no collective that IREE's conversion of StableHLO takes
            value = self.convert(value, "f32")
        name_, shape, element = value
        groups, result = groups_of(self.rng, self.devices), list(shape)
        n = len(groups[0])
        split = next(
            (d for d in self.rng.sample(range(len(shape)), len(shape)) if shape[d] % n == 0), None
        )
        if "permute" in name or (split is None and name != "all_gather"):
            order = self.rng.sample(range(self.devices), self.devices)
            pairs = [list(pair) for pair in zip(order, order[1:] + order[:1], strict=True)]
            pairs = pairs[:-1] if name == "incomplete_permute" else pairs
            op, attributes = "collective_permute", f"source_target_pairs = {grid(pairs)}"
        elif name == "all_gather":
            dim = self.rng.randrange(len(shape))
            result[dim] *= n
            op, attributes = name, f"dim = {dim} : i64, replica_groups = {grid(groups)}"
        else:
            assert split is not None
            concat = split if name == "same_dims" else self.rng.randrange(len(shape))
            result[split] //= n
            result[concat] *= n
            op = "all_to_all"
            attributes = f"split_dim = {split} : i64, concat_dim = {concat} : i64, replica_groups = {grid(groups)}"
        types = f"({tensor(shape, element)}) -> {tensor(result, element)}"
        text = f'"headrace.{op}"({name_}) {{{attributes}, pipelined = false}} : {types}'
        return self.add(text, tuple(result), element)


def program(
    rng: random.Random, devices: int, argument: Value, names: Sequence[str], prefix: str
) -> tuple[Program, list[Value]]:
    """The body, and what it returns."""
    made = Program(rng, devices, names, prefix)
    value, returned = argument, list[Value]()
    if argument[2] not in WIDE:
        value = made.form(value, 4)
        if value[2] not in WIDE and rng.random() > 0.2:
            value = made.convert(value, rng.choice(WIDE))
    for _ in range(rng.choice([1, 1, 1, 2])):
        value = made.collective(value, rng.choices(COLLECTIVES, (4, 2, 2, 2, 1))[0])
        if rng.random() < 0.07:
            returned.append(value)
        value = made.form(value, 8 if argument[2] in WIDE else 3)
        if rng.random() < 0.07:
            returned.append(value)
    if argument[2] in WIDE and rng.random() < 0.95:
        value = made.narrow(value)
    if value[2] in WIDE and value[1] and rng.random() < 0.3:
        returned.append(made.extrema(value, range(rng.randint(1, len(value[1])))))
    return made, [v if v[2] != "ui8" else made.convert(v, "f32") for v in (*returned, value)]


def looped(made: Program, argument: Value, inner: str, returned: Sequence[Value]) -> list[Value]:
    """The body twice, the second time of the argument in reverse (its name is ``inner``)."""
    body, prefix = made.lines[:], made.prefix
    turned = made.same("reverse", [(f"{inner}, dims = [0]", *argument[1:])])
    body.append(made.lines[-1])
    starts = [made.constant("0" if v[2].startswith("i") else "0.0", *v[1:]) for v in returned]
    outside = made.lines[len(body) :]
    carried = [(inner, argument[0]), *((f"{prefix}a{i}", v[0]) for i, v in enumerate(starts))]
    names = [v[0] for v in (turned, *returned)]
    types = ", ".join(tensor(*v[1:]) for v in (argument, *returned))
    if made.rng.random() < 0.5:
        numbers = [f"{prefix}i{n} = arith.constant {n} : index" for n in range(3)]
        values = ", ".join(f"{new} = {old}" for new, old in carried)
        made.lines = [
            *outside,
            *numbers,
            f"{prefix}r:{len(carried)} = scf.for {prefix}k = {prefix}i0 to {prefix}i2 step {prefix}i1"
            f" iter_args({values}) -> ({types}) {{",
            *body,
            f"scf.yield {', '.join(names)} : {types} }}",
        ]
        return [(f"{prefix}r#{i + 1}", *v[1:]) for i, v in enumerate(returned)]
    numbers = [f"{prefix}i{n} = stablehlo.constant dense<{n}> : tensor<i32>" for n in range(3)]
    values = ", ".join(f"{new} = {old}" for new, old in [(f"{prefix}k", f"{prefix}i0"), *carried])
    made.lines = [
        *outside,
        *numbers,
        f"{prefix}r:{len(carried) + 1} = stablehlo.while({values}) : tensor<i32>, {types}",
        f"cond {{ {prefix}t = stablehlo.compare LT, {prefix}k, {prefix}i2 : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        f"stablehlo.return {prefix}t : tensor<i1> }} do {{",
        *body,
        f"{prefix}n = stablehlo.add {prefix}k, {prefix}i1 : tensor<i32>",
        f"stablehlo.return {', '.join([f'{prefix}n', *names])} : tensor<i32>, {types} }}",
    ]
    return [(f"{prefix}r#{i + 2}", *v[1:]) for i, v in enumerate(returned)]


def random_case(seed: int, devices: int) -> Case:
    rng = random.Random(seed)
    shape: Shape = rng.choice([(16, 32), (8, 8, 4), (64,), (16, 8), (1, 32), (32, 1, 8), (8, 24)])
    element = rng.choice([*WIDE, "f32", "f32", "i8", "bf16", rng.choice(FP8)])
    is_looped = rng.random() < 0.15

    def scalars(shape: Shape, equal: bool, start: int) -> Array:
        found = np.abs(random_array("f32", (devices, *shape), start, any_bits=False)) % 5 + 0.25
        return np.broadcast_to(found[:1], found.shape).copy() if equal else found

    arguments = (
        Argument(
            tensor(shape, element),
            random_array(element, (devices, *shape), seed, any_bits=rng.random() < 0.5),
        ),
        *(
            Argument(tensor(s, "f32"), scalars(s, equal, seed + n), replicated=equal)
            for n, (s, equal) in enumerate([((), True), ((), False), ((8,), True), ((8,), False)])
        ),
    )

    def build(names: Sequence[str], prefix: str) -> tuple[Program, list[Value]]:
        argument, inner = (names[0], shape, element), f"{prefix}x" if is_looped else names[0]
        value = (inner, shape, element)
        made, returned = program(random.Random(seed), devices, value, names, prefix)
        return made, looped(made, argument, inner, returned) if is_looped else returned

    def body(names: Sequence[str], prefix: str) -> tuple[str, list[str]]:
        made, returned = build(names, prefix)
        return "\n".join(made.lines), [name for name, _, _ in returned]

    _, returned = build(["%x", "%u", "%p", "%v", "%w"], "%")
    types = tuple(tensor(*v[1:]) for v in returned)
    return Case(f"{devices} devices, seed {seed}", arguments, body, types, ())
