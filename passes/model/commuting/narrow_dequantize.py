"""Moves a collective from the wide to the fp8 side of a dequantize."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.headrace import CollectiveOp, HeadraceOp
from ....dialects.ops.collectives import rebuild_collective
from ....dialects.ops.constraints import element_type_of, is_per_tensor, is_wide_float, shape_of
from ...analysis.dequantized_values import (
    DequantizedValue,
    carry_scale,
    controls,
    find_dequantized,
    rebuild_leaf,
    rebuild_narrow,
    retyped_clone,
)
from ...analysis.replication import ReplicationAnalysis
from ...rewriting import Miss, Pattern, Rewriter
from .collective_scales import (
    NARROWABLE,
    WIDE_REASON,
    ScalePlan,
    equality_fault,
    plan_scale,
    scale_bytes,
    zeros_fault,
)


def element_bytes(type_: ir.Type) -> int:
    """The size of a wide float or fp8 element."""
    return {"f64": 8, "f32": 4, "f16": 2, "bf16": 2}.get(str(type_), 1)


@dataclass(frozen=True)
class NarrowedGather:
    """What NarrowDequantize found: the source, and the plan for its scale."""

    source: DequantizedValue
    plan: ScalePlan


class NarrowDequantize(Pattern[NarrowedGather]):
    """The collective carries fp8; the dequantize comes after it.

        %w = headrace.dequantize %q, %s : bf16
        %t = stablehlo.transpose %w
        %g = headrace.all_gather %t : bf16
    ->
        %t = stablehlo.transpose %q : fp8
        %g = headrace.all_gather %t : fp8
        %w = headrace.dequantize %g, %s : bf16

    Exact: both sides are the same bits. All users of the collective are
    served by the one dequantize; other users of the wide values keep them.
    """

    roots = NARROWABLE

    def __init__(self, analysis: ReplicationAnalysis) -> None:
        self._analysis = analysis

    def match(self, op: ir.Operation) -> NarrowedGather | Miss:
        collective = as_collective(op)
        operand = op.operands[0]
        if not is_wide_float(element_type_of(operand)):
            return Miss("the collective carries no wide float", silent=True)
        source = find_dequantized(operand)
        if isinstance(source, Miss):
            return source
        scale = source.scale_value
        if scale is None:
            return NarrowedGather(source, ScalePlan("keep"))
        groups = collective.groups
        checked = [scale]
        if not is_per_tensor(shape_of(scale)):
            # The scale is moved like the data: not alike, where the controls
            # differ.
            checked += controls(source)
        uneven = [v for v in checked if not self._analysis.equal_over(v, groups)]
        plan = plan_scale(collective, source.scale, not uneven)
        if isinstance(plan, Miss):
            return Miss(plan.reason or equality_fault(self._analysis, collective, uneven[0]))
        if fault := zeros_fault(self._analysis, collective, scale, plan):
            return Miss(fault)
        return _worth_it(collective, source, plan)

    def rewrite(self, op: ir.Operation, match: NarrowedGather, rewriter: Rewriter) -> None:
        collective = as_collective(op)
        source, ip = match.source, rewriter.before(op)
        narrow = rebuild_narrow(source, ip, {})
        new = rebuild_collective(collective, narrow, ip).operation
        forget_reason(new)
        rewriter.created(new)
        scale = source.scale_value
        if scale is not None:
            scale = match.plan.apply(collective, carry_scale(source, scale, ip), ip)
        wide = rebuild_leaf(source.leaf, new.results[0], scale, ip)
        for convert in source.converts:
            wide = retyped_clone(convert, wide, ip)
        self._analysis.forget(op)
        rewriter.replace(op, [wide])
        erase_dead_source(source, self._analysis, rewriter)


def _worth_it(op: CollectiveOp, source: DequantizedValue, plan: ScalePlan) -> NarrowedGather | Miss:
    shape = shape_of(op.operands[0])
    elements = math.prod(shape) if all(size >= 0 for size in shape) else None
    scale = source.scale_value
    if elements is not None and scale is not None:
        extra = scale_bytes(op, plan, source.scale, element_bytes(element_type_of(scale)))
        saved = elements * (element_bytes(element_type_of(op.operands[0])) - 1)
        if extra and extra >= saved:
            return Miss(f"the scale would travel too: {extra} bytes, where fp8 saves {saved}")
    return NarrowedGather(source, plan)


def as_collective(op: ir.Operation) -> CollectiveOp:
    """The typed view of a headrace collective."""
    declared = HeadraceOp.operations[op.name]
    assert issubclass(declared, CollectiveOp)
    return declared(op)


def forget_reason(op: ir.Operation) -> None:
    """A narrow collective has no reason to be wide."""
    if WIDE_REASON in op.attributes:
        del op.attributes[WIDE_REASON]


def erase_dead_source(
    source: DequantizedValue, analysis: ReplicationAnalysis, rewriter: Rewriter
) -> None:
    """Erases the wide ops of ``source`` that have no other users."""
    for node in source.nodes():
        op = ir.defining_op(node.value)
        if op is not None and all(next(iter(r.uses), None) is None for r in op.results):
            analysis.forget(op)
            rewriter.erase(op)
