"""Finds the scale behind a value that has the shape of the data.

A frontend writes a scale as a small tensor, broadcast (and reshaped) to the
data's shape. What headrace ops take is the small tensor: one element, or the
data's rank with sizes that are 1, the data's size, or divide it (blocks).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.mlir import (
    InsertionPoint,
    Location,
    Operation,
    RankedTensorType,
    Value,
    defining_op,
)
from ...dialects.ops.constraints import element_type_of, is_per_tensor, shape_of
from ...dialects.stablehlo import i64_array, reshape, splat_constant, splat_element

_BROADCAST = "stablehlo.broadcast_in_dim"
_DYNAMIC_BROADCAST = "stablehlo.dynamic_broadcast_in_dim"
_RESHAPE = "stablehlo.reshape"


@dataclass(frozen=True)
class Scale:
    """A scale as the graph has it: ``source``, seen with sizes ``shape``."""

    source: Value
    shape: tuple[int, ...]

    def make(self, ip: InsertionPoint, loc: Location) -> Value:
        """The value that a headrace op takes; ``source`` itself if it fits."""
        if shape_of(self.source) == list(self.shape):
            return self.source
        if self.shape == () and (element := splat_element(self.source)):
            type_ = element_type_of(self.source)
            return splat_constant(element, type_, (), loc=loc, ip=ip)
        return reshape(self.source, self.shape, loc=loc, ip=ip)


def find_scale(value: Value) -> Scale | None:
    """The scale that ``value`` spreads over its shape, None if it is none.

    A value that varies freely over its shape is no scale, whatever its shape.
    """
    spreads: list[Operation] = []
    source = value
    while (op := defining_op(source)) and op.name in (_BROADCAST, _DYNAMIC_BROADCAST, _RESHAPE):
        spreads.append(op)
        source = op.operands[0]
    if is_per_tensor(shape_of(source)):
        return Scale(source, tuple(shape_of(source)))
    if splat_element(source):
        return Scale(source, ())
    shape = shape_of(value)
    if not RankedTensorType(source.type).has_static_shape or any(
        op.name == _DYNAMIC_BROADCAST for op in spreads
    ):
        return None
    sizes = shape_of(source)
    for op in reversed(spreads):
        spread = _broadcast(op, sizes) if op.name == _BROADCAST else _reshaped(op, sizes)
        if spread is None:  # not a scale of blocks any more: start anew here
            source, spread = op.results[0], shape_of(op.results[0])
        sizes = spread
    if math.prod(sizes) < math.prod(shape):
        return Scale(source, tuple(sizes))
    return None


def _broadcast(op: Operation, sizes: list[int]) -> list[int] | None:
    """Sizes of the scale after a broadcast_in_dim of the data around it.

    None where the broadcast transposes the scale's elements.
    """
    before, after = shape_of(op.operands[0]), shape_of(op.results[0])
    spread = [1] * len(after)
    last = -1
    for dim, target in enumerate(i64_array(op, "broadcast_dimensions")):
        if before[dim] != after[target] or sizes[dim] == 1:
            continue
        if target < last:
            return None
        spread[target], last = sizes[dim], target
    return spread


def _reshaped(op: Operation, sizes: list[int]) -> list[int] | None:
    """Sizes of the scale after a reshape of the data around it.

    The data's elements are numbered by digits, most significant first; a
    digit either picks an element of the scale or repeats one. In each new
    dimension all picking digits must come before all repeating ones.
    """
    before, after = shape_of(op.operands[0]), shape_of(op.results[0])
    if 0 in before:
        return None
    digits: list[tuple[int, bool]] = []
    for data, scale in zip(before, sizes, strict=True):
        digits += [(scale, True), (data // scale, False)]
    digits = [digit for digit in reversed(digits) if digit[0] != 1]
    return _regrouped(digits, after)


def _regrouped(digits: list[tuple[int, bool]], shape: Sequence[int]) -> list[int] | None:
    """Deals digits (least significant first) out to dims of ``shape``."""
    found: list[int] = []
    for size in shape:
        picked, left, repeating = 1, size, False
        while left != 1:
            radix, picks = digits.pop()
            if radix > left:  # a digit of two dims: its upper part is here
                if radix % left:
                    return None
                digits.append((radix // left, picks))
                radix = left
            if left % radix or (picks and repeating):
                return None
            left //= radix
            picked *= radix if picks else 1
            repeating = not picks
        found.append(picked)
    return found
