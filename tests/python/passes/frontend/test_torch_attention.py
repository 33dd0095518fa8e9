"""Attention of torch programs gives softmax(scale * q k^T + mask) v, rounded once."""

from __future__ import annotations

import re
from dataclasses import dataclass

import headrace
import ml_dtypes
import numpy as np
import pytest
from cpu_programs import Program
from headrace.compiler.iree.element_types import Array

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i1": np.bool_}
# Of the largest value, as headrace-run has it by default.
TOLERANCE = {"f16": 2.0**-9, "bf16": 2.0**-6, "f32": 2.0**-17}


@dataclass(frozen=True)
class Case:
    """One attention; ``types`` gives the sizes of query, key and value where
    some are dynamic, ``magnitude`` multiplies query and key."""

    query: tuple[int, ...]
    key: tuple[int, ...]
    element: str = "f16"
    values: int = 0
    mask: tuple[int, ...] = ()
    mask_element: str = "i1"
    causal: bool = False
    grouped: bool = False
    scale: float | None = None
    types: str = ""
    magnitude: float = 1.0

    @property
    def value(self) -> tuple[int, ...]:
        return (*self.key[:-1], self.values or self.key[-1])

    def text(self, name: str) -> str:
        shapes = [",".join(map(str, s)) for s in (self.query, self.key, self.value)]
        shapes = self.types.split() or shapes
        q, k, v = (f"!torch.vtensor<[{s}],{self.element}>" for s in shapes)
        batch, row = shapes[0].rpartition(",")[0], shapes[2].rpartition(",")[2]
        result = f"!torch.vtensor<[{batch},{row}],{self.element}>"
        mask = f"!torch.vtensor<[{','.join(map(str, self.mask))}],{self.mask_element}>"
        if not self.mask:
            mask = "!torch.none"
        scale = "!torch.none" if self.scale is None else "!torch.float"
        return f"""
          func.func @{name}(%q: {q}, %k: {k}, %v: {v}{f", %m: {mask}" if self.mask else ""})
              -> {result} {{
            {"" if self.mask else "%m = torch.constant.none"}
            %p = torch.constant.float 0.0
            %c = torch.constant.bool {str(self.causal).lower()}
            %s = torch.constant.{"none" if self.scale is None else f"float {self.scale!r}"}
            %g = torch.constant.bool {str(self.grouped).lower()}
            %r = torch.aten.scaled_dot_product_attention %q, %k, %v, %m, %p, %c, %s, %g
                : {q}, {k}, {v}, {mask}, !torch.float, !torch.bool, {scale}, !torch.bool
                -> {result}
            return %r : {result}
          }}"""

    def inputs(self, seed: int) -> list[Array]:
        random = np.random.default_rng(seed)
        dtype = DTYPES[self.element]
        scales = (self.magnitude, self.magnitude, 1.0)
        arrays = [
            (random.standard_normal(shape) * scale).astype(dtype)
            for shape, scale in zip((self.query, self.key, self.value), scales, strict=True)
        ]
        if self.mask and self.mask_element == "i1":
            mask = random.random(self.mask) < 0.7
            if self.mask[-2] > 1:
                mask[..., 0, :] = False  # a row that sees no key: 0, as PyTorch has it
            arrays.append(mask)
        elif self.mask:
            mask = random.standard_normal(self.mask)
            mask[random.random(self.mask) < 0.2] = -np.inf
            arrays.append(mask.astype(DTYPES[self.mask_element]))
        return arrays

    def expected(self, arrays: list[Array]) -> Array:
        """In f64."""
        q, k, v = (a.astype(np.float64) for a in arrays[:3])
        if self.grouped:
            n = q.shape[-3] // k.shape[-3]
            k, v = k.repeat(n, axis=-3), v.repeat(n, axis=-3)
        scale = q.shape[-1] ** -0.5 if self.scale is None else self.scale
        scores = q @ np.swapaxes(k, -1, -2) * scale
        if self.causal:
            scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
        if self.mask and self.mask_element == "i1":
            scores = np.where(arrays[3], scores, -np.inf)
        elif self.mask:
            scores = scores + arrays[3].astype(np.float64)
        most = scores.max(-1, keepdims=True, initial=-np.inf)
        weights = np.exp(scores - np.where(np.isinf(most), 0.0, most))
        sums = weights.sum(-1, keepdims=True)
        return weights @ v / np.where(sums == 0, 1.0, sums)


