"""Finds scales of linalg and arith programs: values spread over the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.op_traits import SPLATS
from ....dialects.upstream.generic import GENERIC
from ....dialects.upstream.linalg import TensorBuilder, element_of, tensor_type
from ....dialects.upstream.tensor import with_shape
from ...analysis.linalg_terms import Place, Term, body_of, is_pointwise, number_of, settled


@dataclass(frozen=True)
class LinalgScale:
    """``term`` spread over data of ``rank`` dimensions; ``dims`` are those of
    the data along which it varies, in order, and of its own sizes."""

    term: Term
    rank: int
    dims: tuple[int, ...]

    def make(self, ip: ir.InsertionPoint, loc: ir.Location) -> ir.Value:
        """The value that a headrace op takes: of one element, or of the data's rank."""
        b = TensorBuilder(ip, loc)
        value, number = self.term.value, number_of(self.term)
        element = element_of(value.type)
        scalar = ir.RankedTensorType.get([], element, loc=loc)
        if number is not None:
            dense = ir.DenseElementsAttr.get_splat(
                scalar, ir.FloatAttr.get(element, number, loc=loc)
            )
            return b.op("arith.constant", [], scalar, {"value": dense})
        if not self.term.is_tensor:
            return b.op("tensor.from_elements", [value], scalar)
        shape = list(tensor_type(value).shape)
        if not self.dims or len(shape) == self.rank:
            return value
        kept = [d for d, along in enumerate(self.term.place) if along is not None]
        value = b.drop_unit_dims(value, [d for d in range(len(shape)) if d not in kept])
        sizes = dict(zip(self.dims, tensor_type(value).shape, strict=True))
        # The dims of size 1 go with the one after them, the last with the last.
        ends = [*(d + 1 for d in self.dims[:-1]), self.rank]
        starts = [0, *ends[:-1]]
        groups = [list(range(start, end)) for start, end in zip(starts, ends, strict=True)]
        wide = with_shape(value.type, [sizes.get(d, 1) for d in range(self.rank)])
        return b.expand_shape(value, groups, wide)


def find_scale(term: Term, shape: list[int]) -> LinalgScale | None:
    """``term`` as a scale of data of ``shape``, None if it is none.

    One element, a constant, a scalar, or a tensor that repeats itself along
    some of the data's dimensions and keeps their order.
    """
    term = _spread(term)
    if number_of(term) is not None:
        return LinalgScale(term, len(shape), ())
    if not term.is_tensor:
        op = ir.defining_op(term.value)
        parent = None if op is None else op.parent
        inside = parent is not None and parent.operation.name == GENERIC
        return None if inside else LinalgScale(term, len(shape), ())
    sizes = tensor_type(term.value).shape
    if any(size != 1 for size, along in zip(sizes, term.place, strict=True) if along is None):
        return None
    dims = [d for d in term.place if d is not None]
    if all(size == 1 for size in sizes):
        return LinalgScale(term, len(shape), ())
    if dims != sorted(set(dims)):
        return None
    # A value that varies freely over its shape is no scale, whatever its shape.
    if all(size == 1 for d, size in enumerate(shape) if d not in dims):
        return None
    if math.prod(shape) == 0:
        return None
    return LinalgScale(term, len(shape), tuple(dims))


def _spread(term: Term) -> Term:
    """Through what only broadcasts."""
    while term.is_tensor and (op := ir.defining_op(term.value)) is not None:
        source = _broadcast_source(op, term.place)
        if source is None:
            break
        term = source
    return term


def _broadcast_source(op: ir.Operation, place: Place) -> Term | None:
    if op.name in SPLATS:
        return Term(op.operands[0])
    if op.name == "linalg.broadcast":
        added = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        return Term(op.operands[0], tuple(p for d, p in enumerate(place) if d not in added))
    if not is_pointwise(op):
        return None
    inner = settled(Term(ir.operations_of(body_of(op))[-1].operands[0], place))
    return inner if inner.is_tensor else None
