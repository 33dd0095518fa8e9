"""Which scales let a collective cross a quantize or dequantize.

The legality rules of scaled fp8 values: a scale of one element must hold the
same bits on all devices that exchange data; a per-axis or per-block scale may
also travel with the data, where it stays aligned with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.headrace import AllGatherOp, AllToAllOp, CollectiveOp, CollectivePermuteOp
from ....dialects.ops.collectives import all_gather, all_to_all, collective_permute
from ....dialects.ops.constraints import DYNAMIC, is_per_tensor
from ...analysis.replication import ReplicationAnalysis
from ...rewriting import Miss

WIDE_REASON = "headrace.wide_reason"
NARROWABLE = ("headrace.all_gather", "headrace.all_to_all", "headrace.collective_permute")


@dataclass(frozen=True)
class ScalePlan:
    """What becomes of the scale when the collective crosses.

    ``kind`` is ``keep`` (each device has the right scale already), ``follow``
    (the same collective on the scale) or ``gather`` (all-gather along ``dim``,
    which for an all-gather is the same).
    """

    kind: str
    dim: int = 0

    def apply(self, op: CollectiveOp, scale: ir.Value, ip: ir.InsertionPoint) -> ir.Value:
        """The scale on the far side of the collective."""
        if self.kind == "keep":
            return scale
        new = self._collective(op, scale, ip).operation
        for name in op.operation.attributes:
            if "." in name and name != WIDE_REASON:
                new.attributes[name] = op.operation.attributes[name]
        return new.results[0]

    def _collective(self, op: CollectiveOp, scale: ir.Value, ip: ir.InsertionPoint) -> CollectiveOp:
        loc = op.operation.location
        if isinstance(op, CollectivePermuteOp):
            return collective_permute(scale, op.pairs, loc=loc, ip=ip)
        if isinstance(op, AllToAllOp) and self.kind == "follow":
            split, concat = op.split_dim.value, op.concat_dim.value
            return all_to_all(scale, split, concat, op.groups, loc=loc, ip=ip)
        return all_gather(scale, self.dim, op.groups, loc=loc, ip=ip)


def moved_dims(op: CollectiveOp) -> list[int]:
    """The dimensions whose elements change their place or device."""
    if isinstance(op, AllGatherOp):
        return [op.dim.value]
    if isinstance(op, AllToAllOp):
        return sorted({op.split_dim.value, op.concat_dim.value})
    return []


def plan_scale(op: CollectiveOp, scale: Sequence[int], equal: bool) -> ScalePlan | Miss:
    """How a scale of that shape crosses; ``equal``: proved over the groups.

    The Miss of a scale that only lacks the proof has an empty reason: the
    caller knows the scale and where it comes from.
    """
    if any(size == DYNAMIC for size in scale):
        return Miss("the shape of the scale is dynamic")
    if is_per_tensor(list(scale)):
        return ScalePlan("keep") if equal else Miss("")
    if isinstance(op, CollectivePermuteOp):
        return ScalePlan("keep" if equal else "follow")
    if all(scale[d] == 1 for d in moved_dims(op)):
        return ScalePlan("keep") if equal else Miss("")
    if isinstance(op, AllGatherOp):
        return ScalePlan("gather", op.dim.value)
    if isinstance(op, AllToAllOp):
        split, concat = op.split_dim.value, op.concat_dim.value
        if scale[split] == 1:
            return ScalePlan("gather", concat)
        if scale[split] % op.group_size == 0:
            return ScalePlan("follow")
        return Miss(
            f"a part of dimension {split} for one of {op.group_size} devices holds no whole"
            f" number of the scale's {scale[split]} blocks"
        )
    return Miss(f"'{op.operation.name}' cannot cross a per-axis scale")


def scale_bytes(op: CollectiveOp, plan: ScalePlan, scale: Sequence[int], width: int) -> int:
    """Bytes of scale that travel per device, to be compared with those of
    the collective's operand; ``width`` is the size of a scale element."""
    if plan.kind == "keep":
        return 0
    # A gather sends all of the scale where an all-to-all sends each device a part.
    times = op.group_size if plan.kind == "gather" and isinstance(op, AllToAllOp) else 1
    return math.prod(scale) * width * times


def equality_fault(analysis: ReplicationAnalysis, op: CollectiveOp, scale: ir.Value) -> str:
    """Why the proof of equality fails, naming where the devices part."""
    groups = op.groups
    missing = [d for group in groups for d in group if d >= analysis.devices]
    if missing:
        return f"the program has {analysis.devices} devices, and no device {missing[0]}"
    origin = analysis.why_unequal(scale, groups)
    return f"the scale is not proved equal over the replica groups {groups}: it depends on {origin}"


def zeros_fault(
    analysis: ReplicationAnalysis, op: CollectiveOp, scale: ir.Value | None, plan: ScalePlan
) -> str | None:
    """Why a permute by which a device receives nothing, and so gets zeros,
    does not cross.

    +0 stays +0 through quantize and dequantize only if the scale is finite
    and positive (0 * inf is NaN, 0 * -1 is -0), so it must be a constant.
    """
    if not isinstance(op, CollectivePermuteOp) or scale is None:
        return None
    if plan.kind == "keep" and _is_positive_constant(scale):
        return None
    targets = {target for _, target in op.pairs}
    silent = [d for d in range(analysis.devices) if d not in targets]
    if not silent and analysis.states_devices:
        return None
    who = f"devices {silent}" if silent else "other devices (their number is not stated)"
    return (
        f"{who} receive zeros from the permute, which remain zeros only"
        " under a constant, finite, positive scale"
    )


# Ops that make of a finite positive constant one of the same kind.
_SIGN_KEEPING = (
    "stablehlo.broadcast_in_dim",
    "stablehlo.reshape",
    "tensor.collapse_shape",
    "tensor.expand_shape",
)


def _is_positive_constant(scale: ir.Value) -> bool:
    op: ir.Operation | None = ir.defining_op(scale)
    while op is not None and op.name in _SIGN_KEEPING:
        op = ir.defining_op(op.operands[0])
    if op is None or op.name not in ("stablehlo.constant", "arith.constant"):
        return False
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr) or not value.is_splat:
        return False
    splat = value.get_splat_value()
    if not isinstance(splat, ir.FloatAttr):
        return False
    return 0.0 < splat.value < math.inf
