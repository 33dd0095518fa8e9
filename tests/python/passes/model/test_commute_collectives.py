"""commute-collectives changes no bit: programs run before and after it.

Real runs on four CPU devices. The data are all codes of the fp8 type at
random, NaN and -0 among them, and floats far outside its range.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from collective_reference import random_array
from device_programs import Argument, Case, assert_same, function_text, run_cases
from headrace.compiler.iree.element_types import Array
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.dialects.verifier import verify
from headrace.passes.pipeline import Pipeline
from headrace.passes.remarks import collect_remarks

COMMUTE = "commute-collectives"
TO_CPU = "iree-stablehlo-input-transformation-pipeline,legalize-fp8{target=cpu}"
FP8 = ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"]
COLLECTIVES = ["all_gather", "all_to_all", "collective_permute"]
GROUPS = [[[0, 1, 2, 3]], [[2, 0, 3, 1]], [[0, 1], [2, 3]], [[3, 0], [1, 2]]]
RINGS = [[[0, 1], [1, 2], [2, 3], [3, 0]], [[0, 2], [2, 0], [1, 3], [3, 1]]]

Shape = tuple[int, ...]
Build = Callable[[Sequence[str], str], tuple["Text", str, Shape]]


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def grid(rows: list[list[int]]) -> str:
    return f"dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"


class Text:
    """A function body in the making: each method adds an op, and returns the
    name and the shape of its result."""

    def __init__(self, prefix: str) -> None:
        self.lines: list[str] = []
        self._prefix = prefix

    def add(self, op: str) -> str:
        name = f"{self._prefix}v{len(self.lines)}"
        self.lines.append(f"{name} = {op}")
        return name

    def scaled(
        self, op: str, value: str, scale: str, shape: Shape, scale_shape: Shape | None, types: str
    ) -> str:
        """``types`` is "from to scale_mode", e.g. "f8E5M2 f32 multiply"."""
        source, result, mode = types.split()
        wide = result if op == "dequantize" else source
        has_scale = scale_shape is not None
        attributes = f'operandSegmentSizes = array<i32: 1, {int(has_scale)}>, scale_mode = "{mode}"'
        if op == "quantize":
            attributes += ", saturate = true"
        operands = f"{value}, {scale}" if has_scale else value
        operand_types = tensor(shape, source)
        if scale_shape is not None:
            operand_types += f", {tensor(scale_shape, wide)}"
        result_type = tensor(shape, result)
        return self.add(
            f'"headrace.{op}"({operands}) {{{attributes}}} : ({operand_types}) -> {result_type}'
        )

    def moved(
        self, rng: random.Random, value: str, shape: Shape, element: str
    ) -> tuple[str, Shape]:
        """One data movement op at random, on a value of rank two."""
        rows, columns = shape
        source = tensor(shape, element)
        kind = rng.choice(["transpose", "reshape", "slice", "reverse", "pad"])
        if kind == "transpose":
            result: Shape = (columns, rows)
            text = f"stablehlo.transpose {value}, dims = [1, 0] : ({source}) -> "
        elif kind == "reshape":
            result = (rows // 2, columns * 2)
            text = f"stablehlo.reshape {value} : ({source}) -> "
        elif kind == "slice":
            result = (rows // 2, columns)
            text = f"stablehlo.slice {value} [0:{rows}:2, 0:{columns}] : ({source}) -> "
        elif kind == "reverse":
            return self.add(f"stablehlo.reverse {value}, dims = [0] : {source}"), shape
        else:
            result = (rows + 8, columns)
            zero = self.add(f"stablehlo.constant dense<0.0> : tensor<{element}>")
            text = (
                f"stablehlo.pad {value}, {zero}, low = [8, 0], high = [0, 0], interior = [0, 0]"
                f" : ({source}, tensor<{element}>) -> "
            )
        return self.add(text + tensor(result, element)), result

    def collective(
        self, rng: random.Random, name: str, value: str, shape: Shape, element: str
    ) -> tuple[str, Shape]:
        """The collective over groups and along dims at random."""
        groups, dim = rng.choice(GROUPS), rng.randrange(2)
        n, result = len(groups[0]), list(shape)
        if name == "collective_permute":
            attributes = f"source_target_pairs = {grid(rng.choice(RINGS))}"
        elif name == "all_gather":
            result[dim] *= n
            attributes = f"dim = {dim} : i64, replica_groups = {grid(groups)}"
        else:
            result[dim] //= n
            result[1 - dim] *= n
            attributes = (
                f"split_dim = {dim} : i64, concat_dim = {1 - dim} : i64,"
                f" replica_groups = {grid(groups)}"
            )
        text = f'"headrace.{name}"({value}) {{{attributes}, pipelined = false}}'
        types = f"({tensor(shape, element)}) -> {tensor(result, element)}"
        return self.add(f"{text} : {types}"), tuple(result)


def scale_array(shape: Shape, element: str, seed: int, equal: bool) -> Array:
    """Positive scales on four devices, powers of two and others."""
    found = (
        np.abs(random_array(element, (4, *shape), seed, any_bits=False).astype(np.float32)) % 7
        + 0.25
    )
    if equal:
        found[:] = found[0]
    return found.astype(random_array(element, (1,), 0, any_bits=False).dtype)


def dequantize_case(seed: int) -> Case:
    """dequantize, data movement, collective."""
    rng = random.Random(seed)
    fp8, wide = FP8[seed % 4], rng.choice(["f32", "bf16", "f16"])
    name, shape = COLLECTIVES[seed % 3], (16, 32)
    kind = rng.choice(["none", "tensor", "rows", "blocks"])
    scale_shape = {"none": None, "tensor": (), "rows": (16, 1), "blocks": (4, 8)}[kind]
    mode = rng.choice(["multiply", "divide"])
    moves = rng.randrange(3) if kind in ("none", "tensor") else 0
    arguments = [Argument(tensor(shape, fp8), random_array(fp8, (4, *shape), seed, any_bits=True))]
    if scale_shape is not None:
        equal = kind != "blocks"  # those travel with the data
        values = scale_array(scale_shape, wide, seed, equal)
        arguments.append(Argument(tensor(scale_shape, wide), values, replicated=equal))

    def build(names: Sequence[str], prefix: str) -> tuple[Text, str, Shape]:
        text, inner = Text(prefix), random.Random(seed)
        types = f"{fp8} {wide} {mode}"
        value = text.scaled("dequantize", names[0], names[-1], shape, scale_shape, types)
        now: Shape = shape
        for _ in range(moves):
            value, now = text.moved(inner, value, now, wide)
        value, now = text.collective(inner, name, value, now, wide)
        return text, value, now

    return _case(f"dequantize-{seed}", arguments, build, wide)


def quantize_case(seed: int) -> Case:
    """collective, data movement, quantize."""
    rng = random.Random(seed)
    fp8, wide = FP8[seed % 4], rng.choice(["f32", "bf16", "f16"])
    name, shape = COLLECTIVES[seed % 3], (16, 32)
    scale_shape: Shape | None = rng.choice([None, (), (1,)])
    mode = rng.choice(["multiply", "divide"])
    moves = rng.randrange(3)
    inputs = random_array(wide, (4, *shape), seed, any_bits=True)
    arguments = [Argument(tensor(shape, wide), inputs)]
    if scale_shape is not None:
        values = scale_array(scale_shape, wide, seed, True)
        arguments.append(Argument(tensor(scale_shape, wide), values, replicated=True))

    def build(names: Sequence[str], prefix: str) -> tuple[Text, str, Shape]:
        text, inner = Text(prefix), random.Random(seed)
        value, now = text.collective(inner, name, names[0], shape, wide)
        for _ in range(moves):
            value, now = text.moved(inner, value, now, wide)
        types = f"{wide} {fp8} {mode}"
        value = text.scaled("quantize", value, names[-1], now, scale_shape, types)
        return text, value, now

    return _case(f"quantize-{seed}", arguments, build, fp8)


def mixed_case(seed: int) -> Case:
    """Quantizes, dequantizes, movement and collectives at random, on values
    that may have several users; several of them are returned."""
    rng = random.Random(seed)
    fp8, wide = FP8[seed % 4], rng.choice(["f32", "bf16"])
    arguments = (
        Argument(tensor((16, 32), fp8), random_array(fp8, (4, 16, 32), seed, any_bits=True)),
        Argument(tensor((16, 32), wide), random_array(wide, (4, 16, 32), seed, any_bits=True)),
        Argument(tensor((), wide), scale_array((), wide, seed, True), replicated=True),
        Argument(tensor((), wide), scale_array((), wide, seed + 1, False)),
    )

    def build(names: Sequence[str], prefix: str) -> tuple[Text, list[tuple[str, Shape, str]]]:
        text, inner = Text(prefix), random.Random(seed)
        values: list[tuple[str, Shape, str]] = [
            (names[0], (16, 32), fp8),
            (names[1], (16, 32), wide),
        ]
        for _ in range(14):
            value, shape, element = inner.choice(values[-4:])
            if element == fp8 or inner.random() < 0.2:
                op, types = "dequantize", f"{fp8} {wide} multiply"
                if element == wide:
                    op, types = "quantize", f"{wide} {fp8} divide"
                scale = names[3] if inner.random() < 0.15 else names[2]
                value = text.scaled(op, value, scale, shape, (), types)
                element = types.split()[1]
            elif inner.random() < 0.5:
                value, shape = text.moved(inner, value, shape, element)
            else:
                value, shape = text.collective(
                    inner, inner.choice(COLLECTIVES), value, shape, element
                )
            if min(shape) >= 8 and max(shape) <= 128 and all(size % 8 == 0 for size in shape):
                values.append((value, shape, element))
        return text, [values[-1], values[-3], inner.choice(values[2:])]

    def body(names: Sequence[str], prefix: str) -> tuple[str, list[str]]:
        text, returned = build(names, prefix)
        return "\n".join(text.lines), [name for name, _, _ in returned]

    _, returned = build(["%a", "%b", "%c", "%d"], "%")
    types = tuple(tensor(shape, element) for _, shape, element in returned)
    return Case(f"mixed-{seed}", arguments, body, types, ())


def _case(name: str, arguments: list[Argument], build: Build, element: str) -> Case:
    names = [f"%a{i}" for i in range(len(arguments))]
    _, _, shape = build(names, "%")

    def body(names: Sequence[str], prefix: str) -> tuple[str, list[str]]:
        text, value, _ = build(names, prefix)
        return "\n".join(text.lines), [value]

    return Case(name, tuple(arguments), body, (tensor(shape, element),), ())


def narrowed(cases: Sequence[Case]) -> ir.Operation:
    """The module after commute-collectives, verified."""
    module = parse_module(function_text(cases, 4, 4), "cases.mlir", ir.make_context())
    Pipeline.parse(f"builtin.module({COMMUTE})").run(module)
    verify(module)
    return module


def collective_types(module: ir.Operation) -> list[str]:
    names = tuple(f"headrace.{name}" for name in COLLECTIVES)
    return [str(op.operands[0].type) for op in ir.walk(module) if op.name in names]


def check_same(cases: Sequence[Case], folder: Path) -> None:
    before = run_cases(cases, 4, folder, passes=TO_CPU)
    check_narrowed(cases, before, folder)


def check_narrowed(cases: Sequence[Case], before: dict[str, list[Array]], folder: Path) -> None:
    after = run_cases(cases, 4, folder, passes=f"{COMMUTE},{TO_CPU}")
    for case in cases:
        for old, new in zip(before[case.name], after[case.name], strict=True):
            assert_same(new, old)


# In quick runs as many as have all types, and all collectives.
SEEDS = [
    range(4),
    *(pytest.param(range(n, n + 6), marks=pytest.mark.full) for n in range(0, 240, 6)),
]


@pytest.mark.each_cpu
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"{seeds.start}-{seeds.stop}")
@pytest.mark.parametrize("make", [dequantize_case, quantize_case])
def test_no_bit_changes(make: Callable[[int], Case], seeds: range, tmp_path: Path) -> None:
    cases = [make(seed) for seed in seeds]
    for case in cases:
        types = collective_types(narrowed([case]))
        # The data travel as fp8; a second, wide collective is for the scale.
        assert "f8" in types[0], (case.name, types)
    check_same(cases, tmp_path)


# In 54 to 59 one program gathers the same parts twice: IREE once made both out of
# one buffer.
MIXED = [n if n == 54 else pytest.param(n, marks=pytest.mark.full) for n in range(0, 240, 6)]


@pytest.mark.each_cpu
@pytest.mark.parametrize("first", MIXED)
def test_no_bit_changes_in_mixed_programs(first: int, tmp_path: Path) -> None:
    cases = [mixed_case(seed) for seed in range(first, first + 6)]
    before = parse_module(function_text(cases, 4, 4), "cases.mlir", ir.make_context())
    narrow, narrow_before = (
        sum("f8" in type_ for type_ in collective_types(module))
        for module in (narrowed(cases), before)
    )
    assert narrow > narrow_before
    before_values = wide_values(cases, tmp_path)
    compiled = [case for case in cases if case.name in before_values]
    assert len(compiled) >= 3
    check_narrowed(compiled, before_values, tmp_path)


def wide_values(cases: Sequence[Case], folder: Path) -> dict[str, list[Array]]:
    """Of the programs as they are written, those that IREE compiles."""
    try:
        return run_cases(cases, 4, folder, passes=TO_CPU)
    except ir.HeadraceError as error:
        # IREE 3.13 loses the device of some transferred values, also in
        # the program as written: nothing to compare with then.
        assert "is not compatible with the partition affinity" in str(error)  # noqa: PT017
    if len(cases) == 1:
        return {}
    half = len(cases) // 2
    return wide_values(cases[:half], folder) | wide_values(cases[half:], folder)


@pytest.mark.each_cpu
def test_unequal_scales_stay_wide(tmp_path: Path) -> None:
    """Two devices with scales 1 and 2 hold [4, 1] and [8, 1]: the gathered
    codes would need both scales."""
    data = np.array([[4, 1], [8, 1], [4, 1], [8, 1]], np.float32)
    scales = np.array([1, 2, 1, 2], np.float32)
    groups = "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"

    def body(names: Sequence[str], prefix: str) -> tuple[str, list[str]]:
        text = Text(prefix)
        q = text.scaled("quantize", names[0], names[1], (2,), (), "f32 f8E4M3FN divide")
        w = text.scaled("dequantize", q, names[1], (2,), (), "f8E4M3FN f32 multiply")
        g = text.add(
            f'"headrace.all_gather"({w}) {{dim = 0 : i64, pipelined = false, {groups}}}'
            " : (tensor<2xf32>) -> tensor<4xf32>"
        )
        return "\n".join(text.lines), [g]

    arguments = (Argument("tensor<2xf32>", data), Argument("tensor<f32>", scales))
    case = Case("unequal", arguments, body, ("tensor<4xf32>",), ())
    assert collective_types(narrowed([case])) == ["tensor<2xf32>"]
    found = run_cases([case], 4, tmp_path, passes=f"{COMMUTE},{TO_CPU}")["unequal"][0]
    assert_same(found, np.array([[4, 1, 8, 1]] * 4, np.float32))


SOURCES = [
    path
    for path in sorted(Path(__file__).parents[3].glob("passes/model/*.mlir"))
    if path.name.startswith(("commute-collectives", "replication"))
]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_running_twice_changes_nothing(source: Path) -> None:
    pipeline = Pipeline.parse(f"builtin.module({COMMUTE})")
    for chunk in source.read_text().split("// -----"):
        module = parse_module(chunk, source.name, ir.make_context())
        with collect_remarks() as first:
            pipeline.run(module)
        text = str(module)
        with collect_remarks() as second:
            pipeline.run(module)
        assert str(module) == text
        assert first == second


MODELS = sorted((Path(__file__).parents[3] / "models").glob("*/model.mlir"))
RAISE = "record-shardings,inline,raise-stablehlo,canonicalize,cse,headrace-cse,headrace-dce"


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.parent.name)
def test_every_gathered_weight_of_a_model_is_fp8(model: Path) -> None:
    module = parse_module(model.read_text(), "model.mlir", ir.make_context())
    Pipeline.parse(f"builtin.module({RAISE},{COMMUTE})").run(module)
    types = collective_types(module)
    assert all("f8E4M3FN" in type_ for type_ in types)
    expected = {"fsdp_scan": 1, "fsdp_training_step": 2, "invariant_gather": 1, "llama_fsdp": 7}
    assert len(types) == expected.get(model.parent.name, 0)
    reductions = [op for op in ir.walk(module) if op.name == "headrace.all_reduce"]
    assert len(reductions) == (model.parent.name in ("fsdp_training_step", "tp_mlp"))
    # Partial sums of an fp8 matmul; the training step's loss has nothing to do with fp8.
    wide = ["headrace.wide_reason" in op.attributes for op in reductions]
    assert wide == [model.parent.name == "tp_mlp"] * len(reductions)
