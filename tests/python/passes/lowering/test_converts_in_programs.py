"""Converts of integers where programs have them: fused, in reductions, gathers, beside products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import headrace
import headrace.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_kinds import CPUS, runs_here
from cpu_programs import Program
from headrace.compiler.iree.element_types import Array
from jax import lax

TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32"]
ROWS, DEPTH, COLUMNS = 8, 48, 16
ALL = slice(None)


def _product(a: jax.Array, b: jax.Array, type_: Any = None) -> jax.Array:
    return lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=type_)


def _batched(a: jax.Array, b: jax.Array) -> jax.Array:
    return lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,))))


def _convolved(image: jax.Array, kernel: jax.Array) -> jax.Array:
    return lax.conv_general_dilated(
        image, kernel, (1, 1), "VALID", None, None, _LAYOUT, preferred_element_type=jnp.float32
    )


_LAYOUT = ("NHWC", "HWIO", "NHWC")


def program(to: Any, chosen: slice) -> Callable[[jax.Array, jax.Array], tuple[jax.Array, ...]]:
    """Of integers ``w`` and floats ``x``: one result for each of the ``chosen`` contexts."""

    def run(w: jax.Array, x: jax.Array) -> tuple[jax.Array, ...]:
        floats = w.astype(to)
        rows = jnp.arange(ROWS, dtype=jnp.int32) * 5 % DEPTH
        wide = jnp.uint32 if w.dtype.kind == "u" else jnp.int32
        return (
            floats,
            (w ^ w[:1]).astype(to) * 2 + 1,
            jnp.sum(floats, axis=0),
            jnp.max(floats, axis=1),
            floats[rows],
            jnp.where(w > 1, floats, -floats),
            jax.nn.one_hot(rows, DEPTH, dtype=to) @ floats,
            (w > 1).astype(to).T @ floats,
            _product(x, floats),
            _product(x, floats, jnp.float32),
            _product(floats.T, x.T),
            _batched(x.reshape(2, ROWS // 2, DEPTH), jnp.stack([floats, floats + 1])),
            x @ floats[:, 0],
            _product(w.astype(jnp.int8).T.astype(to), floats),
            _product(w.T.astype(wide), (w & w.dtype.type(1)).astype(wide)),
            _product(x, ((w.astype(jnp.int32) & 15) - 8).astype(jnp.int4).astype(to)),
            _convolved(w.reshape(1, 12, 8, 8).astype(to), x[:, :36].reshape(3, 3, 8, 4)),
        )[chosen]

    return run


def inputs(type_: str, to: Any) -> tuple[Array, Array]:
    """Integers on both sides of the sign bit, and floats that keep sums exact in f32."""
    rng = np.random.default_rng(3)
    w = rng.integers(0, 256, (DEPTH, COLUMNS))
    x = rng.integers(-2, 3, (ROWS, DEPTH)).astype(to)
    if type_ == "bool":
        return w > 127, x
    return (w - 128 if type_.startswith("i") else w).astype(type_), x


def check(type_: str, to: Any, cpu: str, chosen: slice = ALL) -> None:
    w, x = inputs(type_, to)
    run = jax.jit(program(to, chosen))
    text = headrace.jax.to_stablehlo(run, w, x).replace("module @jit_run", "module", 1)
    vmfb = headrace.compile(text, "cpu", cpu=cpu, collectives="channel").data()
    if not runs_here(cpu):
        return
    results = Program(vmfb).results("main", w, x)
    for number, (result, right) in enumerate(zip(results, run(w, x), strict=True)):
        same = result.astype(np.float64) == np.asarray(right).astype(np.float64)  # f16 overflows
        assert same.all(), f"result {number} of {type_} to {np.dtype(to)} for {cpu}"


SOME = (("uint8", "x86-64-v3"), ("bool", "generic"), ("int8", "host"))


@pytest.mark.parametrize(("type_", "cpu"), SOME)
def test_converts_in_a_program(type_: str, cpu: str) -> None:
    """Each context once."""
    check(type_, jnp.bfloat16, cpu, slice(SOME.index((type_, cpu)), None, len(SOME)))


@pytest.mark.full
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("to", [jnp.bfloat16, jnp.float16, jnp.float32])
@pytest.mark.parametrize("type_", TYPES)
def test_converts_of_every_type_in_a_program(type_: str, to: Any, cpu: str) -> None:
    check(type_, to, cpu)
