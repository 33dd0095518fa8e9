"""How much a matrix product computes."""

from __future__ import annotations

from math import prod

from ...dialects import ir
from ...dialects.headrace import MatmulOp
from ...dialects.op_traits import CONTRACTIONS, OTHER_PRODUCTS, is_convolution
from ...dialects.ops.constraints import integers, shape_of
from ...dialects.upstream.contraction import scaled_contraction_loops
from ...dialects.upstream.generic import GENERIC
from ..rewriting import Miss
from .contractions import contraction_of


def is_matmul(op: ir.Operation) -> bool:
    """Whether ``op`` is a matrix product: ours, StableHLO's or linalg's."""
    if op.name == "headrace.matmul":
        return True
    return op.name in CONTRACTIONS and not isinstance(contraction_of(op), Miss)


def is_product(op: ir.Operation) -> bool:
    """Whether ``op`` is a matrix product in any form, scaled in blocks or quantized
    with zero points included, or a convolution."""
    if op.name == GENERIC:
        return is_matmul(op) or scaled_contraction_loops(op) is not None
    if op.name == MatmulOp.OPERATION_NAME or op.name in CONTRACTIONS:
        return True
    return op.name in OTHER_PRODUCTS or is_convolution(op)


def matmul_flops(op: ir.Operation) -> int | None:
    """2 x batch x M x N x K of a matrix product; None where a size is dynamic."""
    view = op.opview
    if isinstance(view, MatmulOp):
        lhs, dims = view.lhs, integers(view.lhs_contracting)
    else:
        found = contraction_of(op)
        assert not isinstance(found, Miss), op.name
        lhs, dims = found.lhs, list(found.lhs_contracting)
    shape = shape_of(lhs)
    sizes = [*ir.RankedTensorType(op.results[0].type).shape, *(shape[d] for d in dims)]
    return None if min(sizes, default=1) < 0 else 2 * prod(sizes)
