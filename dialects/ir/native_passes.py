"""Runs pipelines of MLIR's and IREE's own passes."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager

from ..errors import HeadraceError
from .bindings import (
    Context,
    MLIRError,
    Module,
    Operation,
    PassManager,
    StringAttr,
    error_at,
    native_diagnostics,
)
from .functions import functions_of


def run_native_pipeline(module: Operation, pipeline: str) -> None:
    """Runs a textual pipeline of native passes, e.g. ``builtin.module(cse)``.

    Raises HeadraceError for an unknown pass and for a pass that fails; the
    module may then be half rewritten, so callers work on a clone.
    """
    with module.context:
        manager = _parse_native_pipeline(pipeline)
        # Our own pass runner verifies between passes; twice costs time.
        manager.enable_verifier(False)
        try:
            manager.run(module)
        except MLIRError as error:
            if not error.error_diagnostics:
                raise _silent_failure(module, manager) from None
            raise HeadraceError(*native_diagnostics(error)) from None


def _silent_failure(module: Operation, manager: PassManager) -> HeadraceError:
    """Which function a pass fails on, if a single one does: not every pass says what it is
    that it cannot do."""
    for function in functions_of(module):
        alone = Module.create(function.location).operation
        alone.regions[0].blocks[0].append(function.clone())
        try:
            manager.run(alone)
        except MLIRError:
            name = StringAttr(function.attributes["sym_name"]).value
            return error_at(function, f"'@{name}' cannot be compiled: IREE's pass gives no reason")
    return error_at(module, "this program cannot be compiled: IREE's pass gives no reason")


def check_native_pipeline(pipeline: str, context: Context) -> None:
    """Raises HeadraceError for text that ``run_native_pipeline`` would refuse."""
    with context:
        _parse_native_pipeline(pipeline)


def _parse_native_pipeline(pipeline: str) -> PassManager:
    with _native_stderr() as printed:
        try:
            return PassManager.parse(pipeline)
        except (MLIRError, ValueError) as error:
            # What is wrong with an option's value is printed, not raised.
            detail = [line.lstrip(": ") for line in printed() if "option" in line]
            raise HeadraceError("; ".join([*detail, str(error).strip()])) from None


@contextmanager
def _native_stderr() -> Generator[Callable[[], list[str]]]:
    """Holds back what native code prints; the yielded function takes it out."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:

        def take() -> list[str]:
            file.seek(0)
            text = file.read().decode(errors="replace")
            file.seek(0)
            file.truncate()
            return text.splitlines()

        os.dup2(file.fileno(), 2)
        try:
            yield take
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.write(2, "".join(f"{line}\n" for line in take()).encode())
