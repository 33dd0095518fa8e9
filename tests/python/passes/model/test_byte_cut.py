"""The cut with the fewest bytes, against all cuts of small graphs; and on what is large."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, combinations

import pytest
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.dialects.verifier import verify
from headrace.passes.model.commuting.byte_cut import narrowest_cut
from headrace.passes.pipeline import Pipeline

GATHER = (
    '"headrace.all_gather"({}) {{dim = 0 : i64, pipelined = false, replica_groups ='
    " dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : (tensor<8x4xf32>) -> tensor<32x4xf32>"
)


def meets_all(
    cut: Collection[int], next_of: Mapping[int, Sequence[int]], ends: Collection[int]
) -> bool:
    """Whether every way from 0 to an end meets the cut."""
    reached = [0] if 0 not in cut else []
    for value in reached:
        reached += [w for w in next_of[value] if w not in cut and w not in reached]
    return not any(value in ends for value in reached)


@pytest.mark.parametrize("seed", range(300))
def test_it_is_the_least_of_all_cuts(seed: int) -> None:
    rng = random.Random(seed)
    values = range(rng.randint(1, 7))
    sizes = {v: rng.choice([None, 0, 1, 2, 3, 5]) for v in values}
    next_of = {v: [w for w in values if w > v and rng.random() < 0.4] for v in values}
    ends = [v for v in values if rng.random() < 0.4]
    cuttable = [v for v in values if sizes[v] is not None]
    cuts = chain.from_iterable(combinations(cuttable, n) for n in range(len(cuttable) + 1))
    costs = [sum(sizes[v] or 0 for v in cut) for cut in cuts if meets_all(cut, next_of, ends)]
    found = narrowest_cut(sizes, next_of, [0], ends)
    if found is None:
        assert not costs
        return
    assert meets_all(found, next_of, ends)
    assert sum(sizes[v] or 0 for v in found) == min(costs)


@pytest.mark.parametrize(
    ("sizes", "cut"),
    [
        ({"a": 8, "b": 2, "c": 3, "d": 5}, ["b", "c"]),  # as few bytes, nearer to the start
        ({"a": 8, "b": 2, "c": 3, "d": 4}, ["d"]),
        ({"a": 4, "b": 2, "c": 3, "d": 4}, ["a"]),
        ({"a": None, "b": None, "c": 3, "d": None}, None),
    ],
)
def test_diamond(sizes: dict[str, int | None], cut: list[str] | None) -> None:
    next_of = {"a": ["b", "c"], "b": ["d", "d"], "c": ["d"]}
    assert narrowest_cut(sizes, next_of, ["a"], ["d"]) == cut


def sent(body: str, results: int = 1) -> list[str]:
    """What collectives send of a function with these lines, which makes ``%q0`` and so on."""
    names = ", ".join(f"%q{n}" for n in range(results))
    types = ", ".join(["tensor<32x4xbf16>"] * results)
    text = f"""
        module attributes {{headrace.num_partitions = 4 : i32}} {{
        func.func @f(%x: tensor<8x4xf32>, %s: tensor<f32> {{headrace.sharding = "{{replicated}}"}})
            -> ({types}) {{
        {body}
        return {names} : {types} }} }}"""
    module = parse_module(text, "large.mlir", ir.make_context())
    Pipeline.parse("builtin.module(commute-collectives)").run(module)
    verify(module)
    found = [op for op in ir.walk(module) if op.name == "headrace.all_gather"]
    return [str(ir.RankedTensorType(op.operands[0].type).element_type) for op in found]


def step(result: str, *operands: str) -> str:
    name = "negate" if len(operands) == 1 else "add"
    return f"{result} = stablehlo.{name} {', '.join(operands)} : tensor<32x4xf32>"


def narrowed(value: str, number: int = 0) -> str:
    return f"%q{number} = stablehlo.convert {value} : (tensor<32x4xf32>) -> tensor<32x4xbf16>"


SCALAR = "= stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<32x4xf32>"


def chained(length: int) -> str:
    steps = (step(f"%v{n + 1}", f"%v{n}") for n in range(length))
    return "\n".join([f"%v0 = {GATHER.format('%x')}", *steps, narrowed(f"%v{length}")])


def scaled(length: int, scale: Callable[[int], str]) -> str:
    """By a value that all devices have alike, itself made in many steps."""
    lines = [f"%v0 = {GATHER.format('%x')}", f"%b0 {SCALAR}", *map(scale, range(length))]
    return "\n".join([*lines, step("%v1", "%v0", f"%b{length}"), narrowed("%v1")])


@pytest.mark.parametrize(("length", "element"), [(199, "bf16"), (200, "f32"), (5000, "f32")])
def test_chain(length: int, element: str) -> None:
    assert sent(chained(length)) == [element]


def test_uniform_values_are_made_once_each() -> None:
    """One that is added to itself 60 times: not once for each of 2^60 ways to its operand."""
    assert sent(scaled(60, lambda n: step(f"%b{n + 1}", f"%b{n}", f"%b{n}"))) == ["bf16"]


def test_a_uniform_value_of_many_steps_is_not_followed() -> None:
    assert sent(scaled(3000, lambda n: step(f"%b{n + 1}", f"%b{n}"))) == ["f32"]


def test_a_value_with_many_users() -> None:
    lines = [step(f"%v{n}", "%g") + "\n" + narrowed(f"%v{n}", n) for n in range(2500)]
    assert sent("\n".join([f"%g = {GATHER.format('%x')}", *lines]), 2500) == ["f32"]


def test_many_collectives() -> None:
    lines = [
        f"%g{n} = {GATHER.format('%x')}\n{step(f'%v{n}', f'%g{n}')}\n{narrowed(f'%v{n}', n)}"
        for n in range(100)
    ]
    assert sent("\n".join(lines), 100) == ["bf16"] * 100
