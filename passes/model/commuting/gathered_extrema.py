"""Extrema of a gathered value, taken on each device's part instead.

The amax of a weight is what its fp8 scale is made from (delayed scaling keeps
a history of it, current scaling divides by it); as a user of the gathered
value it would keep that wide on the wire.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.headrace import MovingCollectiveOp, as_moving
from ....dialects.ops.collectives import build_reduction, reduction_bytes
from ....dialects.ops.constraints import element_type_of, is_wide_float, tensor_bytes
from ....dialects.upstream.stablehlo import i64_array, splat_element
from ...analysis.fp8_values import is_float_convert, retyped_clone
from ...analysis.stablehlo_reductions import find_reduction
from ...rewriting import Miss, Rewriter

_KINDS = ("max", "min")
_UNARY = ("stablehlo.abs", "stablehlo.negate")

OTHER_USER = "the wide value has another user, which would keep it on the wire"


@dataclass(frozen=True)
class GatheredExtrema:
    """All users of a gathered value but one, each ending in extrema.

    ``steps`` are elementwise ops and the reduces they lead to, makers first.
    """

    steps: tuple[ir.Operation, ...] = ()


def find_extrema(
    gather: ir.Operation, values: Sequence[tuple[ir.Value, ir.Operation]]
) -> GatheredExtrema | Miss:
    """What uses ``values``, each but for one known user, if that is extrema only.

    ``values`` are the result of ``gather`` and conversions of it, all of its
    shape. An extremum is a ``stablehlo.reduce`` by maximum or minimum from a
    constant, over the gathered dimension at least, in the block of the gather
    (so that all devices get there), behind abs, negate and conversions
    between wide floats. The Miss is for any other user.
    """
    steps: list[ir.Operation] = []
    view = as_moving(gather)
    for value, known in values:
        uses = list(value.uses)
        if sum(use.owner.operation == known for use in uses) != 1:
            return Miss(OTHER_USER)
        pending = [u.owner.operation for u in uses if u.owner.operation != known]
        while pending:
            user = pending.pop()
            if user.block != gather.block:
                return Miss(OTHER_USER)
            if user.name in _UNARY or is_float_convert(user):
                if not is_wide_float(element_type_of(user.results[0])):
                    return Miss(OTHER_USER)
                pending.extend(ir.users_of(user.results[0]))
            elif not _is_extremum(user, view.gathered_dim):
                return Miss(OTHER_USER)
            steps.append(user)
    found = GatheredExtrema(tuple(steps))
    if steps and not _pays(view, found):
        return Miss("the extrema of the gathered value have as many bytes as fp8 saves")
    return found


def _is_extremum(op: ir.Operation, dim: int | None) -> bool:
    if op.name != "stablehlo.reduce" or len(op.operands) != 2:
        return False
    if dim not in i64_array(op, "dimensions"):
        return False
    return _kind(op) is not None and splat_element(op.operands[1]) is not None


def _kind(reduce: ir.Operation) -> str | None:
    """``max`` or ``min``; None for what else a reduce computes."""
    found = find_reduction(reduce)
    if isinstance(found, Miss) or found[0] not in _KINDS:
        return None
    return found[0]


def _pays(gather: MovingCollectiveOp, extrema: GatheredExtrema) -> bool:
    """Whether fewer bytes travel; where sizes are dynamic, yes."""
    wide = gather.received_bytes()
    sizes = [
        tensor_bytes(op.results[0].type) for op in extrema.steps if op.name == "stablehlo.reduce"
    ]
    if wide is None:
        return True
    width = ir.FloatType(ir.RankedTensorType(gather.operands[0].type).element_type).width // 8
    added = sum(reduction_bytes(gather, size) for size in sizes if size is not None)
    return wide // width + added < wide


def localize_extrema(
    gather: ir.Operation,
    parts: dict[ir.Value, ir.Value],
    extrema: GatheredExtrema,
    rewriter: Rewriter,
) -> None:
    """Takes each extremum on the device's part, then over the group.

    ``parts`` has the part of each gathered value. Exact: maximum and minimum
    do not depend on the order of their operands, and taking the constant
    that they start from once per device changes nothing. The old ops go.
    """
    if not extrema.steps:
        return
    parts = dict(parts)
    view = as_moving(gather)
    for op in extrema.steps:
        ip = rewriter.before(op)
        part = parts[op.operands[0]]
        if op.name != "stablehlo.reduce":
            parts[op.results[0]] = retyped_clone(op, part, ip)
            continue
        kind = _kind(op)
        assert kind is not None
        local = _reduce_of(op, part, ip)
        whole = build_reduction(view, local.results[0], kind, loc=op.location, ip=ip).operation
        rewriter.created(local)
        rewriter.created(whole)
        rewriter.replace_uses(op.results[0], whole.results[0])


def _reduce_of(reduce: ir.Operation, value: ir.Value, ip: ir.InsertionPoint) -> ir.Operation:
    """The same reduce of another value; the result has the same shape, since
    the dimension that differs is reduced."""
    new = reduce.clone(ip).operation
    new.operands[0] = value
    return new
