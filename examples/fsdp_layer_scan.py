"""FSDP in JAX, compiled and run by headrace on 4 CPU devices.

Each layer's weights are spread over the devices, quantized to fp8, gathered,
and multiplied. headrace gathers the fp8 bytes instead of bf16, and turns the
dequantizes and the dot into one scaled fp8 matmul.

    pip install -e '.[jax]'
    python examples/fsdp_layer_scan.py
"""

from __future__ import annotations

import os

# JAX on 4 CPU devices, to compare with. Compiling alone needs no devices:
# jax.sharding.AbstractMesh((4,), ("x",)) would do.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import headrace
import headrace.jax
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, PartitionSpec as P
from on_cpu_devices import run, tiles

LAYERS, BATCH, WIDTH = 6, 128, 256
E4M3_MAX = 448.0


def fake_quantize(x: jax.Array, scale: float) -> jax.Array:
    """To fp8 and back, as quantization-aware training writes it."""
    s = jnp.asarray(scale, x.dtype)
    q = jnp.clip(x / s, -E4M3_MAX, E4M3_MAX).astype(jnp.float8_e4m3fn)
    return q.astype(x.dtype) * s


def model(h: jax.Array, weights: jax.Array) -> jax.Array:
    def layer(h: jax.Array, shard: jax.Array) -> tuple[jax.Array, None]:
        w = jax.lax.all_gather(fake_quantize(shard, 1e-3), "x", tiled=True)
        return jax.nn.relu(fake_quantize(h, 0.02) @ w), None

    return jax.lax.scan(layer, h, weights)[0]


def main() -> None:
    mesh = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))
    specs = (P("x", None), P(None, "x", None))
    step = jax.jit(jax.shard_map(model, mesh=mesh, in_specs=specs, out_specs=P("x", None)))
    keys = jax.random.split(jax.random.key(0))
    h = jax.random.normal(keys[0], (BATCH, WIDTH), jnp.bfloat16)
    weights = jax.random.normal(keys[1], (LAYERS, WIDTH, WIDTH), jnp.bfloat16) * 0.06

    program = headrace.compile(headrace.jax.to_stablehlo(step, h, weights), target="cpu")
    for gather in program.report["collectives"]:
        print(
            f"{gather['op']} of {gather['element_type']}: "
            f"{gather['bytes']} bytes x {gather['trips']} trips"
        )
    for matmul in program.report["matmuls"]:
        print(f"matmul {matmul['lhs']} x {matmul['rhs']}, scaled: {matmul['scaled']}")

    (result,) = run(program, mesh, specs, (h, weights))
    expected = tiles(mesh, P("x", None), np.asarray(step(h, weights), np.float32))
    error = np.abs(result - expected).max() / np.abs(expected).max()
    print(f"largest error against JAX: {error:.2e}")
    if error > 0.02:
        raise SystemExit("headrace and JAX differ")


if __name__ == "__main__":
    main()
