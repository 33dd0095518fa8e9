"""Data movement in StableHLO (specification: openxla.org/stablehlo/spec)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.upstream.linalg import with_element_type
from ....dialects.upstream.tensor import with_shape
from ...rewriting import Miss
from .interface import (
    DYNAMIC,
    Movement,
    Recognizer,
    is_constant,
    is_positive_zero,
    same_axes,
    split_zeros,
)


def _integers(op: ir.Operation, name: str) -> list[int]:
    return [int(i) for i in ir.DenseI64ArrayAttr(op.attributes[name])]


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

    def _on_scale(
        self,
        scale: ir.Value,
        after: Sequence[int],
        ip: ir.InsertionPoint,
        attributes: dict[str, list[int]] | None = None,
    ) -> ir.Value:
        """The op itself, done on the scale."""
        new = self.op.clone(ip).operation
        new.operands[0] = scale
        with new.context:
            for name, values in (attributes or {}).items():
                new.attributes[name] = ir.DenseI64ArrayAttr.get(values)
        new.results[0].set_type(with_shape(scale.type, after))
        return new.results[0]


class _Transpose(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return [scale[d] for d in _integers(self.op, "permutation")]

    def move_scale(self, scale: ir.Value, after: list[int], ip: ir.InsertionPoint) -> ir.Value:
        return self._on_scale(scale, after, ip)


class _Reverse(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return scale

    def move_scale(self, scale: ir.Value, after: list[int], ip: ir.InsertionPoint) -> ir.Value:
        return self._on_scale(scale, after, ip)


class _Reshape(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        result = list(ir.RankedTensorType(self.op.results[0].type).shape)
        groups = _reshape_groups(data, result)
        after = None if groups is None else same_axes(groups, scale)
        if after is None:
            return Miss("'stablehlo.reshape' merges or splits the dimension of a per-axis scale")
        return after

    def move_scale(self, scale: ir.Value, after: list[int], ip: ir.InsertionPoint) -> ir.Value:
        return self._on_scale(scale, after, ip)


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


class _Broadcast(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        after = [1] * ir.RankedTensorType(self.op.results[0].type).rank
        for size, dim in zip(scale, _integers(self.op, "broadcast_dimensions"), strict=True):
            after[dim] = size
        return after

    def move_scale(self, scale: ir.Value, after: list[int], ip: ir.InsertionPoint) -> ir.Value:
        return self._on_scale(scale, after, ip)


class _Slice(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        result = list(ir.RankedTensorType(self.op.results[0].type).shape)
        return [1 if s == 1 else r for s, r in zip(scale, result, strict=True)]

    def move_scale(self, scale: ir.Value, after: list[int], ip: ir.InsertionPoint) -> ir.Value:
        shape = list(ir.RankedTensorType(scale.type).shape)
        names = {"start_indices": 0, "limit_indices": 1, "strides": 1}
        attributes = {
            name: [
                whole if size == 1 else value
                for size, value in zip(shape, _integers(self.op, name), strict=True)
            ]
            for name, whole in names.items()
        }
        return self._on_scale(scale, after, ip, attributes)


class _DynamicSlice(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        sizes = _integers(self.op, "slice_sizes")
        return [1 if s == 1 else r for s, r in zip(scale, sizes, strict=True)]

    def move_scale(self, scale: ir.Value, after: list[int], ip: ir.InsertionPoint) -> ir.Value:
        # Start indices are clamped, to 0 in a dimension of size 1.
        return self._on_scale(scale, after, ip, {"slice_sizes": after})


class _Pad(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        names = ("edge_padding_low", "edge_padding_high", "interior_padding")
        for dim, size in enumerate(scale):
            if size != 1 and any(_integers(self.op, name)[dim] for name in names):
                return Miss("'stablehlo.pad' pads the dimension of a per-axis scale")
        return scale


class _Select(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return scale


class _Concatenate(_StablehloMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        if scale[ir.IntegerAttr(self.op.attributes["dimension"]).value] != 1:
            return Miss("'stablehlo.concatenate' joins along the dimension of a per-axis scale")
        return scale


def _pad(op: ir.Operation) -> Movement | Miss:
    if not is_positive_zero(op.operands[1]):
        return Miss("'stablehlo.pad' pads with something other than the literal +0")
    return _Pad(op, zeros=(1,))


def _joining(kind: type[Movement], operands: Sequence[int] | None = None) -> Recognizer:
    """For an op that takes data from several operands (None: from all)."""

    def recognize(op: ir.Operation) -> Movement | Miss | None:
        data, zeros = split_zeros(op, range(len(op.operands)) if operands is None else operands)
        for i in data:
            if is_constant(op.operands[i]):
                return Miss(f"'{op.name}' fills in a constant that is not the literal +0")
        return kind(op, data, zeros) if data else None

    return recognize


RECOGNIZERS: dict[str, Recognizer] = {
    "stablehlo.broadcast_in_dim": _Broadcast,
    "stablehlo.concatenate": _joining(_Concatenate),
    "stablehlo.dynamic_broadcast_in_dim": _StablehloMovement,
    "stablehlo.dynamic_reshape": _StablehloMovement,
    "stablehlo.dynamic_slice": _DynamicSlice,
    "stablehlo.dynamic_update_slice": _joining(_StablehloMovement, (0, 1)),
    "stablehlo.gather": _StablehloMovement,
    "stablehlo.pad": _pad,
    "stablehlo.real_dynamic_slice": _StablehloMovement,
    "stablehlo.reshape": _Reshape,
    "stablehlo.reverse": _Reverse,
    "stablehlo.select": _joining(_Select, (1, 2)),
    "stablehlo.slice": _Slice,
    "stablehlo.transpose": _Transpose,
}
