"""The element types in which values travel through a headrace collective.

IREE's input pipeline makes unsigned StableHLO types signless, but does not
know our ops; so nothing but signless integers and floats may reach them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.ops.constraints import element_type_of
from ....dialects.upstream.linalg import with_element_type
from ....dialects.upstream.stablehlo import bitcast_convert, build, convert
from ...rewriting import Miss


@dataclass(frozen=True)
class Carrier:
    """How a value is taken apart before a collective and put together after.

    ``element`` is the element type that travels. A complex value travels as
    its two parts; a value that a reduction promotes is first converted to
    ``promoted``, StableHLO's type for the reduction.
    """

    element: ir.Type
    promoted: ir.Type
    is_complex: bool = False

    def split(self, value: ir.Value, loc: ir.Location, ip: ir.InsertionPoint) -> list[ir.Value]:
        if element_type_of(value) != self.promoted:
            value = convert(value, self.promoted, loc=loc, ip=ip)
        if self.is_complex:
            type_ = with_element_type(value.type, self.element)
            return [build(part, [value], type_, loc=loc, ip=ip) for part in ("real", "imag")]
        if self.promoted != self.element:
            return [bitcast_convert(value, self.element, loc=loc, ip=ip)]
        return [value]

    def join(
        self, parts: Sequence[ir.Value], type_: ir.Type, loc: ir.Location, ip: ir.InsertionPoint
    ) -> ir.Value:
        """The parts of a result back in ``type_``, the original op's."""
        if self.is_complex:
            return build("complex", parts, type_, loc=loc, ip=ip)
        if self.promoted == self.element:
            return parts[0]
        return bitcast_convert(parts[0], self.promoted, loc=loc, ip=ip)


def carrier_of(element: ir.Type, reduction: str = "") -> Carrier | Miss:
    """The carrier of StableHLO's ``element`` type; ``reduction`` is "" for movement."""
    if isinstance(element, ir.IntegerType):
        if element.is_signless:
            return Carrier(element, element)
        return Carrier(ir.IntegerType.get_signless(element.width, element.context), element)
    if isinstance(element, ir.ComplexType):
        if reduction in ("", "add"):
            return Carrier(element.element_type, element, is_complex=True)
        return Miss(f"'{reduction}' of {element} cannot be done on real and imaginary parts")
    if isinstance(element, ir.FloatType):
        return Carrier(element, element)
    return Miss(f"headrace collectives take no {element}")
