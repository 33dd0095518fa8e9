"""Wide values that are made from dequantized ones by data movement."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import DequantizeOp, dequantize
from ...dialects.op_traits import TENSOR_FLOAT_CONVERTS
from ...dialects.ops.constraints import element_type_of, is_per_tensor, is_wide_float, shape_of
from ..rewriting import Miss
from .movement.interface import Movement, with_element_type
from .movement.values import movement_of

# More data movement than this between two ops is not followed, so that the
# cost stays linear and the recursion shallow.
MAX_DEPTH = 64


def is_float_convert(op: ir.Operation) -> bool:
    """Whether ``op`` converts tensors between wide float types, elementwise."""
    return op.name in TENSOR_FLOAT_CONVERTS and all(
        isinstance(v.type, ir.RankedTensorType) and is_wide_float(element_type_of(v))
        for v in (op.operands[0], op.results[0])
    )


def is_dequantize(op: ir.Operation) -> bool:
    """Whether ``op`` widens fp8: a dequantize, or a convert that has no scale."""
    return op.name == DequantizeOp.OPERATION_NAME or (
        op.name in TENSOR_FLOAT_CONVERTS
        and isinstance(op.results[0].type, ir.RankedTensorType)
        and fp8_format(op.operands[0].type) is not None
        and is_wide_float(element_type_of(op.results[0]))
    )


@dataclass(frozen=True)
class DequantizedValue:
    """How a wide value is made from fp8 ones by data movement and conversion.

    A tree with dequantizes for leaves, all of which have the same scale.
    ``scale`` is the shape of that scale behind the movement, ``converts`` are
    the further conversions of the dequantized value, first to last.
    """

    value: ir.Value
    leaf: ir.Operation
    scale: list[int]
    converts: tuple[ir.Operation, ...] = ()
    movement: Movement | None = None
    children: tuple[DequantizedValue, ...] = ()

    @property
    def scale_value(self) -> ir.Value | None:
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

    def nodes(self) -> list[DequantizedValue]:
        """This node and those it is made of, each once, makers last."""
        done: dict[ir.Value, DequantizedValue] = {}

        def visit(node: DequantizedValue) -> None:
            if node.value not in done:
                for child in node.children:
                    visit(child)
                done[node.value] = node

        visit(self)
        return list(done.values())[::-1]


def leaf_scale(leaf: ir.Operation) -> ir.Value | None:
    if leaf.name != DequantizeOp.OPERATION_NAME:
        return None
    return DequantizeOp(leaf).scale


def _shape(scale: ir.Value | None) -> list[int]:
    return [] if scale is None else shape_of(scale)


def find_dequantized(value: ir.Value) -> DequantizedValue | Miss:
    """Follows data movement and float conversions up to the dequantizes."""
    return _find(value, 0, {})


def _find(
    value: ir.Value, depth: int, found: dict[ir.Value, DequantizedValue | Miss]
) -> DequantizedValue | Miss:
    if value not in found:
        found[value] = _look(value, depth, found)
    return found[value]


def _look(
    value: ir.Value, depth: int, found: dict[ir.Value, DequantizedValue | Miss]
) -> DequantizedValue | Miss:
    op = ir.defining_op(value)
    if op is None:
        return Miss("the value is a block argument", silent=True)
    if is_dequantize(op):
        return DequantizedValue(value, op, _shape(leaf_scale(op)))
    if depth == MAX_DEPTH:
        return Miss(f"more than {MAX_DEPTH} ops of data movement", silent=True)
    if is_float_convert(op):
        inner = _find(op.operands[0], depth + 1, found)
        if isinstance(inner, Miss):
            return inner
        converts = (*inner.converts, op)
        return DequantizedValue(value, inner.leaf, inner.scale, converts, None, (inner,))
    movement = movement_of(op)
    if isinstance(movement, Miss):
        return movement
    children: list[DequantizedValue] = []
    for source in movement.sources:
        child = _find(source, depth + 1, found)
        if isinstance(child, Miss):
            return child
        children.append(child)
    return _join(value, movement, children)


def _join(
    value: ir.Value, movement: Movement, children: list[DequantizedValue]
) -> DequantizedValue | Miss:
    first = children[0]
    for child in children[1:]:
        moved = any(node.movement for node in (*first.nodes(), *child.nodes()))
        if child.key != first.key or (moved and not is_per_tensor(first.scale)):
            return Miss(f"'{movement.op.name}' joins values with different scales")
    after = movement.scale_after(first.scale)
    if isinstance(after, Miss):
        return after
    return DequantizedValue(value, first.leaf, after, first.converts, movement, tuple(children))


def controls(source: DequantizedValue) -> list[ir.Value]:
    """The operands that steer the movement: start indices, predicates, sizes."""
    return [
        operand
        for node in source.nodes()
        if node.movement is not None
        for i, operand in enumerate(node.movement.op.operands)
        if i not in (*node.movement.data, *node.movement.zeros)
    ]


def retyped_clone(op: ir.Operation, value: ir.Value, ip: ir.InsertionPoint) -> ir.Value:
    """An elementwise one-operand op on a value of another shape."""
    new = op.clone(ip).operation
    new.operands[0] = value
    new.results[0].set_type(with_element_type(value.type, element_type_of(op.results[0])))
    return new.results[0]


def rebuild_narrow(
    source: DequantizedValue, ip: ir.InsertionPoint, done: dict[ir.Value, ir.Value]
) -> ir.Value:
    """The movement of ``source``, done on the fp8 leaves."""
    if source.value not in done:
        values = [rebuild_narrow(child, ip, done) for child in source.children]
        if source.movement is not None:
            values = [source.movement.clone(values, ip)]
        done[source.value] = values[0] if values else source.leaf.operands[0]
    return done[source.value]


def carry_scale(source: DequantizedValue, scale: ir.Value, ip: ir.InsertionPoint) -> ir.Value:
    if source.children:
        scale = carry_scale(source.children[0], scale, ip)
    return scale if source.movement is None else source.movement.carry_scale(scale, ip)


def rebuild_leaf(
    leaf: ir.Operation, value: ir.Value, scale: ir.Value | None, ip: ir.InsertionPoint
) -> ir.Value:
    if leaf.name != DequantizeOp.OPERATION_NAME:
        return retyped_clone(leaf, value, ip)
    type_ = with_element_type(value.type, element_type_of(leaf.results[0]))
    mode = DequantizeOp(leaf).scale_mode.value
    new = dequantize(value, scale, type_, scale_mode=mode, loc=leaf.location, ip=ip)
    return new.operation.results[0]
