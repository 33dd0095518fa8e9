"""What is in a module: one walk for all that is asked before the first pass."""

from __future__ import annotations

from ...dialects import ir
from ...dialects.device_counts import DeviceCounts
from ...dialects.ops.device_tables import highest_device_id


class Contents:
    """The ops of a module, in program order and by name.

    Handles die with the first pass: whoever runs one makes these anew.
    """

    def __init__(self, module: ir.Operation) -> None:
        self.module = module
        self.ops = ir.walk(module)
        self.first: dict[str, ir.Operation] = {}
        for op in self.ops:
            self.first.setdefault(op.name, op)

    def named(self, *names: str) -> list[ir.Operation]:
        """The ops of any of these names."""
        if not any(name in self.first for name in names):
            return []
        return [op for op in self.ops if op.name in names]

    def has_dialect(self, name: str) -> bool:
        return any(op.startswith(f"{name}.") for op in self.first)

    def device_count(self, wanted: int | None) -> int:
        """How many devices the program is for.

        The module's ``num_replicas * num_partitions``; where it states neither,
        ``wanted``, else one more than the highest id that a collective names.
        Raises HeadraceError if ``wanted`` does not fit.
        """
        counts = DeviceCounts.of(self.module, "mhlo")
        if not counts.are_stated:
            return wanted or highest_device_id(self.ops) + 1
        if wanted not in (None, counts.devices):
            raise ir.HeadraceError(
                f"the module is for {counts.devices} devices (mhlo.num_replicas * "
                f"mhlo.num_partitions), --devices={wanted} does not fit"
            )
        return counts.devices
