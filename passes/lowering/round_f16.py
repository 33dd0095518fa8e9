"""The pass ``round-f16``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.op_traits import INTEGERS_TO_FLOATS, SCALAR_MOVES
from ...dialects.upstream.arith import Scalars, float_width
from ...dialects.upstream.linalg import element_of
from ..targets.lookup import TargetPass
from .converts.fixed_bodies import is_in_fixed_body
from .converts.scalar_ops import scalar_ops

_CHOICES = {"arith.maximumf": "sgt", "arith.minimumf": "slt"}
_INFINITY, _NAN = 0x7C00, 0x7E00
# Of f32: the bits of 2^-14, the least normal f16, of 0.5, and of infinity.
_LEAST_NORMAL, _HALF, _F32_INFINITY = 0x38800000, 0x3F000000, 0x7F800000
# What a shift by 13 takes away of the exponent: 127 - 15, the difference of the biases.
_REBIAS = (127 - 15) << 23


@dataclass(frozen=True)
class RoundF16(TargetPass):
    """Computes f16 in f32 and rounds it by its bits, for CPUs that have no instruction for it.

    They call a function of IREE's, also for the result of each op of f16, which gives
    0 for every subnormal (quirks.F16_SUBNORMALS_FLUSHED): 1e-5, the epsilon of a norm,
    is one, and its rsqrt infinity. Ops that move bits stay, and so do contractions,
    which sum in f32, and linalg ops whose name says what their body is.

    Before: %y = arith.addf %x, %e : f16
    After:  %s = arith.addf of %x and %e as f32
            %y = the bits of %s, rounded to nearest even
    """

    name: ClassVar[str] = "round-f16"

    def run(self, module: ir.Operation) -> None:
        if self.facts.rounds_f16:
            return
        for op in scalar_ops(module, _found):
            s = Scalars(ir.InsertionPoint(op), op.location)
            result = op.results[0]
            result.replace_all_uses_with(_rewritten(s, op, result.type))
            op.erase()


def _found(module: ir.Operation) -> list[ir.Operation]:
    return [op for op in ir.walk(module) if _makes_f16(op) and not is_in_fixed_body(op)]


def _makes_f16(op: ir.Operation) -> bool:
    """Whether it computes an f16; a narrower float is one as it is."""
    if not op.name.startswith(("arith.", "math.")) or op.name in SCALAR_MOVES:
        return False
    if len(op.results) != 1 or not isinstance(element_of(op.results[0].type), ir.F16Type):
        return False
    return op.name != "arith.extf"


def _rewritten(s: Scalars, op: ir.Operation, f16: ir.Type) -> ir.Value:
    if op.name in _CHOICES:
        return _chosen(s, op)
    return _encode(s, _in_f32(s, op), f16)


def _chosen(s: Scalars, op: ir.Operation) -> ir.Value:
    """One of two by their bits; -0 lies below 0, and NaN is chosen.

    LLVM makes ``extf(max(a, b))``, in f16, of ``max(extf(a), extf(b))``.
    """
    bits = [s.convert("bitcast", v, s.integer_type(16)) for v in op.operands]
    # As integers the negative ones are in the other order.
    ordered = [
        s.binary("xori", each, s.binary("andi", s.binary("shrsi", each, 15), 0x7FFF))
        for each in bits
    ]
    first = s.compare(_CHOICES[op.name], *ordered)
    chosen = s.select(first, *op.operands)
    for value, each in zip(op.operands, bits, strict=True):
        is_nan = s.compare("ugt", s.binary("andi", each, 0x7FFF), _INFINITY)
        chosen = s.select(is_nan, value, chosen)
    return chosen


def _in_f32(s: Scalars, op: ir.Operation) -> ir.Value:
    """The op's result before it is rounded.

    Sums, products, quotients and roots are those that rounding once would give: f32
    has more than twice f16's bits.
    """
    f32 = ir.F32Type.get(s.loc.context)
    if op.name == "arith.truncf":
        return s.convert_float(op.operands[0], f32)
    if op.name in INTEGERS_TO_FLOATS:
        return s.op(op.name, [op.operands[0]], f32)
    operands = [
        s.convert_float(v, f32) if isinstance(v.type, ir.F16Type) else v for v in op.operands
    ]
    return s.op(op.name, operands, f32, {key: op.attributes[key] for key in op.attributes})


def _encode(s: Scalars, value: ir.Value, f16: ir.Type) -> ir.Value:
    """An f32 as the nearest f16, ties to even; NaN becomes a quiet one."""
    assert float_width(value.type) == 32
    bits = s.convert("bitcast", value, s.integer_type(32))
    magnitude = s.binary("andi", bits, 0x7FFFFFFF)
    # Of a number below 2^-14 plus 0.5 the last bit is 2^-24, as that of f16's subnormals.
    shifted = s.binary("addf", s.convert("bitcast", magnitude, value.type), 0.5)
    tiny = s.binary("subi", s.convert("bitcast", shifted, bits.type), _HALF)
    odd = s.binary("andi", s.binary("shrui", magnitude, 13), 1)
    rounded = s.binary("addi", s.binary("addi", magnitude, 0xFFF - _REBIAS), odd)
    code = s.binary("shrui", rounded, 13)
    code = s.select(s.compare("ult", magnitude, _LEAST_NORMAL), tiny, code)
    infinity = s.constant(_INFINITY, bits.type)
    code = s.select(s.compare("ult", code, _INFINITY), code, infinity)
    nan = s.constant(_NAN, bits.type)
    code = s.select(s.compare("ugt", magnitude, _F32_INFINITY), nan, code)
    sign = s.binary("andi", s.binary("shrui", bits, 16), 0x8000)
    half = s.convert("trunci", s.binary("ori", code, sign), s.integer_type(16))
    return s.convert("bitcast", half, f16)
