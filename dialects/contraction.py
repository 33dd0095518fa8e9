"""What a linalg contraction multiplies and adds, along which loops."""

from __future__ import annotations

from .mlir import (
    AffineMapAttr,
    Block,
    Operation,
    Value,
    affine_position,
    defining_op,
    indexing_maps,
    is_contraction_op,
    operations_of,
)


def contraction_loops(op: Operation) -> list[list[int]] | None:
    """Which loop each dimension of lhs, rhs and out of a linalg contraction
    runs along; None for an op that is no multiply-and-add of two tensors.

    In its body lhs and rhs may be converted to the type of out, no more: MLIR's
    own test lets pass whatever has one operand, ``exp`` for instance.
    """
    with op.context:
        if not is_contraction_op(op) or not _is_multiply_add(op.regions[0].blocks[0]):
            return None
        maps = [AffineMapAttr(m).value for m in indexing_maps(op)]
    return [[affine_position(e) for e in map_.results] for map_ in maps]


_CONVERSIONS = ("arith.extf", "arith.truncf", "arith.convertf", "arith.extsi", "arith.extui")


def _is_multiply_add(body: Block) -> bool:
    """Whether a body yields ``out + lhs * rhs``, in the type of ``out``."""
    lhs, rhs, out = body.arguments

    def converted(value: Value) -> Value:
        op = defining_op(value)
        return op.operands[0] if op is not None and op.name in _CONVERSIONS else value

    total = defining_op(operations_of(body)[-1].operands[0])
    if total is None or total.name not in ("arith.addf", "arith.addi"):
        return False
    products = [v for v in total.operands if v != out]
    product = defining_op(products[0]) if len(products) == 1 else None
    if product is None or product.name not in ("arith.mulf", "arith.muli"):
        return False
    factors = [converted(v) for v in product.operands]
    return factors in ([lhs, rhs], [rhs, lhs])
