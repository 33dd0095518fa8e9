"""Data movement in StableHLO (specification: openxla.org/stablehlo/spec)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ....dialects import ir
from ....dialects.ops.constraints import shape_of
from ....dialects.upstream.linalg import with_element_type
from ....dialects.upstream.stablehlo import i64_array, integer
from ....dialects.upstream.tensor import with_shape
from ...rewriting import Miss
from .interface import (
    DYNAMIC,
    Movement,
    Recognizer,
    is_positive_zero,
    joining,
    same_axes,
)


@dataclass(frozen=True)
class _StablehloMovement(Movement):
    def make_zero(self, like: ir.Value, element: ir.Type, ip: ir.InsertionPoint) -> ir.Value:
        type_ = with_element_type(like.type, element)
        zero = ir.FloatAttr.get(element, 0.0, loc=self.op.location)
        op = ir.Operation.create(
            "stablehlo.constant",
            results=[type_],
            attributes={"value": ir.DenseElementsAttr.get_splat(type_, zero)},
            loc=self.op.location,
            ip=ip,
        )
        return op.results[0]


class _OnScale(_StablehloMovement):
    """An op that is done on the scale as on the data."""

    def move_scale(self, scale: ir.Value, after: list[int], ip: ir.InsertionPoint) -> ir.Value:
        new = self.op.clone(ip).operation
        new.operands[0] = scale
        with new.context:
            for name, values in self.attributes_on(shape_of(scale)).items():
                new.attributes[name] = ir.DenseI64ArrayAttr.get(values)
        new.results[0].set_type(with_shape(scale.type, after))
        return new.results[0]

    def attributes_on(self, scale: list[int]) -> dict[str, list[int]]:
        """Attributes that are others on a scale of that shape."""
        return {}


class _Transpose(_OnScale):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return [scale[d] for d in i64_array(self.op, "permutation")]


class _Reverse(_OnScale):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return scale


class _Reshape(_OnScale):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        groups = _reshape_groups(data, shape_of(self.op.results[0]))
        after = None if groups is None else same_axes(groups, scale)
        if after is None:
            return Miss("'stablehlo.reshape' merges or splits the dimension of a per-axis scale")
        return after


def _reshape_groups(
    before: list[int], after: list[int]
) -> list[tuple[list[int], list[int]]] | None:
    """Splits a reshape into the smallest runs of dims with equal products."""
    if DYNAMIC in before or DYNAMIC in after or 0 in before:
        return None
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(before) or j < len(after):
        left, right = before[i : i + 1], after[j : j + 1]
        a, b = (left or [1])[0], (right or [1])[0]
        while a != b:
            if a < b:
                left.append(before[i + len(left)])
                a *= left[-1]
            else:
                right.append(after[j + len(right)])
                b *= right[-1]
        i, j = i + len(left), j + len(right)
        groups.append((left, right))
    return groups


class _Broadcast(_OnScale):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        after = [1] * ir.RankedTensorType(self.op.results[0].type).rank
        for size, dim in zip(scale, i64_array(self.op, "broadcast_dimensions"), strict=True):
            after[dim] = size
        return after


class _Slice(_OnScale):
    # Each with what it is in a dimension of size 1.
    cuts: ClassVar[dict[str, int]] = {"start_indices": 0, "limit_indices": 1, "strides": 1}

    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return [
            1 if s == 1 else r for s, r in zip(scale, shape_of(self.op.results[0]), strict=True)
        ]

    def attributes_on(self, scale: list[int]) -> dict[str, list[int]]:
        return {
            name: [
                whole if size == 1 else value
                for size, value in zip(scale, i64_array(self.op, name), strict=True)
            ]
            for name, whole in self.cuts.items()
        }


class _DynamicSlice(_Slice):
    # Start indices are clamped, to 0 in a dimension of size 1.
    cuts: ClassVar[dict[str, int]] = {"slice_sizes": 1}

    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return self.attributes_on(scale)["slice_sizes"]  # which the result's type may not know


class _Pad(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        names = ("edge_padding_low", "edge_padding_high", "interior_padding")
        margins = zip(*(i64_array(self.op, name) for name in names), strict=True)
        return self.unchanged(scale, (d for d, sizes in enumerate(margins) if any(sizes)), "pads")


class _Select(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return scale


class _Concatenate(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return self.unchanged(scale, [integer(self.op, "dimension")], "joins along")


def _pad(op: ir.Operation) -> Movement | Miss:
    if not is_positive_zero(op.operands[1]):
        return Miss("'stablehlo.pad' pads with something other than the literal +0")
    return _Pad(op, zeros=(1,))


RECOGNIZERS: dict[str, Recognizer] = {
    "stablehlo.broadcast_in_dim": _Broadcast,
    "stablehlo.concatenate": joining(_Concatenate),
    "stablehlo.dynamic_broadcast_in_dim": _StablehloMovement,
    "stablehlo.dynamic_reshape": _StablehloMovement,
    "stablehlo.dynamic_slice": _DynamicSlice,
    "stablehlo.dynamic_update_slice": joining(_StablehloMovement, (0, 1)),
    "stablehlo.gather": _StablehloMovement,
    "stablehlo.pad": _pad,
    "stablehlo.real_dynamic_slice": _StablehloMovement,
    "stablehlo.reshape": _Reshape,
    "stablehlo.reverse": _Reverse,
    "stablehlo.select": joining(_Select, (1, 2)),
    "stablehlo.slice": _Slice,
    "stablehlo.transpose": _Transpose,
}
