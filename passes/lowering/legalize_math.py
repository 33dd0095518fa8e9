"""The pass ``legalize-math``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.upstream.arith import Scalars
from ...dialects.upstream.linalg import element_of
from ..targets.lookup import TargetPass
from .converts.scalar_ops import scalar_ops

_SMALLEST_NORMAL: dict[type[ir.Type], int] = {
    ir.BF16Type: -126,
    ir.F16Type: -14,
    ir.F32Type: -126,
    ir.F64Type: -1022,
}


@dataclass(frozen=True)
class LegalizeMath(TargetPass):
    """Rewrites or refuses math for which a CPU has neither instruction nor function.

    IREE calls C's functions for these (quirks.MATH_WITHOUT_FUNCTION). What a few
    other ops give is rewritten; of the rest, most in f64, the error names the
    op. For GPUs nothing is done: their libraries have them.

    Before: %y = math.trunc %x : f32
    After:  %y = %x < 0 ? -floor(-%x) : floor(%x)
    """

    name: ClassVar[str] = "legalize-math"

    def run(self, module: ir.Operation) -> None:
        if not self.facts.is_cpu:
            return
        for op in scalar_ops(module, _found):
            s = Scalars(ir.InsertionPoint(op), op.location)
            for result, value in zip(op.results, _REWRITES[op.name](s, op), strict=True):
                result.replace_all_uses_with(value)
            op.erase()


def _found(module: ir.Operation) -> list[ir.Operation]:
    """The ops to rewrite; HeadraceError for the first that cannot be."""
    found: list[ir.Operation] = []
    for op in ir.walk(module):
        if op.name not in _REWRITES and op.name not in _REFUSED:
            continue
        element = element_of(op.operands[0].type)
        if op.name in _REFUSED_IN_F64 and isinstance(element, ir.F64Type):
            raise ir.error_at(op, f"IREE has no f64 '{op.name}' for CPUs; compute it in f32")
        if op.name in _REFUSED_IN_ALL:
            raise ir.error_at(op, f"IREE has no '{op.name}' for CPUs; compute it from other ops")
        if op.name in _REWRITES and _lacks(op.name, element):
            found.append(op)
    return found


def _lacks(name: str, element: ir.Type) -> bool:
    """Whether a CPU lacks an op of that name in that type."""
    if name in ("arith.maxnumf", "arith.minnumf"):
        return isinstance(element, ir.F16Type)
    if name in ("math.ceil", "math.log2", "math.tanh"):
        return isinstance(element, ir.F64Type)
    return True


def _unary(s: Scalars, name: str, value: ir.Value) -> ir.Value:
    return s.op(name, [value], value.type)


def _floored(s: Scalars, value: ir.Value) -> ir.Value:
    return _unary(s, "math.floor", value)


def _ceil(s: Scalars, op: ir.Operation) -> list[ir.Value]:
    return [_unary(s, "arith.negf", _floored(s, _unary(s, "arith.negf", op.operands[0])))]


def _trunc(s: Scalars, op: ir.Operation) -> list[ir.Value]:
    """-0 and NaN stay. LLVM would make a call of trunc of ``copysign(floor(|x|), x)``."""
    value = op.operands[0]
    (ceiling,) = _ceil(s, op)
    return [s.select(s.compare_floats("olt", value, 0.0), ceiling, _floored(s, value))]


def _logarithm(base: float) -> Callable[[Scalars, ir.Operation], list[ir.Value]]:
    def rewrite(s: Scalars, op: ir.Operation) -> list[ir.Value]:
        value = _wide(s, op.operands[0])
        quotient = s.binary("divf", _unary(s, "math.log", value), math.log(base))
        return [s.convert_float(quotient, op.results[0].type)]

    return rewrite


def _wide(s: Scalars, value: ir.Value) -> ir.Value:
    """f16 and bf16 as f32."""
    is_half = isinstance(value.type, ir.BF16Type | ir.F16Type)
    return s.convert_float(value, ir.F32Type.get(s.loc.context)) if is_half else value


def _number(predicate: str) -> Callable[[Scalars, ir.Operation], list[ir.Value]]:
    """The larger or smaller one of two; the other one where one is NaN."""

    def rewrite(s: Scalars, op: ir.Operation) -> list[ir.Value]:
        a, b = op.operands
        chosen = s.select(s.compare_floats(predicate, a, b), a, b)
        return [s.select(s.compare_floats("uno", b, b), a, chosen)]

    return rewrite


def _cbrt(s: Scalars, op: ir.Operation) -> list[ir.Value]:
    """IREE's own, but for quirks.CBRT_OF_INFINITY."""
    value = op.operands[0]
    is_infinite = s.compare_floats("oeq", _unary(s, "math.absf", value), math.inf)
    return [s.select(is_infinite, value, _unary(s, "math.cbrt", value))]


def _sincos(s: Scalars, op: ir.Operation) -> list[ir.Value]:
    return [_unary(s, name, op.operands[0]) for name in ("math.sin", "math.cos")]


def _isinf(s: Scalars, op: ir.Operation) -> list[ir.Value]:
    return [s.compare_floats("oeq", _unary(s, "math.absf", op.operands[0]), math.inf)]


def _isnormal(s: Scalars, op: ir.Operation) -> list[ir.Value]:
    magnitude = _unary(s, "math.absf", op.operands[0])
    smallest = 2.0 ** _SMALLEST_NORMAL[type(magnitude.type)]
    bounds = [("oge", smallest), ("olt", math.inf)]
    return [s.binary("andi", *(s.compare_floats(name, magnitude, bound) for name, bound in bounds))]


def _tanh(s: Scalars, op: ir.Operation) -> list[ir.Value]:
    """``e / (e + 2)`` with ``e = expm1(2 |x|)``, which is 1 from 20 on."""
    value = op.operands[0]
    magnitude = _unary(s, "math.absf", value)
    magnitude = s.select(
        s.compare_floats("olt", magnitude, 20.0), magnitude, s.constant(20.0, value.type)
    )
    grown = _unary(s, "math.expm1", s.binary("mulf", magnitude, 2.0))
    result = s.binary("divf", grown, s.binary("addf", grown, 2.0))
    result = s.op("math.copysign", [result, value], value.type)
    return [s.select(s.compare_floats("uno", value, value), value, result)]


_REWRITES: dict[str, Callable[[Scalars, ir.Operation], list[ir.Value]]] = {
    "arith.maxnumf": _number("ogt"),
    "arith.minnumf": _number("olt"),
    "math.cbrt": _cbrt,
    "math.ceil": _ceil,
    "math.isinf": _isinf,
    "math.isnormal": _isnormal,
    "math.log10": _logarithm(10.0),
    "math.log2": _logarithm(2.0),
    "math.sincos": _sincos,
    "math.tanh": _tanh,
    "math.trunc": _trunc,
}

_REFUSED_IN_F64 = (
    "arith.remf",
    *(f"math.{name}" for name in ("acos", "asin", "atan", "atan2", "cbrt", "cos")),
    *(f"math.{name}" for name in ("erf", "sin", "sincos", "tan")),
)
_REFUSED_IN_ALL = ("math.erfc", "math.ipowi")
_REFUSED = (*_REFUSED_IN_F64, *_REFUSED_IN_ALL)
