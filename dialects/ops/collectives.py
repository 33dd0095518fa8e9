"""The five collectives. Groups hold device ids, never per-axis ranks."""

from collections.abc import Sequence

from .. import ir
from .base import HeadraceOp
from .constraints import (
    DYNAMIC,
    MAX_DEVICE_COUNT,
    PlainTensor,
    element_type_of,
    shape_of,
    shapes_agree,
)
from .declaration import Operand, Result, attribute

REDUCTIONS = ("add", "mul", "max", "min", "umax", "umin", "and", "or", "xor")


def grid_shape(attribute: ir.DenseIntElementsAttr) -> list[int]:
    return list(ir.RankedTensorType(attribute.type).shape)


def device_ids_fault(name: str, attribute: ir.DenseIntElementsAttr) -> str | None:
    """Why such a table cannot be read as device ids. A splat may be longer than any list."""
    shape = grid_shape(attribute)
    if len(shape) != 2:
        return f"{name} must be a two-dimensional tensor, got shape {shape}"
    if str(ir.RankedTensorType(attribute.type).element_type) != "i64":
        return f"{name} must hold i64 numbers"
    if shape[0] * shape[1] > 2 * MAX_DEVICE_COUNT:
        return f"{name} holds more than {MAX_DEVICE_COUNT} devices"
    highest = max((int(v) for v in attribute), default=0)
    if highest >= MAX_DEVICE_COUNT:
        return f"{name} holds device id {highest}, and ids are below {MAX_DEVICE_COUNT}"
    return None


def groups_of(attribute: ir.DenseIntElementsAttr) -> list[list[int]]:
    """The rows of a two-dimensional integer attribute."""
    flat = [int(v) for v in attribute]
    rows, columns = grid_shape(attribute)
    return [flat[r * columns : (r + 1) * columns] for r in range(rows)]


def _false() -> ir.BoolAttr:
    return ir.BoolAttr.get(False)


class CollectiveOp(HeadraceOp):
    """What the collectives share: an input, a result, and the marks.

    `pipelined` says that `pipeline-collectives` has moved the op. The
    discardable attribute `headrace.pipeline` asks for pipelining,
    `headrace.wide_reason` says why the op was not narrowed.
    """

    @property
    def group_size(self) -> int:
        """How many devices talk to each other; 1 for an empty group list."""
        return len(self.groups[0]) if self.groups else 1

    @property
    def groups(self) -> list[list[int]]:
        """Replica groups: rows of device ids."""
        return groups_of(ir.DenseIntElementsAttr(self.attributes["replica_groups"]))

    def groups_fault(self) -> str | None:
        groups = ir.DenseIntElementsAttr(self.attributes["replica_groups"])
        shape = grid_shape(groups)
        if len(shape) != 2 or 0 in shape:
            return "replica_groups must be a non-empty two-dimensional tensor"
        if fault := device_ids_fault("replica_groups", groups):
            return fault
        ids = [device for group in self.groups for device in group]
        if any(device < 0 for device in ids):
            return "replica_groups holds a negative device id"
        if len(set(ids)) != len(ids):
            return "a device occurs twice in replica_groups"
        return None

    def types_fault(self) -> str | None:
        if element_type_of(self.operands[0]) != element_type_of(self.results[0]):
            return "the result's element type is not the input's"
        return None

    def dim_fault(self, name: str) -> str | None:
        dim, rank = ir.IntegerAttr(self.attributes[name]).value, len(shape_of(self.operands[0]))
        if 0 <= dim < rank:
            return None
        return f"{name} = {dim} is outside the input's rank {rank}"

    def resized_fault(self, factors: dict[int, tuple[int, int]]) -> str | None:
        """Result shape must be the input's, times a and by b in some dims."""
        expected = shape_of(self.operands[0])
        for dim, (times, by) in factors.items():
            if expected[dim] == DYNAMIC:
                continue
            if expected[dim] * times % by:
                return f"size {expected[dim]} in dimension {dim} is not divisible by {by}"
            expected[dim] = expected[dim] * times // by
        result = shape_of(self.results[0])
        if shapes_agree(expected, result):
            return None
        return f"result shape {result} should be {expected} for groups of {self.group_size}"

    def reduction_fault(self) -> str | None:
        reduction = ir.StringAttr(self.attributes["reduction"]).value
        if reduction not in REDUCTIONS:
            return f"reduction must be one of {', '.join(REDUCTIONS)}, got '{reduction}'"
        is_float = "f" in str(element_type_of(self.operands[0]))
        if is_float and reduction in ("umax", "umin", "and", "or", "xor"):
            return f"reduction '{reduction}' is for integers"
        return None


