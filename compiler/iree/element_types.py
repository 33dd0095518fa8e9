"""Element types between MLIR, numpy and IREE's runtime."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ...dialects import ir

Array = npt.NDArray[Any]
finfo: Any = ml_dtypes.finfo  # untyped


@dataclass(frozen=True)
class ElementType:
    """``dtype`` holds the values; ``runtime`` is the name of IREE's type."""

    name: str
    dtype: np.dtype[Any]
    runtime: str

    @property
    def storage(self) -> np.dtype[Any]:
        """What the bytes are for numpy alone, which knows no bf16 and no fp8."""
        return np.dtype(f"u{self.dtype.itemsize}") if self.is_narrow else self.dtype

    @property
    def is_narrow(self) -> bool:
        """Whether numpy itself lacks the type; then files hold float32."""
        return self.dtype.kind == "V" or self.dtype.name in _NARROW

    @property
    def tolerance(self) -> float:
        """How far a right result may be off, relative to its largest magnitude.

        Integers must agree. With m mantissa bits the spacing of numbers near
        the largest is up to 2^-m: two such units for types of up to 10 bits,
        whose sums are accumulated wider, and 64 for f32 and f64, which are
        the accumulator: the order of a sum of 4096 terms moves it by about
        sqrt(4096) units.
        """
        if self.dtype.kind in "biu":
            return 0.0
        bits: int = finfo(self.dtype).nmant
        return (2.0 if bits <= 10 else 64.0) * 2.0**-bits


_NARROW_TYPES = (
    ElementType("bf16", np.dtype(ml_dtypes.bfloat16), "BFLOAT_16"),
    ElementType("f8E4M3FN", np.dtype(ml_dtypes.float8_e4m3fn), "FLOAT_8_E4M3_FN"),
    ElementType("f8E5M2", np.dtype(ml_dtypes.float8_e5m2), "FLOAT_8_E5M2"),
    ElementType("f8E4M3FNUZ", np.dtype(ml_dtypes.float8_e4m3fnuz), "FLOAT_8_E4M3_FNUZ"),
    ElementType("f8E5M2FNUZ", np.dtype(ml_dtypes.float8_e5m2fnuz), "FLOAT_8_E5M2_FNUZ"),
    ElementType("f8E8M0FNU", np.dtype(ml_dtypes.float8_e8m0fnu), "FLOAT_8_E8M0_FNU"),
)
_NARROW = frozenset(t.dtype.name for t in _NARROW_TYPES)
_TYPES = {
    t.name: t
    for t in (
        ElementType("i1", np.dtype(np.bool_), "BOOL_8"),
        *(ElementType(f"i{n}", np.dtype(f"i{n // 8}"), f"INT_{n}") for n in (8, 16, 32, 64)),
        *(ElementType(f"si{n}", np.dtype(f"i{n // 8}"), f"SINT_{n}") for n in (8, 16, 32, 64)),
        *(ElementType(f"ui{n}", np.dtype(f"u{n // 8}"), f"UINT_{n}") for n in (8, 16, 32, 64)),
        *(ElementType(f"f{n}", np.dtype(f"f{n // 8}"), f"FLOAT_{n}") for n in (16, 32, 64)),
        *_NARROW_TYPES,
    )
}


@dataclass(frozen=True)
class TensorType:
    """A ranked tensor type; None in ``shape`` where a size is dynamic."""

    shape: tuple[int | None, ...]
    element: ElementType

    def __str__(self) -> str:
        sizes = "".join(f"{'?' if s is None else s}x" for s in self.shape)
        return f"tensor<{sizes}{self.element.name}>"

    def accepts(self, shape: tuple[int, ...]) -> bool:
        return len(shape) == len(self.shape) and all(
            want in (None, have) for want, have in zip(self.shape, shape, strict=True)
        )


def parse_tensor_type(text: str) -> TensorType:
    """Raises HeadraceError for a type that the runtime cannot pass."""
    match = re.fullmatch(r"tensor<((?:(?:\d+|\?)x)*)(\w+)>", text)
    if not match or match[2] not in _TYPES:
        raise ir.HeadraceError(f"values of type '{text}' cannot be passed to a program")
    sizes = match[1].split("x")[:-1]
    return TensorType(tuple(None if s == "?" else int(s) for s in sizes), _TYPES[match[2]])


def element_type_of(dtype: np.dtype[Any]) -> ElementType:
    """The signless type of what NumPy holds; HeadraceError for what a program cannot take."""
    for element in _TYPES.values():
        if element.dtype == dtype:
            return element
    raise ir.HeadraceError(f"values of {dtype} cannot be passed to a program")


def to_element_type(array: Array, element: ElementType, what: str) -> Array:
    """``array`` in that type, every value kept.

    Taken as they are: raw void bytes of the type's size (what numpy writes
    for bf16 and fp8), and any number type whose values the type can hold
    exactly. Raises HeadraceError, naming ``what``, otherwise.
    """
    if array.dtype == element.dtype:
        return array
    if array.dtype.kind == "V" and array.dtype.itemsize == element.dtype.itemsize:
        return array.view(element.dtype)
    floats = element.is_narrow or element.dtype.kind == "f"
    if array.dtype.kind not in ("fiub" if floats else "iub"):
        raise ir.HeadraceError(f"{what}: expected {element.name} values, got {array.dtype}")
    with np.errstate(all="ignore"):
        cast = array.astype(element.dtype)
        back = cast.astype(array.dtype)
    same = back == array
    if array.dtype.kind == "f":
        same |= np.isnan(back) & np.isnan(array)
    if not same.all():
        value = array[~same].flat[0]
        raise ir.HeadraceError(
            f"{what}: {value} is no value of {element.name}; round the data first"
        )
    return cast


def for_file(array: Array) -> Array:
    """``array`` as an npz file shall hold it: bf16 and fp8 as exact float32."""
    return array.astype(np.float32) if array.dtype.name in _NARROW else array


def relative_error(actual: Array, expected: Array) -> float:
    """max|a-b| / max|b|; infinite where a NaN or infinity has no counterpart.

    Where ``expected`` is zero all over, the absolute error.
    """
    if not actual.size:
        return 0.0
    return float(element_errors(actual, expected).max())


def element_errors(actual: Array, expected: Array) -> Array:
    """|a-b| / max|b| of each element, as in ``relative_error``."""
    a, b = (x.astype(np.float64) for x in (actual, expected))
    with np.errstate(invalid="ignore"):
        difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    difference[~np.isfinite(difference)] = np.inf
    return difference / (largest_magnitude(b) or 1.0)


def largest_magnitude(values: Array) -> float:
    """max|x| over the finite values; 0 where there are none."""
    wide = np.abs(values.astype(np.float64))
    finite = wide[np.isfinite(wide)]
    return float(finite.max()) if finite.size else 0.0
