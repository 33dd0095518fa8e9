"""A tensor-parallel MLP in JAX, compiled and run by headrace on 4 CPU devices.

The first weight is cut by columns and the second by rows, so each layer ends
in one all-reduce. Reductions keep their f32; both matmuls become scaled fp8.

    pip install -e '.[jax]'
    python examples/tensor_parallel_mlp.py
"""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import headrace
import headrace.jax
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, PartitionSpec as P
from on_cpu_devices import run, tiles

BATCH, WIDTH, HIDDEN = 64, 128, 512
E4M3_MAX = 448.0


def fake_quantize(x: jax.Array, scale: float) -> jax.Array:
    """To fp8 and back, as quantization-aware training writes it."""
    s = jnp.asarray(scale, x.dtype)
    q = jnp.clip(x / s, -E4M3_MAX, E4M3_MAX).astype(jnp.float8_e4m3fn)
    return q.astype(x.dtype) * s


def mlp(x: jax.Array, weights: dict[str, jax.Array]) -> jax.Array:
    h = jax.nn.gelu(fake_quantize(x, 0.02) @ fake_quantize(weights["up"], 2e-3))
    partial = jnp.dot(
        fake_quantize(h, 0.01),
        fake_quantize(weights["down"], 2e-3),
        preferred_element_type=jnp.float32,
    )
    return x + jax.lax.psum(partial, "x").astype(x.dtype)


def main() -> None:
    mesh = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))
    weight_specs = {"down": P("x", None), "up": P(None, "x")}
    step = jax.jit(jax.shard_map(mlp, mesh=mesh, in_specs=(P(), weight_specs), out_specs=P()))
    keys = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(keys[0], (BATCH, WIDTH), jnp.bfloat16)
    weights = {
        "down": jax.random.normal(keys[1], (HIDDEN, WIDTH), jnp.bfloat16) * 0.04,
        "up": jax.random.normal(keys[2], (WIDTH, HIDDEN), jnp.bfloat16) * 0.09,
    }

    program = headrace.compile(headrace.jax.to_stablehlo(step, x, weights), target="cpu")
    for reduction in program.report["collectives"]:
        print(f"{reduction['op']} of {reduction['element_type']}: {reduction['bytes']} bytes")
    for matmul in program.report["matmuls"]:
        print(f"matmul {matmul['lhs']} x {matmul['rhs']}, scaled: {matmul['scaled']}")

    # Arguments are flattened as JAX does it: x, then the weights by name.
    specs = (P(), *weight_specs.values())
    (result,) = run(program, mesh, specs, (x, *weights.values()))
    expected = tiles(mesh, P(), np.asarray(step(x, weights), np.float32))
    error = np.abs(result - expected).max() / np.abs(expected).max()
    print(f"largest error against JAX: {error:.2e}")
    if error > 0.02:
        raise SystemExit("headrace and JAX differ")


if __name__ == "__main__":
    main()
