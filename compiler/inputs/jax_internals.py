"""The names of JAX and jaxlib that are not public, and that headrace uses: all of them.

They may move between any two versions; ``tests/python/compiler/inputs/test_jax_internals.py``
calls each.
"""

from __future__ import annotations

import copy
import re
from importlib import import_module
from typing import Any

import numpy as np

from ...dialects import ir

# Of jax and jaxlib, which are released together.
KNOWN_VERSION = (0, 10)


def check_version() -> None:
    """Raises HeadraceError where jaxlib is another version than headrace knows; ImportError
    where there is none."""
    version = str(import_module("jaxlib").__version__)
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None or tuple(map(int, found.groups())) != KNOWN_VERSION:
        known = ".".join(map(str, KNOWN_VERSION))
        raise ir.HeadraceError(
            f"headrace knows the inside of jaxlib {known}, and this is {version}: "
            "pip install 'headrace[jax]'"
        )


def make_context() -> Any:
    """A context of jaxlib's MLIR with all of JAX's dialects."""
    return import_module("jax._src.interpreters.mlir").make_ir_context()


def parse_with_jax(text: str) -> Any:
    """A module of jaxlib's in the current context; HeadraceError with its first diagnostic."""
    mlir = import_module("jaxlib.mlir.ir")
    try:
        return mlir.Module.parse(text)
    except mlir.MLIRError as error:
        raise ir.HeadraceError(f"JAX cannot read it: {first_diagnostic(error)}") from error


def first_diagnostic(error: Exception) -> str:
    """The first line of an error of jaxlib's, or its first diagnostic where it is MLIR's."""
    lines = [line.strip() for line in str(error).splitlines()]
    found = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return next(filter(None, [*found, *lines]), type(error).__name__)


def lower_whole(traced: Any) -> Any:
    """A ``jax.stages.Traced`` lowered for CPU, with the arguments that it does not use.

    For CPU, since the program must hold no vendor's custom calls; ``jit`` leaves unused
    arguments out, but callers still pass them.
    """
    whole = copy.copy(traced)
    whole._params = {**traced._params, "keep_unused": True}
    return whole.lower(lowering_platforms=("cpu",))


def trace_key(traced: Any) -> object:
    """What is equal for two calls that one program serves: the traced function, and the
    shardings of arguments and results. JAX traces a signature once."""
    return traced.jaxpr, tuple(shardings_of(traced))


def shardings_of(traced: Any) -> list[Any]:
    """Those that ``jit`` was given, and those of committed arguments; None for others."""
    parameters = traced._params
    arguments = [each.sharding if each.committed else None for each in traced._meta_tys_flat]
    return [*parameters["in_shardings"], *parameters["out_shardings"], *arguments]


def start_compiling(module: Any, replicas: int, partitions: int) -> None:
    """Compiles a jaxlib module for as many host devices, by XLA's CPU compiler."""
    client = import_module("jax").devices("cpu")[0].client
    assignment = np.arange(replicas * partitions).reshape(replicas, partitions)
    options = import_module("jax._src.compiler").get_compile_options(
        replicas, partitions, assignment
    )
    options.executable_build_options.use_shardy_partitioner = "sdy." in str(module)
    devices = import_module("jaxlib._jax").DeviceList(tuple(client.devices()[: assignment.size]))
    client.compile_and_load(module, devices, options)


def hlo_to_stablehlo(proto: bytes) -> bytes:
    """MLIR bytecode of an ``HloModuleProto``."""
    return import_module("jaxlib._jax").mlir.hlo_to_stablehlo(proto)
