"""The five collectives, with all that the rest of the compiler has to know of each.

What a pass makes of a collective is a row in a table keyed by the op class.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from .. import ir
from .base import WIDE_REASON, HeadraceOp
from .collective import CollectiveOp, Factors, MovingCollectiveOp, ReducingCollectiveOp, ScaleRule
from .constraints import DYNAMIC, element_type_of, shape_of
from .device_tables import Groups, device_groups, device_ids_error, grid_shape


class AllGatherOp(MovingCollectiveOp, name="all_gather"):
    """Every device receives its group's inputs, concatenated along `dim`.

    The concatenation follows the order of the ids in the group.
    """

    dim: ir.IntegerAttr
    replica_groups: ir.DenseIntElementsAttr

    gives_parts = False

    @staticmethod
    def ring_bytes(n: int, sent: int, result: int) -> int:
        return (n - 1) * sent

    @staticmethod
    def factors(n: int, **dims: int) -> Factors:
        return {dims["dim"]: (n, 1)}

    @property
    def gathered_dim(self) -> int | None:
        return self.dim.value

    def scale_rule(self, scale: Sequence[int]) -> ScaleRule | str | None:
        return None if scale[self.dim.value] == 1 else ScaleRule.FOLLOW


class AllReduceOp(ReducingCollectiveOp, name="all_reduce"):
    """The group's inputs are reduced; every device gets the whole result."""

    reduction: ir.StringAttr
    replica_groups: ir.DenseIntElementsAttr

    gives_parts = False

    @staticmethod
    def ring_bytes(n: int, sent: int, result: int) -> int:
        return 2 * (n - 1) * sent // n

    @staticmethod
    def factors(n: int, **dims: int) -> Factors:
        return {}


class ReduceScatterOp(ReducingCollectiveOp, name="reduce_scatter"):
    """The group's inputs are reduced; each device keeps its part along `dim`."""

    dim: ir.IntegerAttr
    reduction: ir.StringAttr
    replica_groups: ir.DenseIntElementsAttr

    gives_parts = True

    @staticmethod
    def ring_bytes(n: int, sent: int, result: int) -> int:
        return (n - 1) * result

    @staticmethod
    def factors(n: int, **dims: int) -> Factors:
        return {dims["dim"]: (1, n)}


class AllToAllOp(MovingCollectiveOp, name="all_to_all"):
    """Splits along `split_dim`, sends part i to the group's i-th device, and
    concatenates what is received along `concat_dim`."""

    split_dim: ir.IntegerAttr
    concat_dim: ir.IntegerAttr
    replica_groups: ir.DenseIntElementsAttr

    gives_parts = True

    @staticmethod
    def ring_bytes(n: int, sent: int, result: int) -> int:
        return (n - 1) * sent // n

    @staticmethod
    def factors(n: int, **dims: int) -> Factors:
        split, concat = dims["split_dim"], dims["concat_dim"]
        return {} if split == concat else {split: (1, n), concat: (n, 1)}

    def scale_rule(self, scale: Sequence[int]) -> ScaleRule | str | None:
        split, concat = self.split_dim.value, self.concat_dim.value
        if scale[split] == scale[concat] == 1:
            return None
        if scale[split] == 1:
            return ScaleRule.GATHER
        if scale[split] % self.group_size == 0:
            return ScaleRule.FOLLOW
        return (
            f"a part of dimension {split} for one of {self.group_size} devices holds no whole"
            f" number of the scale's {scale[split]} blocks"
        )

    def shape_error(self) -> str | None:
        # Also where both dimensions are one, and the shape stays.
        split, n = self.split_dim.value, self.group_size
        size = shape_of(self.input)[split]
        if size != DYNAMIC and size % n:
            return f"size {size} in dimension {split} is not divisible by {n}"
        return super().shape_error()


