"""The pass ``widen-sliced-scalars``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.upstream.linalg import TensorBuilder, tensor_type
from ...dialects.upstream.tensor import with_shape
from ..base import Pass


@dataclass(frozen=True)
class WidenSlicedScalars(Pass):
    """Has one element sliced from a tensor of no lower rank than it gets later.

    IREE moves a reshape of the element above the slice, also where the slice would then be of
    a higher rank than what it is taken from (quirks.SLICE_OF_LOWER_RANK). Such a reshape may
    come of any op on the element, once unit dimensions are folded: what decides is the highest
    rank of all that is computed from the element and has one element, too.

    Before::

        %s = tensor.extract_slice %x[%i] [1] [1] : tensor<8xf32> to tensor<f32>
        %y = tensor.expand_shape %s [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>

    After::

        %w = tensor.expand_shape %x [[0, 1]] output_shape [8, 1] : ... into tensor<8x1xf32>
        %s = tensor.extract_slice %w[%i, 0] [1, 1] [1, 1] : tensor<8x1xf32> to tensor<f32>
        %y = tensor.expand_shape %s [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
    """

    name: ClassVar[str] = "widen-sliced-scalars"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module):
            if op.name != "tensor.extract_slice" or not _has_one_element(op.results[0]):
                continue
            rank, reached = tensor_type(op.operands[0]).rank, _rank_reached(op.results[0])
            if 0 < rank < reached:
                _widen(op, reached - rank)


def _has_one_element(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType) and all(
        size == 1 for size in ir.RankedTensorType(value.type).shape
    )


def _rank_reached(value: ir.Value) -> int:
    """The highest rank among the tensors of one element that are computed from ``value``."""
    seen, waiting = {value: None}, [value]
    while waiting:
        for user in ir.users_of(waiting.pop()):
            found = [r for r in user.results if r not in seen and _has_one_element(r)]
            seen.update(dict.fromkeys(found))
            waiting += found
    return max(tensor_type(v).rank for v in seen)


def _widen(op: ir.Operation, added: int) -> None:
    """Takes the slice from its source with so many unit dimensions more behind its own."""
    b = TensorBuilder(ir.InsertionPoint(op), op.location)
    source = op.operands[0]
    rank = tensor_type(source).rank
    shape = [*tensor_type(source).shape, *[1] * added]
    groups = [[d] for d in range(rank - 1)] + [list(range(rank - 1, rank + added))]
    op.operands[0] = b.expand_shape(source, groups, with_shape(source.type, shape))
    with b.loc.context:
        for name, value in (("offsets", 0), ("sizes", 1), ("strides", 1)):
            values = list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]))
            widened = ir.DenseI64ArrayAttr.get([*values, *[value] * added])
            op.attributes[f"static_{name}"] = widened
