"""Moves a collective from the wide to the fp8 side of a dequantize."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...dialects.fp8 import fp8_format
from ...dialects.headrace import CollectiveOp, DequantizeOp, HeadraceOp, dequantize
from ...dialects.mlir import (
    InsertionPoint,
    Operation,
    RankedTensorType,
    Type,
    Value,
    defining_op,
)
from ...dialects.ops.collectives import rebuild_collective
from ...dialects.ops.constraints import (
    element_type_of,
    is_per_tensor,
    is_wide_float,
    shape_of,
)
from ..rewriting import Miss, Pattern, Rewriter
from .collective_scales import (
    NARROWABLE,
    WIDE_REASON,
    ScalePlan,
    equality_fault,
    plan_scale,
    scale_bytes,
    scale_shape,
    zeros_fault,
)
from .data_movement import movement_of
from .movement import Movement, with_element_type
from .replication import ReplicationAnalysis

# More data movement than this between two ops is not followed, so that the
# cost stays linear and the recursion shallow.
MAX_DEPTH = 64

_CONVERTS = ("arith.extf", "arith.truncf", "stablehlo.convert")


def is_float_convert(op: Operation) -> bool:
    """Whether ``op`` converts tensors between wide float types, elementwise."""
    return op.name in _CONVERTS and all(
        isinstance(v.type, RankedTensorType) and is_wide_float(element_type_of(v))
        for v in (op.operands[0], op.results[0])
    )


def is_dequantize(op: Operation) -> bool:
    """Whether ``op`` widens fp8: a dequantize, or a convert that has no scale."""
    return op.name == DequantizeOp.OPERATION_NAME or (
        op.name in _CONVERTS
        and isinstance(op.results[0].type, RankedTensorType)
        and fp8_format(op.operands[0].type) is not None
        and is_wide_float(element_type_of(op.results[0]))
    )


def element_bytes(type_: Type) -> int:
    """The size of a wide float or fp8 element."""
    return {"f64": 8, "f32": 4, "f16": 2, "bf16": 2}.get(str(type_), 1)


@dataclass(frozen=True)
class NarrowSource:
    """How a wide value is made from fp8 ones by data movement and conversion.

    A tree with dequantizes for leaves, all of which have the same scale.
    ``scale`` is the shape of that scale behind the movement, ``converts`` are
    the further conversions of the dequantized value, first to last.
    """

    value: Value
    leaf: Operation
    scale: list[int]
    converts: tuple[Operation, ...] = ()
    movement: Movement | None = None
    children: tuple[NarrowSource, ...] = ()

    @property
    def scale_value(self) -> Value | None:
        return leaf_scale(self.leaf)

    @property
    def key(self) -> tuple[object, ...]:
        """What has to be equal in sources that are joined to one value."""
        mode = ""
        if self.leaf.name == DequantizeOp.OPERATION_NAME and self.scale_value is not None:
            mode = DequantizeOp(self.leaf).scale_mode.value
        types = [str(element_type_of(op.results[0])) for op in (self.leaf, *self.converts)]
        narrow = str(element_type_of(self.leaf.operands[0]))
        return (self.scale_value, self.scale, mode, narrow, *types)

    def nodes(self) -> list[NarrowSource]:
        """This node and those it is made of, each once, makers last."""
        done: dict[Value, NarrowSource] = {}

        def visit(node: NarrowSource) -> None:
            if node.value not in done:
                for child in node.children:
                    visit(child)
                done[node.value] = node

        visit(self)
        return list(done.values())[::-1]


def leaf_scale(leaf: Operation) -> Value | None:
    if leaf.name != DequantizeOp.OPERATION_NAME:
        return None
    return DequantizeOp(leaf).scale


def find_source(value: Value) -> NarrowSource | Miss:
    """Follows data movement and float conversions up to the dequantizes."""
    return _find(value, 0, {})


def _find(value: Value, depth: int, found: dict[Value, NarrowSource | Miss]) -> NarrowSource | Miss:
    if value not in found:
        found[value] = _look(value, depth, found)
    return found[value]


def _look(value: Value, depth: int, found: dict[Value, NarrowSource | Miss]) -> NarrowSource | Miss:
    op = defining_op(value)
    if op is None:
        return Miss("the value is a block argument", silent=True)
    if is_dequantize(op):
        return NarrowSource(value, op, scale_shape(leaf_scale(op)))
    if depth == MAX_DEPTH:
        return Miss(f"more than {MAX_DEPTH} ops of data movement", silent=True)
    if is_float_convert(op):
        inner = _find(op.operands[0], depth + 1, found)
        if isinstance(inner, Miss):
            return inner
        converts = (*inner.converts, op)
        return NarrowSource(value, inner.leaf, inner.scale, converts, None, (inner,))
    movement = movement_of(op)
    if isinstance(movement, Miss):
        return movement
    children: list[NarrowSource] = []
    for source in movement.sources:
        child = _find(source, depth + 1, found)
        if isinstance(child, Miss):
            return child
        children.append(child)
    return _join(value, movement, children)


def _join(value: Value, movement: Movement, children: list[NarrowSource]) -> NarrowSource | Miss:
    first = children[0]
    for child in children[1:]:
        moved = any(node.movement for node in (*first.nodes(), *child.nodes()))
        if child.key != first.key or (moved and not is_per_tensor(first.scale)):
            return Miss(f"'{movement.op.name}' joins values with different scales")
    after = movement.scale_after(first.scale)
    if isinstance(after, Miss):
        return after
    return NarrowSource(value, first.leaf, after, first.converts, movement, tuple(children))


def _controls(source: NarrowSource) -> list[Value]:
    """The operands that steer the movement: start indices, predicates, sizes."""
    return [
        operand
        for node in source.nodes()
        if node.movement is not None
        for i, operand in enumerate(node.movement.op.operands)
        if i not in (*node.movement.data, *node.movement.zeros)
    ]


@dataclass(frozen=True)
class NarrowedGather:
    """What NarrowDequantize found: the source, and the plan for its scale."""

    source: NarrowSource
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

    def match(self, op: Operation) -> NarrowedGather | Miss:
        collective = as_collective(op)
        operand = op.operands[0]
        if not is_wide_float(element_type_of(operand)):
            return Miss("the collective carries no wide float", silent=True)
        source = find_source(operand)
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
            checked += _controls(source)
        uneven = [v for v in checked if not self._analysis.equal_over(v, groups)]
        plan = plan_scale(collective, source.scale, not uneven)
        if isinstance(plan, Miss):
            return Miss(plan.reason or equality_fault(self._analysis, collective, uneven[0]))
        if fault := zeros_fault(collective, scale, plan, self._analysis.devices):
            return Miss(fault)
        return _worth_it(collective, source, plan)

    def rewrite(self, op: Operation, match: NarrowedGather, rewriter: Rewriter) -> None:
        collective = as_collective(op)
        source, ip = match.source, rewriter.before(op)
        narrow = _rebuild_narrow(source, ip, {})
        new = rebuild_collective(collective, narrow, ip).operation
        forget_reason(new)
        rewriter.created(new)
        scale = source.scale_value
        if scale is not None:
            scale = match.plan.apply(collective, _carry_scale(source, scale, ip), ip)
        wide = _rebuild_leaf(source.leaf, new.results[0], scale, ip)
        for convert in source.converts:
            wide = retyped_clone(convert, wide, ip)
        self._analysis.forget(op)
        rewriter.replace(op, [wide])
        erase_dead_source(source, self._analysis, rewriter)


def _worth_it(op: CollectiveOp, source: NarrowSource, plan: ScalePlan) -> NarrowedGather | Miss:
    shape = shape_of(op.operands[0])
    elements = math.prod(shape) if all(size >= 0 for size in shape) else None
    scale = source.scale_value
    if elements is not None and scale is not None:
        extra = scale_bytes(op, plan, source.scale, element_bytes(element_type_of(scale)))
        saved = elements * (element_bytes(element_type_of(op.operands[0])) - 1)
        if extra and extra >= saved:
            return Miss(f"the scale would travel too: {extra} bytes, where fp8 saves {saved}")
    return NarrowedGather(source, plan)


def as_collective(op: Operation) -> CollectiveOp:
    """The typed view of a headrace collective."""
    declared = HeadraceOp.operations[op.name]
    assert issubclass(declared, CollectiveOp)
    return declared(op)


def forget_reason(op: Operation) -> None:
    """A narrow collective has no reason to be wide."""
    if WIDE_REASON in op.attributes:
        del op.attributes[WIDE_REASON]


def retyped_clone(op: Operation, value: Value, ip: InsertionPoint) -> Value:
    """An elementwise one-operand op on a value of another shape."""
    new = op.clone(ip).operation
    new.operands[0] = value
    new.results[0].set_type(with_element_type(value.type, element_type_of(op.results[0])))
    return new.results[0]


def _rebuild_narrow(source: NarrowSource, ip: InsertionPoint, done: dict[Value, Value]) -> Value:
    """The movement of ``source``, done on the fp8 leaves."""
    if source.value not in done:
        values = [_rebuild_narrow(child, ip, done) for child in source.children]
        if source.movement is not None:
            values = [source.movement.clone(values, ip)]
        done[source.value] = values[0] if values else source.leaf.operands[0]
    return done[source.value]


def _carry_scale(source: NarrowSource, scale: Value, ip: InsertionPoint) -> Value:
    if source.children:
        scale = _carry_scale(source.children[0], scale, ip)
    return scale if source.movement is None else source.movement.carry_scale(scale, ip)


def _rebuild_leaf(leaf: Operation, value: Value, scale: Value | None, ip: InsertionPoint) -> Value:
    if leaf.name != DequantizeOp.OPERATION_NAME:
        return retyped_clone(leaf, value, ip)
    type_ = with_element_type(value.type, element_type_of(leaf.results[0]))
    mode = DequantizeOp(leaf).scale_mode.value
    new = dequantize(value, scale, type_, scale_mode=mode, loc=leaf.location, ip=ip)
    return new.operation.results[0]


def erase_dead_source(
    source: NarrowSource, analysis: ReplicationAnalysis, rewriter: Rewriter
) -> None:
    """Erases the wide ops of ``source`` that have no other users."""
    for node in source.nodes():
        op = defining_op(node.value)
        if op is not None and all(next(iter(r.uses), None) is None for r in op.results):
            analysis.forget(op)
            rewriter.erase(op)