class AllGatherOp(CollectiveOp, name="all_gather"):
    """Every device receives its group's inputs, concatenated along `dim`.

    The concatenation follows the order of the ids in the group.
    """

    input: Operand[PlainTensor]
    dim: ir.IntegerAttr
    replica_groups: ir.DenseIntElementsAttr
    pipelined: ir.BoolAttr = attribute(default_factory=_false)
    result: Result[PlainTensor]

    def verify_invariants(self) -> str | None:
        if fault := self.groups_fault() or self.types_fault() or self.dim_fault("dim"):
            return fault
        return self.resized_fault({self.dim.value: (self.group_size, 1)})


class ReduceScatterOp(CollectiveOp, name="reduce_scatter"):
    """The group's inputs are reduced; each device keeps its part along `dim`."""

    input: Operand[PlainTensor]
    dim: ir.IntegerAttr
    reduction: ir.StringAttr
    replica_groups: ir.DenseIntElementsAttr
    pipelined: ir.BoolAttr = attribute(default_factory=_false)
    result: Result[PlainTensor]

    def verify_invariants(self) -> str | None:
        if fault := self.groups_fault() or self.types_fault() or self.dim_fault("dim"):
            return fault
        if fault := self.reduction_fault():
            return fault
        return self.resized_fault({self.dim.value: (1, self.group_size)})


class AllReduceOp(CollectiveOp, name="all_reduce"):
    """The group's inputs are reduced; every device gets the whole result."""

    input: Operand[PlainTensor]
    reduction: ir.StringAttr
    replica_groups: ir.DenseIntElementsAttr
    pipelined: ir.BoolAttr = attribute(default_factory=_false)
    result: Result[PlainTensor]

    def verify_invariants(self) -> str | None:
        if fault := self.groups_fault() or self.types_fault() or self.reduction_fault():
            return fault
        return self.resized_fault({})


class AllToAllOp(CollectiveOp, name="all_to_all"):
    """Splits along `split_dim`, sends part i to the group's i-th device, and
    concatenates what is received along `concat_dim`."""

    input: Operand[PlainTensor]
    split_dim: ir.IntegerAttr
    concat_dim: ir.IntegerAttr
    replica_groups: ir.DenseIntElementsAttr
    pipelined: ir.BoolAttr = attribute(default_factory=_false)
    result: Result[PlainTensor]

    def verify_invariants(self) -> str | None:
        if fault := self.groups_fault() or self.types_fault():
            return fault
        if fault := self.dim_fault("split_dim") or self.dim_fault("concat_dim"):
            return fault
        split, n = self.split_dim.value, self.group_size
        size = shape_of(self.input)[split]
        if size != DYNAMIC and size % n:
            return f"size {size} in dimension {split} is not divisible by {n}"
        if split == self.concat_dim.value:
            return self.resized_fault({})
        return self.resized_fault({split: (1, n), self.concat_dim.value: (n, 1)})


class CollectivePermuteOp(CollectiveOp, name="collective_permute"):
    """Sends the input from `source` to `target` for each pair of device ids.

    A device that is no target gets zeros (StableHLO, collective_permute).
    """

    input: Operand[PlainTensor]
    source_target_pairs: ir.DenseIntElementsAttr
    pipelined: ir.BoolAttr = attribute(default_factory=_false)
    result: Result[PlainTensor]

    @property
    def pairs(self) -> list[list[int]]:
        return groups_of(self.source_target_pairs)

    @property
    def groups(self) -> list[list[int]]:
        """One group of all devices that take part, in ascending order."""
        return [sorted({device for pair in self.pairs for device in pair})]

    def verify_invariants(self) -> str | None:
        shape = grid_shape(self.source_target_pairs)
        if len(shape) != 2 or shape[1] != 2:
            return f"source_target_pairs must have shape n x 2, got {shape}"
        if fault := device_ids_fault("source_target_pairs", self.source_target_pairs):
            return fault
        if any(device < 0 for pair in self.pairs for device in pair):
            return "source_target_pairs holds a negative device id"
        for column, what in ((0, "source"), (1, "target")):
            ids = [pair[column] for pair in self.pairs]
            if len(set(ids)) != len(ids):
                return f"a device is a {what} twice in source_target_pairs"
        return self.types_fault() or self.resized_fault({})


