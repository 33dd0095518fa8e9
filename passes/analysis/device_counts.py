"""How many devices a program is for, and whether its collectives fit them."""

from __future__ import annotations

from ...dialects import ir
from ...dialects.device_counts import DeviceCounts
from ...dialects.headrace import CollectiveOp

# One program for all devices names each of them, in IREE's flags as well.
MAX_DEVICES = 1024


def recorded_counts(module: ir.Operation) -> tuple[int, int] | None:
    """The numbers of devices and of partitions, None where nothing is recorded."""
    counts = DeviceCounts.of(module, "headrace")
    return (counts.devices, counts.partitions or 1) if counts.are_stated else None


def record_partitions(module: ir.Operation, devices: int) -> None:
    """Says that the program is for that many partitions, in one replica."""
    i32 = ir.IntegerType.get_signless(32, module.context)
    module.attributes["headrace.num_partitions"] = ir.IntegerAttr.get(i32, devices)


def check_groups(op: CollectiveOp, devices: int) -> None:
    """Raises HeadraceError where a group names a device that is not there, or
    leaves one out (StableHLO: the groups hold every process exactly once)."""
    members = [device for group in op.groups for device in group]
    if any(device >= devices for device in members):
        raise ir.error_at(
            op,
            f"'{op.name}' names device {max(members)}, but the program is for {devices} "
            f"device{'s' if devices > 1 else ''} (num_replicas * num_partitions)",
        )
    if not op.names_every_device:
        return
    missing = sorted(set(range(devices)) - set(members))
    if missing:
        raise ir.error_at(
            op,
            f"'{op.name}' leaves out device {missing[0]} of {devices}: "
            "every device must be in a replica group",
        )
