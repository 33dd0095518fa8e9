"""Builders for the ops of IREE's flow and hal dialects that headrace makes."""

from __future__ import annotations

from collections.abc import Sequence

from .mlir import Attribute, Context, InsertionPoint, Location, Operation, Type, Value

AFFINITY = "iree.abi.affinity"


def device_affinity(device: int, context: Context) -> Attribute:
    """The promise of a device called ``dev<i>``; iree-compile is told what it
    is by ``--iree-hal-target-device=dev<i>=...``."""
    return Attribute.parse(f"#hal.device.promise<@dev{device}>", context)


def transfer(
    value: Value, device: int, *, dims: Sequence[Value] = (), loc: Location, ip: InsertionPoint
) -> Value:
    """``value`` on a device; no copy is made where it already is there.

    ``dims`` are the sizes of the dynamic dimensions, in order.
    """
    op = Operation.create(
        "flow.tensor.transfer",
        results=[value.type],
        operands=[value, *dims],
        attributes={"target": device_affinity(device, loc.context)},
        loc=loc,
        ip=ip,
    )
    return op.results[0]


def channel_type(context: Context) -> Type:
    return Type.parse("!flow.channel", context)