def device_groups(groups: Sequence[Sequence[int]], context: ir.Context) -> ir.DenseIntElementsAttr:
    """Groups (or source-target pairs) of equal length as an i64 attribute."""
    shape = f"{len(groups)}x{len(groups[0])}"
    rows = ", ".join("[" + ", ".join(map(str, row)) + "]" for row in groups)
    return ir.DenseIntElementsAttr(
        ir.Attribute.parse(f"dense<[{rows}]> : tensor<{shape}xi64>", context)
    )


def all_gather(
    input: ir.Value,
    dim: int,
    groups: Sequence[Sequence[int]],
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> AllGatherOp:
    """Builds an AllGatherOp; the result type follows from the input's."""
    result = _resized(input, {dim: (len(groups[0]), 1)})
    attributes = _attributes(loc, groups, dim=dim)
    return AllGatherOp.create([result], loc=loc, ip=ip, input=input, attributes=attributes)


def reduce_scatter(
    input: ir.Value,
    dim: int,
    reduction: str,
    groups: Sequence[Sequence[int]],
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> ReduceScatterOp:
    """Builds a ReduceScatterOp; the result type follows from the input's."""
    result = _resized(input, {dim: (1, len(groups[0]))})
    attributes = _attributes(loc, groups, dim=dim, reduction=reduction)
    return ReduceScatterOp.create([result], loc=loc, ip=ip, input=input, attributes=attributes)


def all_reduce(
    input: ir.Value,
    reduction: str,
    groups: Sequence[Sequence[int]],
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> AllReduceOp:
    """Builds an AllReduceOp on one value."""
    attributes = _attributes(loc, groups, reduction=reduction)
    return AllReduceOp.create([input.type], loc=loc, ip=ip, input=input, attributes=attributes)


def all_to_all(
    input: ir.Value,
    split_dim: int,
    concat_dim: int,
    groups: Sequence[Sequence[int]],
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> AllToAllOp:
    """Builds an AllToAllOp; the result type follows from the input's."""
    n = len(groups[0])
    factors = {} if split_dim == concat_dim else {split_dim: (1, n), concat_dim: (n, 1)}
    result = _resized(input, factors)
    attributes = _attributes(loc, groups, split_dim=split_dim, concat_dim=concat_dim)
    return AllToAllOp.create([result], loc=loc, ip=ip, input=input, attributes=attributes)


def collective_permute(
    input: ir.Value,
    pairs: Sequence[Sequence[int]],
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> CollectivePermuteOp:
    """Builds a CollectivePermuteOp on one value."""
    pairs_attribute = device_groups(pairs, loc.context)
    return CollectivePermuteOp.create(
        [input.type], loc=loc, ip=ip, input=input, source_target_pairs=pairs_attribute
    )


def rebuild_collective(op: CollectiveOp, input: ir.Value, ip: ir.InsertionPoint) -> CollectiveOp:
    """The same collective, all attributes kept, on a value of another element
    type (or of a shape that differs outside the dims it works on)."""
    shape = shape_of(op.operands[0])
    new = _resized(input, {})
    sizes = list(new.shape)
    for dim, (before, after) in enumerate(zip(shape, shape_of(op.results[0]), strict=True)):
        if before != after:
            sizes[dim] = after
    result = ir.RankedTensorType.get(sizes, new.element_type, loc=op.location)
    return type(op).create(
        [result], loc=op.location, ip=ip, input=input, attributes=dict(op.attributes.items())
    )


def _resized(value: ir.Value, factors: dict[int, tuple[int, int]]) -> ir.RankedTensorType:
    shape = shape_of(value)
    for dim, (times, by) in factors.items():
        if shape[dim] != DYNAMIC:
            shape[dim] = shape[dim] * times // by
    return ir.RankedTensorType.get(
        shape, element_type_of(value), loc=ir.Location.unknown(value.context)
    )


def _attributes(
    loc: ir.Location, groups: Sequence[Sequence[int]], **values: int | str
) -> dict[str, ir.Attribute]:
    with loc.context:
        i64 = ir.IntegerType.get_signless(64)
        attributes: dict[str, ir.Attribute] = {
            name: ir.StringAttr.get(value)
            if isinstance(value, str)
            else ir.IntegerAttr.get(i64, value)
            for name, value in values.items()
        }
        attributes["replica_groups"] = device_groups(groups, loc.context)
    return attributes
