"""Repairs branches in IREE's VM program before it becomes bytecode.

IREE 3.13 loses a buffer (or fence) that a branch hands to a block for two
arguments: where one of them is in the register that the value is in already,
there is no move for it, and the last of the other moves, taken for the last
use, leaves that register empty. The program then fails, with ``indirect
buffer reference slot 0 is out range`` or ``ref is null``. Loops meet this
often: buffers that are filled together are one allocation, handed over once
for each. tests/python/test_vm_branches.py shows it on few lines.
"""

from __future__ import annotations

from ...dialects import ir

# Those that IREE makes branches of, if they are not by now.
_LOOPS = frozenset(("scf.for", "scf.while"))


def has_branches(module: ir.Operation) -> bool:
    """Whether a program may hand values from block to block."""
    return any(
        op.name in _LOOPS or any(len(r.blocks) > 1 for r in op.regions)
        for op in ir.walk(module, bodies=False)
    )


def separate_forwarded_refs(module: ir.Operation) -> int:
    """Gives each further argument of a branch a value of its own.

    Works on the ``vm`` dialect; returns how many there were.

    Before::

        vm.br ^bb1(%a, %a : !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>)

    After::

        %b = vm.select.ref %c1, %a, %a : !vm.ref<!hal.buffer>
        vm.br ^bb1(%a, %b : !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>)
    """
    found = 0
    for op in ir.walk(module):
        for start, end in _edges(op):
            seen: set[ir.Value] = set()
            for index in range(start, end):
                value = op.operands[index]
                if isinstance(value.type, ir.IntegerType | ir.FloatType):
                    continue
                if value in seen:
                    op.operands[index] = _same_again(value, op)
                    found += 1
                seen.add(value)
    return found


def _edges(op: ir.Operation) -> list[tuple[int, int]]:
    """Ranges of the operands that each successor gets."""
    if op.name == "vm.br":
        return [(0, len(op.operands))]
    if op.name == "vm.cond_br":
        flag, true, false = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
        return [(flag, flag + true), (flag + true, flag + true + false)]
    return []


def _same_again(value: ir.Value, branch: ir.Operation) -> ir.Value:
    ip, location = ir.InsertionPoint(branch), branch.location
    i32 = ir.IntegerType.get_signless(32, branch.context)
    one = ir.Operation.create(
        "vm.const.i32",
        results=[i32],
        attributes={"value": ir.IntegerAttr.get(i32, 1)},
        loc=location,
        ip=ip,
    )
    select = ir.Operation.create(
        "vm.select.ref",
        results=[value.type],
        operands=[one.results[0], value, value],
        loc=location,
        ip=ip,
    )
    return select.results[0]
