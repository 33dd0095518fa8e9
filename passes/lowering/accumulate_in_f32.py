"""The pass ``accumulate-in-f32``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.arith import Scalars, float_width
from ...dialects.linalg import TensorBuilder, tensor_type, with_element_type
from ...dialects.mlir import (
    AffineMapAttr,
    ArrayAttr,
    BF16Type,
    F16Type,
    F32Type,
    FloatAttr,
    Operation,
    Type,
    Value,
    contraction_loops,
    defining_op,
)
from ..base import Pass
from ..rewriting import Miss, Pattern, Rewriter, apply_patterns
from .contraction import multiply_add
from .fp8_support import fp8_support


@dataclass(frozen=True)
class AccumulateInF32(Pass):
    """Lets every contraction with a bf16 or f16 result accumulate in f32.

    One rounding at the end. Left in bf16, IREE's gfx950 backend fails to
    distribute such a matmul, and every partial sum would be rounded. For
    target cpu the operands are widened too: IREE's tiled bf16 kernels are
    far slower there than its f32 ones.
    """

    name: ClassVar[str] = "accumulate-in-f32"
    target: str = ""

    def run(self, module: Operation) -> None:
        widen = self.target != "" and fp8_support(self.target).is_cpu
        apply_patterns(module, [WidenContraction(widen)])


@dataclass(frozen=True)
class _Found:
    widen_operands: bool


class WidenContraction(Pattern[_Found]):
    """A contraction in f32, then one rounding.

    %y = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>)
        outs(%zero : tensor<4x4xbf16>)
    // =>
    %acc = linalg.matmul ins(%a, %b) outs(%zero32 : tensor<4x4xf32>)
    %y = linalg.generic ins(%acc) { truncf }
    """

    roots = (
        "linalg.matmul",
        "linalg.batch_matmul",
        "linalg.matvec",
        "linalg.vecmat",
        "linalg.batch_matvec",
        "linalg.batch_vecmat",
        "linalg.dot",
        "linalg.generic",
    )

    def __init__(self, widen_operands: bool) -> None:
        self.widen_operands = widen_operands

    def match(self, op: Operation) -> _Found | Miss:
        if contraction_loops(op) is None:
            return Miss("not a contraction of two operands", silent=True)
        lhs, rhs, out = (tensor_type(o).element_type for o in op.operands)
        widen = self.widen_operands and (_is_half(lhs) or _is_half(rhs))
        if not widen and not _is_half(out):
            return Miss("accumulates in a wide type already", silent=True)
        return _Found(widen)

    def rewrite(self, op: Operation, match: _Found, rewriter: Rewriter) -> None:
        b = TensorBuilder(rewriter.before(op), op.location)
        f32 = F32Type.get(op.context)
        lhs, rhs, init = op.operands
        narrow = tensor_type(init).element_type
        accumulator = f32 if float_width(narrow) < 32 else narrow
        if match.widen_operands:
            lhs, rhs = (convert_elements(b, o, f32) for o in (lhs, rhs))
        wide = _wide_init(b, init, accumulator)
        value = _same_contraction(b, op, lhs, rhs, wide)
        rewriter.replace(op, [convert_elements(b, value, narrow)])
        rewriter.erase_if_dead(_fill_of(init))


def _is_half(type_: Type) -> bool:
    return isinstance(type_, BF16Type | F16Type)


def _same_contraction(
    b: TensorBuilder, op: Operation, lhs: Value, rhs: Value, init: Value
) -> Value:
    """The same contraction on values of other element types."""
    if op.name != "linalg.generic":
        maps = op.attributes.get("indexing_maps", None)
        return b.named(op.name.removeprefix("linalg."), [lhs, rhs], init, multiply_add, maps)
    maps = ArrayAttr(op.attributes["indexing_maps"])
    lhs_map, rhs_map, out_map = (AffineMapAttr(m).value for m in maps)
    kinds = ArrayAttr(op.attributes["iterator_types"])
    reductions = [i for i, kind in enumerate(kinds) if "reduction" in str(kind)]
    return b.generic([(lhs, lhs_map), (rhs, rhs_map)], (init, out_map), multiply_add, reductions)


def _wide_init(b: TensorBuilder, init: Value, element: Type) -> Value:
    """The initial value in the wide type: a zero fill stays one."""
    type_ = with_element_type(init.type, element)
    if init.type == type_:
        return init
    if _fill_of(init) is None:
        return convert_elements(b, init, element)
    return b.fill(0.0, b.empty(type_, [(init, d) for d in range(len(type_.shape))]))


def _fill_of(value: Value) -> Operation | None:
    """The op that fills ``value`` with zero, None where it holds something else."""
    op = defining_op(value)
    if op is None or op.name != "linalg.fill":
        return None
    constant = defining_op(op.operands[0])
    if constant is None or constant.name != "arith.constant":
        return None
    return op if FloatAttr(constant.attributes["value"]).value == 0.0 else None


def convert_elements(b: TensorBuilder, value: Value, element: Type) -> Value:
    """Widens or rounds every element; nothing where the type is that already."""
    if tensor_type(value).element_type == element:
        return value

    def body(s: Scalars, arguments: list[Value]) -> Value:
        return s.convert_float(arguments[0], element)

    return b.elementwise(value, [], element, body)
