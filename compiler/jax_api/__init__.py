"""``headrace.jax``: from JAX functions to per-device StableHLO.

JAX is imported when a function here is called, and nowhere else in headrace.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["to_stablehlo"]


def to_stablehlo(fn: Any, *args: Any, **kwargs: Any) -> str:
    """The StableHLO text of the program that each device runs for ``fn(*args)``.

    ``fn`` is a ``jax.jit`` function, or one to jit. What ``jax.shard_map`` splits
    by hand stays as it is written; the rest is split by JAX's own partitioner, after
    the shardings of arguments, results and constraints, as it is when JAX runs it.
    ``args`` are as for calling it: arrays, ``jax.ShapeDtypeStruct``, pytrees, static
    values; nothing is run, and a mesh may be a ``jax.sharding.AbstractMesh``, so that
    no devices are needed. Device i of the program is ``mesh.devices.flat[i]``.

    In the text, all types are one device's; arguments and results, flattened
    as JAX does, say in ``mhlo.sharding`` how the whole is tiled, and
    ``mhlo.num_partitions`` is the number of devices.

    Raises HeadraceError if JAX is not installed, or its partitioner is of a version
    that headrace does not know. What JAX itself refuses it raises in its own words.
    """
    # This package is compiler/jax_api in the source tree and headrace.jax when
    # installed, so no relative import would mean the same in both.
    return import_module("headrace.compiler.inputs.jax_lowering").to_stablehlo(fn, *args, **kwargs)
