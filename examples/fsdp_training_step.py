"""An FSDP training step in JAX, compiled and run by headrace on 4 CPU devices.

Each layer's weights are spread over the devices. The forward scan gathers
them layer by layer; the backward scan gathers them again (rematerialised, so
that whole weights are never kept) and sums and scatters their gradients. All
matmuls are fp8: activations and weights in E4M3, gradients in E5M2.

headrace gathers fp8 bytes, a layer ahead of their use in both scans, and
reduces each gradient while the next layer is computed.

    pip install -e '.[jax]'
    python examples/fsdp_training_step.py
"""

from __future__ import annotations

import os

# JAX on 4 CPU devices, to compare with.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

from functools import partial
from typing import Any

import headrace
import headrace.jax
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, PartitionSpec as P
from on_cpu_devices import run, tiles

LAYERS, BATCH, WIDTH = 4, 64, 128
RATE = 2.0
# Powers of two: dividing by them is exact.
WEIGHT_SCALE, ACTIVATION_SCALE, GRADIENT_SCALE = 2.0**-11, 2.0**-6, 2.0**-24

SPECS = (P("x", None), P("x", None), P(None, "x", None))
RESULT_SPECS = (P(), P(None, "x", None), P(None, "x", None))
RESULTS = ("loss", "gradients", "weights")


def fake_quantize(x: jax.Array, scale: float, dtype: Any) -> jax.Array:
    """To fp8 and back, as quantization-aware training writes it."""
    s = jnp.asarray(scale, x.dtype)
    largest = float(jnp.finfo(dtype).max)
    q = jnp.clip(x / s, -largest, largest).astype(dtype)
    return q.astype(x.dtype) * s


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def quantized(x: jax.Array, scale: float) -> jax.Array:
    """In E4M3; gradients pass straight through."""
    return fake_quantize(x, scale, jnp.float8_e4m3fn)


quantized.defvjp(lambda x, scale: (quantized(x, scale), None), lambda scale, _, g: (g,))


@jax.custom_vjp
def quantized_gradient(x: jax.Array) -> jax.Array:
    """``x`` itself; its gradient goes on in E5M2."""
    return x


quantized_gradient.defvjp(
    lambda x: (x, None), lambda _, g: (fake_quantize(g, GRADIENT_SCALE, jnp.float8_e5m2),)
)


# In a scan, prevent_cse would only add optimization barriers, over which
# nothing may move: neither XLA nor headrace could gather ahead.
@partial(jax.checkpoint, prevent_cse=False)
def layer(h: jax.Array, shard: jax.Array) -> jax.Array:
    w = jax.lax.all_gather(quantized(shard, WEIGHT_SCALE), "x", tiled=True)
    return jax.nn.relu(quantized_gradient(quantized(h, ACTIVATION_SCALE) @ w))


def local_loss(weights: jax.Array, h: jax.Array, target: jax.Array) -> jax.Array:
    """This device's part of the mean square error."""
    out, _ = jax.lax.scan(lambda h, shard: (layer(h, shard), None), h, weights)
    difference = out.astype(jnp.float32) - target.astype(jnp.float32)
    return jnp.sum(difference * difference) / (BATCH * WIDTH)


def step(h: jax.Array, target: jax.Array, weights: jax.Array) -> tuple[jax.Array, ...]:
    """One step of gradient descent: the loss, the gradients, and the new weights."""
    loss, gradients = jax.value_and_grad(local_loss)(weights, h, target)
    moved = weights - jnp.asarray(RATE, weights.dtype) * gradients
    return jax.lax.psum(loss, "x"), gradients, moved


def make_step(mesh: Mesh) -> Any:
    return jax.jit(jax.shard_map(step, mesh=mesh, in_specs=SPECS, out_specs=RESULT_SPECS))


def make_mesh() -> Mesh:
    return jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))


def make_arrays() -> tuple[jax.Array, jax.Array, jax.Array]:
    keys = jax.random.split(jax.random.key(0), 3)
    h = jax.random.normal(keys[0], (BATCH, WIDTH), jnp.bfloat16)
    target = jax.random.normal(keys[1], (BATCH, WIDTH), jnp.bfloat16)
    weights = jax.random.normal(keys[2], (LAYERS, WIDTH, WIDTH), jnp.bfloat16) * 0.12
    return h, target, weights


def main() -> None:
    mesh, arrays = make_mesh(), make_arrays()
    train = make_step(mesh)
    program = headrace.compile(headrace.jax.to_stablehlo(train, *arrays), target="cpu")
    for found in program.report["collectives"]:
        print(
            f"{found['op']} of {found['element_type']}: {found['bytes']} bytes x "
            f"{found['trips']} trips, {'pipelined' if found['pipelined'] else found['reason']}"
        )
    for matmul in program.report["matmuls"]:
        print(f"matmul {matmul['lhs']} x {matmul['rhs']}, scaled: {matmul['scaled']}")

    results = run(program, mesh, SPECS, arrays)
    for name, spec, result, expected in zip(
        RESULTS, RESULT_SPECS, results, train(*arrays), strict=True
    ):
        whole = tiles(mesh, spec, np.asarray(expected, np.float32))
        error = np.abs(result - whole).max() / np.abs(whole).max()
        print(f"{name}: largest error against JAX: {error:.2e}")
        if error > 0.02:
            raise SystemExit("headrace and JAX differ")


if __name__ == "__main__":
    main()
