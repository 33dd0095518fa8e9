"""Whether fp8 values are near, where a user would ask why something is wide."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.op_traits import CARRYING_LOOPS, CONTRACTIONS
from ...dialects.ops.constraints import element_type_of
from ...dialects.upstream.contraction import contraction_loops
from ...dialects.upstream.generic import GENERIC

# How many values are looked at, so that all searches together stay linear.
MAX_VALUES = 64

# Before the values that a loop carries come so many operands, and block arguments:
# the bounds and the step, and the index.
_BEFORE_CARRIED = {"stablehlo.while": (0, 0), "scf.for": (3, 1)}

Steps = Iterator[tuple[ir.Operation, list[ir.Value]]]
"""Ops next to a value, and the values behind them."""


def find_path(
    start: ir.Value,
    step: Callable[[ir.Value], Steps],
    is_goal: Callable[[ir.Operation], bool],
    passes: Callable[[ir.Operation], bool] = lambda op: True,
) -> list[ir.Operation] | None:
    """The ops on a shortest way from ``start`` to a goal, the goal last."""
    queue: list[tuple[ir.Value, list[ir.Operation]]] = [(start, [])]
    seen: dict[ir.Value, None] = {start: None}
    for value, path in queue:
        if len(seen) > MAX_VALUES:
            return None
        for op, values in step(value):
            if is_goal(op):
                return [*path, op]
            if not passes(op):
                continue
            for further in values:
                if further not in seen:
                    seen[further] = None
                    queue.append((further, [*path, op]))
    return None


def producers(value: ir.Value) -> Steps:
    """The op that makes ``value``, and the tensors it makes it from."""
    op = ir.defining_op(value)
    if op is not None and op.name not in CARRYING_LOOPS:
        yield op, [v for v in op.operands if isinstance(v.type, ir.RankedTensorType)]
        return
    if op is not None:
        loop, number = op, ir.OpResult(value).result_number
    else:
        argument = ir.BlockArgument(value)
        loop: ir.Operation = argument.owner.owner.operation
        number = argument.arg_number - _BEFORE_CARRIED.get(loop.name, (0, 0))[1]
    if loop.name in CARRYING_LOOPS and number >= 0:
        initial = loop.operands[_BEFORE_CARRIED[loop.name][0] + number]
        yield loop, [initial, _body(loop).operations[-1].operation.operands[number]]


def users(value: ir.Value) -> Steps:
    """The users of ``value`` as data, with the values they make."""
    for use in value.uses:
        op, number = use.owner.operation, use.operand_number
        if op.name == "headrace.quantize" and number != 0:
            continue
        if op.name in CARRYING_LOOPS:
            operands, arguments = _BEFORE_CARRIED[op.name]
            if number >= operands:
                yield op, [_body(op).arguments[number - operands + arguments]]
        elif op.name not in ("stablehlo.return", "scf.yield"):
            yield op, list(op.results)
        elif (parent := op.parent) is not None and parent.operation.name in CARRYING_LOOPS:
            loop = parent.operation
            if op.block == _body(loop):
                argument = _body(loop).arguments[number + _BEFORE_CARRIED[loop.name][1]]
                yield loop, [loop.results[number], argument]


def _body(loop: ir.Operation) -> ir.Block:
    return loop.regions[-1].blocks[0]


def comes_from_fp8(value: ir.Value) -> bool:
    """Whether pointwise ops, collectives, data movement, or entry into a loop
    lead from an fp8 value to ``value``, in a few steps."""
    near = fp8_format(value.type) is not None
    return near or find_path(value, _float_producers, _reads_fp8) is not None


def is_made_of_fp8(value: ir.Value) -> bool:
    """Whether the op that makes ``value`` has an fp8 operand."""
    op = ir.defining_op(value)
    return op is not None and _reads_fp8(op)


def _reads_fp8(op: ir.Operation) -> bool:
    return any(fp8_format(operand.type) for operand in op.operands)


def _float_producers(value: ir.Value) -> Steps:
    """Of a value that a loop carries, those before the loop."""
    for op, tensors in producers(value):
        if ir.defining_op(value) is None:
            yield from _float_producers(tensors[0])
        elif not _makes_new_values(op):
            yield op, [v for v in tensors if isinstance(element_type_of(v), ir.FloatType)]


def _makes_new_values(op: ir.Operation) -> bool:
    """Products, quantized values and reductions are not what they are made of."""
    if op.name in ("headrace.matmul", "headrace.quantize"):
        return True
    if op.name == GENERIC:
        return contraction_loops(op) is not None
    return op.name in CONTRACTIONS or (len(op.regions) > 0 and not op.name.startswith("linalg."))
