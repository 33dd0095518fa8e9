"""All converts between element types: programs, values that try them, right results.

The judge is JAX on CPU, whose rules these are (``test_converts`` compares):

- an integer or f64 goes to bf16 and f16 through f32, rounded twice; so does an
  integer to fp8, f8E8M0FNU and f4E2M1FN, but an f64 is rounded once to those;
- a float goes to an integer towards zero, to the nearest one that fits where it
  does not, and NaN to 0; to bool it goes by ``!= 0``;
- f8E8M0FNU rounds ties up, and has NaN for zero, negative values and overflow.

ml_dtypes differs in the second half of the first rule: it rounds f64 twice.
JAX 0.10 itself takes the largest f4E2M1FN, 6, for an overflow when it goes to an
integer; the result here is 6.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from headrace.compiler.iree.element_types import Array

INTEGERS: dict[str, Any] = {
    "i1": np.bool_,
    "i4": ml_dtypes.int4,
    **{f"i{n}": np.dtype(f"i{n // 8}").type for n in (8, 16, 32, 64)},
    "ui4": ml_dtypes.uint4,
    **{f"ui{n}": np.dtype(f"u{n // 8}").type for n in (8, 16, 32, 64)},
}
FLOATS: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}
DTYPES = {**INTEGERS, **FLOATS}
PAIRS = [(a, b) for a in DTYPES for b in DTYPES if a != b]

# No program takes or gives these, so they come and go in a type that holds them.
_CARRIERS = {"i4": "i8", "ui4": "ui8", "f4E2M1FN": "f32"}


def carrier(type_: str) -> str:
    """The type in which values of ``type_`` are passed to a program."""
    return _CARRIERS.get(type_, type_)


def function_text(name: str, pairs: list[tuple[str, str]], size: int) -> str:
    """StableHLO: one argument for each source type, one result for each pair."""
    sources = list(dict.fromkeys(a for a, _ in pairs))
    lines: list[str] = []

    def convert(value: str, of: str, to: str, result: str) -> str:
        if of == to:
            return value
        types = f"(tensor<{size}x{of}>) -> tensor<{size}x{to}>"
        lines.append(f"  {result} = stablehlo.convert {value} : {types}")
        return result

    values = {a: convert(f"%{a}", carrier(a), a, f"%{a}_value") for a in sources}
    results: list[str] = []
    for a, b in pairs:
        result = convert(values[a], a, b, f"%{a}_{b}")
        results.append(convert(result, b, carrier(b), f"%{a}_{b}_out"))
    arguments = ", ".join(f"%{a}: tensor<{size}x{carrier(a)}>" for a in sources)
    types = ", ".join(f"tensor<{size}x{carrier(b)}>" for _, b in pairs)
    body = "\n".join(lines)
    return (
        f"func.func public @{name}({arguments}) -> ({types}) {{\n"
        f"{body}\n  return {', '.join(results)} : {types}\n}}\n"
    )


def arguments(pairs: list[tuple[str, str]], size: int, seed: int = 0) -> dict[str, Array]:
    """Values of each source type of ``pairs``, the special ones first."""
    rng = np.random.default_rng(seed)
    return {a: _values(a, size, rng) for a in dict.fromkeys(a for a, _ in pairs)}


def pass_in(values: Array, type_: str) -> Array:
    """Values as a program takes them, or as it should have given them."""
    return values.astype(DTYPES[carrier(type_)])


def _values(type_: str, size: int, rng: np.random.Generator) -> Array:
    dtype = DTYPES[type_]
    if type_ in ("i1", "i4", "ui4") or type_.startswith(("f8", "f4")):
        return np.resize(_all_values(type_), size)
    special = _special_integers(dtype) if type_ in INTEGERS else _special_floats(dtype)
    if len(special) > size:
        return rng.permutation(special)[:size]
    if type_ in INTEGERS:
        more = rng.integers(0, 2**63, size - len(special), dtype=np.uint64).astype(dtype)
    else:
        width = np.dtype(dtype).itemsize
        more = np.frombuffer(rng.bytes((size - len(special)) * width), dtype)
    return np.concatenate([special, more])


def _all_values(type_: str) -> Array:
    if type_ == "i1":
        return np.array([False, True])
    if type_ in ("i4", "ui4"):
        low = -8 if type_ == "i4" else 0
        return np.arange(low, low + 16).astype(DTYPES[type_])
    codes = np.arange(16 if type_.startswith("f4") else 256, dtype=np.uint8)
    return codes.view(DTYPES[type_])


def _special_integers(dtype: Any) -> Array:
    """Bounds, zero, and what lies at and beside the halves of bf16, f16, f32 and fp8."""
    bounds = np.iinfo(dtype)
    found = [bounds.min, bounds.max, 0, 1, -1, bounds.min + 1, bounds.max - 1]
    for exponent in range(bounds.bits):
        for mantissa in (1, 2, 3, 7, 10, 23):
            if exponent > mantissa:
                half = 1 << (exponent - mantissa - 1)
                halves = [(1 << exponent) + half, (1 << exponent) + 3 * half]
                found += [s * (h + d) for h in halves for d in (-1, 0, 1) for s in (1, -1)]
    return np.array([v for v in dict.fromkeys(found) if bounds.min <= v <= bounds.max], dtype)


def _special_floats(dtype: Any) -> Array:
    """Zeros, infinities, NaN, subnormals, and both sides of all halves and bounds."""
    info: Any = ml_dtypes.finfo(dtype)
    found = [0.0, np.inf, np.nan, float(info.smallest_subnormal), float(info.tiny), float(info.max)]
    for exponent in (*range(-30, 20), *range(-130, -124), -150, 31, 32, 63, 64, 126, 127):
        for mantissa in (1, 2, 3, 7, 10, 23):
            for k in (0, 1):
                half = 2.0**exponent * (1 + (2 * k + 1) * 2.0 ** -(mantissa + 1))
                found += [half, half * (1 + 2.0**-26), half * (1 - 2.0**-26), half * (1 + 2.0**-50)]
    for bits in (1, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64):
        found += [2.0**bits + d for d in (-1.0, -0.5, 0.0, 0.5, 1.0)]
        found += [2.0**bits * (1 - 2.0**-e) for e in (8, 11, 24, 53)]
    with np.errstate(over="ignore"):
        values = np.array([s * v for v in found for s in (1, -1)]).astype(dtype)
    _, first = np.unique(values.view(f"u{values.dtype.itemsize}"), return_index=True)
    return values[np.sort(first)]


def expected(values: Array, source: str, target: str) -> Array:
    """What the convert gives, in the target's own type."""
    dtype = DTYPES[target]
    with np.errstate(all="ignore"):
        if target == "i1":
            return values.astype(np.float64) != 0 if source in FLOATS else values.astype(bool)
        if target in INTEGERS:
            if source in FLOATS:
                return _saturated(values, target)
            wide = values.astype(np.int64 if source != "ui64" else np.uint64)
            return wide.astype(dtype)
        if target in ("f32", "f64"):
            through_f32 = source in FLOATS and source != "f64"
            return (values.astype(np.float32) if through_f32 else values).astype(dtype)
        if source != "f64":
            return _nan_of(values.astype(np.float32), target)
        if target in ("bf16", "f16"):
            return values.astype(np.float32).astype(dtype)
        result = _nan_of(_to_odd(values), target)
        if target == "f8E8M0FNU":
            result = np.where(values < 2.0**-127, np.array(np.nan, dtype), result)
        return result


