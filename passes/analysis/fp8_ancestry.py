"""Whether a value has an fp8 value among its near ancestors.

Decides only whether a user would ask why a dot is no fp8 matmul.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.op_traits import CONTRACTIONS
from ...dialects.upstream.contraction import contraction_loops

# How many values are looked at, so that the cost stays linear.
_REACH = 64


def comes_from_fp8(value: ir.Value) -> bool:
    """Whether pointwise ops, collectives, data movement, or entry into a loop
    lead from an fp8 value to ``value``, in a few steps."""
    queue, seen = deque([value]), {value: None}
    for _ in range(_REACH):
        if not queue:
            return False
        current = queue.popleft()
        if fp8_format(current.type) is not None:
            return True
        for operand in _float_operands(current):
            if operand not in seen:
                seen[operand] = None
                queue.append(operand)
    return False


def is_made_of_fp8(value: ir.Value) -> bool:
    """Whether the op that makes ``value`` has an fp8 operand."""
    op = ir.defining_op(value)
    return op is not None and any(fp8_format(operand.type) for operand in op.operands)


def _float_operands(value: ir.Value) -> Iterator[ir.Value]:
    op = ir.defining_op(value)
    if op is None:
        if (initial := _initial_value(value)) is not None:
            yield initial
        return
    if _is_opaque(op):
        return
    for operand in op.operands:
        type_ = operand.type
        if isinstance(type_, ir.RankedTensorType) and isinstance(type_.element_type, ir.FloatType):
            yield operand


def _is_opaque(op: ir.Operation) -> bool:
    """Products, quantized values, reductions are something new."""
    if op.name in ("headrace.matmul", "headrace.quantize"):
        return True
    if op.name == "linalg.generic":
        return contraction_loops(op) is not None
    return op.name in CONTRACTIONS or (len(op.regions) > 0 and not op.name.startswith("linalg."))


def _initial_value(value: ir.Value) -> ir.Value | None:
    """What an argument of a loop's body is in the first trip."""
    argument = ir.BlockArgument(value)
    loop: ir.Operation = argument.owner.owner.operation
    number = argument.arg_number
    if loop.name == "stablehlo.while":
        return loop.operands[number]
    if loop.name == "scf.for" and number > 0:
        return loop.operands[number + 2]  # lower bound, upper bound, step; induction variable
    return None
