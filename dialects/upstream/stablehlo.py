"""Reads and builds StableHLO ops.

The wheel registers the dialect but ships no Python classes for its ops, so
they are read through their attributes and built by name.
Specification: openxla.org/stablehlo/spec.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .. import ir
from .arith import Scalars
from .linalg import with_element_type
from .tensor import with_shape


def i64_array(op: ir.Operation, name: str) -> list[int]:
    """An ``array<i64: ...>`` attribute, e.g. broadcast_dimensions."""
    return [int(i) for i in ir.DenseI64ArrayAttr(op.attributes[name])]


def integer(op: ir.Operation, name: str) -> int:
    """An integer attribute, e.g. all_gather_dim."""
    return ir.IntegerAttr(op.attributes[name]).value


def channel_id(op: ir.Operation) -> int:
    """The id in the channel_handle of a collective; 0 where there is none."""
    if "channel_handle" not in op.attributes:
        return 0
    found = re.search(r"handle = (-?\d+)", str(op.attributes["channel_handle"]))
    return int(found[1]) if found else 0


def call_target(op: ir.Operation) -> str:
    """What a ``stablehlo.custom_call`` calls; empty for any other op."""
    if op.name != "stablehlo.custom_call":
        return ""
    return ir.StringAttr(op.attributes["call_target_name"]).value


def constant_elements(value: ir.Value) -> ir.DenseElementsAttr | None:
    """The elements of a ``stablehlo.constant`` of numbers, else None.

    None also for complex elements, which the bindings cannot read, and for
    elements kept in a resource.
    """
    op = ir.defining_op(value)
    if op is None or op.name != "stablehlo.constant":
        return None
    try:
        elements = op.attributes["value"]
    except TypeError:
        return None
    return elements if isinstance(elements, ir.DenseElementsAttr) else None


def splat_element(value: ir.Value) -> ir.Attribute | None:
    """The one element of a constant that is the same everywhere, else None."""
    elements = constant_elements(value)
    if elements is None or not elements.is_splat:
        return None
    return elements.get_splat_value()


def build(
    name: str,
    operands: Sequence[ir.Value],
    result_type: ir.Type,
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
    attributes: dict[str, ir.Attribute] | None = None,
) -> ir.Value:
    """One op ``stablehlo.<name>`` with one result, which is returned."""
    return Scalars(ip, loc).op(f"stablehlo.{name}", [*operands], result_type, attributes)


def splat_constant(
    element: ir.Attribute,
    element_type: ir.Type,
    shape: Sequence[int],
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> ir.Value:
    """A ``stablehlo.constant`` with ``element`` (of ``element_type``) everywhere."""
    type_ = ir.RankedTensorType.get(list(shape), element_type, loc=loc)
    value = ir.DenseElementsAttr.get_splat(type_, element)
    return build("constant", [], type_, loc=loc, ip=ip, attributes={"value": value})


def reshape(
    value: ir.Value, shape: Sequence[int], *, loc: ir.Location, ip: ir.InsertionPoint
) -> ir.Value:
    """A ``stablehlo.reshape`` to a static shape with as many elements."""
    return build("reshape", [value], with_shape(value.type, shape), loc=loc, ip=ip)


def convert(
    value: ir.Value, element_type: ir.Type, *, loc: ir.Location, ip: ir.InsertionPoint
) -> ir.Value:
    """A ``stablehlo.convert`` to another element type."""
    return build("convert", [value], with_element_type(value.type, element_type), loc=loc, ip=ip)


def bitcast_convert(
    value: ir.Value, element_type: ir.Type, *, loc: ir.Location, ip: ir.InsertionPoint
) -> ir.Value:
    """A ``stablehlo.bitcast_convert`` to an element type of the same width."""
    type_ = with_element_type(value.type, element_type)
    return build("bitcast_convert", [value], type_, loc=loc, ip=ip)


def retargeted(op: ir.Operation, value: ir.Value, ip: ir.InsertionPoint) -> ir.Value:
    """The same data movement (reshape, transpose) of a value of another
    element type and the shape of ``op``'s operand."""
    new = op.clone(ip).operation
    new.operands[0] = value
    element = ir.RankedTensorType(value.type).element_type
    new.results[0].set_type(with_element_type(op.results[0].type, element))
    return new.results[0]
