"""StableHLO's replica groups as groups of global device ids.

Specification: "Process groups" in openxla.org/stablehlo/spec; the order inside
a group is that of StableHLO's reference interpreter. A global device id is
``replica_id * num_partitions + partition_id``, StableHLO's flattened id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.device_counts import DeviceCounts
from ....dialects.ops.constraints import MAX_DEVICE_COUNT
from ....dialects.upstream.stablehlo import channel_id
from ...rewriting import Miss

Groups = list[list[int]]
_PERMUTE = "stablehlo.collective_permute"
# Their channel means "between partitions", that of the others "between all".
_BETWEEN_PARTITIONS = ("stablehlo.all_to_all", "stablehlo.collective_broadcast", _PERMUTE)


@dataclass(frozen=True)
class DeviceGrid(DeviceCounts):
    """The devices as a grid of replicas and partitions."""

    def device(self, replica: int, partition: int) -> int:
        return replica * (self.partitions or 1) + partition

    def groups_of(self, op: ir.Operation) -> Groups | Miss:
        """The device groups of a collective; pairs of a collective_permute.

        Raises HeadraceError for ids that the grid does not have.
        """
        rows = _rows(op)
        if isinstance(rows, Miss):
            return rows
        channel = channel_id(op) > 0
        replicas, partitions = range(self.replicas or 1), range(self.partitions or 1)
        if "use_global_device_ids" in op.attributes:
            count = self.devices if self.are_stated else None
            return self._checked(op, rows, count, "device")
        if channel and op.name in _BETWEEN_PARTITIONS:
            rows = self._checked(op, rows or _all(op, partitions), self.partitions, "partition")
            return [[self.device(r, p) for p in row] for row in rows for r in replicas]
        rows = self._checked(op, rows or _all(op, replicas), self.replicas, "replica")
        if channel:
            return [[self.device(r, p) for p in partitions for r in row] for row in rows]
        return [[self.device(r, p) for r in row] for row in rows for p in partitions]

    def _checked(self, op: ir.Operation, rows: Groups, count: int | None, kind: str) -> Groups:
        """``rows``, if they hold each of ``count`` ids; pairs may leave out some."""
        if count is None or not rows:
            return rows
        named = {id_ for row in rows for id_ in row}
        grid = f"num_replicas = {self.replicas or 1} and num_partitions = {self.partitions or 1}"
        unknown = [id_ for id_ in named if id_ >= count]
        if unknown:
            raise ir.error_at(
                op,
                f"'{op.name}' names {kind} {min(unknown)}, but the module has "
                f"{grid}{_hint(op, kind)}",
            )
        if op.name != _PERMUTE and len(named) < count:
            missing = next(id_ for id_ in range(count) if id_ not in named)
            raise ir.error_at(
                op, f"the replica groups of '{op.name}' leave out {kind} {missing} of {grid}"
            )
        return rows


def _hint(op: ir.Operation, kind: str) -> str:
    if kind != "replica":
        return ""
    if op.name in _BETWEEN_PARTITIONS:
        return "; between partitions it takes a channel_handle"
    return "; between partitions it takes a channel_handle and use_global_device_ids"


def _all(op: ir.Operation, ids: Sequence[int]) -> Groups:
    """What an empty list of groups means; of pairs, that nobody sends."""
    return [] if op.name == _PERMUTE else [list(ids)]


def _rows(op: ir.Operation) -> Groups | Miss:
    """The groups as written, without the -1 that pad short ones."""
    name = "source_target_pairs" if op.name == _PERMUTE else "replica_groups"
    attribute = op.attributes[name]
    if not isinstance(attribute, ir.DenseIntElementsAttr):
        return Miss(f"{name} is not a table of ids")
    shape = ir.RankedTensorType(attribute.type).shape
    if len(shape) != 2:
        return Miss(f"{name} is not a table of ids")
    ids = [] if shape[0] * shape[1] > 2 * MAX_DEVICE_COUNT else [int(i) for i in attribute]
    if len(ids) != shape[0] * shape[1] or any(id_ >= MAX_DEVICE_COUNT for id_ in ids):
        raise ir.error_at(op, f"{name} of '{op.name}' is for more than {MAX_DEVICE_COUNT} devices")
    columns = shape[1]
    rows = [ids[i : i + columns] for i in range(0, len(ids), columns)] if ids else []
    rows = [[id_ for id_ in row if id_ >= 0] for row in rows]
    if len({len(row) for row in rows}) > 1:
        return Miss("the replica groups have different sizes")
    return rows
