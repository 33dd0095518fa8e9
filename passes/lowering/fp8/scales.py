"""Lays a scale out for an elementwise op over the scaled data.

A scale has one element, or the rank of the data with each size 1, the data's
size, or a divisor of it (a block per scale). Blocks are made visible by
splitting the data's dimension in two, so that every access is a plain
projection: IREE tiles and fuses those, floordiv maps it does not.

Where the scale's size is dynamic, it is taken to be the data's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.upstream.linalg import DYNAMIC, TensorBuilder, dims_map, tensor_type


@dataclass(frozen=True)
class Blocking:
    """How the data's dimensions are split: ``groups[d]`` are the loops of dim ``d``."""

    shape: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]

    @property
    def is_trivial(self) -> bool:
        return len(self.shape) == len(self.groups)


def blocking_of(data: list[int], scale: list[int] | None) -> Blocking:
    """Splits each blocked dimension into (blocks, block size)."""
    shape: list[int] = []
    groups: list[tuple[int, ...]] = []
    for dim, size in enumerate(data):
        scales = 1 if scale is None or len(scale) != len(data) else scale[dim]
        first = len(shape)
        if scales not in (1, size, DYNAMIC):  # one scale serves, or may serve, a block
            shape += [scales, DYNAMIC if size == DYNAMIC else size // scales]
            groups.append((first, first + 1))
        else:
            shape.append(size)
            groups.append((first,))
    return Blocking(tuple(shape), tuple(groups))


def split(b: TensorBuilder, data: ir.Value, blocking: Blocking) -> ir.Value:
    """The data with its blocked dimensions split."""
    if blocking.is_trivial:
        return data
    type_ = tensor_type(data)
    result = ir.RankedTensorType.get(list(blocking.shape), type_.element_type, loc=b.loc)
    return b.expand_shape(data, blocking.groups, result)


def join(b: TensorBuilder, value: ir.Value, blocking: Blocking, shape: list[int]) -> ir.Value:
    """Undoes ``split`` on a value of any element type; ``shape`` is the unsplit one."""
    if blocking.is_trivial:
        return value
    type_ = ir.RankedTensorType.get(shape, tensor_type(value).element_type, loc=b.loc)
    return b.collapse_shape(value, blocking.groups, type_)


def scale_access(
    b: TensorBuilder, scale: ir.Value, loops: Sequence[int], count: int
) -> tuple[ir.Value, ir.AffineMap]:
    """A scale (or bias) without its unit dimensions, and where a nest of ``count`` loops
    reads it, whose dimensions run along ``loops``."""
    shape = list(tensor_type(scale).shape)
    units = [d for d, size in enumerate(shape) if size == 1]
    kept = [loops[d] for d in range(len(shape)) if d not in units]
    with b.loc:
        return b.drop_unit_dims(scale, units), dims_map(count, kept)
