"""JAX's numbers where IREE's own differ: indices outside, ties, constants that are reduced."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import headrace
import ml_dtypes
import numpy as np
import pytest
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program

if find_spec("jax") is None:
    pytest.skip("JAX is not installed: pip install 'headrace[jax]'", allow_module_level=True)

import headrace.jax
import jax
import jax.numpy as jnp
from jax import lax

Function = Callable[..., Any]

CPUS = (
    *(pytest.param(cpu, marks=pytest.mark.full) for cpu in ("host", "generic")),
    "x86-64-v3",
)
BF16 = jnp.bfloat16


def check(
    functions: dict[str, Function], arguments: tuple[Any, ...], folder: Path, cpu: str
) -> None:
    """All functions in one program: bit for bit what JAX gives, but for signs of NaN."""

    def everything(*args: Any) -> list[Any]:
        return [jax.tree.leaves(f(*args)) for f in functions.values()]

    text = headrace.jax.to_stablehlo(everything, *arguments)
    path = folder / "program.vmfb"
    headrace.compile(text, target="cpu", cpu=cpu).save(path)
    main = choose_function(load_functions(path), "main")
    results = iter(run_program(path, main, [np.asarray(a)[None] for a in arguments]))
    expected = jax.jit(everything)(*arguments)
    for name, wants in zip(functions, expected, strict=True):
        for want in wants:
            got = next(results)[0].astype(np.float64)
            np.testing.assert_array_equal(got, np.asarray(want).astype(np.float64), err_msg=name)


def add(x: Any, i: Any, u: Any) -> Any:
    return x.at[i].add(u)


def looked_up(x: Any, i: Any, u: Any) -> Any:
    return jnp.sum(jnp.take(x, i, axis=0, mode="clip") * u)


INDEXED: dict[str, Function] = {
    "take rows": lambda x, i, u: jnp.take(x, i, axis=0, mode="clip"),
    "take columns": lambda x, i, u: jnp.take(x, i, axis=1, mode="clip"),
    "take booleans": lambda x, i, u: jnp.take(x > 2, i, axis=0, mode="clip"),
    "take pairs": lambda x, i, u: x.at[i, i % 2].get(mode="clip"),
    "take or NaN": lambda x, i, u: x[i],
    "set rows": lambda x, i, u: x.at[i[:4] * 2].set(u[0]),
    "set one row": lambda x, i, u: x.at[i[3]].set(u[0]),
    "set one row outside": lambda x, i, u: x.at[i[4] - 9].set(u[0]),
    "add": add,
    "add bf16": lambda x, i, u: add(x.astype(BF16), i, u.astype(BF16)),
    "add i8": lambda x, i, u: add(x.astype(jnp.int8), i, u.astype(jnp.int8)),
    "multiply": lambda x, i, u: x.at[i].multiply(u),
    "max": lambda x, i, u: x.at[i, i % 2].max(9),
    "min": lambda x, i, u: x.astype(jnp.int32).at[i].min(-1),
    "-0.0": lambda x, i, u: 1 / (x * -0.0).at[i].add(-0.0),
    "window": lambda x, i, u: x.at[1:3].add(u[:2]),
    "window in both dims": lambda x, i, u: x.at[1:3, 0:1].multiply(u[:2, :1]),
    "column": lambda x, i, u: x.at[:, i].add(1),
    "indices of rank 2": lambda x, i, u: x.at[i[:4].reshape(2, 2)].add(u[:4].reshape(2, 2, 2)),
    "segments": lambda x, i, u: jax.ops.segment_sum(u, i, 4),
    "gradient": jax.grad(looked_up),
    "gradient of a slice": jax.grad(
        lambda x, i, u: jnp.sum(lax.dynamic_slice_in_dim(x, i[3], 2, 0) * u[:2])
    ),
    "mapped": jax.vmap(lambda x, i, u: x.at[i].set(2.0), in_axes=(0, None, None)),
}


@pytest.mark.parametrize("cpu", CPUS)
def test_indices_outside(tmp_path: Path, cpu: str) -> None:
    """Gathers clamp, scatters drop: no memory around is read or written."""
    x = jnp.arange(8.0).reshape(4, 2)
    i = jnp.array([-9, 0, 3, 5, -1, 10**8], jnp.int32)
    check(INDEXED, (x, i, jnp.arange(12.0).reshape(6, 2) + 100), tmp_path, cpu)


def test_indices_of_narrow_types(tmp_path: Path) -> None:
    """A limit that the indices' type does not reach."""
    x, i = jnp.arange(600.0).reshape(300, 2), jnp.array([-1, 127, -128, 5], jnp.int8)
    functions: dict[str, Function] = {
        "take": lambda x, i: jnp.take(x, i, axis=0, mode="clip"),
        "take unsigned": lambda x, i: jnp.take(x, i.astype(jnp.uint8), axis=0, mode="clip"),
        "set unsigned": lambda x, i: x[:200].at[i.astype(jnp.uint8)].set(7.0),
    }
    check(functions, (x, i), tmp_path, "host")


