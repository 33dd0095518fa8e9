"""A faulty case made small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from .cases import Case
from .runs import run_again
from .verdicts import Finding


def reduce(finding: Finding, folder: Path, *, trials: int = 150) -> Finding:
    """A smaller case with the same fault: fewer flags, passes, and lines."""
    smallest = finding
    left = trials

    def same(case: Case) -> bool:
        nonlocal smallest, left
        left -= 1
        found = Finding(case, run_again(case, folder))
        if not found.verdict.fault or found.signature() != finding.signature():
            return False
        smallest = found
        return True

    for flag in finding.case.arguments:
        if not flag.startswith(("--pass-pipeline", "--emit")):
            kept = tuple(a for a in smallest.case.arguments if a != flag)
            same(replace(smallest.case, arguments=kept))
    if not finding.case.data.startswith(b"ML\xefR"):
        # Delta debugging: takes out ever smaller runs of lines.
        size = max(len(finding.case.data.split(b"\n")) // 2, 1)
        while size and left > 0:
            place, removed = 0, False
            while left > 0 and place < len(lines := smallest.case.data.split(b"\n")):
                fewer = lines[:place] + lines[place + size :]
                if same(replace(smallest.case, data=b"\n".join(fewer))):
                    removed = True
                else:
                    place += size
            if size > 1 or not removed:
                size //= 2
    return smallest
