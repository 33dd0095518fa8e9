"""How the bindings make Python objects of dense attributes, and of locations.

Their own casters raise TypeError for element types that have no class, such as
complex numbers, and for a location in an attribute's place. Reading an op's
attributes then fails, whichever was wanted (quirks.COMPLEX_ATTRIBUTE). With the
casters here, such an attribute is a plain ``ir.Attribute``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_ELEMENTS = ("DenseIntElementsAttr", "DenseFPElementsAttr")
_ARRAYS = (
    *("DenseI64ArrayAttr", "DenseI32ArrayAttr", "DenseBoolArrayAttr", "DenseI8ArrayAttr"),
    *("DenseI16ArrayAttr", "DenseF32ArrayAttr", "DenseF64ArrayAttr"),
)
_LOCATIONS = ("UnknownLoc", "FileLineColLoc", "NameLoc", "CallSiteLoc", "FusedLoc")

_repaired: list[bool] = []


def repair_casts(ir: Any, extension: Any, context: Any) -> None:
    """Replaces the casters of the process; ``extension`` is the bindings' ``_cext``."""
    if _repaired:
        return
    for text, names in (("dense<0> : tensor<1xi8>", _ELEMENTS), ("array<i64>", _ARRAYS)):
        kinds = [getattr(ir, name) for name in names]
        typeid = ir.Attribute.parse(text, context).typeid
        extension.register_type_caster(typeid, replace=True)(_caster(kinds))
    for name in _LOCATIONS:
        kind = getattr(ir, name)
        extension.register_type_caster(kind.static_typeid, replace=True)(
            _location_caster(kind, ir.Location)
        )
    _repaired.append(True)


def _caster(kinds: Sequence[Any]) -> Any:
    def cast(attribute: Any) -> Any:
        for kind in kinds:
            try:
                return kind(attribute)
            except ValueError:
                continue
        return attribute

    return cast


def _location_caster(kind: Any, location: Any) -> Any:
    def cast(found: Any) -> Any:
        return kind(found) if isinstance(found, location) else found

    return cast
