"""Values behind barriers, updated in place while others read what went in: real runs."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import headrace
import numpy as np
import pytest

if find_spec("jax") is None:
    pytest.skip("JAX is not installed: pip install 'headrace[jax]'", allow_module_level=True)

import headrace.jax
import jax.numpy as jnp
from jax import lax

Function = Callable[[Any], Any]
held = lax.optimization_barrier


def two(x: Any) -> Any:
    y, z = x * 2, x + 1
    p, q = held((y, z))
    return p.at[1].set(5.0), q.at[2].set(7.0), y, z


def constant(x: Any) -> Any:
    k = jnp.arange(8.0)
    return held(k).at[1].set(5.0) + x, k


PROGRAMS: dict[str, Function] = {
    "a result": lambda x: (held(y := x * 2).at[1].set(5.0), y),
    "an argument": lambda x: (held(x).at[1].set(5.0), x + 1),
    "a constant": constant,
    "one of two": two,
    "a loop": lambda x: (lax.fori_loop(0, 3, lambda i, t: t.at[i].add(1.0), held(y := x * 2)), y),
    "two updates": lambda x: (jnp.sort(held(y := x * 2)), y.at[0].set(3.0)),
    "two barriers": lambda x: (held(held(y := x * 2)).at[1].set(5.0), held(y) + 1, y),
    "a sorted slice": lambda x: (jnp.sort(s := x[2:7]), s),
    "a slice, falling": lambda x: (jnp.sort(s := x[2:7], descending=True), jnp.sort(s), s * 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_barriers(name: str) -> None:
    function = PROGRAMS[name]
    x = np.random.default_rng(0).integers(-9, 10, 8).astype(np.float32)
    given = x.copy()
    with headrace.compile(headrace.jax.to_stablehlo(function, x)).load() as program:
        for got, want in zip(program(x), function(jnp.asarray(given)), strict=True):
            assert np.array_equal(got, want)
    assert np.array_equal(x, given)
