"""Contractions of integers and floats."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.op_traits import LINALG_CONTRACTIONS
from ....dialects.upstream.arith import Scalars
from ....dialects.upstream.contraction import INTEGERS_TO_FLOATS, contraction_loops
from ....dialects.upstream.linalg import TensorBuilder
from ...rewriting import Pattern, Rewriter
from .contraction import same_contraction


@dataclass(frozen=True)
class _Convert:
    """The convert of an integer operand in a body."""

    operand: int
    name: str
    type: ir.Type


class ConvertIntegerOperands(Pattern[list[_Convert]]):
    """A contraction of floats only; the integers are converted before it.

    %y = linalg.matmul ins(%x, %w : tensor<4x8xbf16>, tensor<8x4xi8>) outs(%o : tensor<4x4xbf16>)
    // =>
    %c = linalg.generic ins(%w) { sitofp : i8 to bf16 }
    %y = linalg.matmul ins(%x, %c : tensor<4x8xbf16>, tensor<8x4xbf16>) outs(%o)

    In the body it would not compile: quirks.INTEGER_TO_BF16.
    """

    roots = tuple(LINALG_CONTRACTIONS)

    def match(self, op: ir.Operation) -> list[_Convert] | None:
        if contraction_loops(op, integers=True) is None:
            return None
        body = op.regions[0].blocks[0]
        found = [
            _Convert(i, inner.operation.name, inner.operation.results[0].type)
            for i, argument in enumerate(list(body.arguments)[:2])
            for inner in body.operations
            if inner.operation.name in INTEGERS_TO_FLOATS
            and inner.operation.operands[0] == argument
        ]
        return found or None

    def rewrite(self, op: ir.Operation, match: list[_Convert], rewriter: Rewriter) -> None:
        b = TensorBuilder(rewriter.before(op), op.location)
        operands = [op.operands[0], op.operands[1]]
        for convert in match:
            operands[convert.operand] = _converted(b, operands[convert.operand], convert)
        lhs, rhs = operands
        rewriter.replace(op, [same_contraction(b, op, lhs, rhs, op.operands[2])])


def _converted(b: TensorBuilder, value: ir.Value, convert: _Convert) -> ir.Value:
    def body(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
        return s.op(convert.name, [arguments[0]], convert.type)

    return b.elementwise(value, [], convert.type, body)
