"""Rounding of constants as the graph rounds them, against numpy and ml_dtypes."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from headrace.dialects import ir
from headrace.passes.frontend.quantization.stablehlo_constants import rounded

REFERENCES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}


@pytest.fixture(scope="module")
def context() -> ir.Context:
    return ir.make_context()


def _numbers() -> list[float]:
    """Random doubles over the whole range of each format, ties, and limits."""
    random = np.random.default_rng(7)
    exponents = random.integers(-160, 135, 4000)
    numbers = list(np.ldexp(random.uniform(-2, 2, 4000), exponents))
    # Ties and their neighbours, normal and subnormal, for 8, 11 and 24 bits.
    for bits, exponent in ((8, 3), (8, -140), (11, 3), (11, -30), (24, 3), (24, -160)):
        for step in range(64):
            tie = math.ldexp(1.0 + (2 * step + 1) * 2.0**-bits, exponent)
            numbers += [tie, math.nextafter(tie, 0.0), math.nextafter(tie, math.inf)]
    for limit in (65504.0, 65519.99, 65520.0, 3.3895e38, 3.4028235e38, 3.4028236e38, 1e300):
        numbers += [limit, -limit]
    return [*map(float, numbers), 0.0, math.inf, -math.inf, 448.0, 447.1, 240.0, 57344.0]


@pytest.mark.parametrize("name", REFERENCES)
def test_rounds_once_to_nearest_even(name: str, context: ir.Context) -> None:
    type_ = ir.Type.parse(name, context)
    with np.errstate(over="ignore"):
        for number in _numbers():
            # ml_dtypes goes through f32, which rounds twice: f32 numbers only.
            exact = float(np.float32(number)) if name == "bf16" else number
            expected = float(np.asarray(exact).astype(REFERENCES[name]))
            assert rounded(exact, type_) == expected, (name, exact.hex())


def test_bf16_of_a_double_is_rounded_once(context: ir.Context) -> None:
    # In f32 it would become the tie 1 + 2^-8 first, and then 1.
    just_above = 1.0 + 2.0**-8 + 2.0**-40
    assert rounded(just_above, ir.Type.parse("bf16", context)) == 1.0 + 2.0**-7


def test_doubles_nan_and_other_types(context: ir.Context) -> None:
    nan = rounded(math.nan, ir.Type.parse("bf16", context))
    assert nan is not None
    assert math.isnan(nan)
    assert rounded(0.1, ir.Type.parse("f64", context)) == 0.1
    assert rounded(1.0, ir.IntegerType.get_signless(32, context)) is None
    assert rounded(1.0, ir.Type.parse("f8E4M3FN", context)) is None
