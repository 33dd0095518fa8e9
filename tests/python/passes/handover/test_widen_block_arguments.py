"""Scalars go between blocks as i64: IREE's VM gets others wrong (MIXED_BRANCH_OPERANDS).

Functions of scalars only, with one loop each.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import iree.runtime
import pytest
from headrace.compiler.iree.child import run_iree_compile
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.lookup import find_target

TYPES = ("i32", "i64", "f32", "index")


@dataclass(frozen=True)
class Rotation:
    """A loop that hands its values on, some to another place, some with something added.

    ``plan`` holds, for each place, where its next value comes from and how
    much is added.
    """

    types: tuple[str, ...]
    plan: tuple[tuple[int, int], ...]

    def text(self, name: str) -> str:
        count = range(len(self.types))
        types = ", ".join(self.types)
        arguments = ", ".join(f"%p{n}: {t}" for n, t in enumerate(self.types))
        blocks = ", ".join(f"%b{n}: {t}" for n, t in enumerate(self.types))
        steps, values = list[str](), list[str]()
        for place, (source, add) in enumerate(self.plan):
            values.append(f"%b{source}")
            if add:
                type_ = self.types[place]
                kind = "addf" if type_ == "f32" else "addi"
                number = f"{add}.0" if type_ == "f32" else str(add)
                steps.append(f"%k{place} = arith.constant {number} : {type_}")
                steps.append(f"%m{place} = arith.{kind} %b{source}, %k{place} : {type_}")
                values[-1] = f"%m{place}"
        body = "\n".join(steps)
        return f"""
func.func @{name}(%n: i32, {arguments}) -> ({types}) {{
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
cf.br ^head(%zero, {", ".join(f"%p{n}" for n in count)} : i32, {types})
^head(%i: i32, {blocks}):
%more = arith.cmpi slt, %i, %n : i32
cf.cond_br %more, ^body, ^end
^body:
%next = arith.addi %i, %one : i32
{body}
cf.br ^head(%next, {", ".join(values)} : i32, {types})
^end:
return {", ".join(f"%b{n}" for n in count)} : {types}
}}"""

    def expected(self, trips: int, values: list[int]) -> list[int]:
        for _ in range(trips):
            values = [values[source] + add for source, add in self.plan]
        return values


# The VM has i64 values in two i32 registers each. The branch into this
# loop is %i4->%i3, %i2->%i4, %i3->%i5, %i5->%i2: the i32 that goes into
# register 3 is there before the upper half of the i64 in 2 and 3 has left.
SMALLEST = Rotation(("i64", "i32"), ((0, 0), (1, 3)))


def rotations(number: int) -> list[Rotation]:
    rng = random.Random(7)
    found: list[Rotation] = []
    for _ in range(number):
        types = tuple(rng.choice(TYPES) for _ in range(rng.randrange(2, 9)))
        plan = tuple(
            (
                rng.choice([n for n, other in enumerate(types) if other == type_]),
                rng.choice([0, 0, 1, 3]),
            )
            for type_ in types
        )
        found.append(Rotation(types, plan))
    return found


def wrong(cases: list[Rotation], passes: str) -> int:
    """How many of the functions give something else than expected."""
    text = "\n".join(case.text(f"f{n}") for n, case in enumerate(cases))
    module = parse_module(text, "rotations.mlir", ir.make_context())
    Pipeline.parse(f"builtin.module({passes})").run(module)
    vmfb = run_iree_compile(module, find_target("cpu").flags("devices", 1)).vmfb
    program = iree.runtime.load_vm_flatbuffer(vmfb, driver="local-task")
    found = 0
    for number, case in enumerate(cases):
        values = list(range(10, 10 + len(case.types)))
        for trips in (0, 1, 2, 5):
            arguments = [
                float(v) if type_ == "f32" else v
                for v, type_ in zip(values, case.types, strict=True)
            ]
            results = [int(v) for v in program[f"f{number}"](trips, *arguments)]
            if results != case.expected(trips, values):
                found += 1
                break
    return found


@pytest.mark.each_cpu
def test_branches_are_right_with(pytestconfig: pytest.Config) -> None:
    number = 40 if pytestconfig.getoption("--full") else 16
    assert wrong([SMALLEST, *rotations(number)], "canonicalize,widen-block-arguments") == 0
