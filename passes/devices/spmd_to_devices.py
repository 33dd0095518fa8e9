"""Turns an SPMD program into one program for N IREE devices.

iree-compile then needs, for i in 0..N-1 (CPU; other targets name their own):
    --iree-hal-target-device=dev<i>=local[<i>]
    --iree-hal-local-target-device-backends=llvm-cpu
    --iree-opt-const-eval=false (quirks.CONST_EVAL_OF_NAMED_DEVICE)
and the runtime N devices in that order (``--device=local-task`` N times).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ...dialects import ir
from ..analysis.device_counts import MAX_DEVICES, record_partitions, recorded_counts
from ..analysis.replication import ReplicationAnalysis
from ..base import Pass
from .spmd.replicate import Replicator


@dataclass(frozen=True)
class SpmdToDevices(Pass):
    """Replicate the SPMD program into one program for N devices.

    Each public function takes its arguments device by device (those of device
    0, then of device 1, ...), and returns its results likewise; each argument
    and result has ``iree.abi.affinity = #hal.device.promise<@dev<i>>``.
    Collectives become transfers between the devices. A loop or branch around
    a collective carries the values of all devices, so its bounds or condition
    must be provably the same on all of them.
    """

    name: ClassVar[str] = "spmd-to-devices"

    devices: int = field(
        default=0,
        metadata={"help": "how many; 0: num_replicas * num_partitions as the module says"},
    )

    def run(self, module: ir.Operation) -> None:
        """Raises HeadraceError for a device count that does not fit, a loop
        around a collective that may differ between devices, a call to a
        function with collectives (run ``inline`` first), and a collective of
        IREE's own."""
        devices, partitions = self._counts(module)
        functions = ir.functions_of(module)
        _check_calls(module, functions)
        _check_channels(module)
        replication = ReplicationAnalysis(module)
        for function in functions:
            if ir.is_public(function) and len(function.regions[0].blocks):
                Replicator(function, devices, partitions, replication).replace()

    def _counts(self, module: ir.Operation) -> tuple[int, int]:
        """Number of devices, and of partitions among them."""
        counts = recorded_counts(module)
        wanted = counts[0] if counts is not None and self.devices == 0 else self.devices
        if not 0 <= wanted <= MAX_DEVICES:
            raise ir.HeadraceError(
                f"pass '{self.name}' cannot make {wanted} devices: one program for all devices "
                f"has at most {MAX_DEVICES}; more take one per device (--collectives=channel)"
            )
        if counts is None:
            devices = self.devices or 1
            # The replication analysis reads it, too.
            record_partitions(module, devices)
            return devices, devices
        if self.devices not in (0, counts[0]):
            raise ir.HeadraceError(
                f"the program is for {counts[0]} devices (num_replicas * num_partitions), "
                f"not for {self.devices}"
            )
        return counts


def _check_channels(module: ir.Operation) -> None:
    """What IREE's input pipeline makes of a collective that was not raised."""
    for op in ir.walk(module, bodies=False):
        if op.name.startswith("flow.collective."):
            raise ir.error_at(
                op,
                f"'{op.name}' needs channels, which a program for all devices lacks; "
                "--remarks says why the collective was not raised",
            )


def _check_calls(module: ir.Operation, functions: list[ir.Operation]) -> None:
    """A called function keeps its signature, so it must be the same program on
    each device: private, without collectives and device ids."""
    bound: dict[str, str] = {}
    for function in functions:
        name = ir.StringAttr(function.attributes["sym_name"]).value
        if ir.is_public(function):
            bound[name] = "is public"
        for op in ir.walk(function):
            if op.name.startswith("headrace."):
                bound[name] = f"holds '{op.name}'"
                break
    for op in ir.walk(module):
        if op.name != "func.call":
            continue
        callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        if callee in bound:
            raise ir.error_at(
                op, f"call of '{callee}', which {bound[callee]}: inline calls first (pass inline)"
            )
