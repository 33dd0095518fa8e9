"""``headrace.jax``: from JAX functions to per-device StableHLO, and to running programs.

JAX is imported when a function here is called, and nowhere else in headrace.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["jit", "to_stablehlo"]


def jit(
    fn: Any,
    target: str = "cpu",
    *,
    static_argnums: Any = None,
    static_argnames: Any = None,
    donate_argnums: Any = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    **options: Any,
) -> Any:
    """A function like ``jax.jit(fn)`` that headrace compiles and IREE runs.

    It takes and returns what that would: pytrees, keyword and static arguments, arrays that are
    sharded on a mesh; results are sharded as JAX's own are. It compiles once for each signature.
    ``fn`` may be jitted already. ``options`` are those of ``headrace.compile``; the others are
    ``jax.jit``'s.

        step = headrace.jax.jit(train_step)
        params, loss = step(params, batch)
        step.report["wire_bytes"]

    ``.lower(*args)`` gives the per-device program, with ``.as_text()`` and ``.compile()``;
    ``.report`` is that of the last call. It works under no transformation of JAX's: ``grad`` and
    ``vmap`` go inside.

    Raises HeadraceError if JAX is not installed, and, when called, for what cannot be compiled.
    """
    given = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
    }
    jit_options = {name: value for name, value in given.items() if value is not None}
    module = import_module("headrace.compiler.jax_jit")
    return module.Jitted(fn, {"target": target, **options}, jit_options)


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
