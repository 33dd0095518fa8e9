"""Programs whose tensors start from equal values, or are read while they are updated.

Run as a script, as ``jax_programs.py`` is. Their numbers are small integers
and halves: sums and products are exact, whatever their order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jax_programs import Program, mesh_of, write  # isort: skip - sets the number of devices

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

N = 4
F32 = jnp.float32
TABLE = np.arange(128, dtype=np.float32).reshape(8, 16) % 7
BODIES: dict[str, Callable[[Any, Any], Any]] = {}


def program(body: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """For ``[8, 16]`` arrays a and b of each device, to ``[8 or 32, 16 or 32]``."""
    BODIES[body.__name__] = body
    return body


def zeros() -> jax.Array:
    return jnp.zeros((8, 16), F32)


def halves_turned(x: Any) -> Any:
    return jnp.concatenate([x[:, 8:], x[:, :8]], 1)


def gather(x: Any) -> Any:
    return lax.all_gather(x, "x", tiled=True)


def exchange(x: Any) -> Any:
    return lax.all_to_all(x, "x", 0, 1, tiled=True)


def pass_on(x: Any) -> Any:
    return lax.ppermute(x, "x", [(i, (i + 1) % N) for i in range(N)])


@program
def rope(a: Any, b: Any) -> Any:
    return halves_turned(a) @ gather(halves_turned(b)).T


@program
def zeros_update2(a: Any, b: Any) -> Any:
    return zeros().at[0:4].set(a[4:]) @ gather(zeros().at[2:6].set(b[4:])).T


@program
def pads(a: Any, b: Any) -> Any:
    return jnp.pad(a[4:], ((0, 4), (0, 0))) @ gather(jnp.pad(b[4:], ((0, 4), (0, 0)))).T


@program
def computed(a: Any, b: Any) -> Any:
    z = a * 2 + 1
    return z.at[0:4].set(a[4:]) @ gather(z.at[2:6].set(b[4:])).T


@program
def computed_gather_old(a: Any, b: Any) -> Any:
    z = a * 2 + 1
    y = z.at[0:4].set(b[4:])
    return y @ gather(z).T


@program
def computed_gather_new(a: Any, b: Any) -> Any:
    z = a * 2 + 1
    y = z.at[0:4].set(b[4:])
    return z @ gather(y).T


@program
def both_gathered_sum(a: Any, b: Any) -> Any:
    z = a * 2 + 1
    y = z.at[0:4].set(b[4:])
    w = z.at[4:8].set(b[:4])
    return gather(y).sum(0) + gather(w)[3] + z[0]


@program
def a2a_old(a: Any, b: Any) -> Any:
    z = a * 2 + 1
    y = z.at[0:4].set(b[4:])
    return exchange(z) @ y.reshape(64, 2)


@program
def perm_old(a: Any, b: Any) -> Any:
    z = a * 2 + 1
    y = z.at[0:4].set(b[4:])
    return pass_on(z) @ y.T + pass_on(y) @ z.T


@program
def dus_index(a: Any, b: Any) -> Any:
    i = lax.axis_index("x")
    z = a * 2 + 1
    y = lax.dynamic_update_slice(z, b[4:], (i, 0))
    w = lax.dynamic_update_slice(z, b[:4], (i, 0))
    return y @ gather(w).T + z @ gather(y).T


@program
def scan_two_zeros(a: Any, b: Any) -> Any:
    def step(c: Any, i: Any) -> Any:
        u, v = c
        u = lax.dynamic_update_slice(u, gather(b)[0:1] * i.astype(F32), (i, 0))
        v = lax.dynamic_update_slice(v, a[1:2] + u[0:1], (i, 0))
        return (u, v), None

    (u, v), _ = lax.scan(step, (zeros(), zeros()), jnp.arange(5))
    return u @ gather(v).T


@program
def scan_two_same(a: Any, b: Any) -> Any:
    z = a * 2

    def step(c: Any, i: Any) -> Any:
        u, v = c
        u = lax.dynamic_update_slice(u, gather(b)[0:1] * i.astype(F32), (i, 0))
        v = lax.dynamic_update_slice(v, a[1:2] + u[0:1], (i, 0))
        return (u, v), None

    (u, v), _ = lax.scan(step, (z, z), jnp.arange(5))
    return u @ gather(v).T + z @ gather(z).T


@program
def scan_two_tables(a: Any, b: Any) -> Any:
    z = jnp.asarray(TABLE)

    def step(c: Any, i: Any) -> Any:
        u, v = c
        u = lax.dynamic_update_slice(u, gather(b)[0:1] * i.astype(F32), (i, 0))
        v = lax.dynamic_update_slice(v, a[1:2] + u[0:1], (i, 0))
        return (u, v), None

    (u, v), _ = lax.scan(step, (z, z), jnp.arange(5))
    return u @ gather(v).T + z @ gather(z).T


@program
def tables(a: Any, b: Any) -> Any:
    z = jnp.asarray(TABLE)
    return z.at[0:4].set(a[4:]) @ gather(z.at[2:6].set(b[4:])).T + z @ gather(z).T


@program
def bools(a: Any, b: Any) -> Any:
    x = jnp.concatenate([(a > 0)[:, 8:], (a > 0)[:, :8]], 1)
    y = jnp.concatenate([(b > 0)[:, 8:], (b > 0)[:, :8]], 1)
    return x.astype(F32) @ gather(y).astype(F32).T


@program
def permute_zero(a: Any, b: Any) -> Any:
    y = lax.ppermute(a, "x", [(0, 1)])
    w = lax.ppermute(b, "x", [(0, 2)])
    return y.at[0:2].set(b[:2]) @ gather(w.at[1:3].set(a[:2])).T


@program
def ring_attn(a: Any, b: Any) -> Any:
    i = lax.axis_index("x")

    def step(c: Any, j: Any) -> Any:
        k, acc = c
        acc = lax.dynamic_update_slice(acc, a @ k.T, (0, ((i + j) % N) * 8))
        return (pass_on(k), acc), None

    (_, acc), _ = lax.scan(step, (b, jnp.zeros((8, 32), F32)), jnp.arange(N))
    return acc


@program
def cache(a: Any, b: Any) -> Any:
    i = lax.axis_index("x")
    c = jnp.zeros((16, 16), F32)
    c = lax.dynamic_update_slice(c, a[:4], (i, 0))
    k = gather(c)
    c = lax.dynamic_update_slice(c, b[:4], (i + 4, 0))
    return k.T @ k + c.T @ c


@program
def unit_sizes(a: Any, b: Any) -> Any:
    z = (a[:1, :1] * 2 + 1).reshape(1, 1, 1)

    def step(c: Any, i: Any) -> Any:
        u, v = c
        return (u + gather(v)[:1] * 0.5, v + u), None

    (u, v), _ = lax.scan(step, (z, z), jnp.arange(3))
    return jnp.broadcast_to((u + v).reshape(1, 1), (8, 16)) + gather(z).sum()


@program
def scalars(a: Any, b: Any) -> Any:
    z = a.sum()

    def step(c: Any, i: Any) -> Any:
        u, v = c
        return (u + lax.psum(v, "x") * 0.5, v + u), None

    (u, v), _ = lax.scan(step, (z, z), jnp.arange(3))
    return jnp.broadcast_to(u + v, (8, 16)) + lax.psum(z, "x")


@program
def carry_old_and_new(a: Any, b: Any) -> Any:
    z = a * 2

    def step(c: Any, i: Any) -> Any:
        u, _ = c
        new = lax.dynamic_update_slice(u, b[1:3] * i.astype(F32), (i, 0))
        return (new, u), gather(u)[::4]

    (u, old), ys = lax.scan(step, (z, z), jnp.arange(5))
    return u @ gather(old).T[:, :8] @ ys.sum(0)


@program
def swap_same(a: Any, b: Any) -> Any:
    z = a * 2

    def step(c: Any, i: Any) -> Any:
        u, v = c
        u2 = lax.dynamic_update_slice(u, a[2:3] + i.astype(F32), (i, 0))
        return (v, u2), gather(v).sum(0)

    (u, v), ys = lax.scan(step, (z, z), jnp.arange(5))
    return u + v * 2 + ys[4] + z


@program
def cache_gathered(a: Any, b: Any) -> Any:
    def step(c: Any, i: Any) -> Any:
        k, x = c
        k = lax.dynamic_update_slice(k, x[:1], (i, 0))
        s = gather(k)
        return (k, x + s[:8] * 0.5 + s[24:]), s.sum(0)

    (k, x), ys = lax.scan(step, (jnp.zeros((8, 16), F32), b), jnp.arange(6))
    return k + x + ys[2]


@program
def cache_gathered_independent(a: Any, b: Any) -> Any:
    def step(c: Any, i: Any) -> Any:
        k, acc = c
        k = lax.dynamic_update_slice(k, a[:1] * i.astype(F32), (i, 0))
        s = gather(k)
        return (k, acc + s @ s.T), None

    (k, acc), _ = lax.scan(step, (jnp.zeros((8, 16), F32), jnp.zeros((32, 32), F32)), jnp.arange(8))
    return k + acc[:8, :16]


@program
def cache_then_read(a: Any, b: Any) -> Any:
    z = b * 2
    r = z @ gather(a).T

    def step(k: Any, i: Any) -> Any:
        return lax.dynamic_update_slice(k, a[:1] * i.astype(F32), (i, 0)), None

    k, _ = lax.scan(step, z, jnp.arange(8))
    return r + (k @ gather(k).T)


@program
def cond_update(a: Any, b: Any) -> Any:
    z = a * 2
    y = lax.cond(
        lax.psum(a[0, 0], "x") > 0,
        lambda z: z.at[0:4].set(b[4:]),
        lambda z: z.at[2:4].set(b[:2]),
        z,
    )
    return y @ gather(z).T


@program
def cond_same(a: Any, b: Any) -> Any:
    z = a * 2
    y, w = lax.cond(lax.psum(a[0, 0], "x") > 0, lambda z: (z, z + 1), lambda z: (z * 1.5, z), z)
    y = y.at[0:2].set(b[:2])
    w = w.at[1:3].set(b[:2])
    return y @ gather(w).T + z @ gather(z).T


@program
def while_update(a: Any, b: Any) -> Any:
    z = a * 2

    def unfinished(s: Any) -> Any:
        return lax.psum(s[0], "x") < 20

    def trip(s: Any) -> Any:
        i, u, v = s
        u = lax.dynamic_update_slice(u, gather(v)[1:2], (i, 0))
        return i + 1, u, v.at[0].add(1.0)

    _, u, v = lax.while_loop(unfinished, trip, (jnp.int32(0), z, z))
    return u + v + gather(z)[9]


@program
def bool_updates(a: Any, b: Any) -> Any:
    z = a > 0
    s = b[4:] > 0
    x = z.at[0:4].set(s)
    y = z.at[2:6].set(s)
    return x.astype(F32) @ gather(y).astype(F32).T


@program
def bf16s(a: Any, b: Any) -> Any:
    z = (a * 2).astype(jnp.bfloat16)
    s = b[4:].astype(jnp.bfloat16)
    x = z.at[0:4].set(s)
    y = z.at[2:6].set(s)
    return x.astype(F32) @ gather(y).astype(F32).T


@program
def scatter_two(a: Any, b: Any) -> Any:
    z = a * 2
    idx = (jnp.abs(b[:3, 0])).astype(jnp.int32)
    x = z.at[idx].add(b[:3])
    y = z.at[idx].max(b[3:6])
    return x @ gather(y).T


@program
def late_read(a: Any, b: Any) -> Any:
    z = a * 2 + 1
    r = z @ gather(b).T
    y = z.at[0:4].set(b[4:])
    return r + y @ gather(y).T


@program
def late_read2(a: Any, b: Any) -> Any:
    z = a * 2 + 1
    r = z @ gather(b).T
    y = z.at[0:4].set(b[4:])
    return gather(y) @ r.T[:16]


@program
def column_update(a: Any, b: Any) -> Any:
    z = a * 2
    x = z.at[:, 3:5].set(b[:, :2])
    y = z.at[:, 4:6].set(b[:, 2:4])
    return x @ gather(y).T


def make(name: str) -> Program:
    mesh = mesh_of(x=N)
    fn = jax.shard_map(
        BODIES[name], mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"), check_vma=False
    )
    rng = np.random.default_rng(0)
    a, b = (jnp.asarray(rng.integers(-3, 4, (8 * N, 16)), F32) for _ in range(2))
    return Program(jax.jit(fn), (a, b), mesh, (P("x"), P("x")), (P("x"),))


def main() -> None:
    folder = Path(sys.argv[1])
    for name in sys.argv[2:]:
        write(name, make(name), folder)


if __name__ == "__main__":
    main()
