"""What is known of the integers in a StableHLO tensor."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.op_traits import REARRANGEMENTS
from ....dialects.ops.constraints import shape_of
from ....dialects.upstream.stablehlo import constant_elements, integer

Range = tuple[int, int]


def integer_range(value: ir.Value) -> Range | None:
    """The least and the greatest that an element may be; None where not known."""
    elements = constant_elements(value)
    if elements is not None:
        return _constant_range(elements)
    op = ir.defining_op(value)
    if op is None:
        return None
    if op.name in REARRANGEMENTS:
        return integer_range(op.operands[0])
    if op.name == "stablehlo.concatenate":
        return _join([integer_range(operand) for operand in op.operands])
    if op.name == "stablehlo.iota":
        size = shape_of(value)[integer(op, "iota_dimension")]
        return (0, size - 1) if size > 0 else None
    if op.name == "stablehlo.clamp":
        return _clamped(op)
    return None


def component_ranges(indices: ir.Value, dim: int, count: int) -> list[Range | None]:
    """``integer_range`` of each component of index vectors, which lie along ``dim``."""
    op = ir.defining_op(indices)
    if op is not None and op.name == "stablehlo.concatenate" and integer(op, "dimension") == dim:
        parts = list(op.operands)
        if len(parts) == count:
            return [integer_range(part) for part in parts]
    return [integer_range(indices)] * count


def _constant_range(elements: object) -> Range | None:
    if not isinstance(elements, ir.DenseIntElementsAttr) or len(elements) == 0:
        return None
    if elements.is_splat:
        value = ir.IntegerAttr(elements.get_splat_value()).value
        return value, value
    values = [int(elements[index]) for index in range(len(elements))]
    return min(values), max(values)


def _clamped(op: ir.Operation) -> Range | None:
    low, high = integer_range(op.operands[0]), integer_range(op.operands[2])
    if low is None or high is None or low[0] > high[1]:
        return None
    return min(low[0], high[0]), high[1]


def _join(ranges: list[Range | None]) -> Range | None:
    known = [r for r in ranges if r is not None]
    if not known or len(known) != len(ranges):
        return None
    return min(r[0] for r in known), max(r[1] for r in known)
