"""Repairs branches in IREE's VM program before it becomes bytecode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.upstream.arith import Scalars
from ..base import Pass

# Those that IREE makes branches of, if they are not by now.
_LOOPS = frozenset(("scf.for", "scf.while"))


def has_branches(module: ir.Operation) -> bool:
    """Whether a program may hand values from block to block."""
    return any(
        op.name in _LOOPS or any(len(r.blocks) > 1 for r in op.regions)
        for op in ir.walk(module, bodies=False)
    )


@dataclass(frozen=True)
class SeparateForwardedRefs(Pass):
    """Gives each further argument of a branch in a VM program a value of its own.

    IREE loses a buffer (or fence) that a branch hands to a block for two
    arguments (quirks.FORWARDED_BUFFER_LOST): where one of them is in the register
    that the value is in already, there is no move for it, and the last of the
    other moves, taken for the last
    use, leaves that register empty. The program then fails, with ``indirect
    buffer reference slot 0 is out range`` or ``ref is null``. Loops meet this
    often: buffers that are filled together are one allocation, handed over once
    for each. tests/python/compiler/test_vm_branches.py shows it on few lines.

    Before::

        vm.br ^bb1(%a, %a : !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>)

    After::

        %b = vm.select.ref %c1, %a, %a : !vm.ref<!hal.buffer>
        vm.br ^bb1(%a, %b : !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>)
    """

    name: ClassVar[str] = "separate-forwarded-refs"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module):
            for start, end in _edges(op):
                seen: set[ir.Value] = set()
                for index in range(start, end):
                    value = op.operands[index]
                    if isinstance(value.type, ir.IntegerType | ir.FloatType):
                        continue
                    if value in seen:
                        op.operands[index] = _same_again(value, op)
                    seen.add(value)


def _edges(op: ir.Operation) -> list[tuple[int, int]]:
    """Ranges of the operands that each successor gets."""
    if op.name == "vm.br":
        return [(0, len(op.operands))]
    if op.name == "vm.cond_br":
        flag, true, false = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
        return [(flag, flag + true), (flag + true, flag + true + false)]
    return []


def _same_again(value: ir.Value, branch: ir.Operation) -> ir.Value:
    s = Scalars(ir.InsertionPoint(branch), branch.location)
    i32 = s.integer_type(32)
    one = s.op("vm.const.i32", [], i32, {"value": ir.IntegerAttr.get(i32, 1)})
    return s.op("vm.select.ref", [one, value, value], value.type)
