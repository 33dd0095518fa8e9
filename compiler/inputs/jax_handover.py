"""From jaxlib's MLIR to headrace's: modules cross as text, never as objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from ...dialects import ir
from ...dialects.device_counts import DeviceCounts
from ...dialects.ir.parsing import parse_module
from ...passes.frontend.to_per_device import ToPerDevice, has_manual_parts
from .jax_dimensions import Place, bind_dimensions
from .jax_shardy import dissolve_shardy

AUTOMATIC = (
    "the program runs on {} devices without jax.shard_map, and JAX's partitioner would have to "
    "split it; headrace takes per-device programs: wrap the function in jax.shard_map, with "
    "collectives such as jax.lax.all_gather and psum"
)


def per_device_text(module: Any, places: Mapping[str, Sequence[Place]] | None = None) -> str:
    """The per-device StableHLO text of a jaxlib module.

    ``places`` says where the arguments have sizes that are dimension variables.

    The module stays as it is: it may be the one that JAX keeps to compile.

    Raises HeadraceError for a program over several devices without shard_map,
    and for what ``dissolve_shardy`` and ``to-per-device`` refuse.
    """
    copy = module.operation.clone()
    attributes, name = copy.operation.attributes, "jax.uses_shape_polymorphism"
    if name in attributes and str(attributes[name]) == "true":
        raise ir.HeadraceError(
            "the artifact has symbolic shapes, or is for several platforms; headrace takes fixed "
            "shapes and one platform: jax.export.export(fn, platforms=['cpu']); symbolic sizes "
            "work in headrace.jax.to_stablehlo(fn, *args)"
        )
    dissolve_shardy(copy.operation)
    # The generic form is what changes least between two versions of MLIR; the
    # locations let errors name lines of the user's Python file.
    text = copy.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    received = parse_module(text, "<jax>", ir.make_context())
    with received.context, received.location:
        devices = DeviceCounts.of(received, "mhlo").partitions or 1
        if devices > 1 and not has_manual_parts(received):
            raise ir.HeadraceError(AUTOMATIC.format(devices))
        if places:
            if devices > 1:
                raise ir.HeadraceError(
                    "symbolic sizes are for one device's programs; with jax.shard_map over "
                    f"{devices} devices headrace takes fixed shapes"
                )
            bind_dimensions(received, places)
        ToPerDevice().run(received)
        ir.verify_natively(received)
    return str(received).rstrip() + "\n"


def artifact_text(artifact: bytes) -> str:
    """The per-device text of a portable artifact (VHLO bytecode).

    Raises HeadraceError if it cannot be read, and as ``per_device_text``.
    """
    stablehlo = import_module("jaxlib.mlir.dialects.stablehlo")
    context = import_module("jax._src.interpreters.mlir").make_ir_context()
    try:
        module = stablehlo.deserialize_portable_artifact(context, artifact)
    except Exception as error:  # jaxlib has more than one class for this
        raise ir.HeadraceError(f"jaxlib cannot read the artifact: {error}") from error
    return per_device_text(module)
