"""StableHLO's replica groups as groups of global device ids.

Specification: "Process groups" in openxla.org/stablehlo/spec; the order inside
a group is that of StableHLO's reference interpreter. A global device id is
``replica_id * num_partitions + partition_id``, StableHLO's flattened id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ....dialects import ir
from ....dialects.device_counts import DeviceCounts
from ....dialects.headrace import CollectiveOp
from ....dialects.ops.constraints import MAX_DEVICE_COUNT
from ....dialects.upstream.stablehlo import channel_id
from ...rewriting import Miss

Groups = list[list[int]]


@dataclass(frozen=True)
class StablehloForm:
    """How StableHLO writes a collective of that kind.

    ``dims`` are its attributes that hold dimensions, by the names of ours;
    ``group_size`` is what its shapes say. With ``between_partitions`` its
    channel means those, that of the others "between all".
    """

    name: str
    kind: type[CollectiveOp]
    dims: Mapping[str, str] = field(default_factory=dict[str, str])
    group_size: Callable[[ir.Operation], int | None] = lambda _: None
    between_partitions: bool = False


@dataclass(frozen=True)
class DeviceGrid(DeviceCounts):
    """The devices as a grid of replicas and partitions."""

    def device(self, replica: int, partition: int) -> int:
        return replica * (self.partitions or 1) + partition

    def groups_of(self, op: ir.Operation, form: StablehloForm) -> Groups | Miss:
        """The device groups of a collective, or its source-target pairs.

        Raises HeadraceError for ids that the grid does not have.
        """
        rows = _rows(op, form.kind.table)
        if isinstance(rows, Miss):
            return rows
        channel = channel_id(op) > 0
        replicas, partitions = range(self.replicas or 1), range(self.partitions or 1)
        if "use_global_device_ids" in op.attributes:
            count = self.devices if self.are_stated else None
            return self._checked(op, form, rows, count, "device")
        if channel and form.between_partitions:
            rows = rows or _all(form, partitions)
            rows = self._checked(op, form, rows, self.partitions, "partition")
            return [[self.device(r, p) for p in row] for row in rows for r in replicas]
        rows = self._checked(op, form, rows or _all(form, replicas), self.replicas, "replica")
        if channel:
            return [[self.device(r, p) for p in partitions for r in row] for row in rows]
        return [[self.device(r, p) for r in row] for row in rows for p in partitions]

    def _checked(
        self, op: ir.Operation, form: StablehloForm, rows: Groups, count: int | None, kind: str
    ) -> Groups:
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
                f"{grid}{_hint(form, kind)}",
            )
        if form.kind.names_every_device and len(named) < count:
            missing = next(id_ for id_ in range(count) if id_ not in named)
            raise ir.error_at(
                op, f"the replica groups of '{op.name}' leave out {kind} {missing} of {grid}"
            )
        return rows


def _hint(form: StablehloForm, kind: str) -> str:
    if kind != "replica":
        return ""
    if form.between_partitions:
        return "; between partitions it takes a channel_handle"
    return "; between partitions it takes a channel_handle and use_global_device_ids"


def _all(form: StablehloForm, ids: Sequence[int]) -> Groups:
    """What an empty list of groups means; of pairs, that nobody sends."""
    return [list(ids)] if form.kind.names_every_device else []


def _rows(op: ir.Operation, name: str) -> Groups | Miss:
    """The groups as written, without the -1 that pad short ones."""
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
