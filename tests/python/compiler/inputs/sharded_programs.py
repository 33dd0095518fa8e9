"""Functions that are jitted with shardings alone, for JAX's partitioner to split.

Run as a script in a process of its own, as ``jax_programs.py``: it writes for each program
``NAME.mlir``, ``NAME.in.npz`` and ``NAME.out.npz``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import headrace.jax
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

Made = tuple[Any, tuple[Any, ...]]
PROGRAMS: dict[str, Callable[[], Made]] = {}
E4M3, E4M3_MAX = jnp.float8_e4m3fn, 448.0
Params = dict[str, jax.Array]


def program(make: Callable[[], Made]) -> Callable[[], Made]:
    PROGRAMS[make.__name__] = make
    return make


def mesh_of(**axes: int) -> Mesh:
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))


def normal(seed: int, *shape: int, dtype: Any = jnp.float32) -> jax.Array:
    return jax.random.normal(jax.random.key(seed), shape, jnp.float32).astype(dtype)


def put(mesh: Mesh, x: jax.Array, *spec: Any) -> jax.Array:
    return jax.device_put(x, NamedSharding(mesh, P(*spec)))


def mlp(x: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
    return jax.nn.relu(x @ up) @ down


def rms_norm(x: jax.Array, gain: jax.Array) -> jax.Array:
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * gain


def llama_block(x: jax.Array, p: Params) -> jax.Array:
    h = rms_norm(x, p["g1"])
    q, k, v = (jnp.reshape(h @ p[n], (*h.shape[:2], 4, -1)) for n in "qkv")
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    scores = jax.nn.softmax(jnp.where(mask, scores, -1e30), -1)
    x = x + jnp.reshape(jnp.einsum("bhqk,bkhd->bqhd", scores, v), h.shape) @ p["o"]
    h = rms_norm(x, p["g2"])
    return x + (jax.nn.silu(h @ p["w1"]) * (h @ p["w3"])) @ p["w2"]


def llama_params(*layers: int) -> Params:
    shapes = {**dict.fromkeys("qkvo", (16, 16)), "w1": (16, 32), "w3": (16, 32), "w2": (32, 16)}
    weights = {n: normal(i, *layers, *s) * 0.2 for i, (n, s) in enumerate(shapes.items())}
    return weights | {n: jnp.ones((*layers, 16)) for n in ("g1", "g2")}


def spread(mesh: Mesh, params: Params, *lead: None) -> Params:
    """Weights over both axes of a mesh, gains whole."""
    wide = ("q", "k", "v", "w1", "w3")
    specs = {n: (("d", "t") if n in wide else ("t", "d")) for n in params if n[0] != "g"}
    return {n: put(mesh, p, *lead, *specs.get(n, ())) for n, p in params.items()}


@program
def tensor_parallel() -> Made:
    mesh = mesh_of(t=4)
    args = (normal(0, 8, 16), put(mesh, normal(1, 16, 32), None, "t"))
    return jax.jit(mlp), (*args, put(mesh, normal(2, 32, 16), "t"))


@program
def fsdp() -> Made:
    mesh = mesh_of(d=4)
    args = [put(mesh, normal(n, *s), "d") for n, s in enumerate([(8, 16), (16, 32), (32, 16)])]
    return jax.jit(mlp, out_shardings=NamedSharding(mesh, P("d"))), tuple(args)


@program
def llama_both() -> Made:
    mesh = mesh_of(d=2, t=2)
    return jax.jit(llama_block), (put(mesh, normal(9, 4, 8, 16), "d"), spread(mesh, llama_params()))


@program
def llama_scan() -> Made:
    mesh = mesh_of(d=2, t=2)
    rows = NamedSharding(mesh, P("d"))

    def layers(x: jax.Array, params: Params) -> jax.Array:
        def step(h: jax.Array, p: Params) -> tuple[jax.Array, None]:
            return lax.with_sharding_constraint(llama_block(h, p), rows), None

        return lax.scan(step, x, params)[0]

    x = put(mesh, normal(9, 4, 8, 16), "d")
    return jax.jit(layers), (x, spread(mesh, llama_params(3), None))


@program
def training_step() -> Made:
    mesh = mesh_of(d=2, t=2)

    def loss(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
        h = lax.scan(lambda h, p: (llama_block(h, p), None), x, params)[0]
        return jnp.mean((h - y) ** 2)

    def step(params: Params, x: jax.Array, y: jax.Array) -> tuple[Params, jax.Array]:
        value, gradient = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.125 * g, params, gradient), value

    x, y = (put(mesh, normal(n, 4, 8, 16), "d") for n in (8, 9))
    return jax.jit(step), (spread(mesh, llama_params(2), None), x, y)


@program
def experts() -> Made:
    mesh = mesh_of(e=4)

    def dense(x: jax.Array, router: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
        weight, which = lax.top_k(jax.nn.softmax(x @ router, -1), 2)
        chosen = jnp.sum(jax.nn.one_hot(which, 4) * weight[..., None], -2)
        h = jax.nn.relu(jnp.einsum("td,edf->tef", x, up))
        return jnp.einsum("te,tef,efd->td", chosen, h, down)

    args = (put(mesh, normal(0, 8, 16), "e"), normal(1, 16, 4))
    weights = (put(mesh, normal(2, 4, 16, 8), "e"), put(mesh, normal(3, 4, 8, 16), "e"))
    return jax.jit(dense), (*args, *weights)


@program
def convolution() -> Made:
    """Tiled along the image, so that neighbours exchange rows."""
    mesh = mesh_of(d=4)
    dims = ("NHWC", "HWIO", "NHWC")
    fn = jax.jit(
        lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=dims)
    )
    return fn, (put(mesh, normal(0, 2, 16, 8, 3), None, "d"), normal(1, 3, 3, 3, 4))


@program
def vocabulary() -> Made:
    mesh = mesh_of(v=4)
    fn = jax.jit(lambda t, i, w: (t[i] @ w, jax.nn.log_softmax(t[i] @ t.T)))
    return fn, (put(mesh, normal(0, 32, 16), "v"), jnp.arange(7) * 5 % 32, normal(1, 16, 8))


@program
def microbatches() -> Made:
    mesh = mesh_of(d=4)

    def total(x: jax.Array, w: jax.Array) -> jax.Array:
        def add(i: jax.Array, so_far: jax.Array) -> jax.Array:
            return so_far + jnp.sum((lax.dynamic_index_in_dim(x, i, 0, False) @ w) ** 2)

        return lax.fori_loop(0, 4, add, jnp.float32(0))

    return jax.jit(total), (
        put(mesh, normal(0, 4, 8, 16), None, "d"),
        put(mesh, normal(1, 16, 8), "d"),
    )


@program
def eight_devices() -> Made:
    mesh = mesh_of(a=2, b=2, c=2)
    results = (NamedSharding(mesh, P("a", "b")), NamedSharding(mesh, P()))
    fn = jax.jit(
        lambda x, w: (jnp.sort(x @ w, axis=-1), jnp.cumsum(x, axis=0)), out_shardings=results
    )
    args = (put(mesh, normal(0, 8, 16), "a", ("b", "c")), normal(1, 16, 8))
    return fn, (args[0], put(mesh, args[1], ("b", "c"), "a"))


@program
def fp8_weights() -> Made:
    mesh = mesh_of(d=4)

    def fn(x: jax.Array, w: jax.Array, scale: jax.Array) -> jax.Array:
        return x @ (w.astype(jnp.float32) * scale).astype(jnp.bfloat16)

    x = put(mesh, normal(0, 8, 64, dtype=jnp.bfloat16), "d")
    w = put(mesh, normal(1, 64, 32).astype(E4M3), "d")
    return jax.jit(fn, out_shardings=NamedSharding(mesh, P("d"))), (x, w, jnp.float32(0.5))


@program
def fp8_scaled() -> Made:
    """Weights and activations are quantized in the program, each by its own amax."""
    mesh = mesh_of(d=4)

    def quantized(x: jax.Array) -> jax.Array:
        scale = jnp.exp2(jnp.ceil(jnp.log2(jnp.max(jnp.abs(x)) / E4M3_MAX)))
        code = jnp.clip(x / scale, -E4M3_MAX, E4M3_MAX).astype(E4M3)
        return (code.astype(jnp.float32) * scale).astype(jnp.bfloat16)

    def fn(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.dot(quantized(x), quantized(w), preferred_element_type=jnp.float32)

    args = (put(mesh, normal(0, 8, 64), "d"), put(mesh, normal(1, 64, 32), "d"))
    return jax.jit(fn, out_shardings=NamedSharding(mesh, P("d"))), args


def parts(x: Any, devices: int) -> Any:
    """``[devices, *shape of one]``."""
    x = jnp.asarray(x)
    if len(x.sharding.device_set) == 1:
        return np.stack([np.asarray(x)] * devices)
    shards = sorted(x.addressable_shards, key=lambda shard: shard.device.id)
    return np.stack([np.asarray(shard.data) for shard in shards])


def main() -> None:
    folder = Path(sys.argv[1])
    for name in sys.argv[2:]:
        fn, args = PROGRAMS[name]()
        devices = 8 if name == "eight_devices" else 4
        (folder / f"{name}.mlir").write_text(headrace.jax.to_stablehlo(fn, *args))
        for kind, values in (("in", args), ("out", fn(*args))):
            leaves = [parts(leaf, devices) for leaf in jax.tree.leaves(values)]
            np.savez(folder / f"{name}.{kind}.npz", *leaves)


if __name__ == "__main__":
    main()
