"""JAX's numbers on forced host devices, and how far rounding may take others from them.

The tolerance is measured, not guessed: see ``noise``. Values that no disturbed
rounding reaches do not move, and are compared exactly.
"""

from __future__ import annotations

import os

# Converts round as written, also where a wider type could be kept.
os.environ["XLA_FLAGS"] = (
    "--xla_force_host_platform_device_count=8 --xla_allow_excess_precision=false"
)

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

from .noise import LENGTH, Noise
from .programs import Input, Program, all_statements, define, function_lines

Array = np.ndarray[Any, Any]

DISTURBANCES = 5


def mesh_of(sizes: tuple[int, ...]) -> Mesh:
    count = int(np.prod(sizes))
    axes = ("x", "y")[: len(sizes)]
    types = (AxisType.Auto,) * len(sizes)
    return jax.make_mesh(sizes, axes, axis_types=types, devices=jax.devices()[:count])


def spec_of(input_: Input) -> P:
    return P(*(axes if axes else None for axes in input_.cut))


def global_shape(program: Program, input_: Input) -> tuple[int, ...]:
    shape = input_.value.type.shape
    return tuple(n * program.size_of(axes) for n, axes in zip(shape, input_.cut, strict=True))


def input_text(program: Program, input_: Input) -> str:
    """Python for an input's values, with numpy as np and jnp."""
    type_, lattice = input_.value.type, input_.value.lattice
    random = f"np.random.default_rng({input_.seed})"
    shape = global_shape(program, input_)
    if type_.dtype == "bool":
        return f"{random}.random({shape}) < 0.5"
    if lattice is None:
        values = f"{random}.standard_normal({shape})"
    else:
        low = 0 if type_.dtype.startswith("uint") else -min(int(lattice.bound), 3)
        values = f"{random}.integers({low}, {min(int(lattice.bound), 3) + 1}, {shape})"
    return f"np.asarray({values}).astype(jnp.{type_.dtype})"


def input_values(program: Program) -> list[Array]:
    """The whole arrays, over all devices."""
    space = {"np": np, "jnp": jnp}
    return [np.asarray(eval(input_text(program, i), space)) for i in program.inputs]


def namespace(noise: Callable[[Callable[[], Any]], Any]) -> dict[str, Any]:
    return {"jax": jax, "jnp": jnp, "lax": lax, "np": np, "_n": noise}


def batch_function(programs: Sequence[Program], noise: bool) -> Callable[..., Any]:
    """One function of all programs' inputs and results; with noise, its signs first."""

    def function(*arguments: Any) -> tuple[Any, ...]:
        left = list(arguments)
        disturbed = Noise(left.pop(0)) if noise else (lambda compute: compute())
        results: list[Any] = []
        for program in programs:
            lines = function_lines(program, noise)
            body = define(lines, "program", namespace(disturbed))
            own = [left.pop(0) for _ in program.inputs]
            results += body(*own)
        return tuple(results)

    return function


def mapped(programs: Sequence[Program], noise: bool) -> Any:
    """The jitted function over the mesh of the programs."""
    mesh = mesh_of(programs[0].mesh)
    inputs = [spec_of(i) for p in programs for i in p.inputs]
    outputs = tuple(P(p.axes) for p in programs for _ in p.outputs)
    extra = [P()] if noise else []
    function = jax.shard_map(
        batch_function(programs, noise),
        mesh=mesh,
        in_specs=(*extra, *inputs),
        out_specs=outputs,
        check_vma=False,
    )
    return jax.jit(function)


def on_devices(programs: Sequence[Program]) -> list[Array]:
    """All inputs as ``[devices, *local shape]``."""
    mesh = mesh_of(programs[0].mesh)
    found: list[Array] = []
    for program in programs:
        for input_, array in zip(program.inputs, input_values(program), strict=True):
            places = NamedSharding(mesh, spec_of(input_)).devices_indices_map(array.shape)
            found.append(np.stack([array[places[d]] for d in mesh.devices.flat]))
    return found


def split(arrays: Sequence[Any], devices: int) -> list[Array]:
    """Whole results as ``[devices, *local shape]``."""
    return [np.asarray(a).reshape(devices, -1, *a.shape[1:]) for a in arrays]


class Reference:
    """JAX's results of some programs of one mesh."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self._inputs = [a for p in programs for a in input_values(p)]
        self._devices = programs[0].devices
        self._noisy = any(s.noisy for p in programs for s in all_statements(p.statements))
        self._function = mapped(programs, noise=self._noisy)
        self._disturbed: list[list[Array]] = []
        self.results = self._run(np.zeros(LENGTH, np.float32))

    def _run(self, signs: Array) -> list[Array]:
        return split(
            self._function(*((signs,) if self._noisy else ()), *self._inputs), self._devices
        )

    def disturbed(self, count: int = DISTURBANCES) -> list[list[Array]]:
        """Results of as many disturbed runs; none where all is exact."""
        while self._noisy and len(self._disturbed) < count:
            random = np.random.default_rng(len(self._disturbed))
            signs = random.choice(np.array([-1, 1], np.float32), LENGTH)
            self._disturbed.append(self._run(signs))
        return self._disturbed