DYNAMIC = "1,4,?,16 1,4,?,16 1,4,?,16"
CASES = {
    # |q|, |k| about 80: products over f16's largest number.
    "overflow": Case((1, 4, 24, 64), (1, 4, 24, 64), magnitude=80.0),
    "plain_f16": Case((2, 3, 10, 16), (2, 3, 7, 16)),
    "plain_bf16": Case((2, 3, 10, 16), (2, 3, 7, 16), "bf16"),
    "plain_f32": Case((2, 3, 10, 16), (2, 3, 7, 16), "f32"),
    "odd_heads": Case((2, 3, 5, 13), (2, 3, 9, 13), "bf16", values=11),
    "one_query": Case((2, 4, 1, 16), (2, 4, 9, 16)),
    "one_key": Case((2, 4, 5, 16), (2, 4, 1, 16)),
    "no_keys": Case((2, 4, 5, 16), (2, 4, 0, 16), values=8),
    "no_queries": Case((2, 4, 0, 16), (2, 4, 5, 16)),
    "no_heads": Case((3, 5, 8), (3, 7, 8)),
    "no_batch": Case((5, 8), (7, 8), "f32"),
    "batch_of_one_key": Case((2, 4, 5, 8), (1, 4, 7, 8), "f32"),
    # Multiples of 16: IREE 3.13 crashes for gfx942 on batch_matmul of 10x16 by 16x7 in f32.
    "scale": Case((2, 3, 16, 16), (2, 3, 32, 16), "bf16", scale=0.1),
    "causal": Case((2, 3, 10, 16), (2, 3, 7, 16), causal=True),
    "grouped": Case((2, 6, 10, 16), (2, 2, 7, 16), grouped=True),
    "grouped_causal": Case((1, 6, 9, 16), (1, 2, 9, 16), "bf16", grouped=True, causal=True),
    "mask_2d": Case((2, 3, 10, 16), (2, 3, 7, 16), mask=(10, 7)),
    "mask_of_keys": Case((2, 3, 10, 16), (2, 3, 7, 16), "bf16", mask=(2, 1, 1, 7)),
    "mask_full": Case((2, 3, 10, 16), (2, 3, 7, 16), "f32", mask=(2, 3, 10, 7)),
    "mask_f16": Case((2, 3, 10, 16), (2, 3, 7, 16), mask=(2, 1, 10, 7), mask_element="f16"),
    "mask_f32": Case((2, 3, 10, 16), (2, 3, 7, 16), mask=(10, 7), mask_element="f32"),
    "mask_grouped": Case((2, 6, 10, 16), (2, 2, 7, 16), mask=(2, 6, 10, 7), grouped=True),
    "dynamic_17": Case((1, 4, 17, 16), (1, 4, 17, 16), types=DYNAMIC),
    "dynamic_f32": Case((1, 4, 33, 16), (1, 4, 33, 16), "f32", types=DYNAMIC),
    "dynamic_causal": Case((1, 4, 5, 16), (1, 4, 5, 16), "bf16", types=DYNAMIC, causal=True),
    "dynamic_grouped": Case(
        (1, 4, 5, 16),
        (1, 2, 7, 16),
        types="1,4,?,16 1,2,?,16 1,2,?,16",
        grouped=True,
    ),
    "dynamic_heads": Case((2, 3, 5, 8), (2, 3, 6, 8), types="?,?,5,8 ?,?,6,8 ?,?,6,8"),
}
# Long rows: what is rounded in between adds up.
LONG = {
    f"long_{element}_{length}": Case((1, 8, length, 64), (1, 8, length, 64), element)
    for element in ("f16", "bf16", "f32")
    for length in (512, 1024)
}


def module_of(cases: dict[str, Case]) -> str:
    return "".join(case.text(name) for name, case in cases.items())


def check(cases: dict[str, Case], cpu: str) -> None:
    vmfb = headrace.compile(module_of(cases), target="cpu", cpu=cpu).vmfb
    assert vmfb is not None
    program = Program(vmfb)
    for seed, (name, case) in enumerate(cases.items()):
        inputs = case.inputs(seed)
        result = program(name, *inputs).astype(np.float64)
        expected = case.expected(inputs)
        error = np.abs(result - expected).max(initial=0.0)
        largest = np.abs(expected).max(initial=0.0)
        assert error <= TOLERANCE[case.element] * largest, (name, error / largest)


# The least that has each form once.
SOME = """
overflow plain_f32 odd_heads one_key no_keys no_batch scale grouped_causal mask_2d mask_of_keys mask_f16
mask_grouped dynamic_causal dynamic_heads
"""


def test_some_numbers() -> None:
    check({name: CASES[name] for name in SOME.split()}, "host")


@pytest.mark.full
@pytest.mark.parametrize("cpu", ["host", "x86-64-v3", "generic"])
def test_numbers(cpu: str) -> None:
    check(CASES, cpu)


@pytest.mark.full
def test_numbers_of_long_rows() -> None:
    check(LONG, "host")


def test_dynamic_lengths() -> None:
    """One program, many lengths: 1, and such as are no multiples of a tile."""
    case = CASES["dynamic_f32"]
    vmfb = headrace.compile(case.text("main"), target="cpu").vmfb
    assert vmfb is not None
    program = Program(vmfb)
    for length in (1, 2, 3, 15, 16, 17, 63, 65):
        sized = Case((1, 4, length, 16), (1, 4, length, 16), "f32")
        inputs = sized.inputs(length)
        result, expected = program("main", *inputs), sized.expected(inputs)
        assert np.abs(result - expected).max() <= TOLERANCE["f32"] * np.abs(expected).max()


KEPT = ("plain_f16", "causal", "grouped", "mask_f16", "mask_2d", "odd_heads", "one_query")


def test_is_one_launch_on_gpus() -> None:
    """As in IREE's own pipeline: what is without a mask is one dispatch."""
    program = headrace.compile(CASES["plain_f16"].text("main"), target="sm_80", report=True)
    assert program.report["launches"] == 1


@pytest.mark.full
@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1201", "sm_80", "sm_89", "sm_120"])
@pytest.mark.parametrize("name", [*KEPT, "scale", "dynamic_grouped", "mask_of_keys"])
def test_compiles_for_gpus(name: str, target: str) -> None:
    assert headrace.compile(CASES[name].text("main"), target=target).vmfb


@pytest.mark.parametrize("target", ["gfx942", "sm_80"])
def test_is_kept_whole_for_gpus(target: str) -> None:
    """Attention that IREE computes right stays one op, of which masks are full."""
    for name in KEPT:
        module = str(headrace.compile(CASES[name].text("main"), target=target, emit="mlir").module)
        assert len(re.findall(r"= iree_linalg_ext\.attention ", module)) == 1, name


@pytest.mark.parametrize("name", ["scale", "batch_of_one_key", "dynamic_heads", "no_batch"])
def test_is_split_where_iree_is_wrong(name: str) -> None:
    module = str(headrace.compile(CASES[name].text("main"), target="sm_80", emit="mlir").module)
    assert "iree_linalg_ext.attention" not in module
