"""Texts and values that cases of collectives in loops and branches share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from device_programs import Argument, Case
from headrace.compiler.iree.element_types import Array

DEVICES = 4
ALL = "dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"
PAIRWISE = "dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>"
F32 = "tensor<4x4xf32>"
CONSTANTS = """
{p}0 = arith.constant 0 : index
{p}1 = arith.constant 1 : index
{p}3 = arith.constant 3 : index
"""


def reduce_text(result: str, value: str, groups: str = ALL, type_: str = F32) -> str:
    return (
        f'{result} = "headrace.all_reduce"({value}) {{reduction = "add", pipelined = false, '
        f"replica_groups = {groups}}} : ({type_}) -> {type_}"
    )


def gather_text(result: str, column: str) -> str:
    return (
        f'{result} = "headrace.all_gather"({column}) {{dim = 1 : i64, pipelined = true, '
        f"replica_groups = {ALL}}} : (tensor<4x1xf32>) -> {F32}"
    )


def elementwise(result: str, values: Sequence[str], body: str) -> str:
    """A linalg.generic on tensors of one shape; ``body`` makes %out of %in0, %in1..."""
    maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * (len(values) + 1))
    block = ", ".join(f"%in{i}: f32" for i in range(len(values)))
    return f"""{result}e = tensor.empty() : {F32}
{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
    ins({", ".join(values)} : {", ".join([F32] * len(values))}) outs({result}e : {F32}) {{
  ^bb0({block}, %init: f32):
    {body}
    linalg.yield %out : f32
}} -> {F32}"""


def halve(result: str, value: str) -> str:
    """Halves a tensor, so that repeated sums stay small and exact."""
    half = "%half = arith.constant 5.000000e-01 : f32\n"
    return elementwise(result, [value], f"{half}%out = arith.mulf %in0, %half : f32")


def case(
    name: str, arguments: Sequence[Argument], template: str, results: dict[str, tuple[str, Array]]
) -> Case:
    """``template`` names its arguments {a0}, {a1}..., its own values {p}name."""

    def body(names: Sequence[str], prefix: str) -> tuple[str, list[str]]:
        given = {f"a{i}": name for i, name in enumerate(names)}
        text = template.replace("{p}", prefix)
        for key, value in given.items():
            text = text.replace(f"{{{key}}}", value)
        return text, [f"{prefix}{result}" for result in results]

    return Case(
        name,
        tuple(arguments),
        body,
        tuple(type_ for type_, _ in results.values()),
        tuple(expected for _, expected in results.values()),
    )


def small_integers(seed: int, shape: Sequence[int] = (DEVICES, 4, 4)) -> Array:
    """Whole numbers as f32, whose sums are exact in any order."""
    return np.random.default_rng(seed).integers(-8, 8, shape).astype(np.float32)


def summed(x: Array) -> Array:
    return np.stack([x.sum(0)] * len(x))


def pairwise(x: Array) -> Array:
    return np.stack([x[0] + x[2], x[3] + x[1], x[0] + x[2], x[3] + x[1]])


def scalar(value: int) -> Argument:
    return Argument("tensor<i32>", np.full((DEVICES,), value, np.int32), replicated=True)


def trips_of(argument: str) -> str:
    """A bound that comes from an argument."""
    return f"""{{p}}t = tensor.extract {argument}[] : tensor<i32>
{{p}}n = arith.index_cast {{p}}t : i32 to index
"""


def repeat(x: Array, times: int, step: Callable[[Array], Array]) -> Array:
    for _ in range(times):
        x = step(x)
    return x
