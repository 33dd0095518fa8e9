"""Which scales let a collective cross a quantize or dequantize.

The legality rules of scaled fp8 values: a scale of one element must hold the
same bits on all devices that exchange data; a per-axis or per-block scale may
also travel with the data, where it stays aligned with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....dialects import ir
from ....dialects.headrace import CollectiveOp, MovingCollectiveOp
from ....dialects.op_traits import CONSTANTS, REARRANGEMENTS
from ....dialects.ops.collective import ScaleRule
from ....dialects.ops.constraints import DYNAMIC, is_per_tensor
from ...analysis.replication import ReplicationAnalysis
from ...rewriting import Miss


def scale_rule(
    op: MovingCollectiveOp, scale: Sequence[int], unequal: str | None
) -> ScaleRule | Miss:
    """How a scale of that shape crosses.

    ``unequal`` is why it is not proved equal over the groups, None if it is.
    """
    if any(size == DYNAMIC for size in scale):
        return Miss("the shape of the scale is dynamic")
    if is_per_tensor(list(scale)):
        return ScaleRule.KEEP if unequal is None else Miss(unequal)
    if unequal is None and all(scale[d] == 1 for d in op.moved_dims):
        return ScaleRule.KEEP
    rule = op.scale_rule(scale)
    if isinstance(rule, ScaleRule):
        return rule
    reason = rule or unequal
    assert reason is not None, op.name
    return Miss(reason)


def scale_bytes(op: CollectiveOp, rule: ScaleRule, scale: Sequence[int], width: int) -> int:
    """Bytes of scale that travel per device, to be compared with those of
    the collective's operand; ``width`` is the size of a scale element."""
    if rule is ScaleRule.KEEP:
        return 0
    # A gather sends all of the scale to each device, where the collective sends a part.
    times = op.group_size if rule is ScaleRule.GATHER else 1
    return math.prod(scale) * width * times


def equality_reason(analysis: ReplicationAnalysis, op: CollectiveOp, scale: ir.Value) -> str:
    """Why the proof of equality fails, naming where the devices part."""
    groups = op.groups
    missing = [d for group in groups for d in group if d >= analysis.devices]
    if missing:
        return f"the program has {analysis.devices} devices, and no device {missing[0]}"
    origin = analysis.why_unequal(scale, groups)
    return f"the scale is not proved equal over the replica groups {groups}: it depends on {origin}"


def zeros_reason(
    analysis: ReplicationAnalysis, op: MovingCollectiveOp, scale: ir.Value | None, rule: ScaleRule
) -> str | None:
    """Why a permute by which a device receives nothing, and so gets zeros,
    does not cross.

    +0 stays +0 through quantize and dequantize only if the scale is finite
    and positive (0 * inf is NaN, 0 * -1 is -0), so it must be a constant.
    """
    if op.names_every_device or scale is None:
        return None
    if rule is ScaleRule.KEEP and _is_positive_constant(scale):
        return None
    silent = op.zeroed_devices(analysis.devices)
    if not silent and analysis.states_devices:
        return None
    who = f"devices {silent}" if silent else "other devices (their number is not stated)"
    return (
        f"{who} receive zeros from the permute, which remain zeros only"
        " under a constant, finite, positive scale"
    )


def _is_positive_constant(scale: ir.Value) -> bool:
    op = ir.producer_behind(scale, REARRANGEMENTS)
    if op is None or op.name not in CONSTANTS:
        return False
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr) or not value.is_splat:
        return False
    splat = value.get_splat_value()
    if not isinstance(splat, ir.FloatAttr):
        return False
    return 0.0 < splat.value < math.inf
