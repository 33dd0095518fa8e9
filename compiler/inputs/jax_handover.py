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
from .jax_internals import make_context, parse_with_jax
from .jax_shardy import dissolve_shardy, shardy_counts
from .partitioner_child import partition


def per_device_text(module: Any, places: Mapping[str, Sequence[Place]] | None = None) -> str:
    """The per-device StableHLO text of a jaxlib module.

    What ``jax.shard_map`` splits stays as it is written; JAX's partitioner splits the rest.
    ``places`` says where the arguments have sizes that are dimension variables.

    The module stays as it is: it may be the one that JAX keeps to compile.

    Raises HeadraceError for what neither headrace nor JAX's partitioner takes.
    """
    operation = module.operation
    attributes, name = operation.attributes, "jax.uses_shape_polymorphism"
    if name in attributes and str(attributes[name]) == "true":
        raise ir.HeadraceError(
            "the artifact has symbolic shapes, or is for several platforms; headrace takes fixed "
            "shapes and one platform: jax.export.export(fn, platforms=['cpu']); symbolic sizes "
            "work in headrace.jax.to_stablehlo(fn, *args)"
        )
    counts = shardy_counts(operation)
    if places and counts.devices > 1:
        raise ir.HeadraceError(
            "symbolic sizes are for one device's programs; over "
            f"{counts.devices} devices headrace takes fixed shapes"
        )
    received = None
    try:
        received = _split_by_hand(operation.clone(), places)
    except ir.HeadraceError:
        if counts.devices == 1:
            raise
    if received is None:
        received = _receive(partition(_text_of(operation), counts))
    ir.verify_natively(received)
    return str(received).rstrip() + "\n"


def _split_by_hand(module: Any, places: Mapping[str, Sequence[Place]] | None) -> Any:
    """One device's program by ``shard_map`` alone; None where there is none."""
    dissolve_shardy(module.operation)
    received = _receive(_text_of(module.operation))
    with received.context, received.location:
        devices = DeviceCounts.of(received, "mhlo").devices
        if devices > 1 and not has_manual_parts(received):
            return None
        if places:
            bind_dimensions(received, places)
        ToPerDevice().run(received)
    return received


def _text_of(operation: Any) -> str:
    # The generic form is what changes least between two versions of MLIR; the
    # locations let errors name lines of the user's Python file.
    return operation.get_asm(print_generic_op_form=True, enable_debug_info=True)


def _receive(text: str) -> ir.Operation:
    return parse_module(text, "<jax>", ir.make_context())


def artifact_text(artifact: bytes) -> str:
    """The per-device text of a portable artifact (VHLO bytecode).

    Raises HeadraceError if it cannot be read, and as ``per_device_text``.
    """
    stablehlo = import_module("jaxlib.mlir.dialects.stablehlo")
    context = make_context()
    try:
        module = stablehlo.deserialize_portable_artifact(context, artifact)
    except Exception as error:  # jaxlib has more than one class for this
        raise ir.HeadraceError(f"jaxlib cannot read the artifact: {error}") from error
    return per_device_text(module)


def module_text(text: str) -> str:
    """The per-device text of MLIR text as JAX writes it.

    Raises HeadraceError if it cannot be read, and as ``per_device_text``.
    """
    with make_context():
        return per_device_text(parse_with_jax(text))
