"""Type constraints of the headrace ops, and the checks that several ops share."""

from __future__ import annotations

from .. import ir
from ..fp8 import fp8_format
from .declaration import TypeConstraint

DYNAMIC = ir.ShapedType.get_dynamic_size()
# Analyses keep a number for each device and value.
MAX_DEVICE_COUNT = 1 << 16


def is_wide_float(type_: ir.Type) -> bool:
    """Whether arithmetic is done in this type: bf16, f16, f32 or f64."""
    return isinstance(type_, ir.BF16Type | ir.F16Type | ir.F32Type | ir.F64Type)


def _is_tensor(type_: ir.Type) -> bool:
    return isinstance(type_, ir.RankedTensorType) and type_.encoding is None


class AnyTensor(TypeConstraint):
    description = "ranked tensor"

    @staticmethod
    def accepts(type: ir.Type) -> bool:
        return isinstance(type, ir.RankedTensorType)


class PlainTensor(TypeConstraint):
    description = "ranked tensor without encoding"

    @staticmethod
    def accepts(type: ir.Type) -> bool:
        return _is_tensor(type)


class WideTensor(TypeConstraint):
    description = "ranked tensor of bf16, f16, f32 or f64"

    @staticmethod
    def accepts(type: ir.Type) -> bool:
        return _is_tensor(type) and is_wide_float(ir.RankedTensorType(type).element_type)


class Fp8Tensor(TypeConstraint):
    description = "ranked tensor of an fp8 type"

    @staticmethod
    def accepts(type: ir.Type) -> bool:
        return _is_tensor(type) and fp8_format(type) is not None


class F32Tensor(TypeConstraint):
    description = "ranked tensor of f32"

    @staticmethod
    def accepts(type: ir.Type) -> bool:
        return _is_tensor(type) and isinstance(ir.RankedTensorType(type).element_type, ir.F32Type)


class I32Scalar(TypeConstraint):
    description = "tensor<i32>"

    @staticmethod
    def accepts(type: ir.Type) -> bool:
        return str(type) == "tensor<i32>"


def tensor_type(value: ir.Value) -> ir.RankedTensorType:
    return ir.RankedTensorType(value.type)


def shape_of(value: ir.Value) -> list[int]:
    """The shape of a tensor value, DYNAMIC where a size is not known."""
    return list(tensor_type(value).shape)


def element_type_of(value: ir.Value) -> ir.Type:
    return tensor_type(value).element_type


def tensor_bytes(type_: ir.Type) -> int | None:
    """Storage of a ranked tensor, sub-byte elements rounded up to bytes."""
    tensor = ir.RankedTensorType(type_)
    element = tensor.element_type
    width = element.width if isinstance(element, ir.FloatType | ir.IntegerType) else 64
    size = (width + 7) // 8
    for extent in tensor.shape:
        if extent == DYNAMIC:
            return None
        size *= extent
    return size


def integers(attribute: ir.DenseI64ArrayAttr) -> list[int]:
    return [int(i) for i in attribute]


def sizes_agree(a: int, b: int) -> bool:
    """Whether two sizes can be the same: equal, or one of them dynamic."""
    return a == b or DYNAMIC in (a, b)


def shapes_agree(a: list[int], b: list[int]) -> bool:
    return len(a) == len(b) and all(map(sizes_agree, a, b))


def is_per_tensor(scale: list[int]) -> bool:
    """Whether a scale of that shape is one number: any rank, one element."""
    return all(size == 1 for size in scale)


def scale_error(scale: list[int], data: list[int]) -> str | None:
    """Why a scale of that shape does not fit the data, None if it does.

    A scale has one element (per tensor), or the rank of the data with sizes
    that are 1, the data's size (per axis), or divide it (per block).
    """
    if is_per_tensor(scale):
        return None
    if len(scale) != len(data):
        return (
            f"scale of shape {scale} has neither one element nor the rank {len(data)} of the data"
        )
    for dim, (s, d) in enumerate(zip(scale, data, strict=True)):
        if DYNAMIC in (s, d):
            continue
        if s == 0 or d % s:
            return f"scale size {s} does not divide the data's size {d} in dimension {dim}"
    return None
