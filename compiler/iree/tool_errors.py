"""What the tools beneath iree-compile say: its own error only says that they failed.

IREE runs linkers and assemblers (lld, ptxas), and hands over to LLVM, whose
errors name no place in the program. They are printed before IREE's own.
"""

from __future__ import annotations

import re

# "iree-lld: error: ...", "ptxas fatal   : ...", "ptxas x.ptx, line 5; error   : ...",
# "<unknown>:0: error: ...", "fatal error: ...", "LLVM ERROR: ...". What comes
# before has no quote, "=" or "%": printed IR may hold any text.
_ERROR = re.compile(r"(?:[^\"'=%]*[\s:;])?(?:LLVM ERROR|fatal error|error|fatal)\s*: .*", re.I)
# An error of MLIR's with its place is a diagnostic, and read as one.
_PLACED = re.compile(r"[^\s:][^:]*:\d+:\d+: \w+: .*")
_SHOWN = 5


def tool_errors(text: str) -> list[str]:
    """The error lines of tools in what iree-compile printed, each once, in their order.

    Not those that name a place in the program, nor bare ``error: ...`` lines,
    which are iree-compile's. Beyond five there is one line with their number.
    """
    found: dict[str, None] = {}
    for line in map(str.strip, text.splitlines()):
        own = _PLACED.fullmatch(line) or line.startswith("error: ")
        if not own and _ERROR.fullmatch(line):
            found.setdefault(line.removeprefix("<unknown>:0: error: "))
    shown = list(found)
    if len(shown) > _SHOWN:
        shown[_SHOWN:] = [f"and {len(shown) - _SHOWN} more errors"]
    return shown
