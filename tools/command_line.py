"""What the command-line programs share: errors as one line, safe output."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from ..dialects.mlir import HeadraceError


class ArgumentParser(argparse.ArgumentParser):
    """argparse, but a usage error is a HeadraceError and no name is guessed."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(
            prog=prog,
            description=description,
            allow_abbrev=False,
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(
                prog, max_help_position=34
            ),
        )

    def error(self, message: str) -> NoReturn:
        raise HeadraceError(f"{message}; see {self.prog} --help")


def run_tool(body: Callable[[], int]) -> int:
    """Runs a tool's body; errors go to stderr as ``error:`` lines, exit code 1."""
    try:
        code = body()
        sys.stdout.flush()
        return code
    except HeadraceError as error:
        print_error(error)
        return 1
    except BrokenPipeError:
        # The reader has gone (`| head`); keep the interpreter's own flush quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def print_error(error: HeadraceError) -> None:
    for diagnostic in error.diagnostics:
        print(diagnostic, file=sys.stderr)


def read_input(path: str) -> bytes:
    """A file's bytes, stdin's for ``-``; HeadraceError if it cannot be read."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise HeadraceError(f"cannot read '{path}': {error.strerror}") from None


def check_writable(path: str) -> None:
    """Raises HeadraceError, before any work is done, if ``path`` cannot be written."""
    if path == "-":
        return
    target = Path(path)
    if target.is_dir():
        raise HeadraceError(f"cannot write '{path}': Is a directory")
    folder = target.parent
    if not folder.is_dir():
        raise HeadraceError(f"cannot write '{path}': no folder '{folder}'")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise HeadraceError(f"cannot write '{path}': Permission denied")


def write_output(path: str, data: bytes) -> None:
    """Writes stdout for ``-``, else the file in one step: whole or not at all."""
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    try:
        if target.exists() and not target.is_file():  # a device or pipe
            target.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            umask = os.umask(0)
            os.umask(umask)
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask
            os.chmod(temporary, mode)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise HeadraceError(f"cannot write '{path}': {error.strerror}") from None
