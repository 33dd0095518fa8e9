"""Lowers collectives to IREE's channels: one process and device per rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.headrace import DEVICE_IDS, CollectiveOp, ReplicaIdOp
from ...dialects.upstream.linalg import TensorBuilder
from ..analysis.device_counts import check_groups, recorded_counts
from ..base import Pass
from .collectives.channel_collectives import lower_on_channel
from .collectives.channels import Channels


@dataclass(frozen=True)
class CollectivesToChannels(Pass):
    """Lower collectives to flow.collective.* on channels.

    RCCL or NCCL does them at run time; rank r of the default channel is
    device r = replica * num_partitions + partition. Each channel is made once,
    in an initializer. fp8 travels as i8. partition_id and replica_id come from
    the rank.
    """

    name: ClassVar[str] = "collectives-to-channels"

    def run(self, module: ir.Operation) -> None:
        """Raises HeadraceError for groups that do not fit the devices, dynamic
        shapes, fp8 reductions, and element types that no channel carries."""
        ops = ir.walk(module, bodies=False)
        collectives = [view for op in ops if isinstance(view := op.opview, CollectiveOp)]
        ids = [op for op in ops if op.name in DEVICE_IDS]
        counts = recorded_counts(module)
        if counts is None:
            members = [device for op in collectives for group in op.groups for device in group]
            devices = partitions = max(members, default=0) + 1
        else:
            devices, partitions = counts
        channels = Channels(module, devices)
        for view in collectives:
            check_groups(view, devices)
            replacement = lower_on_channel(view, _function_of(view.operation), channels)
            _replace(view.operation, replacement)
        for op in ids:
            _replace(op, _device_id(op, partitions, devices, channels))
        channels.declare()


def _replace(op: ir.Operation, value: ir.Value) -> None:
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _function_of(op: ir.Operation) -> ir.Operation:
    function = next((around for around in ir.ancestors(op) if around.name == "func.func"), None)
    if function is None:
        raise ir.error_at(op, f"'{op.name}' is not in a function")
    return function


def _device_id(op: ir.Operation, partitions: int, devices: int, channels: Channels) -> ir.Value:
    b = TensorBuilder(ir.InsertionPoint(op), op.location)
    is_replica = op.name == ReplicaIdOp.OPERATION_NAME
    count = devices // partitions if is_replica else partitions
    i32 = ir.IntegerType.get_signless(32, op.context)
    type_ = ir.RankedTensorType(op.results[0].type)
    if count == 1:
        number = b.scalars().constant(0, i32)
    else:
        rank = channels.rank(_function_of(op))
        name = "divui" if is_replica else "remui"
        index = b.scalars().binary(name, rank, b.index(partitions))
        number = b.scalars().convert("index_cast", index, i32)
    return b.op("tensor.from_elements", [number], type_)
