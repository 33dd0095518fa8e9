"""The pass ``legalize-fp8``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import DequantizeOp, QuantizeOp
from ...dialects.op_traits import FLOAT_CONVERTS, SCALAR_MOVES
from ...dialects.upstream.arith import Scalars
from ...dialects.upstream.linalg import Body, TensorBuilder, element_of, tensor_type
from ..rewriting import Miss, Pattern, Rewriter, apply_patterns
from ..targets.fp8_support import Fp8Support
from ..targets.lookup import TargetPass
from .converts import bf16_rounding
from .fp8.convert import from_fp8, to_fp8
from .fp8.resources import inline_resources
from .fp8.scalars import legalize_scalars
from .fp8.scales import blocking_of, join, scale_access, split


@dataclass(frozen=True)
class LegalizeFp8(TargetPass):
    """Lowers quantize, dequantize and fp8 arithmetic to what the target can do.

    Arithmetic stays in the type it was written in, with one rounding into
    fp8 (reference: the numerics rules of the OCP 8-bit floating point
    specification and ml_dtypes, which XLA uses).
    """

    name: ClassVar[str] = "legalize-fp8"

    def run(self, module: ir.Operation) -> None:
        support = self.facts.fp8
        inline_resources(module)
        # First, as what the patterns make is legal and need not be looked at.
        legalize_scalars(module, support)
        apply_patterns(module, [LowerQuantize(support), LowerDequantize(support)])
        if not support.half_floats:
            _refuse_half_floats(module, self.target)


def _refuse_half_floats(module: ir.Operation, target: str) -> None:
    """Raises HeadraceError at the first op on bf16 or f16 that the target cannot compute.

    IREE's vmvx moves bf16 and f16 values and converts bf16; for the rest its
    own messages name ops that no user wrote.
    """
    for op in ir.walk(module):
        if not op.name.startswith(("arith.", "math.")) or op.name in SCALAR_MOVES:
            continue
        for value in (*op.operands, *op.results):
            element = element_of(value.type)
            if isinstance(element, ir.BF16Type) and op.name in FLOAT_CONVERTS:
                continue
            if isinstance(element, ir.BF16Type | ir.F16Type):
                raise ir.error_at(
                    op,
                    f"target {target} has no {element} arithmetic ('{op.name}'); "
                    "write the program in f32 or compile it for target cpu",
                )


class LowerQuantize(Pattern[QuantizeOp]):
    """One elementwise op: scale, clamp, convert.

    %q = "headrace.quantize"(%x, %s) : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xf8E4M3FN>
    // =>
    %q = linalg.generic ins(%x, %s) { divf; integer encode of the bits; bitcast }
    """

    roots = (QuantizeOp.OPERATION_NAME,)

    def __init__(self, support: Fp8Support) -> None:
        self.support = support

    def match(self, op: ir.Operation) -> QuantizeOp | Miss:
        return QuantizeOp(op)

    def rewrite(self, op: ir.Operation, match: QuantizeOp, rewriter: Rewriter) -> None:
        result = tensor_type(match.result)
        format_ = fp8_format(result)
        assert format_ is not None
        saturate = match.saturate.value
        name = "divf" if match.scale_mode.value == "divide" else "mulf"

        def body(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
            value = arguments[0]
            if match.scale is not None:
                value = bf16_rounding.binary(s, name, value, arguments[1])
            return to_fp8(s, value, format_, self.support, saturate=saturate)

        _elementwise(match, match.scale, result.element_type, body, rewriter)


class LowerDequantize(Pattern[DequantizeOp]):
    """One elementwise op: convert, scale.

    %x = "headrace.dequantize"(%q, %s) : (tensor<4xf8E4M3FN>, tensor<f32>) -> tensor<4xf32>
    // =>
    %x = linalg.generic ins(%q, %s) { bitcast; integer decode; mulf }
    """

    roots = (DequantizeOp.OPERATION_NAME,)

    def __init__(self, support: Fp8Support) -> None:
        self.support = support

    def match(self, op: ir.Operation) -> DequantizeOp | Miss:
        return DequantizeOp(op)

    def rewrite(self, op: ir.Operation, match: DequantizeOp, rewriter: Rewriter) -> None:
        element = tensor_type(match.result).element_type
        format_ = fp8_format(match.input.type)
        assert format_ is not None
        name = "divf" if match.scale_mode.value == "divide" else "mulf"

        def body(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
            value = from_fp8(s, arguments[0], format_, element, self.support)
            if match.scale is not None:
                value = bf16_rounding.binary(s, name, value, arguments[1])
            return value

        _elementwise(match, match.scale, element, body, rewriter)


def _elementwise(
    op: QuantizeOp | DequantizeOp,
    scale: ir.Value | None,
    element: ir.Type,
    body: Body,
    rewriter: Rewriter,
) -> None:
    b = TensorBuilder(rewriter.before(op), op.location)
    shape = list(tensor_type(op.input).shape)
    blocking = blocking_of(shape, None if scale is None else list(tensor_type(scale).shape))
    others: list[tuple[ir.Value, ir.AffineMap]] = []
    if scale is not None:
        loops = [group[0] for group in blocking.groups]
        others.append(scale_access(b, scale, loops, len(blocking.shape)))
    value = b.elementwise(split(b, op.input, blocking), others, element, body)
    value = join(b, value, blocking, shape)
    if value.type != op.result.type:
        value = b.op("tensor.cast", [value], op.result.type)
    rewriter.replace(op, [value])
