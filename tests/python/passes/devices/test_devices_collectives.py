"""Every collective in both lowerings, run on N CPU devices against numpy."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import collective_reference as reference
import pytest
from channel_simulation import from_channels
from collective_reference import DTYPES, random_array
from device_programs import Argument, Case, assert_same, run_cases
from headrace.compiler.iree.element_types import Array

Groups = list[list[int]]
Inputs = Callable[[], Array]
Producer = partial[Case]

LAYOUTS: dict[int, list[Groups]] = {
    1: [[[0]]],
    2: [[[0, 1]], [[1, 0]], [[0], [1]]],
    4: [
        [[0, 1, 2, 3]],
        [[3, 1, 0, 2]],
        [[0, 1], [2, 3]],
        [[0, 2], [3, 1]],
        [[0], [3], [1], [2]],
    ],
    8: [
        [list(range(8))],
        [[7, 2, 5, 0, 3, 6, 1, 4]],
        [[0, 2, 4, 6], [1, 3, 5, 7]],
        [[5, 1], [0, 4], [7, 3], [2, 6]],
    ],
}
# Rings, swaps, and devices that send or receive nothing.
PAIRS: dict[int, list[Groups]] = {
    1: [[[0, 0]]],
    2: [[[0, 1], [1, 0]], [[1, 0]]],
    4: [[[0, 1], [1, 2], [2, 3], [3, 0]], [[0, 3], [2, 2]], [[1, 0], [0, 1], [3, 2], [2, 3]]],
    8: [[[i, (i + 3) % 8] for i in range(8)], [[i, i + 1] for i in range(7)]],
}
SHAPE = (8, 16, 8)
FP8 = [name for name in DTYPES if name.startswith("f8")]
FLOATS = ["f64", "f32", "bf16", "f16"]
INTEGERS = ["i64", "i32", "i16", "i8"]
ON_FLOATS = ["add", "mul", "max", "min"]
ON_INTEGERS = [*ON_FLOATS, "umax", "umin", "and", "or", "xor"]
ON_BOOLEANS = ["and", "or", "xor", "add", "mul"]


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def grid(rows: Groups) -> str:
    return f"dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"


def case(name: str, op: str, attributes: str, element: str, inputs: Array, expected: Array) -> Case:
    source = tensor(inputs.shape[1:], element)
    result = tensor(expected.shape[1:], element)

    def body(names: Sequence[str], prefix: str) -> tuple[str, list[str]]:
        text = f'"headrace.{op}"({names[0]}) {{{attributes}, pipelined = false}}'
        return f"{prefix}r = {text} : ({source}) -> {result}", [f"{prefix}r"]

    return Case(name, (Argument(source, inputs),), body, (result,), (expected,))


def movement_cases(devices: int) -> Iterator[Producer]:
    for seed, element in enumerate([*FLOATS, *INTEGERS, "i1", *FP8]):
        shape = (devices, *SHAPE)
        inputs = partial(random_array, element, shape, seed, any_bits=True)
        for number, groups in enumerate(LAYOUTS[devices]):
            for dim in range(3):
                yield partial(gather_case, element, inputs, dim, groups, number)
            for split, concat in ((0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (2, 2)):
                yield partial(exchange_case, element, inputs, split, concat, groups, number)
        for number, pairs in enumerate(PAIRS[devices]):
            yield partial(permute_case, element, inputs, pairs, number)


def gather_case(element: str, inputs: Inputs, dim: int, groups: Groups, number: int) -> Case:
    name = f"all_gather-{element}-{dim}-{number}"
    text = f"dim = {dim} : i64, replica_groups = {grid(groups)}"
    expected = reference.all_gather(inputs(), dim, groups)
    return case(name, "all_gather", text, element, inputs(), expected)


def exchange_case(
    element: str, inputs: Inputs, split: int, concat: int, groups: Groups, number: int
) -> Case:
    name = f"all_to_all-{element}-{split}-{concat}-{number}"
    text = f"split_dim = {split} : i64, concat_dim = {concat} : i64"
    text += f", replica_groups = {grid(groups)}"
    expected = reference.all_to_all(inputs(), split, concat, groups)
    return case(name, "all_to_all", text, element, inputs(), expected)


def permute_case(element: str, inputs: Inputs, pairs: Groups, number: int) -> Case:
    name = f"collective_permute-{element}-{number}"
    text = f"source_target_pairs = {grid(pairs)}"
    expected = reference.collective_permute(inputs(), pairs)
    return case(name, "collective_permute", text, element, inputs(), expected)


def reduction_cases(devices: int) -> Iterator[Producer]:
    kinds = [(e, r) for e in FLOATS for r in ON_FLOATS]
    kinds += [(e, r) for e in INTEGERS for r in ON_INTEGERS]
    kinds += [("i1", r) for r in ON_BOOLEANS]
    for seed, (element, reduction) in enumerate(kinds):
        inputs = partial(random_array, element, (devices, *SHAPE), seed, any_bits=False)
        for number, groups in enumerate(LAYOUTS[devices]):
            for dim in (None, 0, 1, 2):
                yield partial(reduce_case, element, inputs, dim, reduction, groups, number)


def reduce_case(
    element: str, inputs: Inputs, dim: int | None, reduction: str, groups: Groups, number: int
) -> Case:
    """``dim`` None: all_reduce, else reduce_scatter."""
    text = f'reduction = "{reduction}", replica_groups = {grid(groups)}'
    if dim is None:
        name = f"all_reduce-{element}-{reduction}-{number}"
        expected = reference.all_reduce(inputs(), reduction, groups)
        return case(name, "all_reduce", text, element, inputs(), expected)
    name = f"reduce_scatter-{element}-{reduction}-{dim}-{number}"
    expected = reference.reduce_scatter(inputs(), dim, reduction, groups)
    return case(name, "reduce_scatter", f"dim = {dim} : i64, {text}", element, inputs(), expected)


@cache
def all_cases(devices: int) -> list[Producer]:
    """In a fixed random order, so that each part has some of everything."""
    producers = [*movement_cases(devices), *reduction_cases(devices)]
    random.Random(20261129).shuffle(producers)
    return producers


# How many cases make one program, in the quick run and in the full one.
QUICK = {1: 20, 2: 16, 4: 16, 8: 6}
PART = {1: 128, 2: 64, 4: 48, 8: 24}


def kinds(make: Producer, devices: int) -> list[str]:
    """What a case stands for: its op on so many devices, its element type, its reduction."""
    op = make.func.__name__
    if make.func is not reduce_case:
        return [f"{op} {devices}", f"{op} {make.args[0]}"]
    element, _, dim, reduction, *_ = make.args
    op = "reduce_scatter" if dim is not None else "all_reduce"
    return [f"{op} {devices}", f"{op} {element}", f"{op} {reduction}"]


@cache
def some_cases() -> dict[int, list[Producer]]:
    """A few for each device count: the next is always of the kinds that there are fewest of."""
    seen: Counter[str] = Counter()
    found: dict[int, list[Producer]] = {}
    for devices, count in QUICK.items():
        left = [*all_cases(devices)]
        found[devices] = []
        for _ in range(count):
            rarest = min(left, key=lambda make: max(seen[k] for k in kinds(make, devices)))
            left.remove(rarest)
            found[devices].append(rarest)
            seen.update(kinds(rarest, devices))
    return found


def parts() -> list[object]:
    """A few cases for each device count always, all of them in the full run."""
    return [
        pytest.param(devices, first, id=f"{devices}-{first}", marks=marks)
        for devices in LAYOUTS
        for first, marks in [
            ("some", []),
            *(
                (first, [pytest.mark.full])
                for first in range(0, len(all_cases(devices)), PART[devices])
            ),
        ]
    ]


def check(cases: Sequence[Case], results: dict[str, list[Array]]) -> None:
    wrong: list[str] = []
    for one in cases:
        try:
            assert_same(results[one.name][0], one.expected[0])
        except AssertionError as error:
            wrong.append(f"{one.name}: {str(error).strip()[:300]}")
    assert not wrong, "\n".join(wrong)


def part_of(devices: int, first: int | str) -> list[Case]:
    if isinstance(first, str):
        return [make() for make in some_cases()[devices]]
    return [make() for make in all_cases(devices)[first : first + PART[devices]]]


@pytest.mark.each_cpu
@pytest.mark.parametrize(("devices", "first"), parts())
def test_against_numpy(devices: int, first: int | str, tmp_path: Path) -> None:
    cases = part_of(devices, first)
    check(cases, run_cases(cases, devices, tmp_path))


def run_on_channels(cases: Sequence[Case], devices: int, folder: Path) -> dict[str, list[Array]]:
    """What collectives-to-channels makes, its flow collectives run as
    collectives between devices."""
    return run_cases(
        cases,
        devices,
        folder,
        passes="collectives-to-channels",
        change=partial(from_channels, devices=devices),
    )


@pytest.mark.each_cpu
@pytest.mark.parametrize(("devices", "first"), parts())
def test_channels_against_numpy(devices: int, first: int | str, tmp_path: Path) -> None:
    cases = part_of(devices, first)
    check(cases, run_on_channels(cases, devices, tmp_path))
