"""What every collective has, and what passes ask of one.

Groups hold device ids, never per-axis ranks.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import ClassVar

from .. import ir
from .base import HeadraceOp
from .constraints import (
    DYNAMIC,
    PlainTensor,
    element_type_of,
    shape_of,
    shapes_agree,
    tensor_bytes,
)
from .declaration import Operand, Result, attribute
from .device_tables import device_ids_error, grid_shape, groups_of

REDUCTIONS = ("add", "mul", "max", "min", "umax", "umin", "and", "or", "xor")

# By how much the sizes of dimensions grow and shrink: dimension to (times, by).
Factors = dict[int, tuple[int, int]]


class ScaleRule(enum.Enum):
    """What becomes of a scale when its collective crosses the quantize or dequantize."""

    KEEP = "each device has the right scale already"
    FOLLOW = "the same collective on the scale"
    GATHER = "the scales of all devices, joined as the data are"


class CollectiveOp(HeadraceOp):
    """What the collectives share: an input, a result, the marks, and the questions.

    `pipelined` says that `pipeline-collectives` has moved the op. The
    discardable attribute `headrace.pipeline` asks for pipelining,
    `headrace.wide_reason` says why the op was not narrowed.

    A class answers `gives_parts`, `ring_bytes` and `factors`, and one that only
    moves data `scale_rule` besides.
    """

    input: Operand[PlainTensor]
    pipelined: ir.BoolAttr = attribute(default_factory=lambda: ir.BoolAttr.get(False))
    result: Result[PlainTensor]

    # Whether each device of a group gets another part, and not all the same.
    gives_parts: ClassVar[bool]
    # The attribute that says who talks to whom.
    table: ClassVar[str] = "replica_groups"
    # Else a device that is not named gets zeros.
    names_every_device: ClassVar[bool] = True

    @staticmethod
    def ring_bytes(n: int, sent: int, result: int) -> int:
        """What a device receives by the ring algorithm in a group of ``n``, where
        the operand takes ``sent`` bytes."""
        raise NotImplementedError

    @staticmethod
    def factors(n: int, **dims: int) -> Factors:
        """How the result's sizes follow from the input's in groups of ``n``."""
        raise NotImplementedError

    @classmethod
    def kind(cls) -> str:
        """As options spell it."""
        return cls.OPERATION_NAME.partition(".")[2].replace("_", "-")

    @property
    def dims(self) -> dict[str, int]:
        """The dimensions that the op works along, by the names of their attributes."""
        fields = (f.name for f in self.fields("attribute") if f.constraint is ir.IntegerAttr)
        return {name: ir.IntegerAttr(self.attributes[name]).value for name in fields}

    @property
    def moved_dims(self) -> list[int]:
        """The dimensions whose elements change their place or device."""
        return sorted(set(self.dims.values()))

    @property
    def group_size(self) -> int:
        """How many devices talk to each other; 1 for an empty group list."""
        return len(self.groups[0]) if self.groups else 1

    @cached_property
    def rows(self) -> list[list[int]]:
        """The table as it is written: groups, or pairs. Read once: it may be long."""
        return groups_of(ir.DenseIntElementsAttr(self.attributes[self.table]))

    @property
    def groups(self) -> list[list[int]]:
        """Rows of device ids that talk to each other."""
        return self.rows

    def received_bytes(self) -> int | None:
        """What each device receives in one call. None where a size is dynamic."""
        sent, result = tensor_bytes(self.operands[0].type), tensor_bytes(self.results[0].type)
        if sent is None or result is None:
            return None
        return self.ring_bytes(self.group_size, sent, result)

    def contents(self, held: Sequence[Hashable]) -> Sequence[Hashable]:
        """What each device has afterwards, of what each held before: equal keys for equal bits.

        That is decided by those it hears, in order, and, where each gets
        another part, by its place.
        """
        keys: list[Hashable] = [("alone", device) for device in range(len(held))]
        for group in self.groups:
            if any(device >= len(held) for device in group):
                continue
            heard = tuple(held[device] for device in group)
            for position, device in enumerate(group):
                keys[device] = (heard, position if self.gives_parts else 0)
        return keys

    def rebuild(self, input: ir.Value, ip: ir.InsertionPoint) -> CollectiveOp:
        """The same collective, all attributes kept, on a value of another element
        type (or of a shape that differs outside the dims it works on)."""
        sizes = shape_of(input)
        shapes = zip(shape_of(self.operands[0]), shape_of(self.results[0]), strict=True)
        for dim, (before, after) in enumerate(shapes):
            if before != after:
                sizes[dim] = after
        result = ir.RankedTensorType.get(sizes, element_type_of(input), loc=self.location)
        return type(self).create(
            [result],
            loc=self.location,
            ip=ip,
            input=input,
            attributes=dict(self.attributes.items()),
        )

    def verify_invariants(self) -> str | None:
        dims = (self.dim_error(name) for name in self.dims)
        return (
            self.groups_error()
            or self.types_error()
            or next((error for error in dims if error), None)
            or self.reduction_error()
            or self.shape_error()
        )

    def groups_error(self) -> str | None:
        groups = ir.DenseIntElementsAttr(self.attributes["replica_groups"])
        shape = grid_shape(groups)
        if len(shape) != 2 or 0 in shape:
            return "replica_groups must be a non-empty two-dimensional tensor"
        if error := device_ids_error("replica_groups", groups):
            return error
        ids = [device for group in self.groups for device in group]
        if any(device < 0 for device in ids):
            return "replica_groups holds a negative device id"
        if len(set(ids)) != len(ids):
            return "a device occurs twice in replica_groups"
        return None

    def types_error(self) -> str | None:
        if element_type_of(self.operands[0]) != element_type_of(self.results[0]):
            return "the result's element type is not the input's"
        return None

    def dim_error(self, name: str) -> str | None:
        dim, rank = self.dims[name], len(shape_of(self.operands[0]))
        if 0 <= dim < rank:
            return None
        return f"{name} = {dim} is outside the input's rank {rank}"

    def reduction_error(self) -> str | None:
        return None

    def shape_error(self) -> str | None:
        """The result's shape must be the input's, changed by the factors."""
        expected = shape_of(self.operands[0])
        for dim, (times, by) in self.factors(self.group_size, **self.dims).items():
            if expected[dim] == DYNAMIC:
                continue
            if expected[dim] * times % by:
                return f"size {expected[dim]} in dimension {dim} is not divisible by {by}"
            expected[dim] = expected[dim] * times // by
        result = shape_of(self.results[0])
        if shapes_agree(expected, result):
            return None
        return f"result shape {result} should be {expected} for groups of {self.group_size}"


class ReducingCollectiveOp(CollectiveOp):
    """A collective that combines the values of a group; it is never narrowed."""

    @property
    def reduction_name(self) -> str:
        return ir.StringAttr(self.attributes["reduction"]).value

    def reduction_error(self) -> str | None:
        reduction = self.reduction_name
        if reduction not in REDUCTIONS:
            return f"reduction must be one of {', '.join(REDUCTIONS)}, got '{reduction}'"
        is_float = "f" in str(element_type_of(self.operands[0]))
        if is_float and reduction in ("umax", "umin", "and", "or", "xor"):
            return f"reduction '{reduction}' is for integers"
        return None


class MovingCollectiveOp(CollectiveOp):
    """A collective whose result has elements of the inputs, bit for bit: it can carry fp8."""

    def zeroed_devices(self, devices: int) -> list[int]:
        """Which of so many devices receive nothing, and so get zeros."""
        return []

    @property
    def gathered_dim(self) -> int | None:
        """The dimension along which every device gets all of its group, if there is one."""
        return None

    def scale_rule(self, scale: Sequence[int]) -> ScaleRule | str | None:
        """How a scale of several elements crosses that is not the same on all devices,
        or varies along a moved dimension. Else the reason why it does not, None where
        only the proof is missing that all devices have the same."""
        raise NotImplementedError
