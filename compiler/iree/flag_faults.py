"""Whether iree-compile failed because of a flag of the user's, not of the program."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...dialects import ir

# One dispatch of its own: what reads a target's flags is the code generator.
TRIVIAL_PROGRAM = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""

_UNKNOWN_CPU = re.compile(
    r"^Unknown CPU for target architecture (?P<arch>\S+)\.\s*"
    r"List of accepted CPUs: (?P<known>.*)$",
    re.MULTILINE,
)
_CPU_FLAG = "--iree-llvmcpu-target-cpu="


@dataclass(frozen=True)
class GivenFlag:
    """A flag of iree-compile, and how the user asked for it."""

    flag: str
    written: str


def check_cpu(printed: str, given: Sequence[GivenFlag]) -> None:
    """Raises HeadraceError where iree-compile printed that it knows no such CPU.

    It goes on without one, which for x86-64 ends in a crash.
    """
    found = _UNKNOWN_CPU.search(printed)
    asked = [g for g in given if g.flag.startswith(_CPU_FLAG)]
    if found is None or not asked:
        return
    name = asked[-1].flag.removeprefix(_CPU_FLAG)
    raise ir.HeadraceError(
        f"{asked[-1].written}: unknown CPU '{name}' for {found['arch']}; "
        f"known are host, {found['known']}"
    )


def check_flags(
    given: Sequence[GivenFlag], failure: Callable[[Sequence[GivenFlag]], str | None]
) -> None:
    """Raises HeadraceError that names the flag with which nothing compiles.

    ``failure`` compiles ``TRIVIAL_PROGRAM`` with some of the given flags, and
    says why that failed; None where it did not.
    """
    reason = failure(given) if given else None
    if reason is None:
        return
    for one in given:
        if len(given) > 1 and (alone := failure([one])) is not None:
            given, reason = [one], alone
            break
    written = ", ".join(one.written for one in given)
    raise ir.HeadraceError(
        f"{written}: no program compiles with {'it' if len(given) == 1 else 'these'}: {reason}"
    )
