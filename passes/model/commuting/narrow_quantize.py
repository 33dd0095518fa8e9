"""Moves a collective from the wide to the fp8 side of a quantize."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.fp8 import fp8_format
from ....dialects.headrace import (
    MOVING_COLLECTIVES,
    MovingCollectiveOp,
    QuantizeOp,
    as_moving,
    quantize,
)
from ....dialects.ops.constraints import element_type_of, is_per_tensor, is_wide_float, shape_of
from ...analysis.fp8_values import MAX_MOVEMENT, is_float_convert, retyped_clone
from ...analysis.movement.interface import Movement, with_element_type
from ...analysis.movement.values import movement_of
from ...analysis.replication import ReplicationAnalysis
from ...rewriting import Miss, Pattern, Rewriter
from .collective_scales import equality_reason, scale_rule, zeros_reason
from .narrow_dequantize import forget_reason
from .parts import held

# Those that may narrow.
_CONVERTS = ("arith.truncf", "stablehlo.convert")


def is_quantize(op: ir.Operation) -> bool:
    """Whether ``op`` narrows to fp8: a quantize, or a convert without scale."""
    return op.name == QuantizeOp.OPERATION_NAME or (
        op.name in _CONVERTS
        and isinstance(op.results[0].type, ir.RankedTensorType)
        and fp8_format(op.results[0].type) is not None
        and is_wide_float(element_type_of(op.operands[0]))
    )


@dataclass(frozen=True)
class NarrowedInput:
    """What NarrowQuantize found.

    ``path`` are the movements and conversions from the collective to the
    quantize, first to last; ``place`` is the op before which the new
    quantize and the new collective go.
    """

    collective: ir.Operation
    path: tuple[Movement | ir.Operation, ...]
    place: ir.Operation


class NarrowQuantize(Pattern[NarrowedInput]):
    """The quantize is done on each device's part; the collective carries fp8.

        %g = collective %x : bf16
        %t = stablehlo.transpose %g
        %q = headrace.quantize %t, %s : fp8
    ->
        %p = headrace.quantize %x, %s : fp8
        %g = collective %p : fp8
        %q = stablehlo.transpose %g

    Exact: quantize is elementwise, so it commutes with data movement and with
    collectives that only move data. Every value in between must have no other
    user: the wide collective would remain, and a narrow one be added to it.
    """

    roots = (QuantizeOp.OPERATION_NAME, *_CONVERTS)

    def __init__(self, analysis: ReplicationAnalysis) -> None:
        self._analysis = analysis

    def match(self, op: ir.Operation) -> NarrowedInput | Miss | None:
        if not is_quantize(op):
            return None
        path: list[Movement | ir.Operation] = []
        value = op.operands[0]
        while True:
            producer = ir.defining_op(value)
            if producer is None or len(path) > MAX_MOVEMENT:
                return None
            if producer.name in MOVING_COLLECTIVES:
                break
            if is_float_convert(producer):
                path.append(producer)
                value = producer.operands[0]
                continue
            movement = movement_of(producer)
            if not isinstance(movement, Movement):
                return movement
            if len(movement.data) != 1:
                return Miss(f"'{producer.name}' joins the collective with another value")
            path.append(movement)
            value = movement.sources[0]
        path.reverse()
        return self._check(op, producer, tuple(path))

    def _check(
        self, op: ir.Operation, producer: ir.Operation, path: tuple[Movement | ir.Operation, ...]
    ) -> NarrowedInput | Miss:
        collective = as_moving(producer)
        steps = [producer, *(operation_of(step) for step in path)]
        if any(len(list(step.results[0].uses)) != 1 for step in steps):
            return Miss("the wide value has another user, which would keep it on the wire")
        scale = QuantizeOp(op).scale if op.name == QuantizeOp.OPERATION_NAME else None
        if scale is not None and (reason := self._scale_reason(collective, scale, path)):
            return Miss(reason)
        # Where the collective was, if the scale is there already.
        if scale is None or dominates(scale, producer):
            return NarrowedInput(producer, path, producer)
        if op.block == producer.block:
            return NarrowedInput(producer, path, op)
        return Miss("the quantize is in another region, where its scale is made")

    def _scale_reason(
        self,
        collective: MovingCollectiveOp,
        scale: ir.Value,
        path: tuple[Movement | ir.Operation, ...],
    ) -> str | None:
        shape = shape_of(scale)
        if not is_per_tensor(shape):
            steps = [operation_of(step) for step in path if isinstance(step, Movement)]
            if steps:
                return f"a per-axis scale does not go back past '{steps[-1].name}'"
            varying = [d for d in collective.moved_dims if shape[d] != 1]
            if varying:
                return (
                    f"the scale varies along dimension {varying[0]},"
                    " along which the devices hold different parts"
                )
        if not self._analysis.equal_over(scale, collective.groups):
            return equality_reason(self._analysis, collective, scale)
        rule = scale_rule(collective, shape, None)
        if isinstance(rule, Miss):
            return rule.reason
        return zeros_reason(self._analysis, collective, scale, rule)

    def rewrite(self, op: ir.Operation, match: NarrowedInput, rewriter: Rewriter) -> None:
        collective = as_moving(match.collective)
        ip = rewriter.before(match.collective)
        value = held(match.collective.operands[0], ip)
        for step in match.path:
            if isinstance(step, ir.Operation):
                value = retyped_clone(step, value, ip)
        ip = rewriter.before(match.place)
        narrow = _rebuild_quantize(op, value, ip)
        rewriter.created(narrow)
        new = collective.rebuild(narrow.results[0], ip).operation
        forget_reason(new)
        rewriter.created(new)
        # The movement has operands of its own, so it stays where it was.
        ip = rewriter.before(op)
        value = new.results[0]
        for step in match.path:
            if isinstance(step, Movement):
                value = step.clone([value], ip)
        dead = [op, *(operation_of(step) for step in reversed(match.path)), match.collective]
        for old in dead:
            self._analysis.forget(old)
        rewriter.replace(op, [value])
        for old in dead[1:]:
            rewriter.erase(old)


def operation_of(step: Movement | ir.Operation) -> ir.Operation:
    return step.op if isinstance(step, Movement) else step


def _rebuild_quantize(op: ir.Operation, value: ir.Value, ip: ir.InsertionPoint) -> ir.Operation:
    if op.name != QuantizeOp.OPERATION_NAME:
        made = ir.defining_op(retyped_clone(op, value, ip))
        assert made is not None
        return made
    old = QuantizeOp(op)
    return quantize(
        value,
        old.scale,
        with_element_type(value.type, element_type_of(op.results[0])),
        scale_mode=old.scale_mode.value,
        saturate=old.saturate.value,
        loc=op.location,
        ip=ip,
    ).operation


def dominates(value: ir.Value, op: ir.Operation) -> bool:
    """Whether ``value`` can be used by ops right before ``op``, in regions of
    one block, as all structured control flow has."""
    producer, block = ir.defining_op(value), ir.block_of(value)
    for around in (op, *ir.ancestors(op)):
        if around.name == "builtin.module":
            break
        if around.block == block:
            return producer is None or producer.is_before_in_block(around)
    return False
