"""Matrix products of ours, StableHLO and linalg: in one form, and what they compute."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

from ...dialects import ir
from ...dialects.headrace import MatmulOp
from ...dialects.op_traits import CONTRACTIONS, OTHER_PRODUCTS, is_convolution
from ...dialects.ops.constraints import element_type_of, integers, shape_of
from ...dialects.upstream.contraction import contraction_loops, scaled_contraction_loops
from ...dialects.upstream.generic import GENERIC
from .movement.values import is_positive_zero


@dataclass(frozen=True)
class Contraction:
    """A matrix product, with dimension numbers as in ``headrace.matmul``.

    ``init`` is what the product is added to, None for zero. ``reason`` is why
    a matmul that accumulates in f32 cannot stand for the op.
    """

    lhs: ir.Value
    rhs: ir.Value
    result_type: ir.RankedTensorType
    lhs_batch: tuple[int, ...]
    rhs_batch: tuple[int, ...]
    lhs_contracting: tuple[int, ...]
    rhs_contracting: tuple[int, ...]
    init: ir.Value | None = None
    reason: str | None = None


def contraction_of(op: ir.Operation) -> Contraction | None:
    """The contraction that ``op`` is, None for anything else."""
    if op.name == "stablehlo.dot_general":
        return _dot_general(op)
    if op.name == "stablehlo.dot":
        return _dot(op)
    return _linalg(op)


def _dot_general(op: ir.Operation) -> Contraction:
    numbers = str(op.attributes["dot_dimension_numbers"])

    def dims(name: str) -> tuple[int, ...]:
        found = re.search(rf"{name} = \[([^\]]*)\]", numbers)
        return tuple(int(d) for d in found[1].split(",")) if found and found[1] else ()

    return Contraction(
        op.operands[0],
        op.operands[1],
        ir.RankedTensorType(op.results[0].type),
        dims("lhs_batching_dimensions"),
        dims("rhs_batching_dimensions"),
        dims("lhs_contracting_dimensions"),
        dims("rhs_contracting_dimensions"),
        reason=_type_reason(op) or _algorithm_reason(op),
    )


def _dot(op: ir.Operation) -> Contraction:
    """``stablehlo.dot``: last dim of lhs with first dim of rhs."""
    lhs = ir.RankedTensorType(op.operands[0].type)
    result = ir.RankedTensorType(op.results[0].type)
    lhs_dim = (lhs.rank - 1,)
    return Contraction(
        op.operands[0], op.operands[1], result, (), (), lhs_dim, (0,), reason=_type_reason(op)
    )


def _algorithm_reason(op: ir.Operation) -> str | None:
    """A dot algorithm may ask for more than exact products summed in f32."""
    if "algorithm" not in op.attributes:
        return None
    found = re.search(r"accumulation_type = (\w+)", str(op.attributes["algorithm"]))
    if found and found[1] == "f64":
        return "the dot stays wide: its algorithm asks for accumulation in f64"
    return None


def _type_reason(op: ir.Operation) -> str | None:
    values = (*op.operands, *op.results)
    if any(isinstance(ir.RankedTensorType(v.type).element_type, ir.F64Type) for v in values):
        return "the dot stays wide: f64 arithmetic would lose bits in f32 accumulation"
    return None


def _linalg(op: ir.Operation) -> Contraction | None:
    loops = contraction_loops(op)
    if loops is None or len(op.results) != 1:
        return None
    lhs, rhs, out = loops
    batch = [d for d in out if d in lhs and d in rhs]
    sums = [d for d in lhs if d in rhs and d not in out]
    if any(d not in out and d not in sums for d in (*lhs, *rhs)):
        return None
    swapped = False
    expected = [*batch, *_free(lhs, batch, sums), *_free(rhs, batch, sums)]
    if out != expected:
        swapped = True
        lhs, rhs = rhs, lhs
        expected = [*batch, *_free(lhs, batch, sums), *_free(rhs, batch, sums)]
    init: ir.Value | None = op.operands[2]
    reason = _type_reason(op)
    if out != expected:
        reason = (
            reason
            or "the dot stays wide: its result's dimensions are not in the order batch, lhs, rhs"
        )
    if is_positive_zero(init):
        init = None
    elif not isinstance(element := element_type_of(init), ir.F32Type):
        reason = reason or f"the dot stays wide: it adds to a value of {element}"
    return Contraction(
        op.operands[1 if swapped else 0],
        op.operands[0 if swapped else 1],
        ir.RankedTensorType(op.results[0].type),
        *(tuple(side.index(d) for d in dims) for dims in (batch, sums) for side in (lhs, rhs)),
        init=init,
        reason=reason,
    )


def _free(loops: list[int], batch: list[int], sums: list[int]) -> list[int]:
    return [d for d in loops if d not in batch and d not in sums]


def is_matmul(op: ir.Operation) -> bool:
    """Whether ``op`` is a matrix product: ours, StableHLO's or linalg's."""
    if op.name == "headrace.matmul":
        return True
    return op.name in CONTRACTIONS and contraction_of(op) is not None


def is_product(op: ir.Operation) -> bool:
    """Whether ``op`` is a matrix product in any form, scaled in blocks or quantized
    with zero points included, or a convolution."""
    if op.name == GENERIC:
        return is_matmul(op) or scaled_contraction_loops(op) is not None
    return may_be_product(op)


def may_be_product(op: ir.Operation) -> bool:
    """The same by its name alone, which takes no time."""
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
        assert found is not None, op.name
        lhs, dims = found.lhs, list(found.lhs_contracting)
    shape = shape_of(lhs)
    sizes = [*ir.RankedTensorType(op.results[0].type).shape, *(shape[d] for d in dims)]
    return None if min(sizes, default=1) < 0 else 2 * prod(sizes)
