"""fuse-scaled-matmul."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import matmul, quantize
from ...dialects.op_traits import CONTRACTIONS
from ...dialects.ops.base import WIDE_REASON
from ...dialects.ops.constraints import DYNAMIC, element_type_of, is_per_tensor, shape_of
from ...dialects.upstream.arith import Scalars
from ...dialects.upstream.linalg import with_element_type
from ..analysis.contractions import Contraction, contraction_of
from ..analysis.fp8_values import (
    Fp8Value,
    MatmulOperand,
    WideEnd,
    carry_scale,
    rebuild_narrow,
    roundings_to_narrow,
    wide_ops,
)
from ..analysis.near_fp8 import comes_from_fp8, is_made_of_fp8
from ..analysis.pipelined_mark import PEELED
from ..base import Pass
from ..remarks import remark
from ..rewriting import Miss, Pattern, Rewriter, apply_patterns

LHS_ROUNDING = "headrace.lhs_rounding"
RHS_ROUNDING = "headrace.rhs_rounding"


@dataclass(frozen=True)
class FuseScaledMatmul(Pass):
    """Turns dots of dequantized values into scaled fp8 matmuls.

    Both operands must come from an fp8 value: directly, or by a dequantize
    (scale optional), converts between wide types and any data movement, which is
    then done on the fp8 value. Works on StableHLO's dots and on linalg's contractions. All pairs
    of fp8 types are taken, OCP and FNUZ mixed as well: lowering decodes what
    a target does not multiply.

    The matmul by itself is more precise than the source, not equal bit for
    bit: where the source multiplies each element by a bf16 scale and rounds,
    the matmul multiplies the f32 sum by the same bf16 scale widened to f32.
    With scales that are powers of two and sums that are exact in f32 both
    agree. The attributes ``headrace.lhs_rounding`` and ``.rhs_rounding`` keep
    the type that the source rounded to: a target that decodes its operands
    anyway (cpu) then gives the source's numbers. A difference of 1e-3 is no
    small one in a quantized model: it moves values to other fp8 codes, and
    six layers on it has grown to 6e-2. A dequantize that divides gives the
    scale 1/s, computed once in f32.

    What the source overflows to, or makes NaN of, before the sum is not
    kept where scales are applied after it, as in XLA's own rewriting of GPU
    matmuls. An infinite scale, or division by zero, makes every row with a
    zero NaN in the source (0 * inf); here it is infinite unless the sum is 0
    or NaN. NaN scales and values give NaN in both, and a scale of 0 gives 0.
    Division by a scale over 2^126 gives 0 where subnormal numbers are taken
    as 0, for 1/s is one; so does division by a subnormal scale as by 0.

    A contraction with an operand near an fp8 value that does not become a
    matmul gets a remark and the attribute ``headrace.wide_reason``.
    """

    name: ClassVar[str] = "fuse-scaled-matmul"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module, bodies=False):
            if op.name in CONTRACTIONS and WIDE_REASON in op.attributes:
                del op.attributes[WIDE_REASON]
        apply_patterns(module, [DequantizedContraction()])


@dataclass(frozen=True)
class FusedMatmul:
    """A contraction, and the fp8 values behind its operands."""

    contraction: Contraction
    lhs: Fp8Value
    rhs: Fp8Value


class DequantizedContraction(Pattern[FusedMatmul]):
    """A contraction of two values that come from fp8.

    Before (types shortened):
        %w = "headrace.dequantize"(%q, %s) : (4x8xf8E4M3FN, bf16) -> 4x8xbf16
        %t = stablehlo.transpose %w, dims = [1, 0] : (4x8xbf16) -> 8x4xbf16
        %x = "headrace.dequantize"(%p) : (2x8xf8E4M3FN) -> 2x8xbf16
        %y = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : ... -> 2x4xbf16

    After:
        %f = stablehlo.convert %s : (bf16) -> f32
        %t = stablehlo.transpose %q, dims = [1, 0] : (4x8xf8E4M3FN) -> 8x4xf8E4M3FN
        %y = "headrace.matmul"(%p, %t, %f) {rhs_contracting = array<i64: 0>, ...}
            : (2x8xf8E4M3FN, 8x4xf8E4M3FN, f32) -> 2x4xbf16

    Wide values with other users stay; wide ones without are erased.
    """

    roots = tuple(CONTRACTIONS)

    def match(self, op: ir.Operation) -> FusedMatmul | Miss | None:
        found = contraction_of(op)
        if found is None:
            return None
        search = MatmulOperand()
        lhs, rhs = _operand(search, found.lhs), _operand(search, found.rhs)
        if isinstance(lhs, Fp8Value) and isinstance(rhs, Fp8Value):
            reason = (
                found.reason
                or _scale_reason("lhs", lhs, found.lhs_contracting)
                or _scale_reason("rhs", rhs, found.rhs_contracting)
            )
            return Miss(reason) if reason else FusedMatmul(found, lhs, rhs)
        reasons: list[str] = []
        derived = False
        for side, source, value in (("lhs", lhs, found.lhs), ("rhs", rhs, found.rhs)):
            if isinstance(source, Fp8Value):
                derived = True
                continue
            near = comes_from_fp8(value)
            derived = derived or near
            reasons.append(f"{side} stays wide: {_explain(source, value, near)}")
        return Miss("; ".join(reasons)) if derived else None

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, miss.reason)
        op.attributes[WIDE_REASON] = ir.StringAttr.get(miss.reason, op.context)

    def rewrite(self, op: ir.Operation, match: FusedMatmul, rewriter: Rewriter) -> None:
        found = match.contraction
        stablehlo = op.name.startswith("stablehlo.")
        built: dict[ir.Value, ir.Value] = {}
        fp8_result = fp8_format(found.result_type) is not None
        result_type = found.result_type
        if fp8_result:
            result_type = with_element_type(result_type, ir.F32Type.get(op.context))
        product = matmul(
            rebuild_narrow(match.lhs, built),
            rebuild_narrow(match.rhs, built),
            result_type,
            lhs_batch=found.lhs_batch,
            rhs_batch=found.rhs_batch,
            lhs_contracting=found.lhs_contracting,
            rhs_contracting=found.rhs_contracting,
            lhs_scale=_factor(match.lhs, stablehlo),
            rhs_scale=_factor(match.rhs, stablehlo),
            bias=found.init,
            loc=op.location,
            ip=rewriter.before(op),
        )
        if PEELED in op.attributes:
            product.attributes[PEELED] = op.attributes[PEELED]
        for name, source in ((LHS_ROUNDING, match.lhs), (RHS_ROUNDING, match.rhs)):
            for rounding in roundings_to_narrow(source):
                product.attributes[name] = ir.TypeAttr.get(rounding)
        result: ir.Value = product.result
        if fp8_result:
            # A dot's own rounding does not saturate, headrace.matmul's does.
            result = quantize(
                result,
                None,
                found.result_type,
                saturate=False,
                loc=op.location,
                ip=rewriter.before(op),
            ).result
        rewriter.replace(op, [result])
        for wide in wide_ops(match.lhs, match.rhs):
            rewriter.erase_if_dead(wide)


def _operand(search: MatmulOperand, value: ir.Value) -> Fp8Value | Miss | WideEnd:
    source = search.find(value)
    if not isinstance(source, Fp8Value):
        return source
    if isinstance(element_type_of(value), ir.F64Type):
        return Miss("its dequantize computes in f64")
    roundings = roundings_to_narrow(source)
    if len(roundings) > 1:
        return Miss(f"its dequantize is rounded to {roundings[0]}, and then to {roundings[1]}")
    return source


def _scale_reason(side: str, source: Fp8Value, contracting: tuple[int, ...]) -> str | None:
    """Why a scale cannot be taken out of the sum."""
    scale = source.scale_shape
    if is_per_tensor(list(scale)):
        return None
    if source.divides and DYNAMIC in scale:
        return f"{side} stays wide: it is divided by a scale of dynamic shape"
    for dim, (size, data) in enumerate(zip(scale, shape_of(source.value), strict=True)):
        if size != 1 and dim in contracting:
            return f"{side} stays wide: its scale varies along contracting dimension {dim}"
        if size not in (1, data):
            return f"{side} stays wide: its scale is per block along dimension {dim}"
    return None


def _explain(found: Miss | WideEnd, value: ir.Value, near: bool) -> str:
    if isinstance(found, Miss):
        return found.reason
    end = _producer(found.value)
    if is_made_of_fp8(value):
        return f"{end} of an fp8 value is no dequantize"
    if near:
        return f"{end} stands between the dequantize and the dot"
    return f"it comes from {end}, not from an fp8 value"


def _producer(value: ir.Value) -> str:
    """Who gives ``value``, in words."""
    op = ir.defining_op(value)
    if op is not None:
        return f"'{op.name}'"
    parent = ir.BlockArgument(value).owner.owner.operation.name
    return "a function argument" if parent == "func.func" else f"a value that '{parent}' carries"


def _factor(source: Fp8Value, stablehlo: bool) -> ir.Value | None:
    """The f32 factor of the sum: the scale, or its reciprocal.

    Each op goes right before the one that it stands for, as for the fp8 value,
    so that what was done outside a loop is done there still.
    """
    scale = source.scale
    if scale is None or source.dequantize is None:
        return None
    s = Scalars(ir.InsertionPoint(source.dequantize), source.dequantize.location)
    f32 = with_element_type(scale.type, ir.F32Type.get(s.loc.context))
    if scale.type != f32:
        scale = s.op("stablehlo.convert" if stablehlo else "arith.extf", [scale], f32)
    if source.divides:
        one = ir.FloatAttr.get(f32.element_type, 1.0, loc=s.loc)
        value: dict[str, ir.Attribute] = {"value": ir.DenseElementsAttr.get_splat(f32, one)}
        dialect, divide = ("stablehlo", "divide") if stablehlo else ("arith", "divf")
        ones = s.op(f"{dialect}.constant", [], f32, value)
        scale = s.op(f"{dialect}.{divide}", [ones, scale], f32)
    return carry_scale(source, scale)
