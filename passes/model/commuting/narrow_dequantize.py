"""Moves a collective from the wide to the fp8 side of a dequantize."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.headrace import (
    MOVING_COLLECTIVES,
    DequantizeOp,
    MovingCollectiveOp,
    as_moving,
    dequantize,
)
from ....dialects.ops.base import WIDE_REASON
from ....dialects.ops.collective import ScaleRule
from ....dialects.ops.collectives import move_scale
from ....dialects.ops.constraints import element_type_of, is_per_tensor, is_wide_float, shape_of
from ...analysis.fp8_values import (
    CollectiveOperand,
    Fp8Value,
    carry_scale,
    nodes,
    rebuild_narrow,
    retyped_clone,
    wide_ops,
)
from ...analysis.movement.interface import with_element_type
from ...analysis.replication import ReplicationAnalysis
from ...rewriting import Miss, Pattern, Rewriter
from .collective_scales import equality_reason, scale_bytes, scale_rule, zeros_reason


def element_bytes(type_: ir.Type) -> int:
    """The size of a wide float or fp8 element."""
    return {"f64": 8, "f32": 4, "f16": 2, "bf16": 2}.get(str(type_), 1)


@dataclass(frozen=True)
class NarrowedGather:
    """What NarrowDequantize found: the source, and what becomes of its scale."""

    source: Fp8Value
    rule: ScaleRule


class NarrowDequantize(Pattern[NarrowedGather]):
    """The collective carries fp8; the dequantize comes after it.

        %w = headrace.dequantize %q, %s : bf16
        %t = stablehlo.transpose %w
        %g = collective %t : bf16
    ->
        %t = stablehlo.transpose %q : fp8
        %g = collective %t : fp8
        %w = headrace.dequantize %g, %s : bf16

    Exact: both sides are the same bits. All users of the collective are
    served by the one dequantize; other users of the wide values keep them.
    """

    roots = MOVING_COLLECTIVES

    def __init__(self, analysis: ReplicationAnalysis) -> None:
        self._analysis = analysis

    def match(self, op: ir.Operation) -> NarrowedGather | Miss | None:
        collective = as_moving(op)
        operand = op.operands[0]
        if not is_wide_float(element_type_of(operand)):
            return None
        source = CollectiveOperand().find(operand)
        if not isinstance(source, Fp8Value):
            return source if isinstance(source, Miss) else None
        scale = source.scale
        if scale is None:
            return NarrowedGather(source, ScaleRule.KEEP)
        groups = collective.groups
        checked = [scale]
        if not is_per_tensor(shape_of(scale)):
            # The scale is moved like the data: not alike, where the controls
            # differ.
            checked += _controls(source)
        uneven = [v for v in checked if not self._analysis.equal_over(v, groups)]
        unequal = equality_reason(self._analysis, collective, uneven[0]) if uneven else None
        rule = scale_rule(collective, source.scale_shape, unequal)
        if isinstance(rule, Miss):
            return rule
        if reason := zeros_reason(self._analysis, collective, scale, rule):
            return Miss(reason)
        return _worth_it(collective, source, rule)

    def rewrite(self, op: ir.Operation, match: NarrowedGather, rewriter: Rewriter) -> None:
        collective = as_moving(op)
        source, ip = match.source, rewriter.before(op)
        narrow = rebuild_narrow(source, {}, ip)
        new = collective.rebuild(narrow, ip).operation
        forget_reason(new)
        rewriter.created(new)
        scale = source.scale
        if scale is not None:
            scale = move_scale(collective, match.rule, carry_scale(source, scale, ip), ip)
        assert source.dequantize is not None
        wide = _rebuild_dequantize(source.dequantize, new.results[0], scale, ip)
        for convert in source.converts:
            wide = retyped_clone(convert, wide, ip)
        self._analysis.forget(op)
        rewriter.replace(op, [wide])
        for wide_op in wide_ops(source):
            if not ir.is_used(wide_op):
                self._analysis.forget(wide_op)
                rewriter.erase(wide_op)


def _worth_it(op: MovingCollectiveOp, source: Fp8Value, rule: ScaleRule) -> NarrowedGather | Miss:
    shape = shape_of(op.operands[0])
    elements = math.prod(shape) if all(size >= 0 for size in shape) else None
    scale = source.scale
    if elements is not None and scale is not None:
        extra = scale_bytes(op, rule, source.scale_shape, element_bytes(element_type_of(scale)))
        saved = elements * (element_bytes(element_type_of(op.operands[0])) - 1)
        if extra and extra >= saved:
            return Miss(f"the scale would travel too: {extra} bytes, where fp8 saves {saved}")
    return NarrowedGather(source, rule)


def _controls(source: Fp8Value) -> list[ir.Value]:
    """The operands that steer the movement: start indices, predicates, sizes."""
    return [
        operand
        for node in nodes(source)
        if node.movement is not None
        for i, operand in enumerate(node.movement.op.operands)
        if i not in (*node.movement.data, *node.movement.zeros)
    ]


def _rebuild_dequantize(
    op: ir.Operation, value: ir.Value, scale: ir.Value | None, ip: ir.InsertionPoint
) -> ir.Value:
    if op.name != DequantizeOp.OPERATION_NAME:
        return retyped_clone(op, value, ip)
    type_ = with_element_type(value.type, element_type_of(op.results[0]))
    mode = DequantizeOp(op).scale_mode.value
    return dequantize(value, scale, type_, scale_mode=mode, loc=op.location, ip=ip).result


def forget_reason(op: ir.Operation) -> None:
    """A narrow collective has no reason to be wide."""
    if WIDE_REASON in op.attributes:
        del op.attributes[WIDE_REASON]
