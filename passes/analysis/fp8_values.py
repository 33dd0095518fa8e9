"""The fp8 values behind a wide one: dequantized, converted and moved about.

A matmul and a collective can be done in fp8 if their operands are such values:

    found = CollectiveOperand().find(value)
    if not isinstance(found, Fp8Value): ...   # why not
    narrow = rebuild_narrow(found, {}, ip)    # the movement, done on fp8 values
    scale = carry_scale(found, scale, ip)     # the scale, behind the movement
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import DequantizeOp
from ...dialects.op_traits import FLOAT_CONVERTS, TENSOR_FLOAT_CONVERTS
from ...dialects.ops.constraints import element_type_of, is_per_tensor, is_wide_float, shape_of
from ...dialects.upstream.generic import GENERIC
from ...dialects.upstream.linalg import with_element_type
from ..rewriting import Miss
from .linalg_terms import Term, producer
from .movement.values import Movement, movement_of

# Longer chains are not searched: no program has them, and the search recurses.
MAX_MOVEMENT = 100

_MATMUL_TYPES = ir.BF16Type | ir.F16Type | ir.F32Type


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


def retyped_clone(op: ir.Operation, value: ir.Value, ip: ir.InsertionPoint) -> ir.Value:
    """An elementwise one-operand op on a value of another shape."""
    new = op.clone(ip).operation
    new.operands[0] = value
    new.results[0].set_type(with_element_type(value.type, element_type_of(op.results[0])))
    return new.results[0]


@dataclass(frozen=True, eq=False)
class Fp8Value:
    """How ``value`` is made from fp8 ones.

    A tree: a node is an fp8 value itself (then there is no dequantize), the
    result of a dequantize, or a movement or conversion of ``sources``. All
    dequantizes below a node have the same scale. ``dequantize`` is the first of
    them, ``scale_shape`` the shape that its scale has behind the movement,
    ``converts`` are the conversions that follow it, first to last.
    """

    value: ir.Value
    narrow: ir.Value  # of fp8, before the movement
    dequantize: ir.Operation | None = None
    scale_shape: tuple[int, ...] = ()
    converts: tuple[ir.Operation, ...] = ()
    movement: Movement | None = None
    sources: tuple[Fp8Value, ...] = ()

    @property
    def scale(self) -> ir.Value | None:
        """The scale as the dequantize has it, None for 1."""
        return None if self.dequantize is None else scale_of(self.dequantize)

    @property
    def divides(self) -> bool:
        """Whether the dequantize divides by its scale."""
        if self.dequantize is None or self.scale is None:
            return False
        return DequantizeOp(self.dequantize).scale_mode.value == "divide"


def scale_of(dequantize: ir.Operation) -> ir.Value | None:
    if dequantize.name != DequantizeOp.OPERATION_NAME:
        return None
    return DequantizeOp(dequantize).scale


def nodes(*roots: Fp8Value) -> list[Fp8Value]:
    """The nodes of trees, each once, users before producers."""
    done: dict[ir.Value, Fp8Value] = {}

    def visit(node: Fp8Value) -> None:
        if node.value not in done:
            for source in node.sources:
                visit(source)
            done[node.value] = node

    for root in roots:
        visit(root)
    return list(done.values())[::-1]


def wide_ops(*roots: Fp8Value) -> list[ir.Operation]:
    """The ops that make the wide values of trees, users before producers."""
    ops = (ir.defining_op(n.value) for n in nodes(*roots) if n.dequantize or n.sources)
    return [op for op in ops if op is not None]


@dataclass(frozen=True)
class WideEnd:
    """Where a search ended: at a wide value that nothing moves or converts."""

    value: ir.Value


class Fp8Search:
    """Finds the fp8 values behind wide ones; one that is reached twice is looked at once."""

    def __init__(self) -> None:
        self._found: dict[ir.Value, Fp8Value | Miss | WideEnd] = {}

    def find(self, value: ir.Value, depth: int = 0) -> Fp8Value | Miss | WideEnd:
        """Follows data movement and conversions from a tensor up to fp8 values."""
        if value not in self._found:
            self._found[value] = self._find(value, depth)
        return self._found[value]

    def _find(self, value: ir.Value, depth: int) -> Fp8Value | Miss | WideEnd:
        if fp8_format(value.type) is not None:
            return Fp8Value(value, value)
        op = ir.defining_op(value)
        if op is None:
            return WideEnd(value)
        if self.widens(op):
            scale = scale_of(op)
            shape = () if scale is None else tuple(shape_of(scale))
            return Fp8Value(value, op.operands[0], op, shape)
        movement, converted = movement_of(op), self.converted(op)
        if not isinstance(movement, Movement) and converted is None:
            return movement or WideEnd(value)
        if depth == MAX_MOVEMENT:
            return Miss(f"more than {MAX_MOVEMENT} data movement ops follow the dequantize")
        if isinstance(movement, Movement):
            return self._moved(movement, value, depth)
        assert converted is not None
        source = self.find(converted, depth + 1)
        if not isinstance(source, Fp8Value):
            return source
        converts = (*source.converts, op)
        return replace(source, value=value, converts=converts, movement=None, sources=(source,))

    def _moved(self, movement: Movement, value: ir.Value, depth: int) -> Fp8Value | Miss | WideEnd:
        sources: list[Fp8Value] = []
        for operand in movement.sources:
            source = self.find(operand, depth + 1)
            if not isinstance(source, Fp8Value):
                return source
            sources.append(source)
        first = sources[0]
        for other in sources[1:]:
            if difference := self.difference(first, other):
                return Miss(f"'{movement.op.name}' joins values {difference}")
        shape = movement.scale_after(first.scale_shape)
        if isinstance(shape, Miss):
            return shape
        return replace(
            first, value=value, scale_shape=tuple(shape), movement=movement, sources=tuple(sources)
        )

    # What a kind of search decides.

    def widens(self, op: ir.Operation) -> bool:
        """Whether ``op`` is a dequantize that the search may end at."""
        raise NotImplementedError

    def converted(self, op: ir.Operation) -> ir.Value | None:
        """The value that ``op`` converts, if that may be passed."""
        raise NotImplementedError

    def difference(self, a: Fp8Value, b: Fp8Value) -> str | None:
        """What keeps two values from being joined: ``with other scales``."""
        raise NotImplementedError


class CollectiveOperand(Fp8Search):
    """For a collective, behind which all is done anew as it was, conversions too."""

    def widens(self, op: ir.Operation) -> bool:
        return is_dequantize(op)

    def converted(self, op: ir.Operation) -> ir.Value | None:
        return op.operands[0] if is_float_convert(op) else None

    def difference(self, a: Fp8Value, b: Fp8Value) -> str | None:
        same = _roundings(a) == _roundings(b) and (a.scale, a.divides) == (b.scale, b.divides)
        alike = same and a.scale_shape == b.scale_shape and not _moved_scales(a, b)
        return None if alike else "with different scales"


class MatmulOperand(Fp8Search):
    """For a matmul, which scales the f32 sum, and keeps one rounding of the scaled elements."""

    def widens(self, op: ir.Operation) -> bool:
        return op.name == DequantizeOp.OPERATION_NAME

    def converted(self, op: ir.Operation) -> ir.Value | None:
        """Between bf16, f16 and f32: a convert, an extf or truncf, or a generic of one."""
        if op.name not in (*TENSOR_FLOAT_CONVERTS, GENERIC) or len(op.results) != 1:
            return None
        type_ = op.results[0].type
        if not isinstance(type_, ir.RankedTensorType) or not isinstance(
            type_.element_type, _MATMUL_TYPES
        ):
            return None
        place = tuple(range(type_.rank))
        source = Term(op.operands[0], place)
        if op.name == GENERIC:
            made = producer(Term(op.results[0], place))
            if made is None or made[0].name not in FLOAT_CONVERTS:
                return None
            source = made[1][0]
            op = made[0]
        if not source.is_tensor or source.place != place or "roundingmode" in op.attributes:
            return None
        is_taken = isinstance(element_type_of(source.value), _MATMUL_TYPES)
        return source.value if is_taken else None

    def difference(self, a: Fp8Value, b: Fp8Value) -> str | None:
        elements = element_type_of(a.narrow), element_type_of(b.narrow)
        if elements[0] != elements[1]:
            return f"of {elements[0]} and {elements[1]}"
        if a.divides != b.divides or not _same_scale(a.scale, b.scale):
            return "with scales that are not provably the same"
        if roundings_to_narrow(a) != roundings_to_narrow(b):
            return "that were rounded to different types"
        return "whose per-axis scales were moved" if _moved_scales(a, b) else None


def roundings_to_narrow(value: Fp8Value) -> list[ir.Type]:
    """The types narrower than f32 that scaled elements are rounded to, each once; none
    without a scale, as both hold every fp8 value."""
    if value.scale is None:
        return []
    found = dict.fromkeys(_roundings(value)[1:])
    return [type_ for type_ in found if isinstance(type_, ir.BF16Type | ir.F16Type)]


def _roundings(value: Fp8Value) -> list[ir.Type]:
    """The element types from the fp8 value on."""
    steps = (op.results[0] for op in (value.dequantize, *value.converts) if op is not None)
    return [element_type_of(v) for v in (value.narrow, *steps)]


def _moved_scales(a: Fp8Value, b: Fp8Value) -> bool:
    """Whether the per-axis scale of either was moved, so that they may differ."""
    return not is_per_tensor(list(a.scale_shape)) and any(n.movement for n in nodes(a, b))


def _same_scale(a: ir.Value | None, b: ir.Value | None) -> bool:
    """Whether two scales are the same value, or equal constants."""
    if a is None or b is None or a == b:
        return a == b
    ops = ir.defining_op(a), ir.defining_op(b)
    if not all(op is not None and op.name.endswith(".constant") for op in ops):
        return False
    first, second = (op.attributes["value"] for op in ops if op is not None)
    return first == second


def rebuild_narrow(
    source: Fp8Value, done: dict[ir.Value, ir.Value], ip: ir.InsertionPoint | None = None
) -> ir.Value:
    """The movement of ``source`` on fp8 values: at ``ip``, or each op where it is.

    ``done`` has what was built already.
    """
    if not source.sources:
        return source.narrow
    if source.value not in done:
        values = [rebuild_narrow(inner, done, ip) for inner in source.sources]
        if source.movement is not None:
            values = [source.movement.clone(values, ip or ir.InsertionPoint(source.movement.op))]
        done[source.value] = values[0]
    return done[source.value]


def carry_scale(source: Fp8Value, scale: ir.Value, ip: ir.InsertionPoint | None = None) -> ir.Value:
    """The scale behind the movement of ``source``, built as the fp8 value is."""
    if source.sources:
        scale = carry_scale(source.sources[0], scale, ip)
    if source.movement is None:
        return scale
    return source.movement.carry_scale(scale, ip or ir.InsertionPoint(source.movement.op))
