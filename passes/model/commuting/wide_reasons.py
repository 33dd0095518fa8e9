"""Why a collective stays wide, for those that fp8 values come to or go from."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.fp8 import fp8_format
from ....dialects.headrace import MOVING_COLLECTIVES, is_collective
from ....dialects.op_traits import CARRYING_LOOPS, CONTRACTIONS, LINALG_PARALLEL, STABLEHLO_PRODUCTS
from ....dialects.ops.constraints import element_type_of, is_wide_float
from ....dialects.upstream.contraction import contraction_loops
from ....dialects.upstream.generic import GENERIC, is_parallel
from ...analysis.fp8_values import is_dequantize, is_float_convert
from ...analysis.movement.values import Movement, movement_of
from ...analysis.near_fp8 import find_path, producers, users
from ...rewriting import Miss
from .narrow_dequantize import NarrowDequantize
from .narrow_quantize import NarrowQuantize, is_quantize

REDUCTION_REASON = "reductions are never narrowed: a sum in fp8 would lose bits"

# Ops of these dialects hand an fp8 value on, unless they are products or sums. Unknown
# calls are among them, so that a reason names them.
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
            near = find_path(op.operands[0], producers, _is_fp8_data, _local_or_sent)
            near = near or find_path(op.results[0], users, is_quantize, _moves)
            return REDUCTION_REASON if near else None
        return self._operand_reason(op) or self._result_reason(op)

    def _operand_reason(self, op: ir.Operation) -> str | None:
        path = find_path(op.operands[0], producers, is_dequantize, _local)
        if path is None:
            return None
        miss = self._after.match(op)
        if isinstance(miss, Miss):
            return miss.reason
        return _obstacle(path, "between the dequantize and the collective")

    def _result_reason(self, op: ir.Operation) -> str | None:
        path = find_path(op.results[0], users, is_quantize, _local)
        if path is None:
            return None
        miss = self._before.match(path[-1])
        if isinstance(miss, Miss):
            return miss.reason
        return _obstacle(path, "between the collective and the quantize")


def _obstacle(path: list[ir.Operation], where: str) -> str | None:
    for op in path[:-1]:
        if op.name in CARRYING_LOOPS:
            return f"the value is carried by the loop '{op.name}' {where}"
        if not isinstance(movement_of(op), Movement) and not is_float_convert(op):
            return f"'{op.name}' {where} is not data movement"
    return None


def _is_fp8_data(op: ir.Operation) -> bool:
    """Whether ``op`` gives dequantized values, or products of them: partial sums."""
    if is_dequantize(op):
        return True
    if op.name not in (*CONTRACTIONS, "headrace.matmul"):
        return False
    if op.name == "linalg.generic" and contraction_loops(op) is None:
        return False
    return any(
        fp8_format(operand.type) or find_path(operand, producers, is_dequantize, _local_or_sent)
        for operand in op.operands
    )


def _moves(op: ir.Operation) -> bool:
    """Whether ``op`` hands values on as they are, in another place or float type."""
    moves = isinstance(movement_of(op), Movement) or is_float_convert(op)
    return moves or op.name in CARRYING_LOOPS


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
