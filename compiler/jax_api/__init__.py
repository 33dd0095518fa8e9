"""``headrace.jax``: from JAX functions to per-device StableHLO.

JAX is imported when a function here is called, and nowhere else in headrace.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["to_stablehlo"]


def to_stablehlo(fn: Any, *args: Any, **kwargs: Any) -> str:
    """The StableHLO text of the program that each device runs for ``fn(*args)``.

    ``fn`` is a ``jax.jit`` function around ``jax.shard_map``, a shard_map
    function itself, or a function for one device. ``args`` are as for calling
    it: arrays, ``jax.ShapeDtypeStruct``, pytrees, static values; nothing is
    run, and a mesh may be a ``jax.sharding.AbstractMesh``, so that no devices
    are needed. Device i of the program is ``mesh.devices.flat[i]``.

    In the text, all types are one device's; arguments and results, flattened
    as JAX does, say in ``mhlo.sharding`` how the whole is tiled, and
    ``mhlo.num_partitions`` is the number of devices.

    Raises HeadraceError if JAX is not installed, for a program over several
    devices without shard_map, for ops outside of shard_map that would need
    communication, and for shard_map over a subset of the mesh axes. What JAX
    itself refuses it raises in its own words.
    """
    # This package is compiler/jax_api in the source tree and headrace.jax when
    # installed, so no relative import would mean the same in both.
    return import_module("headrace.compiler.inputs.jax_lowering").to_stablehlo(fn, *args, **kwargs)
