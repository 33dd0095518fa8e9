"""Finds the fp8 value behind a wide one, through data movement."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import DequantizeOp
from ...dialects.op_traits import TENSOR_FLOAT_CONVERTS
from ...dialects.ops.constraints import element_type_of, is_per_tensor, shape_of
from ...dialects.upstream.generic import GENERIC
from ..rewriting import Miss
from .linalg_terms import Term, maker
from .movement.values import Movement, movement_of

# Longer chains are not searched: no program has them, and the search recurses.
MAX_CHAIN = 100


@dataclass(frozen=True, eq=False)
class NarrowSource:
    """A value that is an fp8 value times a scale, moved about.

    A root is an fp8 value itself or the result of ``dequantize``; above it
    are movements, and conversions to f32, which are exact. ``scale`` is the
    root's, None for 1; ``scale_shape`` is the shape that it has behind the
    movements.
    """

    element: ir.Type
    scale: ir.Value | None
    divide: bool
    scale_shape: tuple[int, ...]
    value: ir.Value
    dequantize: DequantizeOp | None = None
    movement: Movement | None = None
    sources: tuple[NarrowSource, ...] = ()


class NarrowSearch:
    """Finds fp8 sources; a value that is reached twice is looked at once."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, NarrowSource | Miss] = {}

    def source(self, value: ir.Value, depth: int = 0) -> NarrowSource | Miss:
        """The fp8 source of a tensor.

        A silent Miss names what makes the value, if that moves no data; other
        Misses are whole reasons.
        """
        if value not in self._known:
            self._known[value] = self._source(value, depth)
        return self._known[value]

    def _source(self, value: ir.Value, depth: int) -> NarrowSource | Miss:
        element = element_type_of(value)
        if fp8_format(element) is not None:
            return NarrowSource(element, None, False, (), value)
        op = ir.defining_op(value)
        if op is None:
            return Miss(_argument(value), silent=True)
        view = op.opview
        if isinstance(view, DequantizeOp):
            return _root(view)
        movement = movement_of(op)
        widened = _widened(op)
        if isinstance(movement, Miss) and widened is None:
            return Miss(f"'{op.name}'", silent=True) if movement.silent else movement
        if depth == MAX_CHAIN:
            return Miss(f"more than {MAX_CHAIN} data movement ops follow the dequantize")
        if isinstance(movement, Miss):
            assert widened is not None
            return self.source(widened, depth + 1)
        return self._moved(movement, value, depth)

    def _moved(self, movement: Movement, value: ir.Value, depth: int) -> NarrowSource | Miss:
        sources: list[NarrowSource] = []
        for operand in movement.sources:
            source = self.source(operand, depth + 1)
            if isinstance(source, Miss):
                return source
            sources.append(source)
        first = sources[0]
        for other in sources[1:]:
            if fault := _difference(first, other):
                return Miss(f"'{movement.op.name}' joins values {fault}")
        shape = movement.scale_after(first.scale_shape)
        if isinstance(shape, Miss):
            return shape
        return NarrowSource(
            first.element,
            first.scale,
            first.divide,
            tuple(shape),
            value,
            movement=movement,
            sources=tuple(sources),
        )


def _widened(op: ir.Operation) -> ir.Value | None:
    """The bf16 or f16 tensor that ``op`` converts to f32, which is exact: a
    ``stablehlo.convert``, an ``arith.extf``, or a generic of one."""
    if op.name not in (*TENSOR_FLOAT_CONVERTS, GENERIC) or len(op.results) != 1:
        return None
    type_ = op.results[0].type
    if not isinstance(type_, ir.RankedTensorType) or not isinstance(type_.element_type, ir.F32Type):
        return None
    place = tuple(range(type_.rank))
    source = Term(op.operands[0], place)
    if op.name == GENERIC:
        made = maker(Term(op.results[0], place))
        if made is None or made[0].name != "arith.extf":
            return None
        source = made[1][0]
    if not source.is_tensor or source.place != place:
        return None
    narrow = isinstance(element_type_of(source.value), ir.BF16Type | ir.F16Type)
    return source.value if narrow else None


def _root(op: DequantizeOp) -> NarrowSource | Miss:
    if isinstance(element_type_of(op.result), ir.F64Type):
        return Miss("its dequantize computes in f64")
    scale = op.scale
    shape = () if scale is None else tuple(shape_of(scale))
    divide = op.scale_mode.value == "divide"
    return NarrowSource(element_type_of(op.input), scale, divide, shape, op.input, dequantize=op)


def _difference(a: NarrowSource, b: NarrowSource) -> str | None:
    if a.element != b.element:
        return f"of {a.element} and {b.element}"
    if a.divide != b.divide or not _same(a.scale, b.scale):
        return "with scales that are not provably the same"
    if not is_per_tensor(list(a.scale_shape)) and (a.movement or b.movement):
        return "whose per-axis scales were moved"
    return None


def _same(a: ir.Value | None, b: ir.Value | None) -> bool:
    """Whether two scales are the same value, or equal constants."""
    if a is None or b is None or a == b:
        return a == b
    ops = ir.defining_op(a), ir.defining_op(b)
    if not all(op is not None and op.name.endswith(".constant") for op in ops):
        return False
    first, second = (op.attributes["value"] for op in ops if op is not None)
    return first == second


def _argument(value: ir.Value) -> str:
    parent = ir.BlockArgument(value).owner.owner.operation.name
    return "a function argument" if parent == "func.func" else f"a value that '{parent}' carries"
