"""What is refused, by reason: each entry a limit that docs/limits.md names.

A refusal that no entry covers is a fault.
"""

from __future__ import annotations

import re

# Pattern of the error, and the reason in a few words.
REFUSALS: tuple[tuple[str, str], ...] = ()


def reason_of(message: str) -> str | None:
    """The reason that is listed for an error; None if there is none."""
    return next((reason for pattern, reason in REFUSALS if re.search(pattern, message)), None)
