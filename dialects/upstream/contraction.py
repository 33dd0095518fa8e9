"""What a linalg contraction multiplies and adds, along which loops."""

from __future__ import annotations

from collections.abc import Collection

from .. import ir
from ..op_traits import FLOAT_CONVERTS, INTEGERS_TO_FLOATS
from .generic import GENERIC, maps_of


def contraction_loops(op: ir.Operation, *, integers: bool = False) -> list[list[int]] | None:
    """Which loop each dimension of lhs, rhs and out of a linalg contraction
    runs along; None for an op that is no multiply-and-add of two tensors.

    In its body lhs and rhs may be converted to the type of out, no more: MLIR's
    own test lets pass whatever has one operand, ``exp`` for instance. With
    ``integers`` also from integers to floats.
    """
    conversions = _CONVERSIONS | INTEGERS_TO_FLOATS if integers else _CONVERSIONS
    with op.context:
        body = op.regions[0].blocks[0] if ir.is_contraction_op(op) else None
        if body is None or not _is_multiply_add(body, conversions):
            return None
        return _positions([ir.AffineMapAttr(m).value for m in ir.indexing_maps(op)])


def scaled_contraction_loops(op: ir.Operation) -> list[list[int]] | None:
    """The same of lhs, rhs, their scales, and out, of a contraction whose
    operands are scaled in blocks (OCP microscaling formats): ``out +
    scaling_extf(lhs, lhs_scale) * scaling_extf(rhs, rhs_scale)``."""
    if op.name != GENERIC or len(op.operands) != 5:
        return None
    maps = maps_of(op)
    if not all(map_.is_projected_permutation for map_ in maps):
        return None
    return _positions(maps) if _is_scaled_multiply_add(op.regions[0].blocks[0]) else None


def _positions(maps: list[ir.AffineMap]) -> list[list[int]]:
    return [[ir.affine_position(e) for e in map_.results] for map_ in maps]


# Within one kind of number.
_CONVERSIONS = FLOAT_CONVERTS | {"arith.convertf", "arith.extsi", "arith.extui"}


def _is_multiply_add(body: ir.Block, conversions: Collection[str]) -> bool:
    """Whether a body yields ``out + lhs * rhs``, in the type of ``out``."""
    lhs, rhs, out = body.arguments
    factors = _factors(body, out)

    def converted(value: ir.Value) -> ir.Value:
        op = ir.defining_op(value)
        return op.operands[0] if op is not None and op.name in conversions else value

    return [converted(v) for v in factors] in ([lhs, rhs], [rhs, lhs])


def _is_scaled_multiply_add(body: ir.Block) -> bool:
    lhs, rhs, lhs_scale, rhs_scale, out = body.arguments
    producers = [ir.defining_op(v) for v in _factors(body, out)]
    scaled = [
        list(m.operands) for m in producers if m is not None and m.name == "arith.scaling_extf"
    ]
    return scaled in (
        [[lhs, lhs_scale], [rhs, rhs_scale]],
        [[rhs, rhs_scale], [lhs, lhs_scale]],
    )


def _factors(body: ir.Block, out: ir.Value) -> list[ir.Value]:
    """What a body multiplies, to add it to ``out`` and yield the sum; else none."""
    total = ir.defining_op(ir.operations_of(body)[-1].operands[0])
    if total is None or total.name not in ("arith.addf", "arith.addi"):
        return []
    products = [v for v in total.operands if v != out]
    product = ir.defining_op(products[0]) if len(products) == 1 else None
    if product is None or product.name not in ("arith.mulf", "arith.muli"):
        return []
    return list(product.operands)
