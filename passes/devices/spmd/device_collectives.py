"""Collectives between the devices of one program.

``lower_on_devices`` takes what each device puts in and returns what each gets,
as transfers (``flow.tensor.transfer``) and tensor ops on the receiver.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects import ir
from ....dialects.headrace import CollectiveOp
from ....dialects.iree.flow import transfer
from ....dialects.ops.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectivePermuteOp,
    ReduceScatterOp,
)
from ....dialects.upstream.linalg import TensorBuilder, tensor_type
from ....dialects.upstream.tensor import DYNAMIC, concatenate, slice_along, splat
from ...analysis.device_counts import check_groups
from ..collectives.reductions import check_reducible, reduce_elementwise


def lower_on_devices(
    op: CollectiveOp, inputs: list[ir.Value], ip: ir.InsertionPoint
) -> list[ir.Value]:
    """One result per device for one input per device.

    Every device of a group receives all it needs from the others and combines
    it in the order of the group, so that all get bit-identical sums. Raises
    HeadraceError where the groups do not fit the devices, and for a dynamic
    size in a dimension that is cut or joined.
    """
    check_groups(op, len(inputs))
    # Dimensions that are cut or joined.
    _check_static(op, op.moved_dims)
    check_reducible(op)
    return DEVICE_LOWERINGS[type(op)](op, inputs, TensorBuilder(ip, op.location))


_Lowering = Callable[[CollectiveOp, list[ir.Value], TensorBuilder], list[ir.Value]]
# What a device gets of its group's inputs: its position there, then its id.
_Combine = Callable[[CollectiveOp, list[ir.Value], int, int, TensorBuilder], ir.Value]


def _check_static(op: CollectiveOp, dims: Sequence[int]) -> None:
    shape = tensor_type(op.operands[0]).shape
    if any(shape[dim] == DYNAMIC for dim in dims):
        raise ir.error_at(op, f"'{op.name}' along a dynamic dimension is not supported")


def _in_groups(combine: _Combine) -> _Lowering:
    def lower(op: CollectiveOp, inputs: list[ir.Value], b: TensorBuilder) -> list[ir.Value]:
        results: dict[int, ir.Value] = {}
        for group in op.groups:
            members = [inputs[device] for device in group]
            for position, device in enumerate(group):
                results[device] = combine(op, members, position, device, b)
        return [results[device] for device in range(len(inputs))]

    return lower


def _all_gather(
    op: CollectiveOp, members: list[ir.Value], position: int, device: int, b: TensorBuilder
) -> ir.Value:
    dim = AllGatherOp(op.operation).dim.value
    return concatenate(b, [transfer(b, value, device) for value in members], dim)


def _all_reduce(
    op: CollectiveOp, members: list[ir.Value], position: int, device: int, b: TensorBuilder
) -> ir.Value:
    reduction = AllReduceOp(op.operation).reduction.value
    return reduce_elementwise(b, [transfer(b, value, device) for value in members], reduction)


def _reduce_scatter(
    op: CollectiveOp, members: list[ir.Value], position: int, device: int, b: TensorBuilder
) -> ir.Value:
    view = ReduceScatterOp(op.operation)
    parts = [_part(b, value, view.dim.value, position, len(members)) for value in members]
    sent = [transfer(b, part, device) for part in parts]
    return reduce_elementwise(b, sent, view.reduction.value)


def _all_to_all(
    op: CollectiveOp, members: list[ir.Value], position: int, device: int, b: TensorBuilder
) -> ir.Value:
    view = AllToAllOp(op.operation)
    parts = [_part(b, value, view.split_dim.value, position, len(members)) for value in members]
    return concatenate(b, [transfer(b, part, device) for part in parts], view.concat_dim.value)


def _part(b: TensorBuilder, value: ir.Value, dim: int, index: int, count: int) -> ir.Value:
    """Part ``index`` of ``count`` equal ones along ``dim``."""
    size = tensor_type(value).shape[dim] // count
    return slice_along(b, value, dim, index * size, size)


def _permute(op: CollectiveOp, inputs: list[ir.Value], b: TensorBuilder) -> list[ir.Value]:
    # Zeros are made anew.
    _check_static(op, range(tensor_type(inputs[0]).rank))
    source_of = {target: source for source, target in CollectivePermuteOp(op.operation).pairs}
    results: list[ir.Value] = []
    for device, value in enumerate(inputs):
        if device in source_of:
            given = inputs[source_of[device]]
        else:
            # Sent too: a constant alone is on no device in particular.
            given = splat(b, tensor_type(value), 0)
        results.append(transfer(b, given, device))
    return results


DEVICE_LOWERINGS: dict[type[CollectiveOp], _Lowering] = {
    AllGatherOp: _in_groups(_all_gather),
    AllReduceOp: _in_groups(_all_reduce),
    ReduceScatterOp: _in_groups(_reduce_scatter),
    AllToAllOp: _in_groups(_all_to_all),
    CollectivePermuteOp: _permute,
}
