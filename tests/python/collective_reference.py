"""What the collectives mean, in numpy, from StableHLO's specification.

Each function takes ``[devices, *shape]`` and returns the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from headrace.compiler.iree.element_types import Array

Groups = Sequence[Sequence[int]]

_WIDE: dict[str, type[Any]] = {"bfloat16": np.float32, "float16": np.float32}


def _per_device(inputs: Array, groups: Groups, combine: Any) -> Array:
    found: dict[int, Array] = {}
    for group in groups:
        for position, device in enumerate(group):
            found[device] = combine([inputs[member] for member in group], position)
    return np.stack([found[device] for device in range(len(inputs))])


def all_gather(inputs: Array, dim: int, groups: Groups) -> Array:
    return _per_device(inputs, groups, lambda parts, _: np.concatenate(parts, dim))


def reduce(parts: Sequence[Array], reduction: str) -> Array:
    """Left to right; bf16 and f16 sums and products in f32, rounded once."""
    dtype = parts[0].dtype
    if reduction in ("umax", "umin"):
        unsigned = np.dtype(dtype.str.replace("i", "u")) if dtype.kind == "i" else dtype
        parts = [part.view(unsigned) for part in parts]
    function = {
        "add": np.logical_or if dtype == np.bool_ else np.add,
        "mul": np.logical_and if dtype == np.bool_ else np.multiply,
        "max": np.maximum,
        "min": np.minimum,
        "umax": np.maximum,
        "umin": np.minimum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }[reduction]
    wide = _WIDE.get(dtype.name, parts[0].dtype)
    total = parts[0].astype(wide)
    with np.errstate(over="ignore"):
        for part in parts[1:]:
            total = function(total, part.astype(wide))
    return total.view(dtype) if reduction in ("umax", "umin") else total.astype(dtype)


def all_reduce(inputs: Array, reduction: str, groups: Groups) -> Array:
    return _per_device(inputs, groups, lambda parts, _: reduce(parts, reduction))


def reduce_scatter(inputs: Array, dim: int, reduction: str, groups: Groups) -> Array:
    return _per_device(
        inputs,
        groups,
        lambda parts, position: np.split(reduce(parts, reduction), len(parts), dim)[position],
    )


def all_to_all(inputs: Array, split: int, concat: int, groups: Groups) -> Array:
    return _per_device(
        inputs,
        groups,
        lambda parts, position: np.concatenate(
            [np.split(part, len(parts), split)[position] for part in parts], concat
        ),
    )


def collective_permute(inputs: Array, pairs: Groups) -> Array:
    outputs = np.zeros_like(inputs)
    for source, target in pairs:
        outputs[target] = inputs[source]
    return outputs


DTYPES: dict[str, np.dtype[Any]] = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "i64": np.dtype(np.int64),
    "i32": np.dtype(np.int32),
    "i16": np.dtype(np.int16),
    "i8": np.dtype(np.int8),
    "i1": np.dtype(np.bool_),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
}


def random_array(element: str, shape: Sequence[int], seed: int, *, any_bits: bool) -> Array:
    """Random values; ``any_bits`` gives every bit pattern, NaNs included."""
    generator = np.random.default_rng(seed)
    dtype = DTYPES[element]
    if element == "i1":
        return generator.integers(0, 2, shape).astype(np.bool_)
    if any_bits or dtype.kind == "i":
        words = np.dtype(f"u{dtype.itemsize}")
        high = int(np.iinfo(words).max)
        return generator.integers(0, high, shape, words, endpoint=True).view(dtype)
    values = generator.standard_normal(shape)
    if element == "f16":
        # Products of eight stay above the subnormal numbers, which CPUs without F16C make zero.
        values = np.where(np.abs(values) < 0.5, np.copysign(0.5, values) + values, values)
    return values.astype(dtype)
