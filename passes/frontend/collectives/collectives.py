"""Raises StableHLO's collectives and device ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.headrace import (
    CollectiveOp,
    PartitionIdOp,
    ReducingCollectiveOp,
    ReplicaIdOp,
    device_id,
)
from ....dialects.ops.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectivePermuteOp,
    ReduceScatterOp,
    build_collective,
)
from ....dialects.ops.constraints import element_type_of, shape_of
from ....dialects.upstream.stablehlo import convert, integer, splat_constant
from ...analysis.stablehlo_reductions import find_reduction
from ...remarks import remark
from ...rewriting import Miss, Pattern, Rewriter
from .carriers import Carrier, carrier_of
from .groups import DeviceGrid, Groups, StablehloForm

# The key in mhlo.frontend_attributes with which a model asks for pipelining:
# in JAX, jax.experimental.xla_metadata.set_xla_metadata(headrace_pipeline="true").
PIPELINE_KEY = "headrace_pipeline"


def _resized(dim_name: str) -> Callable[[ir.Operation], int | None]:
    """By how much that dimension grows or shrinks."""

    def factor(op: ir.Operation) -> int | None:
        dim = integer(op, dim_name)
        sizes = [ir.RankedTensorType(v.type) for v in (op.operands[0], op.results[0])]
        if any(type_.is_dynamic_dim(dim) for type_ in sizes):
            return None
        small, large = sorted(type_.get_dim_size(dim) for type_ in sizes)
        return large // small if small else None

    return factor


STABLEHLO_FORMS = (
    StablehloForm(
        "stablehlo.all_gather",
        AllGatherOp,
        {"dim": "all_gather_dim"},
        _resized("all_gather_dim"),
    ),
    StablehloForm("stablehlo.all_reduce", AllReduceOp),
    StablehloForm(
        "stablehlo.reduce_scatter",
        ReduceScatterOp,
        {"dim": "scatter_dimension"},
        _resized("scatter_dimension"),
    ),
    StablehloForm(
        "stablehlo.all_to_all",
        AllToAllOp,
        {"split_dim": "split_dimension", "concat_dim": "concat_dimension"},
        lambda op: integer(op, "split_count"),
        between_partitions=True,
    ),
    StablehloForm("stablehlo.collective_permute", CollectivePermuteOp, between_partitions=True),
)


@dataclass(frozen=True)
class _Collective:
    form: StablehloForm
    groups: Groups
    reduction: str
    carriers: tuple[Carrier, ...]  # one per operand


class RaiseCollective(Pattern[_Collective]):
    """A collective on n values becomes n headrace collectives.

    Groups become lists of global device ids; unsigned values travel as
    signless ones, complex values as real and imaginary parts. In groups of
    one device nothing travels, and no op is left.

    Before:
        %g = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups =
          dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids, ...}>
          : (tensor<4xui8>) -> tensor<8xui8>
    After:
        %b = stablehlo.bitcast_convert %x : (tensor<4xui8>) -> tensor<4xi8>
        %h = "headrace.all_gather"(%b) {dim = 0 : i64, pipelined = false,
          replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
          : (tensor<4xi8>) -> tensor<8xi8>
        %g = stablehlo.bitcast_convert %h : (tensor<8xi8>) -> tensor<8xui8>
    """

    roots = tuple(form.name for form in STABLEHLO_FORMS)

    def __init__(self, grid: DeviceGrid) -> None:
        self.grid = grid

    def match(self, op: ir.Operation) -> _Collective | Miss:
        if len(op.operands) != len(op.results):
            return Miss("it does not have one result per operand")
        types = [value.type for value in (*op.operands, *op.results)]
        if not all(isinstance(t, ir.RankedTensorType) and t.encoding is None for t in types):
            return Miss("it works on other values than ranked tensors")
        form = next(form for form in STABLEHLO_FORMS if form.name == op.name)
        groups = self.grid.groups_of(op, form)
        if isinstance(groups, Miss):
            return groups
        reduction, elements = "", [element_type_of(value) for value in op.operands]
        if issubclass(form.kind, ReducingCollectiveOp):
            found = find_reduction(op)
            if isinstance(found, Miss):
                return found
            reduction, elements = found[0], [found[1]] * len(elements)
        carriers: list[Carrier] = []
        for element, result in zip(elements, op.results, strict=True):
            carrier = carrier_of(element, reduction)
            if isinstance(carrier, Miss):
                return carrier
            if element_type_of(result) != element:
                return Miss(f"it gives {element_type_of(result)} from a reduction in {element}")
            carriers.append(carrier)
        _check_group_size(op, form.group_size(op), groups)
        return _Collective(form, groups, reduction, tuple(carriers))

    def rewrite(self, op: ir.Operation, match: _Collective, rewriter: Rewriter) -> None:
        ip, loc = rewriter.before(op), op.location
        results: list[ir.Value] = []
        for value, result, carrier in zip(op.operands, op.results, match.carriers, strict=True):
            parts = [
                _collective(op, part, match, loc, ip) for part in carrier.split(value, loc, ip)
            ]
            results.append(carrier.join(parts, result.type, loc, ip))
        rewriter.replace(op, results)

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, f"'{op.name}' not raised: {miss.reason}")


def _collective(
    op: ir.Operation, value: ir.Value, match: _Collective, loc: ir.Location, ip: ir.InsertionPoint
) -> ir.Value:
    """The headrace op of the same kind on one signless value."""
    groups, kind = match.groups, match.form.kind
    if groups and len(groups[0]) == 1:
        return value  # nobody to talk to
    if not groups and not kind.names_every_device:
        return _zeros(value, loc, ip)
    dims = {ours: integer(op, name) for ours, name in match.form.dims.items()}
    made = build_collective(
        kind, value, groups, loc=loc, ip=ip, dims=dims, reduction=match.reduction or None
    )
    _keep_attributes(op, made)
    return made.results[0]


def _zeros(value: ir.Value, loc: ir.Location, ip: ir.InsertionPoint) -> ir.Value:
    """What a collective without pairs gives: no device is a target."""
    element = element_type_of(value)
    zero = (
        ir.FloatAttr.get(element, 0.0, loc=loc)
        if isinstance(element, ir.FloatType)
        else ir.IntegerAttr.get(element, 0)
    )
    return splat_constant(zero, element, shape_of(value), loc=loc, ip=ip)


def _keep_attributes(op: ir.Operation, made: CollectiveOp) -> None:
    for name in op.attributes:
        if name.startswith("headrace."):
            made.attributes[name] = op.attributes[name]
    if _asks_for_pipelining(op):
        made.attributes["headrace.pipeline"] = ir.UnitAttr.get(op.context)


def _asks_for_pipelining(op: ir.Operation) -> bool:
    if "mhlo.frontend_attributes" not in op.attributes:
        return False
    entries = op.attributes["mhlo.frontend_attributes"]
    if not isinstance(entries, ir.DictAttr) or PIPELINE_KEY not in entries:
        return False
    wish = entries[PIPELINE_KEY]
    return isinstance(wish, ir.StringAttr) and wish.value.lower() in ("true", "1")


def _check_group_size(op: ir.Operation, expected: int | None, groups: Groups) -> None:
    """Raises HeadraceError if shapes and groups do not fit."""
    if expected is None or not groups or len(groups[0]) == expected:
        return
    raise ir.error_at(
        op,
        f"'{op.name}' has shapes for groups of {expected} devices, but its groups have "
        f"{len(groups[0])}; does the module say mhlo.num_partitions and mhlo.num_replicas?",
    )


class ExplainBroadcast(Pattern[None]):
    """Matches nothing: says that a collective_broadcast is not raised."""

    roots = ("stablehlo.collective_broadcast",)

    def match(self, op: ir.Operation) -> Miss:
        return Miss("headrace has no broadcast between devices; all_gather and slice instead")

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, f"'{op.name}' not raised: {miss.reason}")


class RaiseDeviceId(Pattern[type[PartitionIdOp | ReplicaIdOp]]):
    """partition_id and replica_id, which StableHLO types as unsigned.

    Before:
        %p = stablehlo.partition_id : tensor<ui32>
    After:
        %i = "headrace.partition_id"() : () -> tensor<i32>
        %p = stablehlo.convert %i : (tensor<i32>) -> tensor<ui32>
    """

    roots = ("stablehlo.partition_id", "stablehlo.replica_id")

    def match(self, op: ir.Operation) -> type[PartitionIdOp | ReplicaIdOp]:
        return PartitionIdOp if op.name == "stablehlo.partition_id" else ReplicaIdOp

    def rewrite(
        self, op: ir.Operation, match: type[PartitionIdOp | ReplicaIdOp], rewriter: Rewriter
    ) -> None:
        ip, loc = rewriter.before(op), op.location
        made = device_id(match, loc=loc, ip=ip)
        type_: ir.Type = element_type_of(op.results[0])
        rewriter.replace(op, [convert(made.result, type_, loc=loc, ip=ip)])
