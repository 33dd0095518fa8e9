"""MLIR text and bytecode into a module, with file names in locations."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import Diagnostic, HeadraceError
from .bindings import (
    Context,
    FileLineColLoc,
    Location,
    MLIRError,
    Module,
    Operation,
    blocks_of,
    error_at,
    native_diagnostics,
    walk,
)
from .iree_opt import bytecode_error
from .text_errors import text_error

_BYTECODE_MAGIC = b"ML\xefR"
_TOP_MODULE = re.compile(r'^("builtin\.module"|(builtin\.)?module)\b', re.MULTILINE)


def printable(name: str) -> str:
    """A file name as Unicode: Python has lone surrogates for other bytes, MLIR none."""
    return name.encode(errors="replace").decode()


def text_or_bytecode(data: bytes, name: str) -> str | bytes:
    """Text without its byte order mark, bytecode as it is; HeadraceError for anything else."""
    if data.startswith(_BYTECODE_MAGIC):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HeadraceError(f"'{name}' is neither MLIR text nor MLIR bytecode") from None


def parse_module(
    source: str | bytes, name: str, context: Context, *, implicit_module: bool = True
) -> Operation:
    """Parses text or bytecode into a ``builtin.module`` operation.

    Several top-level ops, or one that is no module, get a module around them,
    or are an error without ``implicit_module``. Raises HeadraceError with
    ``name`` and line for what does not parse. The headrace ops in it are not
    verified here: see ``dialects.verifier``.
    """
    name = printable(name)
    if isinstance(source, bytes):
        source = text_or_bytecode(source, name)
    if isinstance(source, bytes):
        return _parse_bytecode(source, name, context)
    if fault := text_error(source):
        line = source.count("\n", 0, fault.start) + 1
        column = fault.start - source.rfind("\n", 0, fault.start)
        raise HeadraceError(Diagnostic("error", fault.message, name, line, column))
    with context:
        try:
            # Parsing twice in a context would rename resources, so guess first.
            if implicit_module and not _TOP_MODULE.search(source):
                return _parse_in_module(source, name)
            top = Operation.parse(source, source_name=name).operation
        except MLIRError as error:
            several = "single top-level operation, found" in str(error)
            if not (several and implicit_module):
                raise HeadraceError(*native_diagnostics(error, name)) from None
            return _parse_in_module(source, name)
        except ValueError as error:
            raise HeadraceError(Diagnostic("error", str(error), name)) from None
        except MemoryError:
            raise _out_of_memory(name) from None
        if top.name == "builtin.module":
            return top
        if not implicit_module:
            raise error_at(top, f"expected a builtin.module, got '{top.name}'")
        return _parse_in_module(source, name)


def _out_of_memory(name: str) -> HeadraceError:
    message = "MLIR's parser asks for more memory than there is"
    return HeadraceError(Diagnostic("error", message, name))


def _parse_in_module(source: str, name: str) -> Operation:
    try:
        module = Module.parse(source).operation
    except MemoryError:
        raise _out_of_memory(name) from None
    _name_locations(module, name)
    return module


def _parse_bytecode(data: bytes, name: str, context: Context) -> Operation:
    fault = bytecode_error(data)
    if fault is not None:
        raise HeadraceError(f"'{name}' is broken bytecode: {fault}")
    try:
        return Module.parse(data, context=context).operation  # pyright: ignore[reportArgumentType]
    except MLIRError as error:
        raise HeadraceError(*native_diagnostics(error, name)) from None


def _name_locations(module: Operation, name: str) -> None:
    """``Module.parse`` takes no file name and calls the file "-"."""
    for op in walk(module):
        for place in (op, *(a for block in blocks_of(op) for a in block.arguments)):
            location = place.location
            if isinstance(location, FileLineColLoc) and location.filename == "-":
                named = Location.file(name, location.start_line, location.start_col)
                if isinstance(place, Operation):
                    place.location = named
                else:
                    place.set_location(named)


def parse_module_file(path: str | Path, context: Context) -> Operation:
    """Reads ``path`` (text or bytecode); HeadraceError if it cannot be read."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise HeadraceError(f"cannot read '{path}': {error.strerror}") from None
    return parse_module(data, str(path), context)
