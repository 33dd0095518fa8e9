"""What can become of a program, and which refusals are known."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """``kind``: ok, wrong, refused, crash. ``loose``: the share of elements that rounding
    could change by more than a tenth of the largest."""

    kind: str
    detail: str = ""
    loose: float = 0.0


# What headrace refuses with a clear error, by a part of the message.
KNOWN_REFUSALS: dict[str, str] = {
    "reductions of fp8 values over devices": r"of f8\w+ values is not supported: convert them",
}


def reason(outcome: Outcome) -> str:
    """The kind of a refusal or a crash: its message without names, types and numbers."""
    if outcome.kind not in ("refused", "crash"):
        return ""
    first = outcome.detail.strip().splitlines()[0] if outcome.detail.strip() else ""
    text = re.sub(r"^\S+:\d+:\d+: ", "", first)
    for name, pattern in KNOWN_REFUSALS.items():
        if re.search(pattern, outcome.detail):
            return name
    text = re.sub(r"tensor<[^>]*>", "TYPE", text)
    return re.sub(r"\d+", "N", text)


def is_fault(outcome: Outcome) -> bool:
    """Wrong, crashed, or refused for a reason that is not listed."""
    if outcome.kind == "refused":
        return reason(outcome) not in KNOWN_REFUSALS
    return outcome.kind != "ok"


def alike(a: Outcome, b: Outcome) -> bool:
    """The same fault, for all that can be seen."""
    return a.kind == b.kind and reason(a) == reason(b)
