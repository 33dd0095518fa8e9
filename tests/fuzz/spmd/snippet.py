"""A program as a script that runs it both ways."""

from __future__ import annotations

from .programs import Program, function_lines
from .reference import input_text, spec_of

_SCRIPT = """\
# {origin}
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count={devices}"

import headrace
import headrace.jax
import jax
import jax.numpy as jnp
import numpy as np
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P


{function}


mesh = jax.make_mesh({mesh}, {axes}, axis_types=(AxisType.Auto,) * {rank})
specs = ({specs})
inputs = [
{inputs}
]
step = jax.jit(
    jax.shard_map(program, mesh=mesh, in_specs=specs, out_specs=P({axes}), check_vma=False)
)
expected = step(*inputs)

compiled = headrace.compile(headrace.jax.to_stablehlo(step, *inputs), target="cpu", cpu="{cpu}")
compiled.save("/tmp/program.vmfb")
main = choose_function(load_functions("/tmp/program.vmfb"), "main")
parts = []
for spec, x in zip(specs, inputs):
    places = NamedSharding(mesh, spec).devices_indices_map(x.shape)
    parts.append(np.stack([np.asarray(x)[places[d]] for d in mesh.devices.flat]))
for got, want in zip(run_program("/tmp/program.vmfb", main, parts), expected):
    print("headrace", got.tolist())
    print("JAX     ", np.asarray(want).reshape(got.shape).tolist())
"""


def snippet(program: Program, origin: str) -> str:
    """The script; ``origin`` says how to make the program again."""
    specs = "".join(f"{spec_text(spec_of(i))}, " for i in program.inputs)
    return _SCRIPT.format(
        origin=origin,
        devices=program.devices,
        function="\n".join(function_lines(program, noise=False)),
        mesh=program.mesh,
        axes=program.axes,
        rank=len(program.mesh),
        specs=specs.rstrip(" "),
        inputs="\n".join(f"    {input_text(program, i)}," for i in program.inputs),
        cpu=program.cpu,
    )


def spec_text(spec: object) -> str:
    return "P(" + ", ".join(repr(part) for part in spec) + ")"  # type: ignore[attr-defined]