def _nan_of(wide: Array, target: str) -> Array:
    result = wide.astype(DTYPES[target])
    if target == "f4E2M1FN":  # has no NaN, and ml_dtypes gives that of either sign
        result = np.where(np.isnan(wide), np.array(-0.0, result.dtype), result)
    return result


def _saturated(values: Array, target: str) -> Array:
    bounds: Any = ml_dtypes.iinfo(DTYPES[target])
    low, high = int(bounds.min), int(bounds.max)

    def saturate(value: float) -> int:
        if np.isnan(value):
            return 0
        return low if value <= low else high if value >= high else int(value)

    found = [saturate(v) for v in values.astype(np.float64).tolist()]
    return np.array(found, object).astype(np.int64 if low else np.uint64).astype(DTYPES[target])


def _to_odd(values: Array) -> Array:
    """f64 as f32, inexact ones with an odd last bit: a later rounding is then the only one."""
    nearest = values.astype(np.float32)
    back = nearest.astype(np.float64)
    bits = nearest.view(np.uint32)
    bits = np.where(np.abs(back) > np.abs(values), bits - 1, bits)
    bits = np.where((back != values) & np.isfinite(values), bits | 1, bits)
    return bits.view(np.float32)


def flushed(values: Array, least: float = 2.0**-126) -> Array:
    """Floats with zero, signed, for those nearer to it than ``least``."""
    with np.errstate(all="ignore"):
        tiny = np.abs(values.astype(np.float64)) < least
        return np.where(tiny, np.copysign(np.zeros_like(values), values), values)
