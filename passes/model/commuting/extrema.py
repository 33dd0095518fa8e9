"""Extrema of a gathered value: taken on the parts, then over the group.

The amax of a weight is what its fp8 scale is made from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.headrace import MovingCollectiveOp
from ....dialects.ops.collectives import build_reduction, reduction_bytes
from ....dialects.ops.constraints import element_type_of, is_wide_float, tensor_bytes
from ....dialects.upstream.linalg import TensorBuilder, with_element_type
from ....dialects.upstream.stablehlo import i64_array, splat_element
from ...analysis.stablehlo_reductions import find_reduction
from ...rewriting import Miss, Rewriter
from .parts import Place

_SIGN = ("stablehlo.abs", "stablehlo.negate")


@dataclass(frozen=True)
class Extremum:
    """``kind``: max or min; ``sent``: its type on the wire, which holds it exactly."""

    kind: str
    sent: ir.Type

    def received_bytes(self, view: MovingCollectiveOp) -> int | None:
        size = tensor_bytes(self.sent)
        return None if size is None else reduction_bytes(view, size)

    def over_group(
        self, view: MovingCollectiveOp, part: ir.Value, reduce: ir.Operation, rewriter: Rewriter
    ) -> ir.Value:
        """That of the group, of what each device's ``part`` is."""
        b = TensorBuilder(rewriter.before(reduce), reduce.location)
        if part.type != self.sent:
            part = b.op("stablehlo.convert", [part], self.sent)
        whole = build_reduction(view, part, self.kind, loc=b.loc, ip=b.ip).operation
        rewriter.created(whole)
        result, type_ = whole.results[0], reduce.results[0].type
        return result if type_ == self.sent else b.op("stablehlo.convert", [result], type_)


def extremum(view: MovingCollectiveOp, op: ir.Operation, place: Place | None) -> Extremum | None:
    """Whether the op is that of a value with the gathered dimension at ``place``, along this
    dimension at least, from a constant on. Not of fp8, which no channel reduces."""
    if op.name != "stablehlo.reduce" or len(op.operands) != 2 or view.gathered_dim is None:
        return None
    kind = find_reduction(op)
    # Extrema have no place.
    if not place or isinstance(kind, Miss) or kind[0] not in ("max", "min"):
        return None
    if not is_wide_float(kind[1]) and not isinstance(kind[1], ir.IntegerType):
        return None
    start = splat_element(op.operands[1])
    if place["dim"] not in i64_array(op, "dimensions") or start is None:
        return None
    sent = op.results[0].type
    if isinstance(start, ir.FloatAttr) and start.value in (0.0, math.inf, -math.inf):
        sent = with_element_type(sent, _exact_type(op.operands[0]))
    return Extremum(kind[0], sent)


def _exact_type(value: ir.Value) -> ir.Type:
    """The type that the elements of ``value`` were widened from, but for their signs."""
    own = element_type_of(value)
    op = ir.producer_behind(value, _SIGN)
    if op is None or op.name != "stablehlo.convert" or not isinstance(own, ir.FloatType):
        return own
    source = element_type_of(op.operands[0])
    is_narrower = isinstance(source, ir.BF16Type | ir.F16Type) and source.width < own.width
    return source if is_narrower else own
