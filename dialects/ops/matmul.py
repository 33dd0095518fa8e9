"""The scaled matmul."""

from collections.abc import Sequence

from .. import ir
from ..fp8 import fp8_format
from .base import HeadraceOp
from .constraints import (
    F32Tensor,
    PlainTensor,
    element_type_of,
    integers,
    is_per_tensor,
    is_wide_float,
    scale_error,
    shape_of,
    shapes_agree,
    sizes_agree,
)
from .declaration import Operand, Result, attribute

EPILOGUES = ("none", "relu", "gelu_tanh")


def _no_dims() -> ir.DenseI64ArrayAttr:
    return ir.DenseI64ArrayAttr.get([])


class MatmulOp(HeadraceOp, name="matmul"):
    """A matrix product with f32 accumulation and one rounding at the end.

    In this order, all in f32: products are accumulated, the scales of lhs and
    rhs multiply the sum (one after the other: their product could overflow),
    `bias` is added, `epilogue` is applied, the result is multiplied by
    `result_scale`; then one rounding to the result type, saturating if that
    is an fp8 type. f64 operands accumulate in f64.

    Dimensions are StableHLO dot_general's: the result has the batch dims,
    then the free dims of lhs, then those of rhs. A scale has one element, or
    its operand's rank with size 1 along every contracting dim. The bias has
    the result's rank with sizes 1 or the result's.
    """

    lhs: Operand[PlainTensor]
    rhs: Operand[PlainTensor]
    lhs_scale: Operand[F32Tensor] | None
    rhs_scale: Operand[F32Tensor] | None
    bias: Operand[F32Tensor] | None
    result_scale: Operand[F32Tensor] | None
    lhs_batch: ir.DenseI64ArrayAttr = attribute(default_factory=_no_dims)
    rhs_batch: ir.DenseI64ArrayAttr = attribute(default_factory=_no_dims)
    lhs_contracting: ir.DenseI64ArrayAttr
    rhs_contracting: ir.DenseI64ArrayAttr
    epilogue: ir.StringAttr = attribute(default_factory=lambda: ir.StringAttr.get("none"))
    result: Result[PlainTensor]

    @property
    def lhs_free(self) -> list[int]:
        """Dims of lhs that are neither batch nor contracting, in order."""
        return free_dims(
            len(shape_of(self.lhs)),
            [*integers(self.lhs_batch), *integers(self.lhs_contracting)],
        )

    @property
    def rhs_free(self) -> list[int]:
        return free_dims(
            len(shape_of(self.rhs)),
            [*integers(self.rhs_batch), *integers(self.rhs_contracting)],
        )

    def verify_invariants(self) -> str | None:
        return (
            self._types_error() or self._dims_error() or self._shape_error() or self._scales_error()
        )

    def _types_error(self) -> str | None:
        for name in ("lhs", "rhs", "result"):
            type_ = element_type_of(getattr(self, name))
            if not is_wide_float(type_) and fp8_format(type_) is None:
                return f"{name} must have a float element type, got {type_}"
        if self.epilogue.value not in EPILOGUES:
            return f"epilogue must be one of {', '.join(EPILOGUES)}, got '{self.epilogue.value}'"
        return None

    def _dims_error(self) -> str | None:
        for kind in ("batch", "contracting"):
            dims = [integers(getattr(self, f"{side}_{kind}")) for side in ("lhs", "rhs")]
            if len(dims[0]) != len(dims[1]):
                return f"lhs and rhs have different numbers of {kind} dims"
        for side in ("lhs", "rhs"):
            rank = len(shape_of(getattr(self, side)))
            used = [
                *integers(getattr(self, f"{side}_batch")),
                *integers(getattr(self, f"{side}_contracting")),
            ]
            if any(not 0 <= d < rank for d in used) or len(set(used)) != len(used):
                return f"dims {used} of {side} are not distinct dims of rank {rank}"
        for kind in ("batch", "contracting"):
            pairs = zip(
                integers(getattr(self, f"lhs_{kind}")),
                integers(getattr(self, f"rhs_{kind}")),
                strict=True,
            )
            for left, right in pairs:
                a, b = shape_of(self.lhs)[left], shape_of(self.rhs)[right]
                if not sizes_agree(a, b):
                    return f"{kind} sizes differ: {a} and {b}"
        return None

    def _shape_error(self) -> str | None:
        lhs, rhs = shape_of(self.lhs), shape_of(self.rhs)
        expected = [lhs[d] for d in integers(self.lhs_batch)]
        expected += [lhs[d] for d in self.lhs_free]
        expected += [rhs[d] for d in self.rhs_free]
        if shapes_agree(expected, shape_of(self.result)):
            return None
        return f"result shape {shape_of(self.result)} should be {expected}"

    def _scales_error(self) -> str | None:
        for side in ("lhs", "rhs"):
            scale: ir.Value | None = getattr(self, f"{side}_scale")
            if scale is None or is_per_tensor(shape_of(scale)):
                continue
            data = shape_of(getattr(self, side))
            if error := scale_error(shape_of(scale), data):
                return f"{side}_{error}"
            contracting = integers(getattr(self, f"{side}_contracting"))
            for dim, (s, d) in enumerate(zip(shape_of(scale), data, strict=True)):
                if s == 1 or (dim not in contracting and sizes_agree(s, d)):
                    continue
                return f"{side}_scale varies along dimension {dim}, which cannot leave the sum"
        if self.result_scale is not None and not is_per_tensor(shape_of(self.result_scale)):
            return "result_scale must have one element"
        if self.bias is not None:
            bias, result = shape_of(self.bias), shape_of(self.result)
            if len(bias) != len(result) or any(
                b != 1 and not sizes_agree(b, r) for b, r in zip(bias, result, strict=True)
            ):
                return f"bias of shape {bias} does not broadcast to {result}"
        return None


def free_dims(rank: int, used: Sequence[int]) -> list[int]:
    """The dims below ``rank`` that are not in ``used``, ascending."""
    return [d for d in range(rank) if d not in used]


def matmul(
    lhs: ir.Value,
    rhs: ir.Value,
    result_type: ir.Type,
    *,
    lhs_contracting: Sequence[int],
    rhs_contracting: Sequence[int],
    lhs_batch: Sequence[int] = (),
    rhs_batch: Sequence[int] = (),
    lhs_scale: ir.Value | None = None,
    rhs_scale: ir.Value | None = None,
    bias: ir.Value | None = None,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> MatmulOp:
    """Builds a MatmulOp without epilogue; shapes and types as in its docstring."""
    with loc.context:
        return MatmulOp.create(
            [result_type],
            loc=loc,
            ip=ip,
            lhs=lhs,
            rhs=rhs,
            lhs_scale=lhs_scale,
            rhs_scale=rhs_scale,
            bias=bias,
            lhs_batch=ir.DenseI64ArrayAttr.get(list(lhs_batch)),
            rhs_batch=ir.DenseI64ArrayAttr.get(list(rhs_batch)),
            lhs_contracting=ir.DenseI64ArrayAttr.get(list(lhs_contracting)),
            rhs_contracting=ir.DenseI64ArrayAttr.get(list(rhs_contracting)),
        )
