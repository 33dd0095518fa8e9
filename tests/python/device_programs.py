"""Compiles and runs SPMD programs on N CPU devices, for tests.

Many cases go into one function of one program: compiling is what takes time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from headrace.compiler import pipelines
from headrace.compiler.iree.child import run_iree_compile
from headrace.compiler.iree.element_types import Array
from headrace.compiler.iree.runtime import run_program
from headrace.compiler.metadata import FunctionInfo, ValueInfo
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.lookup import find_target

# Without a number of devices: each program says how many it is for.
_SEVERAL = pipelines.Settings(form="devices", devices=2)
LOWERING = (
    str(pipelines.build(("devices", "handover"), _SEVERAL))
    .removeprefix("builtin.module(")
    .removesuffix(")")
    .replace("{devices=2}", "")
)


@dataclass(frozen=True)
class Argument:
    """One argument on all devices: ``values`` is ``[devices, *shape]``."""

    type: str
    values: Array
    replicated: bool = False

    @property
    def text(self) -> str:
        sharding = ' {headrace.sharding = "{replicated}"}' if self.replicated else ""
        return f"{self.type}{sharding}"


@dataclass(frozen=True)
class Case:
    """A piece of a function: its arguments, its text, and what it shall give.

    ``body`` gets the names of the arguments and a prefix for names of its own;
    it returns the text and the names of the results.
    """

    name: str
    arguments: tuple[Argument, ...]
    body: Callable[[Sequence[str], str], tuple[str, Sequence[str]]]
    results: tuple[str, ...]
    expected: tuple[Array, ...] = field(repr=False)


def function_text(cases: Sequence[Case], devices: int, partitions: int) -> str:
    """A module with one function that does all cases."""
    arguments: list[str] = []
    body: list[str] = []
    returned: list[str] = []
    for number, case in enumerate(cases):
        names = [f"%a{number}_{i}" for i in range(len(case.arguments))]
        arguments += [f"{n}: {a.text}" for n, a in zip(names, case.arguments, strict=True)]
        text, results = case.body(names, f"%c{number}_")
        body.append(text)
        returned += results
    types = ", ".join(type_ for case in cases for type_ in case.results)
    return f"""
module attributes {{headrace.num_partitions = {partitions} : i32,
                   headrace.num_replicas = {devices // partitions} : i32}} {{
func.func @main({", ".join(arguments)}) -> ({types}) {{
{chr(10).join(body)}
return {", ".join(returned)} : {types}
}}
}}"""


def run_cases(
    cases: Sequence[Case],
    devices: int,
    folder: Path,
    partitions: int | None = None,
    passes: str = "",
    change: Callable[[ir.Operation], None] | None = None,
) -> dict[str, list[Array]]:
    """What each case gives on the devices: ``[devices, *shape]`` per result.

    ``passes`` run before the lowering, then ``change``.
    """
    text = function_text(cases, devices, partitions or devices)
    module = parse_module(text, "cases.mlir", ir.make_context())
    if passes:
        Pipeline.parse(f"builtin.module({passes})").run(module)
    if change is not None:
        change(module)
    Pipeline.parse(f"builtin.module({LOWERING})").run(module)
    vmfb = folder / "cases.vmfb"
    vmfb.write_bytes(run_iree_compile(module, find_target("cpu").flags("devices", devices)).vmfb)
    arguments = [a for case in cases for a in case.arguments]
    info = FunctionInfo(
        "main",
        "cpu",
        "devices",
        devices,
        tuple(ValueInfo(a.type) for a in arguments),
        tuple(ValueInfo(t) for case in cases for t in case.results),
    )
    results = iter(run_program(vmfb, info, [a.values for a in arguments]))
    return {case.name: [next(results) for _ in case.results] for case in cases}


def assert_same(actual: Array, expected: Array, tolerance: float = 0.0) -> None:
    """Bit-exact where ``tolerance`` is 0, NaN equal to NaN; else relative to
    the largest magnitude expected."""
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    if tolerance == 0.0:
        np.testing.assert_array_equal(
            actual.view(f"u{actual.dtype.itemsize}"), expected.view(f"u{actual.dtype.itemsize}")
        )
        return
    wide, want = actual.astype(np.float64), expected.astype(np.float64)
    assert np.abs(wide - want).max() <= tolerance * np.abs(want).max()
