"""``to_stablehlo``: lowers a JAX function and makes it one device's program."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...dialects import ir
from .jax_dimensions import VARIABLE, places_of
from .jax_handover import per_device_text
from .jax_internals import lower_whole


def to_stablehlo(fn: Any, *args: Any, **kwargs: Any) -> str:
    """See ``headrace.jax.to_stablehlo``, which is this."""
    jax = import_jax("headrace.jax.to_stablehlo")
    if not callable(fn):
        raise ir.HeadraceError(f"to_stablehlo takes a function, not {type(fn).__name__}")
    jitted: Any = fn if hasattr(fn, "trace") else jax.jit(fn)
    return whole_text(lower_whole(jitted.trace(*args, **kwargs)))


def whole_text(lowered: Any) -> str:
    """The per-device text of a ``jax.stages.Lowered`` that takes all its arguments."""
    leaves = import_module("jax").tree_util.tree_leaves(lowered.args_info)
    module = lowered.compiler_ir(dialect="stablehlo")
    places = places_of(leaves)
    if len(leaves) != (count := _argument_count(module)):
        raise ir.HeadraceError(
            f"the function takes {len(leaves)} arrays, but JAX lowered it to a program of {count}: "
            "side effects with tokens, or constants that JAX passes as arguments "
            "(jax_use_simplified_jaxpr_constants)"
        )
    return per_device_text(module, places)


def _argument_count(module: Any) -> int:
    """Of the function's arguments; a dimension variable is none."""
    symbols = import_module("jaxlib.mlir.ir").SymbolTable(module.operation)
    main = symbols["main"]
    count = len(main.type.inputs)
    if "arg_attrs" not in main.attributes:
        return count
    return count - sum(VARIABLE in entry for entry in main.attributes["arg_attrs"])


def import_jax(what: str) -> Any:
    """The ``jax`` package; HeadraceError with the command that installs it."""
    try:
        return import_module("jax")
    except ImportError as error:
        raise ir.HeadraceError(
            f"{what} needs JAX, which cannot be imported ({error}): pip install 'headrace[jax]'"
        ) from error
