"""Counted loops give the same as ``scf.for``: all relations, types and signs.

The interpreter runs each loop before and after; endless ones are left out.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from loop_interpreter import Data, EndlessLoopError, Machine

RELATIONS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


@dataclass(frozen=True)
class Counting:
    """``while (i + ahead <relation> bound) i += step``; sides may be swapped."""

    type: str
    relation: str
    start: int
    bound: int
    step: int
    ahead: int
    swapped: bool
    tensors: bool
    dynamic: tuple[bool, bool]

    def text(self) -> str:
        """Carries the counter, a second one, a bound that stays, and a history."""
        t = f"tensor<{self.type}>" if self.tensors else self.type
        constant = "arith.constant dense<{}> : " + t if self.tensors else "arith.constant {} : " + t
        start = "%a" if self.dynamic[0] else "%s"
        bound = "%b" if self.dynamic[1] else "%e"
        sides = ("%m", "%j") if self.swapped else ("%j", "%m")
        if self.tensors:
            get = f"tensor.extract {{}}[] : {t}"
            read = f"""
%i0 = {get.format("%i")}
%m = {get.format("%n")}"""
            step = self._generic("%i", self.step, "%next")
            second = self._generic("%k", 3, "%k2")
            history = f"%seen = {get.format('%i')}\n%second = {get.format('%k')}"
        else:
            read = f"%zero = arith.constant 0 : {t}\n%i0 = arith.addi %i, %zero : {t}\n"
            read += f"%m = arith.addi %n, %zero : {t}"
            step = f"%d = arith.constant {self.step} : {t}\n%next = arith.addi %i, %d : {t}"
            second = f"%three = arith.constant 3 : {t}\n%k2 = arith.addi %k, %three : {t}"
            history = f"%zz = arith.constant 0 : {t}\n%seen = arith.addi %i, %zz : {t}\n"
            history += f"%second = arith.addi %k, %zz : {t}"
        return f"""
func.func @main(%a: {t}, %b: {t}) -> ({t}, {t}, {self.type}) {{
%s = {constant.format(self.start)}
%e = {constant.format(self.bound)}
%k0 = {constant.format(5)}
%h0 = arith.constant 1 : {self.type}
%r:4 = scf.while (%i = {start}, %k = %k0, %n = {bound}, %h = %h0)
    : ({t}, {t}, {t}, {self.type}) -> ({t}, {t}, {t}, {self.type}) {{
{read}
%ahead = arith.constant {self.ahead} : {self.type}
%j = arith.addi %i0, %ahead : {self.type}
%go = arith.cmpi {self.relation}, {sides[0]}, {sides[1]} : {self.type}
scf.condition(%go) %i, %k, %n, %h : {t}, {t}, {t}, {self.type}
}} do {{
^bb0(%i: {t}, %k: {t}, %n: {t}, %h: {self.type}):
{history}
%seven = arith.constant 7 : {self.type}
%h1 = arith.muli %h, %seven : {self.type}
%h2 = arith.addi %h1, %seen : {self.type}
%h3 = arith.addi %h2, %second : {self.type}
{step}
{second}
scf.yield %next, %k2, %n, %h3 : {t}, {t}, {t}, {self.type}
}}
return %r#0, %r#1, %r#3 : {t}, {t}, {self.type}
}}"""

    def _generic(self, value: str, add: int, result: str) -> str:
        t = f"tensor<{self.type}>"
        return f"""%c{result[1:]} = arith.constant {add} : {self.type}
%o{result[1:]} = tensor.empty() : {t}
{result} = linalg.generic {{indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
    iterator_types = []}} ins({value} : {t}) outs(%o{result[1:]} : {t}) {{
^bb0(%in: {self.type}, %out: {self.type}):
%sum = arith.addi %in, %c{result[1:]} : {self.type}
linalg.yield %sum : {self.type}
}} -> {t}"""


def execute(module: ir.Operation, counting: Counting) -> list[int]:
    (function,) = ir.operations_of(module.regions[0].blocks[0])
    arguments: list[Data] = [counting.start, counting.bound]
    if counting.tensors:
        constants = [op for op in ir.walk(function) if op.name == "arith.constant"]
        machine = Machine(1)
        arguments = [machine.full(constants[0].results[0].type, v) for v in arguments]
    results = Machine(1).call(function, arguments)
    return [v if isinstance(v, int) else int(v.flat[0]) for v in results]


def check(countings: Sequence[Counting]) -> int:
    """How many became ``scf.for``."""
    counted = 0
    context = ir.make_context()
    for counting in countings:
        module = parse_module(counting.text(), "loop.mlir", context)
        try:
            expected = execute(module, counting)
        except EndlessLoopError:
            expected = None
        Pipeline.parse("builtin.module(normalize-loops)").run(module)
        names = [op.name for op in ir.walk(module)]
        if expected is None:
            # A constant loop that never ends is not taken for one that does. (Loops of
            # wider types may only be long.)
            assert any(counting.dynamic) or counting.type != "i8" or "scf.while" in names
            continue
        if wraps(counting) and any(counting.dynamic):
            continue
        assert execute(module, counting) == expected, counting
        if "scf.for" in names:
            counted += 1
            (loop,) = [op for op in ir.walk(module) if op.name == "scf.for"]
            assert len(loop.results) == 1, counting
    return counted


def wraps(counting: Counting) -> bool:
    """Whether the counter leaves its type in the loop: not supported where
    the bounds are dynamic, as documented."""
    width = 64 if counting.type == "index" else int(counting.type[1:])
    unsigned = counting.relation.startswith("u")
    low, high = (0, 1 << width) if unsigned else (-(1 << (width - 1)), 1 << (width - 1))
    first = counting.start + counting.ahead
    bound = counting.bound
    if unsigned:
        first, bound = first % high, bound % high
    holds = {
        "eq": lambda i: i == bound,
        "ne": lambda i: i != bound,
        "lt": lambda i: i < bound,
        "le": lambda i: i <= bound,
        "gt": lambda i: i > bound,
        "ge": lambda i: i >= bound,
    }[counting.relation.lstrip("su")]
    for _ in range(300):
        if not low <= first < high:
            return True
        if not holds(first):
            return False
        first += counting.step
    return True


def countings() -> list[Counting]:
    rng = random.Random(3)
    found: list[Counting] = []
    for relation, type_, dynamic in itertools.product(
        RELATIONS, ("i8", "i32", "i64", "index"), itertools.product((False, True), repeat=2)
    ):
        for _ in range(8):
            edge = rng.random() < 0.3 and type_ == "i8"
            start, bound = (
                (rng.choice([-128, -127, -100, 100, 126, 127]) if edge else rng.randrange(-9, 10))
                for _ in range(2)
            )
            found.append(
                Counting(
                    type_,
                    relation,
                    start,
                    bound,
                    rng.choice([-3, -2, -1, 1, 2, 3]),
                    rng.choice([0, 0, 0, 1, -2]),
                    rng.random() < 0.3,
                    rng.random() < 0.5,
                    dynamic,
                )
            )
    return found


def test_counted_loops_seeded_subset() -> None:
    found = countings()[::15]
    assert check(found) > len(found) // 4


@pytest.mark.full
def test_counted_loops() -> None:
    found = countings()
    assert check(found) > len(found) // 4
