"""What the command-line programs share: errors as one line, safe output."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from ..compiler import files
from ..dialects import ir
from .supervisor import Activity, supervise

# What is done before the first pass of a pipeline.
READING = "while reading the program, or in torch-mlir's passes"


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

    def options(self) -> list[str]:
        """All option strings, dashes included."""
        return list(self._option_string_actions)

    def implied_values(self) -> dict[str, str]:
        """Of options whose value may be left out, the value that is then meant."""
        return {
            option: str(action.const)
            for option, action in self._option_string_actions.items()
            if action.nargs == "?"
        }

    def add_version(self) -> None:
        """``--version``, which needs no other arguments."""
        self.add_argument("--version", action=_Version, nargs=0, help="also of IREE")

    def print_help(self, file: object = None) -> None:
        """To stdout; HeadraceError if that cannot be written."""
        write_output("-", self.format_help().encode())

    def error(self, message: str) -> NoReturn:
        raise ir.HeadraceError(f"{message}; see {self.prog} --help")


def file_name(text: str) -> str:
    """Type of an argument that names a file or folder."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        write_output("-", version_text(parser.prog).encode())
        parser.exit()


def version_text(prog: str) -> str:
    lines = [f"{prog} {_version('headrace')}"]
    lines += [f"  {p} {_version(p)}" for p in ("iree-base-compiler", "iree-base-runtime")]
    return "\n".join(lines) + "\n"


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def run_tool(body: Callable[[], int]) -> int:
    """Runs a tool's body; errors go to stderr as ``error:`` lines, exit code 1."""
    try:
        code = body()
        sys.stdout.flush()
        return code
    except ir.HeadraceError as error:
        print_error(error)
        return 1
    except BrokenPipeError:
        _silence_stdout()  # the reader has gone, as in `| head`
        return 1
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        print_error(ir.HeadraceError("out of memory"))
        return 1
    except Exception as error:
        print_error(_internal_error(error))
        return 1


def run_supervised(prog: str, body: Callable[[Activity], int]) -> int:
    """``run_tool``, and a crash of native code in ``body`` is an error too.

    ``body`` notes in its argument what it does.
    """
    activity = Activity()
    activity.note(READING)

    def crashed(signal: str) -> ir.HeadraceError:
        return ir.HeadraceError(
            ir.Diagnostic("error", f"{prog} crashed ({signal}) {activity.text()}"),
            ir.Diagnostic("note", "no output was written; --dump-ir=DIR shows how far it came"),
        )

    return run_tool(lambda: supervise(lambda: run_tool(lambda: body(activity)), crashed))


def _silence_stdout() -> None:
    """Lets the interpreter's own flush at exit succeed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_error(error: ir.HeadraceError) -> None:
    """To stderr; with HEADRACE_TRACEBACK=1, Python's traceback too.

    There is one error line: what follows from the first error are notes.
    """
    seen = False
    for diagnostic in error.diagnostics:
        follows = seen and diagnostic.severity == "error"
        print(replace(diagnostic, severity="note") if follows else diagnostic, file=sys.stderr)
        seen = seen or diagnostic.severity == "error"
    if os.environ.get("HEADRACE_TRACEBACK") == "1":
        traceback.print_exception(error)


def _internal_error(error: Exception) -> ir.HeadraceError:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    message = f"internal error: {type(error).__name__}: {error} ({frame.filename}:{frame.lineno})"
    found = ir.HeadraceError(
        ir.Diagnostic("error", message), ir.Diagnostic("note", "HEADRACE_TRACEBACK=1 shows more")
    )
    found.__cause__ = error
    return found


def read_input(path: str) -> bytes:
    """A file's bytes, stdin's for ``-``; HeadraceError if it cannot be read."""
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        return Path(path).read_bytes()
    except OSError as error:
        name = "<stdin>" if path == "-" else path
        raise ir.HeadraceError(f"cannot read '{name}': {error.strerror}") from None


def check_writable(path: str) -> None:
    """Raises HeadraceError, before any work is done, if ``path`` cannot be written."""
    if path != "-":
        files.check_writable(path)


def write_output(path: str, data: bytes) -> None:
    """Writes stdout for ``-``, else the file in one step: whole or not at all."""
    if path == "-":
        try:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            _silence_stdout()
            raise ir.HeadraceError(f"cannot write to stdout: {error.strerror}") from None
        return
    files.write_file(path, data)
