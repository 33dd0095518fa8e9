"""The five collectives between the devices of one program.

``lower_on_devices`` takes what each device puts in and returns what each gets,
as transfers (``flow.tensor.transfer``) and tensor ops on the receiver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...dialects.flow import transfer
from ...dialects.headrace import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveOp,
    CollectivePermuteOp,
    ReduceScatterOp,
)
from ...dialects.mlir import InsertionPoint, Location, RankedTensorType, Value, error_at
from ...dialects.tensor import DYNAMIC, concatenate, dynamic_sizes, slice_along, splat
from .reductions import reduce_elementwise


@dataclass(frozen=True)
class _Place:
    """Where new ops go, and the devices there are."""

    loc: Location
    ip: InsertionPoint

    def send(self, value: Value, device: int) -> Value:
        dims = dynamic_sizes(value, loc=self.loc, ip=self.ip)
        return transfer(value, device, dims=dims, loc=self.loc, ip=self.ip)

    def part(self, value: Value, dim: int, index: int, count: int) -> Value:
        """Part ``index`` of ``count`` equal ones along ``dim``."""
        size = RankedTensorType(value.type).shape[dim] // count
        return slice_along(value, dim, index * size, size, loc=self.loc, ip=self.ip)

    def concat(self, values: list[Value], dim: int) -> Value:
        return concatenate(values, dim, loc=self.loc, ip=self.ip)

    def reduce(self, values: list[Value], reduction: str) -> Value:
        return reduce_elementwise(values, reduction, loc=self.loc, ip=self.ip)

    def zeros(self, like: Value) -> Value:
        return splat(RankedTensorType(like.type), 0, loc=self.loc, ip=self.ip)


def lower_on_devices(op: CollectiveOp, inputs: list[Value], ip: InsertionPoint) -> list[Value]:
    """One result per device for one input per device.

    Every device of a group receives all it needs from the others and combines
    it in the order of the group, so that all get bit-identical sums. Raises
    HeadraceError where the groups do not fit the devices, and for a dynamic
    size in a dimension that is cut or joined.
    """
    _check(op, len(inputs))
    place = _Place(op.location, ip)
    if isinstance(op, CollectivePermuteOp):
        return _permute(op, inputs, place)
    results: dict[int, Value] = {}
    lower = _LOWERINGS[type(op)]
    for group in op.groups:
        members = [inputs[device] for device in group]
        for position, device in enumerate(group):
            results[device] = lower(op, members, position, device, place)
    return [results[device] for device in range(len(inputs))]


def _check(op: CollectiveOp, devices: int) -> None:
    members = [device for group in op.groups for device in group]
    if any(device >= devices for device in members):
        raise error_at(
            op,
            f"'{op.name}' names device {max(members)}, but there are {devices} devices; "
            "raise the number of devices, or correct replica_groups",
        )
    if isinstance(op, CollectivePermuteOp):
        dynamic: set[int] = set(range(RankedTensorType(op.operands[0].type).rank))
    else:
        missing = sorted(set(range(devices)) - set(members))
        if missing:
            raise error_at(
                op,
                f"'{op.name}' leaves out device {missing[0]} of {devices}: "
                "every device must be in a replica group",
            )
        dynamic = _cut_dims(op)
    shape = RankedTensorType(op.operands[0].type).shape
    if any(shape[dim] == DYNAMIC for dim in dynamic):
        raise error_at(op, f"'{op.name}' along a dynamic dimension is not supported")


def _cut_dims(op: CollectiveOp) -> set[int]:
    if isinstance(op, AllGatherOp | ReduceScatterOp):
        return {op.dim.value}
    if isinstance(op, AllToAllOp):
        return {op.split_dim.value, op.concat_dim.value}
    return set()


_Lower = Callable[[CollectiveOp, list[Value], int, int, _Place], Value]


def _all_gather(
    op: CollectiveOp, members: list[Value], position: int, device: int, place: _Place
) -> Value:
    dim = AllGatherOp(op.operation).dim.value
    return place.concat([place.send(value, device) for value in members], dim)


def _all_reduce(
    op: CollectiveOp, members: list[Value], position: int, device: int, place: _Place
) -> Value:
    reduction = AllReduceOp(op.operation).reduction.value
    return place.reduce([place.send(value, device) for value in members], reduction)


def _reduce_scatter(
    op: CollectiveOp, members: list[Value], position: int, device: int, place: _Place
) -> Value:
    view = ReduceScatterOp(op.operation)
    parts = [place.part(value, view.dim.value, position, len(members)) for value in members]
    return place.reduce([place.send(part, device) for part in parts], view.reduction.value)


def _all_to_all(
    op: CollectiveOp, members: list[Value], position: int, device: int, place: _Place
) -> Value:
    view = AllToAllOp(op.operation)
    parts = [place.part(value, view.split_dim.value, position, len(members)) for value in members]
    return place.concat([place.send(part, device) for part in parts], view.concat_dim.value)


_LOWERINGS: dict[type[CollectiveOp], _Lower] = {
    AllGatherOp: _all_gather,
    AllReduceOp: _all_reduce,
    ReduceScatterOp: _reduce_scatter,
    AllToAllOp: _all_to_all,
}


def _permute(op: CollectivePermuteOp, inputs: list[Value], place: _Place) -> list[Value]:
    source_of = {target: source for source, target in op.pairs}
    return [
        place.send(inputs[source_of[device]], device)
        if device in source_of
        else place.zeros(inputs[device])
        for device in range(len(inputs))
    ]
