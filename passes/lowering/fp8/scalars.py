"""Scalar ops on fp8 values that a target's code generator does not take."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.fp8 import Fp8Format, fp8_format
from ....dialects.op_traits import FLOAT_CONVERTS, SCALAR_MOVES
from ....dialects.upstream.arith import Scalars
from ....dialects.upstream.contraction import contraction_loops
from ...targets.fp8_support import Fp8Support
from ..converts.scalar_ops import scalar_ops
from .convert import from_fp8, to_fp8


def legalize_scalars(module: ir.Operation, support: Fp8Support) -> None:
    """Rewrites conversions by integers, and computes everything else in f32.

    For one operation on fp8 values, f32 and a rounding give what fp8
    arithmetic would: f32 has more than twice the bits. The bodies of
    contractions are left alone: their operand types were chosen for the target.
    """

    def find(module: ir.Operation) -> list[ir.Operation]:
        return [op for op in ir.walk(module) if _needs_help(op, support)]

    for op in scalar_ops(module, find):
        value = _rewritten(op, support)
        op.results[0].replace_all_uses_with(value)
        op.erase()


def _needs_help(op: ir.Operation, support: Fp8Support) -> bool:
    name = op.name
    if not name.startswith(("arith.", "math.")) or name in SCALAR_MOVES:
        return False
    types = [v.type for v in (*op.operands, *op.results)]
    formats = [f for f in map(fp8_format, types) if f is not None]
    if not formats:
        return False
    twice_rounded = name == "arith.truncf" and isinstance(types[0], ir.F64Type)
    if all(f in support.converted for f in formats) and not twice_rounded:
        return False
    parent = None if op.parent is None else op.parent.operation
    if parent is None or not parent.name.startswith("linalg."):
        return True
    return contraction_loops(parent) is None


def _rewritten(op: ir.Operation, support: Fp8Support) -> ir.Value:
    s = Scalars(ir.InsertionPoint(op), op.location)
    source, result = op.operands[0], op.results[0].type
    from_format, to_format = fp8_format(source.type), fp8_format(result)
    if op.name == "arith.extf" and from_format is not None and to_format is None:
        return from_fp8(s, source, from_format, result, support)
    if op.name == "arith.truncf" and from_format is None and to_format is not None:
        return to_fp8(s, source, to_format, support, saturate=False)
    return _in_f32(s, op, to_format, support)


def _in_f32(
    s: Scalars, op: ir.Operation, to_format: Fp8Format | None, support: Fp8Support
) -> ir.Value:
    """The same op on f32 values, where it has fp8 ones."""
    f32: ir.Type = ir.F32Type.get(s.loc.context)
    operands: list[ir.Value] = []
    for operand in op.operands:
        format_ = fp8_format(operand.type)
        operands.append(operand if format_ is None else from_fp8(s, operand, format_, f32, support))
    result = op.results[0].type if to_format is None else f32
    if op.name in FLOAT_CONVERTS:  # from one fp8 format to another
        value = operands[0]
    else:
        attributes = {name: op.attributes[name] for name in op.attributes}
        value = s.op(op.name, operands, result, attributes)
    return value if to_format is None else to_fp8(s, value, to_format, support, saturate=False)
