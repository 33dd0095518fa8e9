"""The wheel's own ``iree-opt`` as a child process.

It does what would be unsafe in the user's process (reading bytecode of
unknown origin) and tells what the bindings cannot (which native passes and
dialects there are). It starts in 20 ms.
"""

from __future__ import annotations

import re

from ..child_process import native_tool, run_child
from .text_errors import encoding_error

# All names, strings and locations, and no large constants.
_PRINTED = (
    "--mlir-print-debuginfo",
    "--mlir-elide-elementsattrs-if-larger=16",
    "--mlir-elide-resource-strings-if-larger=16",
)


def iree_opt_text(option: str) -> str:
    """What ``iree-opt`` prints for an option such as ``--help``."""
    binary = native_tool("iree-opt")
    return run_child([binary, option]).output.decode(errors="replace") if binary else ""


def native_passes() -> dict[str, str]:
    """Names and summaries of MLIR's and IREE's passes and named pipelines."""
    lines = re.finditer(r"^ *--([\w.-]+?) *-   (.*)$", iree_opt_text("--list-passes"), re.MULTILINE)
    return {found[1]: found[2].strip() for found in lines}


def native_pass_names() -> list[str]:
    return list(native_passes())


def bytecode_error(data: bytes) -> str | None:
    """Why ``data`` is no bytecode that can be read safely, None where it is.

    MLIR's reader trusts its input: corrupt files crash it, make it ask for
    all memory, or let the bindings abort on an error text that is no UTF-8.
    So a child process with limits reads and prints the module first.
    """
    binary = native_tool("iree-opt")
    if binary is None:
        return None
    seconds = 30 + len(data) / 1e6
    child = run_child(
        [binary, "--allow-unregistered-dialect", *_PRINTED],
        data,
        most_bytes=(4 << 30) + 32 * len(data),
        most_seconds=seconds,
    )
    if child.seconds >= seconds:
        return "reading it does not end"
    if child.status == 0:
        try:
            return "a string is no UTF-8" if encoding_error(child.output.decode()) else None
        except UnicodeDecodeError:
            return "a name is no UTF-8"
    found = re.search(r"error: (.*)", child.errors.decode(errors="replace"))
    return found.group(1) if found else "reading it crashes MLIR"
