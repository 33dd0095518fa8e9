"""Finds the scale behind a value that has the shape of the data.

A frontend writes a scale as a small tensor, broadcast (and reshaped) to the
data's shape. What headrace ops take is the small tensor: one element, or the
data's rank with sizes that are 1, the data's size, or divide it (blocks).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.ops.constraints import DYNAMIC, element_type_of, is_per_tensor, shape_of
from ....dialects.upstream.stablehlo import i64_array, reshape, splat_constant, splat_element

_BROADCAST = "stablehlo.broadcast_in_dim"
_DYNAMIC_BROADCAST = "stablehlo.dynamic_broadcast_in_dim"
_RESHAPE = "stablehlo.reshape"
_SPREADS = (_BROADCAST, _DYNAMIC_BROADCAST, _RESHAPE)
# Frontends write two or three in a row; a bound keeps the cost linear.
_LONGEST = 16


@dataclass(frozen=True)
class Scale:
    """A scale as the graph has it: ``source``, seen with sizes ``shape``."""

    source: ir.Value
    shape: tuple[int, ...]

    def make(self, ip: ir.InsertionPoint, loc: ir.Location) -> ir.Value:
        """The value that a headrace op takes; ``source`` itself if it fits."""
        if shape_of(self.source) == list(self.shape):
            return self.source
        if self.shape == () and (element := splat_element(self.source)):
            type_ = element_type_of(self.source)
            return splat_constant(element, type_, (), loc=loc, ip=ip)
        return reshape(self.source, self.shape, loc=loc, ip=ip)


def find_scale(value: ir.Value) -> Scale | None:
    """The scale that ``value`` spreads over its shape, None if it is none.

    A value that varies freely over its shape is no scale, whatever its shape.
    """
    spreads: list[ir.Operation] = []
    source = value
    while len(spreads) < _LONGEST and (op := ir.defining_op(source)) and op.name in _SPREADS:
        spreads.insert(0, op)
        source = op.operands[0]
    if is_per_tensor(shape_of(source)):
        return Scale(source, tuple(shape_of(source)))
    if splat_element(source):
        return Scale(source, ())
    for start, op in enumerate(spreads):
        source = op.operands[0]
        sizes = _blocks(shape_of(source), spreads[start:])
        if sizes is not None and math.prod(sizes) < math.prod(shape_of(value)):
            return Scale(source, tuple(sizes))
    return None


def _blocks(shape: list[int], spreads: Sequence[ir.Operation]) -> list[int] | None:
    """Sizes of the grid of blocks over which ``spreads`` spread a tensor.

    Each dimension's index is followed as digits. None where the result is
    no grid of blocks in the source's order.
    """
    if DYNAMIC in shape:
        return None
    dims: _Dims | None = [_merged([(size, True)]) for size in shape]
    for op, following in zip(spreads, (*spreads[1:], None), strict=True):
        before, after = shape_of(op.operands[0]), shape_of(op.results[0])
        if op.name == _DYNAMIC_BROADCAST or 0 in after or DYNAMIC in after:
            return None
        if op.name == _BROADCAST:
            targets = i64_array(op, "broadcast_dimensions")
            dims = _broadcast(dims, before, after, targets)
        elif following is None or following.name != _RESHAPE:  # of several, the last counts
            dims = _reshaped(dims, after)
        if dims is None:
            return None
    # In each dimension, one digit that picks, before one that repeats.
    if any((len(digits) == 2 and digits[1][1]) or len(digits) > 2 for digits in dims):
        return None
    return [digits[0][0] if digits and digits[0][1] else 1 for digits in dims]


# One digit of a dimension's index, most significant first: its radix, and
# whether it picks an element of the source or repeats one.
_Digit = tuple[int, bool]
_Dims = list[list[_Digit]]


def _merged(digits: Sequence[_Digit]) -> list[_Digit]:
    """Neighbours of one kind are one digit; a digit of radix 1 is none."""
    found: list[_Digit] = []
    for radix, picks in digits:
        if radix != 1 and found and found[-1][1] == picks:
            found[-1] = (found[-1][0] * radix, picks)
        elif radix != 1:
            found.append((radix, picks))
    return found


def _broadcast(
    dims: _Dims, before: list[int], after: list[int], targets: list[int]
) -> _Dims | None:
    """None where the broadcast exchanges dimensions of the source."""
    spread: _Dims = [_merged([(size, False)]) for size in after]
    last = -1
    for digits, size, target in zip(dims, before, targets, strict=True):
        if size != after[target]:
            continue  # of size 1, so that its elements are repeated
        spread[target] = digits
        if any(picks for _, picks in digits):
            if target < last:
                return None
            last = target
    return spread


def _reshaped(dims: _Dims, shape: Sequence[int]) -> _Dims | None:
    """Deals all digits out to the dims of ``shape``; None where one is cut
    at a size that does not divide it."""
    rest = _merged([digit for digits in dims for digit in digits])[::-1]
    found: _Dims = []
    for size in shape:
        digits: list[_Digit] = []
        while size != 1:
            radix, picks = rest.pop()
            if radix > size:  # a digit of two dims: its upper part is here
                if radix % size:
                    return None
                rest.append((radix // size, picks))
                radix = size
            if size % radix:
                return None
            size //= radix
            digits.append((radix, picks))
        found.append(digits)
    return found
