"""The interface of data movement ops, and what both op sets share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ....dialects import ir
from ....dialects.op_traits import CONSTANTS, REARRANGEMENTS, SPLATS, TENSOR_FLOAT_CONVERTS
from ....dialects.ops.constraints import is_per_tensor
from ....dialects.upstream.linalg import with_element_type
from ...rewriting import Miss

DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class Movement:
    """One data movement op, with operands by their role.

    ``data`` are the operands whose elements are copied: one, or several with
    equal scales (concatenate, select). ``zeros`` are those that hold +0 and
    are made anew in the new element type. All others (indices, predicates,
    sizes) are kept.
    """

    op: ir.Operation
    data: tuple[int, ...] = (0,)
    zeros: tuple[int, ...] = field(default=())

    @property
    def sources(self) -> list[ir.Value]:
        """The values whose elements are copied, in operand order."""
        return [self.op.operands[i] for i in self.data]

    def clone(self, values: Sequence[ir.Value], ip: ir.InsertionPoint) -> ir.Value:
        """The op at ``ip`` on ``values`` in place of ``sources``; its result.

        The values have the sources' shapes and one common element type,
        which becomes the result's. ``ip`` must be dominated by the op's other
        operands; right before the op is always right.
        """
        new = self.op.clone(ip).operation
        element = ir.RankedTensorType(values[0].type).element_type
        for i, value in zip(self.data, values, strict=True):
            new.operands[i] = value
        for i in self.zeros:
            new.operands[i] = self.make_zero(self.op.operands[i], element, ir.InsertionPoint(new))
        new.results[0].set_type(with_element_type(self.op.results[0].type, element))
        self.retype(new, element)
        return new.results[0]

    def scale_after(self, scale: Sequence[int]) -> list[int] | Miss:
        """The shape of a scale behind the op; a Miss where it cannot follow.

        ``scale`` is the shape of the sources' common scale: one element, which
        passes any op, or the sources' rank with sizes 1 or the data's.
        """
        if is_per_tensor(list(scale)):
            return list(scale)
        data = list(ir.RankedTensorType(self.sources[0].type).shape)
        if len(scale) != len(data) or any(
            s != 1 and s != d for s, d in zip(scale, data, strict=True)
        ):
            return Miss(f"a per-block scale does not follow '{self.op.name}'")
        return self.axes_after(list(scale), data)

    def carry_scale(self, scale: ir.Value, ip: ir.InsertionPoint) -> ir.Value:
        """The scale behind the op; only where ``scale_after`` gave a shape."""
        shape = list(ir.RankedTensorType(scale.type).shape)
        after = self.scale_after(shape)
        if isinstance(after, Miss):
            raise AssertionError(after.reason)
        if is_per_tensor(shape):
            return scale
        return self.move_scale(scale, after, ip)

    # What an op set defines for its ops.

    def make_zero(self, like: ir.Value, element: ir.Type, ip: ir.InsertionPoint) -> ir.Value:
        """A +0 of the shape of ``like``."""
        raise NotImplementedError

    def retype(self, new: ir.Operation, element: ir.Type) -> None:
        """Adapts what else in a clone depends on the element type."""

    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        """``scale_after`` for a per-axis scale."""
        return Miss(f"a per-axis scale does not follow '{self.op.name}'")

    def move_scale(self, scale: ir.Value, after: list[int], ip: ir.InsertionPoint) -> ir.Value:
        """``carry_scale`` for a per-axis scale."""
        return scale

    def unchanged(self, scale: list[int], dims: Iterable[int], verb: str) -> list[int] | Miss:
        """A per-axis scale behind an op that does something to those dimensions alone."""
        if any(scale[dim] != 1 for dim in dims):
            return Miss(f"'{self.op.name}' {verb} the dimension of a per-axis scale")
        return scale


Recognizer = Callable[[ir.Operation], Movement | Miss | None]


# Zero before, zero after, and of the same sign.
_ZERO_PRESERVING = REARRANGEMENTS | SPLATS | TENSOR_FLOAT_CONVERTS


def is_positive_zero(value: ir.Value) -> bool:
    """Whether all elements of ``value`` are provably the literal +0."""
    constant = _constant_behind(value)
    return constant is not None and _is_positive_zero(constant)


def is_constant(value: ir.Value) -> bool:
    """Whether ``value`` is a constant, possibly converted or broadcast."""
    return _constant_behind(value) is not None


def _constant_behind(value: ir.Value) -> ir.Attribute | None:
    op = ir.producer_behind(value, _ZERO_PRESERVING)
    if op is None or op.name not in CONSTANTS:
        return None
    return op.attributes["value"]


def _is_positive_zero(attribute: ir.Attribute) -> bool:
    if isinstance(attribute, ir.DenseElementsAttr):
        if not attribute.is_splat:
            return False
        attribute = attribute.get_splat_value()
    if isinstance(attribute, ir.FloatAttr):
        return attribute.value == 0.0 and math.copysign(1.0, attribute.value) > 0.0
    # An integer zero, converted: JAX pads with 0 that way.
    return str(attribute).split(" ")[0] in ("0", "false")


def same_axes(groups: Sequence[tuple[list[int], list[int]]], scale: list[int]) -> list[int] | None:
    """A scale's shape behind a reshape; None where it cannot follow.

    ``groups`` are sizes before and after, group by group. Within a group the
    scale is constant, or it is as fine as the data and is reshaped like them.
    """
    after: list[int] = []
    position = 0
    for before, sizes in groups:
        part = scale[position : position + len(before)]
        position += len(before)
        if all(s == 1 for s in part):
            after += [1] * len(sizes)
        elif part == before:
            after += sizes
        else:
            return None
    return after


def joining(kind: type[Movement], operands: Sequence[int] | None = None) -> Recognizer:
    """For an op that takes data from several operands (None: from all)."""

    def recognize(op: ir.Operation) -> Movement | Miss | None:
        given = range(len(op.operands)) if operands is None else operands
        zeros = tuple(i for i in given if is_positive_zero(op.operands[i]))
        data = tuple(i for i in given if i not in zeros)
        if any(is_constant(op.operands[i]) for i in data):
            return Miss(f"'{op.name}' fills in a constant that is not the literal +0")
        return kind(op, data, zeros) if data else None

    return recognize
