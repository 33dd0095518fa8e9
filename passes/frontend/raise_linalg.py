"""raise-linalg: linalg and arith as torch-mlir writes them -> headrace ops."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import DequantizeOp, dequantize
from ...dialects.ops.constraints import shape_of
from ...dialects.upstream.generic import GENERIC, is_parallel, maps_of
from ...dialects.upstream.linalg import element_of, with_element_type
from ..analysis.linalg_terms import Term, body_of, is_pointwise, settled
from ..base import Pass
from ..rewriting import Miss, Pattern, Rewriter, apply_patterns
from .quantization.fold_scale import FoldDequantizeScale, ScaledOperand, moved_unscaled, unscaled
from .quantization.quantize import RaiseQuantize
from .quantization.steps import MODES, scale_of


@dataclass(frozen=True)
class RaiseLinalg(Pass):
    """Raises fp8 converts of linalg programs to quantize and dequantize.

    Arithmetic may be in generics of one op each, in generics that do more, or
    in arith ops on tensors; what else a generic computes stays in it. Clamps
    are maximumf and minimumf, or select of a compare (torch-mlir's
    ``torch.clamp``, of which a NaN comes out as NaN, as in PyTorch). Scales
    are scalars, constants, or tensors that are broadcast. Contractions stay
    as they are. What is almost a quantize gets a remark with the reason.

    Before:
        %w = linalg.generic ins(%q) { arith.extf %in : f8E4M3FN to f32 }
        %v = linalg.generic ins(%w, %s : tensor<8x4xf32>, tensor<f32>) { arith.mulf }
    After:
        %v = "headrace.dequantize"(%q, %s) {scale_mode = "multiply"}
    """

    name = "raise-linalg"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, _PATTERNS)


@dataclass(frozen=True)
class _Widening:
    operand: int
    source: ir.Value  # of fp8
    type: ir.Type
    steps: tuple[ir.Operation, ...]


class RaiseLinalgDequantize(Pattern[_Widening]):
    """An extf of fp8: a dequantize without scale, which is exact.

    In a generic, all uses of the fp8 operand must be that; one that reduces
    keeps it (a contraction takes fp8 operands).

    Before: %w = linalg.generic ins(%q) { arith.extf %in : f8E4M3FN to f32 }
    After:  %w = "headrace.dequantize"(%q) {scale_mode = "multiply"}
    """

    roots = (GENERIC, "arith.extf")

    def match(self, op: ir.Operation) -> _Widening | None:
        if op.name == "arith.extf":
            source = _fp8_source(op.operands[0])
            if source is None or not isinstance(op.results[0].type, ir.RankedTensorType):
                return None
            return _Widening(0, source, op.results[0].type, ())
        for number, operand in enumerate(_inputs(op)):
            source = _fp8_source(operand)
            users = _users(op, number)
            if source is None or not users or any(u.name != "arith.extf" for u in users):
                continue
            elements = {str(u.results[0].type): u.results[0].type for u in users}
            if len(elements) == 1:
                (element,) = elements.values()
                type_ = with_element_type(operand.type, element)
                return _Widening(number, source, type_, tuple(users))
        return None

    def rewrite(self, op: ir.Operation, match: _Widening, rewriter: Rewriter) -> None:
        old = ir.defining_op(op.operands[match.operand])
        new = dequantize(
            match.source, None, match.type, loc=op.location, ip=rewriter.before(op)
        ).operation
        _take_operand(op, match.operand, new.results[0], match.steps, rewriter)
        if old is not None and old.name == DequantizeOp.OPERATION_NAME:
            rewriter.erase_if_dead(old)


class FoldLinalgScale(FoldDequantizeScale):
    """Also takes a scaling in the body of a generic.

    Before:
        %w = "headrace.dequantize"(%q) : (tensor<8x4xf8E5M2>) -> tensor<8x4xf32>
        %v = linalg.generic ins(%w, %s : tensor<8x4xf32>, tensor<4xf32>) { arith.mulf }
    After:
        %r = tensor.expand_shape %s : tensor<4xf32> into tensor<1x4xf32>
        %v = "headrace.dequantize"(%q, %r) {scale_mode = "multiply"}
    """

    roots = (GENERIC, "arith.mulf", "arith.divf")

    def match(self, op: ir.Operation) -> ScaledOperand | Miss | None:
        if op.name != GENERIC:
            return super().match(op)
        maps = maps_of(op)
        for number, operand in enumerate(_inputs(op)):
            found = moved_unscaled(operand, op.block)
            users = _users(op, number)
            if found is None or len(users) != 1 or not maps[number].is_permutation:
                continue
            (step,) = users
            argument = body_of(op).arguments[number]
            if step.name not in MODES or list(step.operands).count(argument) != 1:
                continue
            position = list(step.operands).index(argument)
            if step.name == "arith.divf" and position != 0:
                continue
            # The scale by dimensions of the data, not by loops.
            loops = [str(e) for e in maps[number].results]
            place = tuple(loops.index(f"d{i}") for i in range(len(loops)))
            factor = settled(Term(step.operands[1 - position], _place(step, 1 - position, place)))
            if scale := scale_of(factor, step, shape_of(operand)):
                return ScaledOperand(number, *found, scale, MODES[step.name], (step,))
        return None

    def take(
        self, op: ir.Operation, match: ScaledOperand, value: ir.Value, rewriter: Rewriter
    ) -> None:
        _take_operand(op, match.operand, value, match.steps, rewriter)


def _place(step: ir.Operation, operand: int, place: tuple[int, ...]) -> tuple[int, ...]:
    """Empty for a scalar from outside the body."""
    return place if ir.block_of(step.operands[operand]) == step.block else ()


def _fp8_source(value: ir.Value) -> ir.Value | None:
    """The fp8 value that ``value`` is, or is the exact widening of."""
    if not isinstance(value.type, ir.RankedTensorType):
        return None
    if fp8_format(value.type) is not None:
        return value
    widened = unscaled(value)
    return widened.input if widened else None


def _inputs(generic: ir.Operation) -> list[ir.Value]:
    """The operands that a parallel generic reads; none of one that reduces."""
    if not is_parallel(generic):
        return []
    count = ir.DenseI32ArrayAttr(generic.attributes["operandSegmentSizes"])[0]
    return list(generic.operands)[:count]


def _users(generic: ir.Operation, number: int) -> list[ir.Operation]:
    return ir.users_of(body_of(generic).arguments[number])


def _take_operand(
    op: ir.Operation,
    number: int,
    value: ir.Value,
    steps: tuple[ir.Operation, ...],
    rewriter: Rewriter,
) -> None:
    """Makes ``value`` stand for what ``steps`` compute of an operand; ``op``
    goes if it does no more than that."""
    if op.name != GENERIC:
        rewriter.replace(op, [value])
        return
    argument = body_of(op).arguments[number]
    argument.set_type(element_of(value.type))
    for step in steps:
        step.results[0].replace_all_uses_with(argument)
        rewriter.erase(step)
    whole = is_pointwise(op) and maps_of(op)[number] == maps_of(op)[-1]
    if whole and ir.operations_of(body_of(op))[-1].operands[0] == argument:
        rewriter.replace(op, [value])
        return
    rewriter.set_operand(op, number, value)


_PATTERNS = (
    RaiseQuantize(GENERIC, "arith.truncf"),
    RaiseLinalgDequantize(),
    FoldLinalgScale(),
)
