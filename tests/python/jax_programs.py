"""JAX programs, and their text, inputs and results as JAX computes them.

Run as a script in a process of its own, since the number of CPU devices has
to be set before JAX starts: ``python jax_programs.py FOLDER`` writes for each
program ``NAME.mlir``, ``NAME.in.npz`` and ``NAME.out.npz``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import headrace.jax
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

E4M3 = jnp.float8_e4m3fn
E4M3_MAX = 448.0


@dataclass(frozen=True)
class Program:
    """A function with its global arguments, and how those and its results are cut."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    mesh: Mesh
    inputs: tuple[P, ...]
    outputs: tuple[P, ...]


PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[make.__name__] = make
    return make


def mesh_of(**axes: int) -> Mesh:
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))


def normal(seed: int, shape: tuple[int, ...], dtype: Any = jnp.bfloat16) -> jax.Array:
    return jax.random.normal(jax.random.key(seed), shape, jnp.float32).astype(dtype)


def quantize_dequantize(x: jax.Array, scale: float) -> jax.Array:
    s = jnp.asarray(scale, x.dtype)
    q = jnp.clip(x / s, -E4M3_MAX, E4M3_MAX).astype(E4M3)
    return q.astype(x.dtype) * s


@program
def fsdp_scan() -> Program:
    mesh = mesh_of(x=4)
    specs = (P("x", None), P(None, "x", None))

    def layers(h: jax.Array, ws: jax.Array) -> jax.Array:
        def layer(h: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
            w = lax.all_gather(quantize_dequantize(w, 2**-9), "x", tiled=True)
            return jax.nn.relu(quantize_dequantize(h, 2**-5) @ w), None

        return lax.scan(layer, h, ws)[0]

    fn = jax.shard_map(layers, mesh=mesh, in_specs=specs, out_specs=specs[0])
    ws = normal(1, (3, 64, 64)) * jnp.bfloat16(0.15)
    return Program(jax.jit(fn), (normal(0, (32, 64)), ws), mesh, specs, specs[:1])


@program
def current_scaling() -> Program:
    """Scales from the weights themselves, of the tensor and of each column."""
    mesh = mesh_of(x=4)
    specs = (P("x", None), P(None, "x", None))
    results = (specs[0], P(), P())

    def scaled(w: jax.Array, axes: int | None) -> tuple[jax.Array, jax.Array]:
        amax = jnp.max(jnp.abs(w), axis=axes, keepdims=True)
        # A power of two, so that JAX and headrace divide alike.
        s = jnp.exp2(jnp.ceil(jnp.log2(amax.astype(jnp.float32) / E4M3_MAX))).astype(w.dtype)
        return jnp.clip(w / s, -E4M3_MAX, E4M3_MAX).astype(E4M3).astype(w.dtype) * s, amax

    def layers(h: jax.Array, ws: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        def layer(h: jax.Array, w: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
            whole, amax = scaled(lax.all_gather(w, "x", tiled=True), None)
            columns, amaxes = scaled(lax.all_gather(w[:, :32], "x", tiled=True), 0)
            h = jax.nn.relu(quantize_dequantize(h, 2**-5) @ whole)
            h = h + jnp.tile(quantize_dequantize(h, 2**-5) @ columns, 2)
            return h, (amax, amaxes)

        h, (amax, amaxes) = lax.scan(layer, h, ws)
        return h, amax, amaxes

    fn = jax.shard_map(layers, mesh=mesh, in_specs=specs, out_specs=results, check_vma=False)
    ws = normal(1, (3, 64, 64)) * jnp.bfloat16(0.15)
    return Program(jax.jit(fn), (normal(0, (32, 64)), ws), mesh, specs, results)


@program
def scan_outside() -> Program:
    """The same, with the loop around shard_map and work between."""
    mesh = mesh_of(x=4)
    specs = (P("x", None), P(None, "x", None))

    def layer(h: jax.Array, w: jax.Array) -> jax.Array:
        w = lax.all_gather(quantize_dequantize(w, 2**-9), "x", tiled=True)
        return quantize_dequantize(h, 2**-5) @ w

    mapped = jax.jit(jax.shard_map(layer, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x")))

    def layers(h: jax.Array, ws: jax.Array) -> jax.Array:
        def step(h: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
            return jax.nn.relu(mapped(h * jnp.bfloat16(0.5), w)), None

        return lax.scan(step, h, ws)[0]

    ws = normal(1, (3, 64, 64)) * jnp.bfloat16(0.3)
    return Program(jax.jit(layers), (normal(0, (32, 64)), ws), mesh, specs, specs[:1])


@program
def tp_mlp() -> Program:
    mesh = mesh_of(x=4)
    specs = (P(), P(None, "x"), P("x", None))

    def mlp(x: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
        h = jax.nn.silu(quantize_dequantize(x, 2**-5) @ quantize_dequantize(up, 2**-9))
        h = quantize_dequantize(h, 2**-6)
        y = jnp.dot(h, quantize_dequantize(down, 2**-9), preferred_element_type=jnp.float32)
        return x + lax.psum(y, "x").astype(x.dtype)

    fn = jax.shard_map(mlp, mesh=mesh, in_specs=specs, out_specs=P())
    args = (normal(0, (16, 32)), normal(1, (32, 64)) / 8, normal(2, (64, 32)) / 8)
    return Program(jax.jit(fn), args, mesh, specs, (P(),))


@program
def invariant_gather() -> Program:
    """What is gathered does not change in the loop; rows are stored one by one."""
    mesh = mesh_of(x=4)
    specs = (P(), P("x", None), P())

    def rows(x: jax.Array, w: jax.Array, scale: jax.Array) -> jax.Array:
        def body(i: jax.Array, y: jax.Array) -> jax.Array:
            q = jnp.clip(w / scale, -E4M3_MAX, E4M3_MAX).astype(E4M3)
            whole = lax.all_gather(q.astype(w.dtype) * scale, "x", tiled=True)
            row = lax.dynamic_slice_in_dim(x, i, 1)
            return lax.dynamic_update_slice_in_dim(y, row @ whole, i, 0)

        return lax.fori_loop(0, 4, body, jnp.zeros((4, 16), x.dtype))

    fn = jax.shard_map(rows, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False)
    args = (normal(0, (4, 16)), normal(1, (16, 16)), jnp.bfloat16(2**-7))
    return Program(jax.jit(fn), args, mesh, specs, (P(),))


@program
def every_collective() -> Program:
    """All collectives over one and both axes of a mesh, given as a plain function."""
    mesh = mesh_of(d=2, t=2)
    whole = P(("d", "t"), None)

    def body(batch: dict[str, jax.Array]) -> dict[str, jax.Array]:
        x, n = batch["x"], batch["n"]
        return {
            "gather_d": lax.all_gather(x, "d", tiled=True),
            "gather_both": lax.all_gather(x, ("d", "t"), axis=1, tiled=True),
            "index": x + lax.axis_index("d") * 10 + lax.axis_index(("d", "t")),
            "max": lax.pmax(x, "t"),
            "permute": lax.ppermute(x, "t", [(0, 1), (1, 0)]),
            "scatter": lax.psum_scatter(x, "d", scatter_dimension=1, tiled=True),
            "sum": lax.psum(n, ("d", "t")),
            "swap": lax.all_to_all(x, "t", split_axis=1, concat_axis=0, tiled=True),
        }

    outputs = {
        "gather_d": whole,
        "gather_both": whole,
        "index": whole,
        "max": whole,
        "permute": whole,
        "scatter": whole,
        "sum": P(),
        "swap": whole,
    }
    inputs = {"n": P(("d", "t")), "x": whole}
    fn = jax.shard_map(body, mesh=mesh, in_specs=(inputs,), out_specs=outputs, check_vma=False)
    args = ({"n": jnp.arange(8, dtype=jnp.int32), "x": normal(0, (8, 6), jnp.float32)},)
    return Program(fn, args, mesh, tuple(inputs.values()), tuple(outputs.values()))


@program
def fp8_direct() -> Program:
    """fp8 arguments, an fp8 gather and an fp8 dot, as written by hand."""
    mesh = mesh_of(x=4)
    specs = (P("x", None), P("x", None), P())

    def dot(x: jax.Array, w: jax.Array, scale: jax.Array) -> jax.Array:
        q = jnp.clip(x / scale, -E4M3_MAX, E4M3_MAX).astype(E4M3)
        w = lax.all_gather(w, "x", tiled=True)
        y = lax.dot_general(q, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32)
        return y * scale

    fn = jax.shard_map(dot, mesh=mesh, in_specs=specs, out_specs=specs[0])
    args = (normal(0, (16, 32), jnp.float32), normal(1, (32, 16), E4M3), jnp.float32(2**-6))
    return Program(jax.jit(fn), args, mesh, specs, specs[:1])


@program
def odds_and_ends() -> Program:
    """Static, unused, scalar and donated arguments, a cut constant, two
    shard_maps with arithmetic between, integers, a replicated side."""
    mesh = mesh_of(d=2, t=2)
    tiled = P("t", "d")
    table = np.arange(64, dtype=np.float32).reshape(8, 8)

    def scale_by_table(x: jax.Array, t: jax.Array, unused: jax.Array) -> jax.Array:
        return x * t + lax.psum(jnp.sum(t), ("d", "t"))

    def add_index(x: jax.Array) -> jax.Array:
        return x + lax.axis_index("t").astype(x.dtype)

    first = jax.shard_map(
        scale_by_table, mesh=mesh, in_specs=(tiled, tiled, P("d")), out_specs=tiled
    )
    second = jax.shard_map(add_index, mesh=mesh, in_specs=tiled, out_specs=tiled)

    def fn(x: jax.Array, unused: jax.Array, s: jax.Array, n: int) -> tuple[jax.Array, jax.Array]:
        y = first(x * s, table, unused)
        side = jnp.cumsum(jnp.arange(n) * jnp.int32(3))
        return second(jnp.tanh(y) + x[None].reshape(8, 8)), side

    jitted = jax.jit(fn, static_argnums=3, donate_argnums=0)
    args = (normal(0, (8, 8), jnp.float32), jnp.ones((4,), jnp.int8), jnp.float32(0.01), 5)
    return Program(jitted, args, mesh, (tiled, P("d"), P()), (tiled, P()))


def random_keys(seed: int) -> jax.Array:
    """A key of each device's own; inside of shard_map over x."""
    return jax.random.fold_in(jax.random.key(seed), lax.axis_index("x"))


def dropout(key: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.where(jax.random.bernoulli(key, 0.75, x.shape), x / 0.75, 0)


@program
def dropout_dots() -> Program:
    """Random numbers into dots with collectives, of equal and of own keys."""
    mesh = mesh_of(x=4)
    specs = (P("x", None), P("x", None))

    def dots(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
        h = dropout(random_keys(7), x) @ lax.all_gather(w, "x", tiled=True)
        return h, lax.psum(jax.random.uniform(jax.random.key(8), x.shape) @ h.T, "x")

    fn = jax.shard_map(dots, mesh=mesh, in_specs=specs, out_specs=(specs[0], P()))
    args = (normal(0, (32, 16), jnp.float32), normal(1, (16, 16), jnp.float32))
    return Program(jax.jit(fn), args, mesh, specs, (specs[0], P()))


@program
def dropout_scan() -> Program:
    """Layers with dropout whose keys are split on the way."""
    mesh = mesh_of(x=4)
    specs = (P("x", None), P(None, "x", None))

    def layers(h: jax.Array, ws: jax.Array) -> jax.Array:
        def layer(state: tuple[jax.Array, jax.Array], w: jax.Array) -> Any:
            h, key = state
            key, own = jax.random.split(key)
            return (jnp.tanh(dropout(own, h) @ lax.all_gather(w, "x", tiled=True)), key), None

        return lax.scan(layer, (h, random_keys(3)), ws)[0][0]

    fn = jax.shard_map(layers, mesh=mesh, in_specs=specs, out_specs=specs[0])
    args = (normal(0, (32, 16), jnp.float32), normal(1, (3, 16, 16), jnp.float32) / 4)
    return Program(jax.jit(fn), args, mesh, specs, specs[:1])


def flax_dense() -> Program:
    """Flax's own fp8 dot, with its weight gathered first; in only with Flax."""
    import flax.linen as nn

    mesh = mesh_of(x=4)
    dense = nn.Dense(32, use_bias=False, dot_general_cls=nn.Fp8DotGeneralOp, dtype=jnp.bfloat16)
    x = normal(0, (32, 16))
    variables = dense.init(jax.random.key(1), x)
    kernel = variables["params"]["kernel"]
    # One step's amax history and scale of each operand, as training leaves them.
    state = {k: v for k, v in variables.items() if k != "params"}
    state = jax.tree.map(lambda leaf: leaf + jnp.asarray(2, leaf.dtype), state)

    def apply(x: jax.Array, kernel: jax.Array, state: Any) -> jax.Array:
        whole = lax.all_gather(kernel, "x", tiled=True)
        return dense.apply({"params": {"kernel": whole}, **state}, x)

    specs = (P("x"), P("x"), P())
    fn = jax.shard_map(apply, mesh=mesh, in_specs=specs, out_specs=P("x"))
    inputs = (P("x"), P("x"), *(P() for _ in jax.tree.leaves(state)))
    return Program(jax.jit(fn), (x, kernel, state), mesh, inputs, (P("x"),))


def on_devices(mesh: Mesh, spec: P, value: Any) -> np.ndarray:
    """``[devices, *local_shape]``, in mesh order; bf16 and fp8 as exact f32."""
    array = np.asarray(value)
    if array.dtype.name.startswith(("bfloat", "float8")):
        array = array.astype(np.float32)
    places = NamedSharding(mesh, spec).devices_indices_map(array.shape)
    return np.stack([array[places[device]] for device in mesh.devices.flat])


def write(name: str, made: Program, folder: Path) -> None:
    (folder / f"{name}.mlir").write_text(headrace.jax.to_stablehlo(made.fn, *made.args))
    leaves = [leaf for leaf in jax.tree.leaves(made.args) if not isinstance(leaf, int)]
    inputs = [on_devices(made.mesh, *pair) for pair in zip(made.inputs, leaves, strict=True)]
    results = jax.tree.leaves(made.fn(*made.args))
    outputs = [on_devices(made.mesh, *pair) for pair in zip(made.outputs, results, strict=True)]
    np.savez(folder / f"{name}.in.npz", *inputs)
    np.savez(folder / f"{name}.out.npz", *outputs)


def main() -> None:
    folder = Path(sys.argv[1])
    for name in sys.argv[2:]:
        write(name, {**PROGRAMS, "flax_dense": flax_dense}[name](), folder)


if __name__ == "__main__":
    main()
