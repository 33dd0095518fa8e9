"""The wheel's own ``iree-opt`` as a child process.

It does what would be unsafe in the user's process (reading bytecode of
unknown origin) and tells what the bindings cannot (which native passes and
dialects there are). It starts in 20 ms.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from .text_faults import encoding_fault

# All names, strings and locations, and no large constants.
_PRINTED = (
    "--mlir-print-debuginfo",
    "--mlir-elide-elementsattrs-if-larger=16",
    "--mlir-elide-resource-strings-if-larger=16",
)


@cache
def iree_opt_binary() -> str | None:
    """The native tool; None in a package that lacks it."""
    spec = find_spec("iree.compiler")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        binary = Path(folder) / "_mlir_libs" / "iree-opt"
        if binary.is_file():
            return str(binary)
    return None


def iree_opt_text(option: str) -> str:
    """What ``iree-opt`` prints for an option such as ``--help``."""
    binary = iree_opt_binary()
    if binary is None:
        return ""
    done = subprocess.run(
        [binary, option], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return done.stdout.decode(errors="replace")


def native_passes() -> dict[str, str]:
    """Names and summaries of MLIR's and IREE's passes and named pipelines."""
    lines = re.finditer(r"^ *--([\w.-]+?) *-   (.*)$", iree_opt_text("--list-passes"), re.MULTILINE)
    return {found[1]: found[2].strip() for found in lines}


def native_pass_names() -> list[str]:
    return list(native_passes())


def bytecode_fault(data: bytes) -> str | None:
    """Why ``data`` is no bytecode that can be read safely, None where it is.

    MLIR's reader trusts its input: corrupt files crash it, make it ask for
    all memory, or let the bindings abort on an error text that is no UTF-8.
    So a child process with limits reads and prints the module first.
    """
    binary = iree_opt_binary()
    if binary is None:
        return None
    command = [binary, "--allow-unregistered-dialect", *_PRINTED]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        _limit_memory(child.pid, (4 << 30) + 32 * len(data))
        try:
            printed, errors = child.communicate(data, timeout=30 + len(data) / 1e6)
        except subprocess.TimeoutExpired:
            child.kill()
            return "reading it does not end"
    if child.returncode == 0:
        try:
            return "a string is no UTF-8" if encoding_fault(printed.decode()) else None
        except UnicodeDecodeError:
            return "a name is no UTF-8"
    text = errors.decode(errors="replace")
    found = re.search(r"error: (.*)", text)
    return found.group(1) if found else "reading it crashes MLIR"


def _limit_memory(process: int, limit: int) -> None:
    """Linux only; elsewhere the time limit has to do."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import resource

        resource.prlimit(process, resource.RLIMIT_AS, (limit, limit))
