"""Programs that update a tensor with what they compute of it, and their results.

Run as a script in a process of its own: ``python update_programs.py FOLDER NAME...``
writes for each program ``NAME.mlir`` and ``NAME.npz``. JAX computes the results op by op:
XLA's own CPU code for ``shift_3d`` is wrong (jaxlib 0.10.2). Their numbers are
small integers and their halves, so that all is exact.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import headrace.jax
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

F32 = jnp.float32
BODIES: dict[str, Callable[[Any, Any], Any]] = {}


def program(body: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Of a and b, [8, 16] each."""
    BODIES[body.__name__] = body
    return body


@program
def shift(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[1:5].set(2 * z[0:4])


@program
def read_between(a: Any, b: Any) -> Any:
    z = a * 3
    d = b[:4] * 2 + 1
    r = jnp.cumsum(z, 0)
    y = z.at[0:4].set(d)
    return y + r


@program
def read_between_dot(a: Any, b: Any) -> Any:
    z = a * 3
    d = jnp.tanh(b[:4]) * 0 + b[:4] * 2
    r = z @ z.T
    y = z.at[0:4].set(d)
    return y @ y.T + r


@program
def read_between_dot2(a: Any, b: Any) -> Any:
    z = a * 3
    d = (b[:4] @ b.T) @ b * 0.25
    y = z.at[0:4].set(d)
    r = z @ z.T
    return y @ y.T + r


@program
def two_updates(a: Any, b: Any) -> Any:
    z = a * 3
    y = z.at[0:4].set(z[2:6] * 2)
    w = y.at[4:8].set(y[1:5] + 1)
    return w


@program
def reverse(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[0:6].set(z[5::-1] * 1.0 + 0)


@program
def matmul_into(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[:, 0:8].set(z @ b.T)


@program
def rowsum_into(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[0:1].set(z.sum(0, keepdims=True))


@program
def elementwise_ok(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[2:4].set(z[2:4] * 2)


@program
def elem_swap(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[0:1].set(z[7:8] * 2).at[7:8].set(z[0:1] * 2)


@program
def scalar(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[0, 0].set(z[3, 3] * 2).at[1, 1].set(z[0, 0] + 1)


@program
def scan_shift(a: Any, b: Any) -> Any:
    def step(z: Any, i: Any) -> Any:
        return lax.dynamic_update_slice(
            z, lax.dynamic_slice(z, (i, 0), (2, 16)) * 2 - z[0:2], (i + 1, 0)
        ), z.sum()

    z, ys = lax.scan(step, a, jnp.arange(5))
    return z + ys.sum()


@program
def scan_ring(a: Any, b: Any) -> Any:
    def step(z: Any, i: Any) -> Any:
        n = jnp.concatenate([z[1:] * 1.0, (z[:1] + b[:1])], 0)
        return n, n[0]

    z, ys = lax.scan(step, a, jnp.arange(5))
    return z + ys.sum(0)


@program
def concat_self(a: Any, b: Any) -> Any:
    z = a * 3
    return jnp.concatenate([z[4:] * 2, z[:4] + 1], 0)


@program
def pad_self(a: Any, b: Any) -> Any:
    z = a * 3
    return jnp.pad(z[1:] * 2, ((1, 0), (0, 0))) + z


@program
def window2d(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[1:5, 3:9].set(z[2:6, 4:10] * 2)


@program
def col_shift(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[:, 1:].set(z[:, :-1] * 2)


@program
def scatter_self(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[jnp.array([1, 3, 5])].set(z[jnp.array([3, 5, 1])] * 2)


@program
def scatter_add_self(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[jnp.array([1, 3, 5])].add(z[jnp.array([3, 5, 1])] * 2)


@program
def whileshift(a: Any, b: Any) -> Any:
    def unfinished(s: Any) -> Any:
        return s[0] < 5

    def trip(s: Any) -> Any:
        i, z = s
        return i + 1, lax.dynamic_update_slice(z, z[0:3] * 2 - z[1:4], (i, 0))

    return lax.while_loop(unfinished, trip, (jnp.int32(0), a * 3))[1]


@program
def cachewrite(a: Any, b: Any) -> Any:
    def step(k: Any, i: Any) -> Any:
        return lax.dynamic_update_slice(k, b[:1] * i.astype(F32), (i, 0)), k.sum()

    k, ys = lax.scan(step, a, jnp.arange(5))
    return k + ys.sum()


@program
def slice_shift(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[1:5].set(z[0:4])


@program
def slice_shift_up(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[0:4].set(z[1:5])


@program
def slice_shift_dyn(a: Any, b: Any) -> Any:
    z = a * 3
    i = jnp.argmax(jnp.abs(b[0, :4])).astype(jnp.int32)
    return lax.dynamic_update_slice(z, lax.dynamic_slice(z, (i, 0), (4, 16)), (i + 1, 0))


@program
def arg_shift(a: Any, b: Any) -> Any:
    return a.at[1:5].set(2 * a[0:4])


@program
def chain_shift(a: Any, b: Any) -> Any:
    z = a * 3
    d = jnp.cumsum(z[0:4] * 2, 0) * 2 + z[1:5]
    return z.at[1:5].set(d)


@program
def matmul_rows(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[0:4].set((z[2:6] @ b.T) @ b * 0.5)


@program
def softmax_rows(a: Any, b: Any) -> Any:
    z = a * 3
    d = z[0:4] - z[0:4].max(1, keepdims=True)
    return z.at[2:6].set(d * 2)


@program
def disjoint(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[0:4].set(z[4:8] * 2)


@program
def read_before(a: Any, b: Any) -> Any:
    z = a * 3
    r = jnp.cumsum(z, 0)
    d = b[:4] * 2
    y = z.at[0:4].set(d)
    return y + r


@program
def scan_decode(a: Any, b: Any) -> Any:
    def step(c: Any, i: Any) -> Any:
        k, x = c
        kn = (x @ b.T)[:, :1] * jnp.ones((1, 16))
        at = (x @ k.T) @ k
        k = lax.dynamic_update_slice(k, kn * 0.125, (i, 0))
        return (k, jnp.clip(at, -3, 3)), at

    (k, x), ys = lax.scan(step, (a * 1.0, b[:1]), jnp.arange(6))
    return k + x + ys.sum(0)


@program
def half_types(a: Any, b: Any) -> Any:
    z = (a * 3).astype(jnp.bfloat16)
    return z.at[1:5].set(2 * z[0:4]).astype(F32)


@program
def int8_types(a: Any, b: Any) -> Any:
    z = (a * 3).astype(jnp.int8)
    return z.at[1:5].set(2 * z[0:4]).astype(F32)


@program
def fp8_types(a: Any, b: Any) -> Any:
    z = (a * 2).astype(jnp.float8_e4m3fn)
    return z.at[1:5].set((2 * z[0:4].astype(F32)).astype(jnp.float8_e4m3fn)).astype(F32)


@program
def single_elements(a: Any, b: Any) -> Any:
    z = (a * 3)[:, 0]
    return z.at[1:2].set(z[0:1] * 2).at[3:4].set(z[1:2] + z[2:3])


@program
def scan_single(a: Any, b: Any) -> Any:
    def step(z: Any, i: Any) -> Any:
        return lax.dynamic_update_slice(
            z, lax.dynamic_slice(z, (i,), (1,)) * 2 - z[:1], (i + 1,)
        ), None

    return lax.scan(step, a[:, 1], jnp.arange(6))[0]


@program
def rank_reduced(a: Any, b: Any) -> Any:
    z = a * 3
    r = z[2] * 2 - z[1]
    return z.at[1].set(r).at[4].set(z[3] - r)


@program
def shift_3d(a: Any, b: Any) -> Any:
    z = (a * 3).reshape(4, 2, 16)
    return z.at[1:3].set(z[0:2] * 2 - 1)


@program
def scan_stack_self(a: Any, b: Any) -> Any:
    def step(z: Any, i: Any) -> Any:
        r = z[0] * 0.5 + z[1]
        return lax.dynamic_update_index_in_dim(z, r, i, 0), r

    z, ys = lax.scan(step, a * 2, jnp.arange(4))
    return z + ys.sum(0)


@program
def sum_into_row(a: Any, b: Any) -> Any:
    z = a * 3
    return z.at[0].set(z.sum(0))


def main() -> None:
    folder = Path(sys.argv[1])
    rng = np.random.default_rng(0)
    a, b = (jnp.asarray(rng.integers(-3, 4, (8, 16)), F32) for _ in range(2))
    for name in sys.argv[2:]:
        text = headrace.jax.to_stablehlo(jax.jit(BODIES[name]), a, b)
        (folder / f"{name}.mlir").write_text(text)
        with jax.disable_jit():
            result = BODIES[name](a, b)
        np.savez(folder / f"{name}.npz", a=a, b=b, result=np.asarray(result))


if __name__ == "__main__":
    main()
