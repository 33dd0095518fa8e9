"""Buffers that a branch hands on twice: lost by IREE (FORWARDED_BUFFER_LOST), kept by us.

Functions with one loop that carries tensors and hands them on, some to
another place, some with one added.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import iree.runtime
import numpy as np
from headrace.compiler.iree.child import run_iree_compile
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.targets.lookup import find_target

T = "tensor<4xi32>"
FLAGS = find_target("cpu").flags("devices", 1)


@dataclass(frozen=True)
class Rotation:
    """``first`` are the arguments that the places start with; ``plan`` holds
    for each place where its next value comes from, and whether one is added."""

    first: tuple[int, ...]
    plan: tuple[tuple[int, bool], ...]

    @property
    def arguments(self) -> int:
        return max(self.first) + 1

    def text(self, name: str) -> str:
        places = range(len(self.plan))
        types = ", ".join([T] * len(self.plan))
        inputs = ", ".join(f"%p{n}: {T}" for n in range(self.arguments))
        blocks = ", ".join(f"%b{n}: {T}" for n in places)
        starts = "\n".join(f"%q{n} = arith.addi %p{n}, %ones : {T}" for n in range(self.arguments))
        steps = "\n".join(
            f"%m{n} = arith.addi %b{source}, %ones : {T}"
            for n, (source, adds) in enumerate(self.plan)
            if adds
        )
        values = ", ".join(
            f"%m{n}" if adds else f"%b{source}" for n, (source, adds) in enumerate(self.plan)
        )
        return f"""
func.func @{name}(%n: i64, {inputs}) -> ({types}) {{
%zero = arith.constant 0 : i64
%one = arith.constant 1 : i64
%ones = arith.constant dense<1> : {T}
{starts}
cf.br ^head(%zero, {", ".join(f"%q{n}" for n in self.first)} : i64, {types})
^head(%i: i64, {blocks}):
%more = arith.cmpi slt, %i, %n : i64
cf.cond_br %more, ^body, ^end
^body:
%next = arith.addi %i, %one : i64
{steps}
cf.br ^head(%next, {values} : i64, {types})
^end:
return {", ".join(f"%b{n}" for n in places)} : {types}
}}"""

    def expected(self, trips: int) -> list[int]:
        values = [10 * (n + 1) + 1 for n in self.first]
        for _ in range(trips):
            values = [values[source] + adds for source, adds in self.plan]
        return values


# Three buffers, filled together before the loop, so one allocation.
THREE = Rotation((0, 2, 1), ((1, False), (0, False), (2, True)))


def rotations(number: int) -> list[Rotation]:
    rng = random.Random(11)
    found: list[Rotation] = []
    for _ in range(number):
        places = rng.randrange(2, 7)
        arguments = rng.randrange(1, places + 1)
        first = tuple(rng.randrange(arguments) for _ in range(places))
        plan = tuple((rng.randrange(places), rng.random() < 0.3) for _ in range(places))
        found.append(Rotation(first, plan))
    return found


def compiled(text: str) -> bytes:
    return run_iree_compile(parse_module(text, "rotations.mlir", ir.make_context()), FLAGS).vmfb


def wrong(cases: list[Rotation]) -> list[Rotation]:
    """Which of the functions fail, or give something else than expected."""
    text = "\n".join(case.text(f"f{n}") for n, case in enumerate(cases))
    program = iree.runtime.load_vm_flatbuffer(compiled(text), driver="local-task")
    found: list[Rotation] = []
    for number, case in enumerate(cases):
        inputs = [np.full(4, 10 * (n + 1), np.int32) for n in range(case.arguments)]
        try:
            right = all(
                [int(r.to_host()[0]) for r in program[f"f{number}"](trips, *inputs)]
                == case.expected(trips)
                for trips in (0, 1, 2, 5)
            )
        except (IndexError, RuntimeError, ValueError):  # one class per status
            right = False
        if not right:
            found.append(case)
    return found


def test_repaired_programs_are_right() -> None:
    assert wrong([THREE, *rotations(30)]) == []
