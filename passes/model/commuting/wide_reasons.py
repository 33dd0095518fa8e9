"""Why a collective stays wide, for those that fp8 values come to or go from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ....dialects import ir
from ....dialects.fp8 import fp8_format
from ....dialects.headrace import MOVING_COLLECTIVES, is_collective
from ....dialects.op_traits import CARRYING_LOOPS, CONTRACTIONS, LINALG_PARALLEL, STABLEHLO_PRODUCTS
from ....dialects.ops.constraints import element_type_of, is_wide_float
from ....dialects.upstream.contraction import contraction_loops
from ....dialects.upstream.generic import GENERIC, is_parallel
from ...analysis.fp8_values import is_dequantize, is_float_convert
from ...analysis.movement.values import movement_of
from ...rewriting import Miss
from .narrow_dequantize import NarrowDequantize
from .narrow_quantize import NarrowQuantize, is_quantize

REDUCTION_REASON = "reductions are never narrowed: a sum in fp8 would lose bits"

# How many ops away an fp8 value is looked for. A bound, so that the search is
# linear in the number of collectives.
MAX_OPS = 48

# What these make of an fp8 value is one still, if it is no product or sum. Calls of
# what nobody knows count, so that a reason names them.
_HANDING_ON = ("arith", "chlo", "headrace", "math", "stablehlo", "tensor")
_REDUCTIONS = ("stablehlo.reduce", "stablehlo.reduce_window")


class WideReasons:
    """Finds the reason for one collective at a time, after all rewriting."""

    def __init__(self, after: NarrowDequantize, before: NarrowQuantize) -> None:
        self._after = after
        self._before = before

    def reason(self, op: ir.Operation) -> str | None:
        """Why ``op`` is wide; None if it is narrow or has nothing to do with fp8."""
        if not is_wide_float(element_type_of(op.operands[0])):
            return None
        if op.name not in MOVING_COLLECTIVES:
            near = _find(op.operands[0], _makers, _is_fp8_data, _local_or_sent)
            near = near or _find(op.results[0], _users, is_quantize, _moves)
            return REDUCTION_REASON if near else None
        return self._operand_reason(op) or self._result_reason(op)

    def _operand_reason(self, op: ir.Operation) -> str | None:
        path = _find(op.operands[0], _makers, is_dequantize, _local)
        if path is None:
            return None
        miss = self._after.match(op)
        if isinstance(miss, Miss) and not miss.silent:
            return miss.reason
        return _obstacle(path, "between the dequantize and the collective")

    def _result_reason(self, op: ir.Operation) -> str | None:
        path = _find(op.results[0], _users, is_quantize, _local)
        if path is None:
            return None
        miss = self._before.match(path[-1])
        if isinstance(miss, Miss) and not miss.silent:
            return miss.reason
        return _obstacle(path, "between the collective and the quantize")


def _obstacle(path: list[ir.Operation], where: str) -> str:
    for op in path[:-1]:
        if op.name in CARRYING_LOOPS:
            return f"the value is carried by the loop '{op.name}' {where}"
        if isinstance(movement_of(op), Miss) and not is_float_convert(op):
            return f"'{op.name}' {where} is not data movement"
    return f"too many ops {where}"


_Step = Callable[[ir.Value], Iterator[tuple[ir.Operation, list[ir.Value]]]]


def _find(
    start: ir.Value,
    step: _Step,
    is_goal: Callable[[ir.Operation], bool],
    passes: Callable[[ir.Operation], bool],
) -> list[ir.Operation] | None:
    """The ops on a shortest way from ``start`` to a goal, the goal last."""
    queue: list[tuple[ir.Value, list[ir.Operation]]] = [(start, [])]
    seen: dict[ir.Value, None] = {start: None}
    for value, path in queue:
        if len(seen) > MAX_OPS:
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


def _makers(value: ir.Value) -> Iterator[tuple[ir.Operation, list[ir.Value]]]:
    """The op that makes ``value``, and the tensors it makes it from."""
    owner = value.owner
    if not isinstance(owner, ir.Block):
        op = owner.operation
        if op.name in CARRYING_LOOPS:
            number = ir.OpResult(value).result_number
            yield op, [_initial(op, number), _yielded(op, number)]
        else:
            yield op, [v for v in op.operands if isinstance(v.type, ir.RankedTensorType)]
        return
    loop = owner.owner.operation
    number = ir.BlockArgument(value).arg_number
    if loop.name == "scf.for":
        number -= 1
    if loop.name in CARRYING_LOOPS and number >= 0:
        yield loop, [_initial(loop, number), _yielded(loop, number)]


def _users(value: ir.Value) -> Iterator[tuple[ir.Operation, list[ir.Value]]]:
    """The users of ``value`` as data, with the values they make."""
    for use in value.uses:
        op = use.owner.operation
        if op.name == "headrace.quantize" and use.operand_number != 0:
            continue
        if op.name in CARRYING_LOOPS:
            offset = 3 if op.name == "scf.for" else 0
            number = use.operand_number - offset
            if number >= 0:
                block = op.regions[-1].blocks[0]
                yield op, [block.arguments[number + (1 if offset else 0)]]
        elif op.name not in ("stablehlo.return", "scf.yield"):
            yield op, list(op.results)
        else:
            loop = op.parent
            if loop is not None and loop.operation.name in CARRYING_LOOPS:
                block = loop.operation.regions[-1].blocks[0]
                if op.block == block:
                    shift = 1 if loop.operation.name == "scf.for" else 0
                    number = use.operand_number
                    yield (
                        loop.operation,
                        [loop.operation.results[number], block.arguments[number + shift]],
                    )


def _initial(loop: ir.Operation, number: int) -> ir.Value:
    return loop.operands[number + (3 if loop.name == "scf.for" else 0)]


def _yielded(loop: ir.Operation, number: int) -> ir.Value:
    return loop.regions[-1].blocks[0].operations[-1].operation.operands[number]


def _is_fp8_data(op: ir.Operation) -> bool:
    """Whether ``op`` gives dequantized values, or products of them: partial sums."""
    if is_dequantize(op):
        return True
    if op.name not in (*CONTRACTIONS, "headrace.matmul"):
        return False
    if op.name == "linalg.generic" and contraction_loops(op) is None:
        return False
    return any(
        fp8_format(operand.type) or _find(operand, _makers, is_dequantize, _local_or_sent)
        for operand in op.operands
    )


def _moves(op: ir.Operation) -> bool:
    """Whether ``op`` hands values on as they are, in another place or float type."""
    return (
        not isinstance(movement_of(op), Miss) or is_float_convert(op) or op.name in CARRYING_LOOPS
    )


def _local_or_sent(op: ir.Operation) -> bool:
    """Like ``_local``; a gathered or permuted value counts as well."""
    return op.name in MOVING_COLLECTIVES or _local(op)


def _local(op: ir.Operation) -> bool:
    """Whether what ``op`` makes of fp8 values still counts as such, which products
    and sums do not."""
    if op.name == "headrace.matmul" or is_collective(op):
        return False
    dialect = op.name.partition(".")[0]
    if dialect == "linalg":
        return is_parallel(op) if op.name == GENERIC else op.name in LINALG_PARALLEL
    if op.name in STABLEHLO_PRODUCTS or op.name in _REDUCTIONS:
        return False
    return dialect in _HANDING_ON or op.name in CARRYING_LOOPS