class CollectivePermuteOp(MovingCollectiveOp, name="collective_permute"):
    """Sends the input from `source` to `target` for each pair of device ids.

    A device that is no target gets zeros (StableHLO, collective_permute).
    """

    source_target_pairs: ir.DenseIntElementsAttr

    gives_parts = True
    table = "source_target_pairs"
    names_every_device = False

    @staticmethod
    def ring_bytes(n: int, sent: int, result: int) -> int:
        return sent

    @staticmethod
    def factors(n: int, **dims: int) -> Factors:
        return {}

    @property
    def pairs(self) -> list[list[int]]:
        return self.rows

    @property
    def groups(self) -> list[list[int]]:
        """One group of all devices that take part, in ascending order."""
        return [sorted({device for pair in self.pairs for device in pair})]

    def contents(self, held: Sequence[Hashable]) -> Sequence[Hashable]:
        keys: list[Hashable] = ["zeros"] * len(held)
        for source, target in self.pairs:
            if source < len(held) and target < len(held):
                keys[target] = held[source]
        return keys

    def zeroed_devices(self, devices: int) -> list[int]:
        targets = {target for _, target in self.pairs}
        return [device for device in range(devices) if device not in targets]

    def scale_rule(self, scale: Sequence[int]) -> ScaleRule | str | None:
        return ScaleRule.FOLLOW

    def groups_error(self) -> str | None:
        shape = grid_shape(self.source_target_pairs)
        if len(shape) != 2 or shape[1] != 2:
            return f"source_target_pairs must have shape n x 2, got {shape}"
        if error := device_ids_error("source_target_pairs", self.source_target_pairs):
            return error
        if any(device < 0 for pair in self.pairs for device in pair):
            return "source_target_pairs holds a negative device id"
        for column, what in ((0, "source"), (1, "target")):
            ids = [pair[column] for pair in self.pairs]
            if len(set(ids)) != len(ids):
                return f"a device is a {what} twice in source_target_pairs"
        return None


COLLECTIVES: dict[str, type[CollectiveOp]] = {
    name: op for name, op in HeadraceOp.operations.items() if issubclass(op, CollectiveOp)
}
MOVING_COLLECTIVES = tuple(
    name for name, op in COLLECTIVES.items() if issubclass(op, MovingCollectiveOp)
)


def is_collective(op: ir.Operation) -> bool:
    # By name: a typed view of every op of a large body takes long.
    return op.name in COLLECTIVES


def as_collective(op: ir.Operation) -> CollectiveOp:
    """The typed view of a collective; KeyError for any other op."""
    return COLLECTIVES[op.name](op)


def as_moving(op: ir.Operation) -> MovingCollectiveOp:
    """The typed view of one of MOVING_COLLECTIVES."""
    view = as_collective(op)
    assert isinstance(view, MovingCollectiveOp), op.name
    return view


def build_collective(
    kind: type[CollectiveOp],
    input: ir.Value,
    groups: Groups,
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
    dims: Mapping[str, int] | None = None,
    reduction: str | None = None,
) -> CollectiveOp:
    """Builds a collective of that kind; the result type follows from the input's.

    ``groups`` are source-target pairs where the kind has those; ``dims`` its
    dimensions by the names of their attributes.
    """
    dims = dims or {}
    sizes = shape_of(input)
    for dim, (times, by) in kind.factors(len(groups[0]), **dims).items():
        if sizes[dim] != DYNAMIC:
            sizes[dim] = sizes[dim] * times // by
    unknown = ir.Location.unknown(input.context)
    result = ir.RankedTensorType.get(sizes, element_type_of(input), loc=unknown)
    i64 = ir.IntegerType.get_signless(64, loc.context)
    attributes: dict[str, ir.Attribute] = {
        name: ir.IntegerAttr.get(i64, dim) for name, dim in dims.items()
    }
    if reduction is not None:
        attributes["reduction"] = ir.StringAttr.get(reduction, loc.context)
    attributes[kind.table] = device_groups(groups, loc.context)
    return kind.create([result], loc=loc, ip=ip, input=input, attributes=attributes)


def build_reduction(
    op: CollectiveOp,
    value: ir.Value,
    reduction: str,
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> CollectiveOp:
    """Reduces ``value`` over the groups of ``op``."""
    return build_collective(AllReduceOp, value, op.groups, loc=loc, ip=ip, reduction=reduction)


def reduction_bytes(op: CollectiveOp, size: int) -> int:
    """What a device receives by ``build_reduction``, of a value of ``size`` bytes."""
    return AllReduceOp.ring_bytes(op.group_size, size, size)


def move_scale(
    op: MovingCollectiveOp, rule: ScaleRule, scale: ir.Value, ip: ir.InsertionPoint
) -> ir.Value:
    """The scale on the far side of the collective."""
    if rule is ScaleRule.KEEP:
        return scale
    kind, dims = type(op), op.dims
    if rule is ScaleRule.GATHER:
        assert isinstance(op, AllToAllOp), op.name
        kind, dims = AllGatherOp, {"dim": op.concat_dim.value}
    new = build_collective(kind, scale, op.rows, loc=op.location, ip=ip, dims=dims)
    for name in op.attributes:
        if "." in name and name != WIDE_REASON:
            new.attributes[name] = op.attributes[name]
    return new.results[0]
