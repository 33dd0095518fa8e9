"""Builds scalar arithmetic, for the bodies of linalg ops.

Only what the lowerings need; every method makes one op of the arith or math
dialect and returns its value.
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import ir

# The numbers that the arith dialect gives its predicates.
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
# Those of comparisons of floats: ordered ones, false for NaN, then unordered ones.
FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)

_INDEX_WIDTH = 64

WIDTHS: dict[type[ir.Type], int] = {ir.BF16Type: 16, ir.F16Type: 16, ir.F32Type: 32, ir.F64Type: 64}


def float_width(type_: ir.Type) -> int:
    """Bits of bf16, f16, f32, f64; 8 for the fp8 types."""
    return WIDTHS.get(type(type_), 8)


@dataclass(frozen=True)
class Scalars:
    """A place where scalar ops are made."""

    ip: ir.InsertionPoint
    loc: ir.Location

    def op(
        self,
        name: str,
        operands: list[ir.Value],
        type_: ir.Type,
        attributes: dict[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        """One op with one result of ``type_``."""
        made = ir.Operation.create(
            name,
            results=[type_],
            operands=operands,
            attributes=attributes,
            loc=self.loc,
            ip=self.ip,
        )
        return made.results[0]

    def integer_type(self, width: int) -> ir.IntegerType:
        return ir.IntegerType.get_signless(width, self.loc.context)

    def constant(self, value: float, type_: ir.Type) -> ir.Value:
        """A constant; integers are taken modulo their width."""
        attribute: ir.Attribute
        if isinstance(type_, ir.IntegerType | ir.IndexType):
            width = type_.width if isinstance(type_, ir.IntegerType) else _INDEX_WIDTH
            bits = int(value) % (1 << width)
            signed = bits - (1 << width) if bits >> (width - 1) else bits
            attribute = ir.IntegerAttr.get(type_, signed)
        else:
            attribute = ir.FloatAttr.get(type_, value, loc=self.loc)
        return self.op("arith.constant", [], type_, {"value": attribute})

    def value(self, of: ir.Value | float, type_: ir.Type) -> ir.Value:
        """``of``, a number as a constant."""
        return of if isinstance(of, ir.Value) else self.constant(of, type_)

    def binary(self, name: str, a: ir.Value, b: ir.Value | int | float) -> ir.Value:
        """``arith.<name>`` of two values of one type; a number becomes a constant."""
        return self.op(f"arith.{name}", [a, self.value(b, a.type)], a.type)

    def compare(self, predicate: str, a: ir.Value, b: ir.Value | int) -> ir.Value:
        """``arith.cmpi`` of integers."""
        return self._compare("arith.cmpi", INTEGER_PREDICATES.index(predicate), a, b)

    def compare_floats(self, predicate: str, a: ir.Value, b: ir.Value | float) -> ir.Value:
        """``arith.cmpf`` of floats of one type."""
        return self._compare("arith.cmpf", FLOAT_PREDICATES.index(predicate), a, b)

    def _compare(self, name: str, predicate: int, a: ir.Value, b: ir.Value | float) -> ir.Value:
        number = ir.IntegerAttr.get(self.integer_type(64), predicate)
        operands = [a, self.value(b, a.type)]
        return self.op(name, operands, self.integer_type(1), {"predicate": number})

    def select(self, condition: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        return self.op("arith.select", [condition, a, b], a.type)

    def convert(self, name: str, a: ir.Value, type_: ir.Type) -> ir.Value:
        """``arith.<name>`` to another type; nothing where it is that already."""
        return a if a.type == type_ else self.op(f"arith.{name}", [a], type_)

    def convert_float(self, a: ir.Value, type_: ir.Type) -> ir.Value:
        """Widens or rounds; between bf16 and f16 through f32, as both fit in it."""
        if a.type == type_:
            return a
        if isinstance(a.type, ir.FloatType) and float_width(a.type) == float_width(type_):
            a = self.op("arith.extf", [a], ir.F32Type.get(self.loc.context))
        widening = float_width(a.type) < float_width(type_)
        return self.op("arith.extf" if widening else "arith.truncf", [a], type_)
