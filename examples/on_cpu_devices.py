"""Runs a compiled program on CPU devices, with arrays cut as a JAX mesh says."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import headrace
import numpy as np
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def run(
    program: headrace.CompileResult,
    mesh: Mesh,
    specs: Sequence[PartitionSpec],
    arrays: Sequence[Any],
) -> list[np.ndarray]:
    """The results of ``main``, each ``[devices, *local_shape]``.

    ``arrays`` are whole; device i gets what ``mesh.devices.flat[i]`` holds of
    them under ``specs``.
    """
    inputs = [tiles(mesh, spec, array) for spec, array in zip(specs, arrays, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        vmfb = Path(folder) / "program.vmfb"
        program.save(vmfb)
        function = choose_function(load_functions(vmfb), "main")
        return [np.asarray(r, np.float32) for r in run_program(vmfb, function, inputs)]


def tiles(mesh: Mesh, spec: PartitionSpec, array: Any) -> np.ndarray:
    """``[devices, *local_shape]``: what each device holds of a whole array."""
    whole = np.asarray(array)
    places = NamedSharding(mesh, spec).devices_indices_map(whole.shape)
    return np.stack([whole[places[device]] for device in mesh.devices.flat])
