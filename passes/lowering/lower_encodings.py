"""The pass ``lower-encodings``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.headrace import SetEncodingOp, UnsetEncodingOp
from ...dialects.upstream.linalg import DYNAMIC, TensorBuilder, tensor_type
from ..base import Pass
from ..rewriting import Miss, Pattern, Rewriter, apply_patterns


@dataclass(frozen=True)
class LowerEncodings(Pass):
    """Turns headrace.set_encoding and unset_encoding into IREE's own ops."""

    name: ClassVar[str] = "lower-encodings"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [LowerEncoding()])


class LowerEncoding(Pattern[ir.Value]):
    """The same op of the iree_encoding dialect, dynamic sizes given.

    %e = "headrace.set_encoding"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32, #enc>
    // =>
    %e = iree_encoding.set_encoding %x : tensor<?x4xf32> -> tensor<?x4xf32, #enc>
    """

    roots = (SetEncodingOp.OPERATION_NAME, UnsetEncodingOp.OPERATION_NAME)

    def match(self, op: ir.Operation) -> ir.Value | Miss:
        return op.operands[0]

    def rewrite(self, op: ir.Operation, match: ir.Value, rewriter: Rewriter) -> None:
        b = TensorBuilder(rewriter.before(op), op.location)
        name = op.name.replace("headrace.", "iree_encoding.")
        type_ = tensor_type(op.results[0])
        operands = [match]
        attributes: dict[str, ir.Attribute] = {}
        if op.name == UnsetEncodingOp.OPERATION_NAME:
            operands += [b.dim(match, i) for i, s in enumerate(type_.shape) if s == DYNAMIC]
            with op.location.context:
                attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(
                    [1, len(operands) - 1, 0]
                )
        rewriter.replace(op, [b.op(name, operands, type_, attributes)])
