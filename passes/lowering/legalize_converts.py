"""The pass ``legalize-converts``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.op_traits import (
    FLOAT_CONVERTS,
    FLOATS_TO_INTEGERS,
    INTEGERS_TO_FLOATS,
    SCALAR_MOVES,
)
from ...dialects.upstream.arith import Scalars
from ...dialects.upstream.linalg import element_of
from ..base import Pass
from .converts import bf16_rounding, microscaling_codec
from .converts.fixed_bodies import is_in_fixed_body
from .converts.microscaling_codec import is_microscaling
from .converts.scalar_ops import scalar_ops

# bf16 holds all integers of so many bits.
_EXACT_IN_BF16 = 8
_F32_PRECISION = 24
_F64_PRECISION = 53
_I32 = 32


@dataclass(frozen=True)
class LegalizeConverts(Pass):
    """Makes every convert one that each target has, with XLA's numbers.

    IREE calls functions that do not exist (quirks.INTEGER_TO_BF16), and lacks most
    converts of f8E8M0FNU and f4E2M1FN. What it has may round or overflow otherwise
    than XLA does, and otherwise on each CPU:

    - an integer or an f64 goes to bf16 and f16, and an integer to the smaller
      types, through f32: rounded twice, as XLA and ml_dtypes do it;
    - a float that does not fit an integer type gives the nearest integer that
      does, and NaN gives 0;
    - arithmetic on f8E8M0FNU and f4E2M1FN is computed in f32.

    Before: %y = arith.sitofp %x : i8 to bf16
    After:  %f = arith.sitofp %x : i8 to f32
            %y = the upper half of the bits of %f

    The bodies of contractions are left alone: their operand types were
    chosen for the target.
    """

    name: ClassVar[str] = "legalize-converts"

    def run(self, module: ir.Operation) -> None:
        for op in scalar_ops(module, _found):
            value = _rewritten(Scalars(ir.InsertionPoint(op), op.location), op)
            op.results[0].replace_all_uses_with(value)
            op.erase()


def _found(module: ir.Operation) -> list[ir.Operation]:
    return [op for op in ir.walk(module) if _needs_help(op)]


def _needs_help(op: ir.Operation) -> bool:
    name = op.name
    if not name.startswith(("arith.", "math.")) or name in SCALAR_MOVES or len(op.results) != 1:
        return False
    types = [element_of(v.type) for v in (*op.operands, *op.results)]
    if not any(map(is_microscaling, types)) and not _is_convert_in_need(name, types):
        return False
    return not is_in_fixed_body(op)


def _is_convert_in_need(name: str, types: list[ir.Type]) -> bool:
    if name in INTEGERS_TO_FLOATS:
        return not isinstance(types[1], ir.F16Type | ir.F32Type | ir.F64Type)
    if name == "arith.truncf":
        return isinstance(types[0], ir.F64Type) and isinstance(types[1], ir.BF16Type | ir.F16Type)
    return name in FLOATS_TO_INTEGERS


def _rewritten(s: Scalars, op: ir.Operation) -> ir.Value:
    name, source, result = op.name, op.operands[0], op.results[0].type
    if name in INTEGERS_TO_FLOATS:
        return _from_integer(s, name, source, result)
    if name in FLOATS_TO_INTEGERS:
        assert isinstance(result, ir.IntegerType)
        wide = source if isinstance(source.type, ir.F64Type) else _to_f32(s, source)
        return _to_integer(s, wide, result, signed=name == "arith.fptosi")
    if name in FLOAT_CONVERTS:
        return _convert(s, source, result)
    # Arithmetic of microscaling types.
    f32 = ir.F32Type.get(s.loc.context)
    operands = [_to_f32(s, v) if is_microscaling(v.type) else v for v in op.operands]
    attributes = {key: op.attributes[key] for key in op.attributes}
    if not is_microscaling(result):
        return s.op(name, operands, result, attributes)
    return microscaling_codec.encode(s, s.op(name, operands, f32, attributes), result)


def _from_integer(s: Scalars, name: str, value: ir.Value, result: ir.Type) -> ir.Value:
    """An integer in a type other than f16, f32 and f64."""
    assert isinstance(value.type, ir.IntegerType)
    wide = s.op(name, [value], ir.F32Type.get(s.loc.context))
    if not isinstance(result, ir.BF16Type):
        return _convert(s, wide, result)
    # As bits: MLIR folds a truncf of the convert back into the one convert.
    if value.type.width > _EXACT_IN_BF16:
        wide = bf16_rounding.round_finite(s, wide)
    return bf16_rounding.upper_half(s, wide, result)


def _convert(s: Scalars, value: ir.Value, result: ir.Type) -> ir.Value:
    """A float as another one."""
    f32 = ir.F32Type.get(s.loc.context)
    if is_microscaling(value.type):
        return _from_microscaling(s, value, result)
    if is_microscaling(result):
        wide = value if isinstance(value.type, ir.F64Type) else _to_f32(s, value)
        return microscaling_codec.encode(s, wide, result)
    if isinstance(value.type, ir.F64Type) and isinstance(result, ir.BF16Type | ir.F16Type):
        return bf16_rounding.convert(s, s.convert_float(value, f32), result)
    return s.convert_float(value, result)


def _from_microscaling(s: Scalars, value: ir.Value, result: ir.Type) -> ir.Value:
    if isinstance(result, ir.F64Type):
        return microscaling_codec.decode_f64(s, value)
    wide = microscaling_codec.decode(s, value)
    if isinstance(result, ir.BF16Type):
        return bf16_rounding.upper_half(s, wide, result)  # exact, and no subnormal is flushed
    return _convert(s, wide, result)


def _to_f32(s: Scalars, value: ir.Value) -> ir.Value:
    """A float no wider than f32 as f32, exactly."""
    if isinstance(value.type, ir.BF16Type):
        return bf16_rounding.widen(s, value)
    return _convert(s, value, ir.F32Type.get(s.loc.context))


def _to_integer(s: Scalars, value: ir.Value, type_: ir.IntegerType, *, signed: bool) -> ir.Value:
    """An f32 or f64 as an integer: rounded towards zero, saturated, NaN to 0.

    arith's converts leave open what a value gives that does not fit, and CPUs
    differ (quirks.FLOAT_TO_INTEGER_OVERFLOW); XLA, on all its backends, gives the
    nearest integer that fits, and 0 for NaN. StableHLO leaves it to the implementation.

    A bound that the float type holds is clamped to before the convert; only
    the upper bounds of wide integers are not, and are selected after it.
    """
    name = "fptosi" if signed else "fptoui"
    width = type_.width - 1 if signed else type_.width
    lowest = -(2.0**width) if signed else 0.0
    if signed:
        zero = s.constant(0.0, value.type)
        value = s.select(s.compare_floats("ord", value, value), value, zero)
    # Unsigned, the comparison takes NaN to 0 as well.
    clamped = s.select(
        s.compare_floats("ogt", value, lowest), value, s.constant(lowest, value.type)
    )
    precision = _F64_PRECISION if isinstance(value.type, ir.F64Type) else _F32_PRECISION
    if width <= precision:
        largest = s.constant(2**width - 1, value.type)
        clamped = s.select(s.compare_floats("olt", clamped, 2**width - 1), clamped, largest)
        if not signed and width < _I32:  # a signed convert, which vmvx has as well
            return s.convert("trunci", s.convert("fptosi", clamped, s.integer_type(_I32)), type_)
        return s.convert(name, clamped, type_)
    overflows = s.compare_floats("oge", value, 2.0**width)
    return s.select(overflows, s.constant(2**width - 1, type_), s.convert(name, clamped, type_))
