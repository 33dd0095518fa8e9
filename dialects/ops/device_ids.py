"""The ids of the device that runs the program."""

from .. import ir
from .base import HeadraceOp
from .constraints import I32Scalar
from .declaration import Result


class PartitionIdOp(HeadraceOp, name="partition_id"):
    """The partition id of this device: device id modulo num_partitions.

    A constant per device in `devices` form, from the channel's rank in
    `channel` form.
    """

    result: Result[I32Scalar]


class ReplicaIdOp(HeadraceOp, name="replica_id"):
    """The replica id of this device: device id divided by num_partitions."""

    result: Result[I32Scalar]


DEVICE_IDS = (PartitionIdOp.OPERATION_NAME, ReplicaIdOp.OPERATION_NAME)


def device_id(
    op: type[PartitionIdOp | ReplicaIdOp], *, loc: ir.Location, ip: ir.InsertionPoint
) -> PartitionIdOp | ReplicaIdOp:
    """Builds one of the two ops."""
    return op.create([ir.Type.parse("tensor<i32>", loc.context)], loc=loc, ip=ip)
