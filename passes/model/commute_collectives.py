"""commute-collectives: let the wire carry fp8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.headrace import is_collective
from ...dialects.ops.base import WIDE_REASON
from ..analysis.replication import ReplicationAnalysis
from ..base import Pass
from ..remarks import remark
from ..rewriting import apply_patterns
from .commuting.narrow_dequantize import NarrowDequantize, forget_reason
from .commuting.narrow_quantize import NarrowQuantize
from .commuting.narrowest_place import LiftCollective, SinkCollective
from .commuting.wide_reasons import WideReasons


@dataclass(frozen=True)
class CommuteCollectives(Pass):
    """Moves collectives to the fp8 side of dequantize and quantize.

    Collectives that only move data cross a dequantize (then it comes after
    them) or a quantize (then it comes before them), past data
    movement and conversions between wide floats; StableHLO, linalg and tensor
    ops alike. The bits of all results stay the same.

    A per-tensor scale must be proved equal over the devices that exchange
    data (see ``ReplicationAnalysis``). A per-axis or per-block scale goes
    along with the data where it varies along the dimensions that are
    exchanged, and must be proved equal otherwise. A permute with devices that
    receive nothing (they get zeros) needs a positive constant scale or none.
    Reductions are never narrowed. The extrema of a gathered value over the
    gathered dimension, the amax that its scale or a history is made from, do
    not keep it wide: they are taken on the parts, then over the group (where
    NCCL's or RCCL's maximum of a NaN applies to them).

    After that any collective that only moves data goes past elementwise ops,
    extrema, sums of integers, reshapes, broadcasts and transposes to the values
    with the fewest bytes, where all devices that exchange data have what else
    these ops read, and none receives zeros. Booleans, elements of less than a
    byte and unsigned integers are not sent. What was rounded to bf16 to be sent
    is rounded still (quirks.BF16_ROUNDINGS_DROPPED).

    A collective that stays wide though its operand comes from, or its result
    goes to, fp8 gets a remark and the attribute ``headrace.wide_reason``.
    """

    name: ClassVar[str] = "commute-collectives"

    def run(self, module: ir.Operation) -> None:
        if not any(map(is_collective, ir.walk(module, bodies=False))):
            return
        analysis = ReplicationAnalysis(module)
        after, before = NarrowDequantize(analysis), NarrowQuantize(analysis)
        narrowing = [after, before]
        moving = [SinkCollective(analysis), LiftCollective(analysis)]
        apply_patterns(module, narrowing)
        # Each takes bytes off the wire, so that this ends.
        while apply_patterns(module, moving) and apply_patterns(module, narrowing):
            pass
        reasons = WideReasons(after, before)
        for op in ir.walk(module, bodies=False):
            if not is_collective(op):
                continue
            reason = reasons.reason(op)
            if reason is None:
                forget_reason(op)
                continue
            remark(op, f"'{op.name}' stays wide: {reason}")
            op.attributes[WIDE_REASON] = ir.StringAttr.get(reason, op.context)