TIES: dict[str, Function] = {
    "pairs": lambda x, y: lax.sort((x, y), dimension=1, num_keys=1),
    "along the other dim": lambda x, y: lax.sort((x, y, y + 1), dimension=0, num_keys=2),
    "a value with itself": lambda x, y: lax.sort((x, x, y), dimension=0, num_keys=2),
    "argsort": lambda x, y: (jnp.argsort(y, axis=1), jnp.argsort(x, axis=0, descending=True)),
    "slices": lambda x, y: (jnp.sort(x[:, 2:5], axis=1), jnp.argsort(x[1:3], axis=0)),
    "strided": lambda x, y: jnp.sort(x[::2, ::3], axis=0),
    "one element": lambda x, y: (jnp.argsort(x[:, :1], axis=1), jnp.sort(x[:1], axis=1)),
    "top-k": lambda x, y: (lax.top_k(x, 3), lax.top_k(y, 5), lax.top_k(x.astype(BF16), 6)),
    "top-k of f16": lambda x, y: lax.top_k(x.astype(jnp.float16).T, 2),
    "top-k of all": lambda x, y: lax.top_k(jnp.full((4,), -jnp.inf), 4),
    "top-k of positions": lambda x, y: (lax.top_k(jnp.arange(5), 2), lax.top_k(jnp.arange(6.0), 3)),
    "least": lambda x, y: lax.top_k(jnp.full((4,), -128, jnp.int8) + y[0, 0] * 0, 3),
}


@pytest.mark.parametrize("cpu", CPUS)
def test_ties(tmp_path: Path, cpu: str) -> None:
    random = np.random.default_rng(0)
    x = random.integers(-2, 3, (4, 6)).astype(np.float32)
    x[0], x[1, :2] = [1, np.nan, -0.0, 0.0, -np.inf, np.nan], [-0.0, 0.0]
    y = random.integers(-2, 3, (4, 6)).astype(np.int8)
    check(TIES, (jnp.asarray(x), jnp.asarray(y)), tmp_path, cpu)


REDUCED: dict[str, Function] = {
    f"{name} of {dtype}": lambda x, f=f, dtype=dtype: f(jnp.full((3, 5), 2, dtype))
    for dtype in ("bfloat16", "float16", "float32", "int8", "int32")
    for name, f in {
        "sum": jnp.sum,
        "product": jnp.prod,
        "rows": lambda c: jnp.sum(c, axis=1),
        "columns": lambda c: jnp.sum(c, axis=0),
        "maximum": jnp.max,
    }.items()
}
REDUCED |= {
    "mean": lambda x: jnp.mean(jnp.ones((8,), BF16)),
    "count": lambda x: jnp.sum(jnp.ones((7,)).astype(jnp.int32)),
    "in a loop": lambda x: lax.fori_loop(
        0, 3, lambda i, c: c + jnp.sum(jnp.full((5,), 2, BF16)), x
    ),
    "many": lambda x: jnp.sum(jnp.full((64, 33), 2, BF16), axis=1),
    "beside": lambda x: jnp.sum(jnp.ones((4, 6), BF16) * 2 + jnp.zeros((4, 6), BF16)) + x,
}


@pytest.mark.parametrize("cpu", CPUS)
def test_constants_reduced(tmp_path: Path, cpu: str) -> None:
    check(REDUCED, (jnp.asarray(1, BF16),), tmp_path, cpu)


def test_folded_constant_reduced(tmp_path: Path) -> None:
    """As linalg input has it once a fill was folded into the body."""
    text = """
    #m = affine_map<(d0, d1) -> (d0, d1)>
    #r = affine_map<(d0, d1) -> (d0)>
    func.func @main(%x: tensor<3x5xbf16>, %i: tensor<3xf32>) -> tensor<3xf32> {
      %two = arith.constant 2.0 : f32
      %0 = linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<3x5xbf16>) outs(%i : tensor<3xf32>) {
      ^bb0(%in: bf16, %out: f32):
        %1 = arith.addf %out, %two : f32
        linalg.yield %1 : f32
      } -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }"""
    path = tmp_path / "program.vmfb"
    headrace.compile(text, target="cpu").save(path)
    main = choose_function(load_functions(path), "main")
    x = np.linspace(-1, 1, 15).reshape(1, 3, 5).astype(ml_dtypes.bfloat16)
    (got,) = run_program(path, main, [x, np.zeros((1, 3), np.float32)])
    np.testing.assert_array_equal(got, np.full((1, 3), 10, np.float32))


def test_grouped_convolutions_of_mixed_types(tmp_path: Path) -> None:
    def convolved(dtype: str, wide: str, groups: int) -> Function:
        def f(x: Any, w: Any) -> Any:
            w = w[: 2 * groups, : 6 // groups].astype(dtype)
            options: Any = {"feature_group_count": groups, "preferred_element_type": wide}
            return lax.conv_general_dilated(x.astype(dtype), w, (1,), "SAME", **options)

        return f

    types = (("int8", "int32"), ("bfloat16", "float32"), ("float16", "float32"))
    functions = {f"{t} {g}": convolved(*t, g) for t in types for g in (1, 3, 6)}
    random = np.random.default_rng(1)
    x = random.integers(-3, 4, (2, 6, 7)).astype(np.float32)
    w = random.integers(-3, 4, (12, 6, 3)).astype(np.float32)
    check(functions, (jnp.asarray(x), jnp.asarray(w)), tmp_path, "host")
