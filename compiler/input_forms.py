"""Recognises what kind of program a user handed in, and loads it.

headrace takes per-device StableHLO (linalg, torch): one SPMD program whose
types are one device's shapes. What people have at hand is often something
else; each such form is either turned into that one or refused with a hint.
"""

from __future__ import annotations

import re
from pathlib import Path

from ..dialects.mlir import (
    Context,
    HeadraceError,
    Module,
    Operation,
    OpView,
    parse_module,
    walk,
)

Source = Module | Operation | OpView | str | bytes | Path

BYTECODE_MAGIC = b"ML\xefR"
JAX_HINT = "call headrace.jax.to_stablehlo(fn, *args) on the JAX function and pass its result"


def load_module(source: Source, context: Context) -> Operation:
    """The per-device ``builtin.module`` operation of any input form.

    ``source`` is a module of the IREE bindings (returned as it is, in its own
    context), MLIR text, MLIR bytecode, or a path. A ``str`` is text if it has
    a line break or a brace, else a path.

    Raises HeadraceError, with a hint, for a file that cannot be read, for
    anything that is not MLIR, and for a global (not per-device) program.
    """
    if isinstance(source, Module | Operation | OpView):
        module = source.operation
        if module.name != "builtin.module":
            raise HeadraceError(f"expected a builtin.module, got '{module.name}'")
    elif isinstance(source, Path) or (isinstance(source, str) and not _is_text(source)):
        module = _parse(_read(Path(source)), str(source), context)
    else:
        module = _parse(source, "<input>", context)
    _refuse_global(module)
    return module


def _is_text(source: str) -> bool:
    return "\n" in source or "{" in source


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise HeadraceError(f"cannot read '{path}': {error.strerror}") from None


def _parse(source: str | bytes, name: str, context: Context) -> Operation:
    if isinstance(source, bytes) and not source.startswith(BYTECODE_MAGIC):
        try:
            source = source.decode()
        except UnicodeDecodeError:
            raise HeadraceError(f"'{name}' is neither MLIR text nor MLIR bytecode") from None
    try:
        return parse_module(source, name, context)
    except HeadraceError as error:
        if isinstance(source, str) and re.search(r"\bsdy\.|#sdy\b", source):
            raise _shardy_error(name) from error
        raise


def _refuse_global(module: Operation) -> None:
    for op in walk(module):
        if op.name.startswith("sdy."):
            raise _shardy_error("the module")
        if op.name.startswith("vhlo."):
            raise HeadraceError(
                "the program is a serialized jax.export artifact (VHLO); "
                f"{JAX_HINT}, or install JAX so that headrace can read it"
            )


def _shardy_error(name: str) -> HeadraceError:
    return HeadraceError(
        f"{name} is a global program with Shardy (sdy) shardings, as jit(...).lower() "
        f"writes it, and headrace takes per-device programs: {JAX_HINT}"
    )
