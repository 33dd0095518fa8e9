"""Makes dispatch regions yield each value once."""

from __future__ import annotations

from collections.abc import Hashable

from ....dialects import ir
from ....dialects.iree.dispatch import DispatchRegion, Output
from ....dialects.iree.encoding import is_set_encoding


def yield_once(region: DispatchRegion) -> DispatchRegion:
    """The region without results that repeat an earlier one.

    Two results repeat each other if one value is yielded for both, or two
    equal encodings of one value: quirks.RESULT_YIELDED_TWICE.
    """
    keys = [value_key(value) for value in region.terminator.operands]
    if len(set(keys)) == len(keys):
        return region
    place_of: dict[Hashable, int] = {}
    outputs: list[Output] = []
    for key, output in zip(keys, region.outputs(), strict=True):
        if place_of.setdefault(key, len(outputs)) == len(outputs):
            outputs.append(output)
    kept = {index: place_of[key] for index, key in enumerate(keys)}
    repeated = [ir.defining_op(output.yielded) for output in region.outputs()]
    new = region.with_outputs(outputs, kept, {})
    region.op.erase()
    for op in repeated:
        if op is not None and is_set_encoding(op) and not ir.is_used(op):
            op.erase()
    return new


def value_key(value: ir.Value) -> Hashable:
    """Equal for values that are the same value, or equal encodings of one."""
    op = ir.defining_op(value)
    return value if op is None or not is_set_encoding(op) else encoding_key(op, op.operands[0])


def encoding_key(op: ir.Operation, source: ir.Value) -> Hashable:
    """What a set_encoding is, if it reads ``source``."""
    sizes: list[ir.Value] = list(op.operands)[1:]
    type_: ir.Type = op.results[0].type
    return (op.name, source, tuple(sizes), type_)
