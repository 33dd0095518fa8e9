"""Runs many mutated inputs, counts how they end, and keeps the faulty ones, reduced.

python -m tests.fuzz.campaign --seconds=N | --count=N [--seed=S] [--findings=DIR]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .mutations.reduction import reduce
from .mutations.runs import run_cases
from .mutations.verdicts import Finding, Verdict


def outcome(verdict: Verdict, tool: str) -> str:
    if verdict.fault:
        return f"{tool}: {verdict.fault}"
    return f"{tool}: {'refused' if verdict.code else 'accepted'}"


def campaign(
    seed: int,
    folder: Path,
    *,
    count: int = 1 << 62,
    seconds: float = float("inf"),
    trials: int = 150,
) -> tuple[Counter[str], Counter[str], list[Finding]]:
    """Runs ``count`` cases or for so long; outcomes, reasons of refusals, findings.

    Findings of one signature are counted, and the first is reduced, in at
    most ``trials`` runs, and written to ``folder``.
    """
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    findings: dict[str, Finding] = {}
    end = time.monotonic() + seconds
    with (
        tempfile.TemporaryDirectory(prefix="headrace-fuzz-") as scratch,
        tempfile.TemporaryDirectory(prefix="headrace-fuzz-") as again,
    ):
        for index, case, verdict in run_cases(seed, range(count), Path(scratch)):
            outcomes[outcome(verdict, case.tool)] += 1
            if verdict.fault:
                finding = Finding(case, verdict)
                if finding.signature() not in findings:
                    smaller = reduce(finding, Path(again), trials=trials)
                    findings[finding.signature()] = smaller
                    write_finding(smaller, folder, f"{seed}-{index}")
            elif verdict.code:
                reasons[verdict.reason()] += 1
            if time.monotonic() > end:
                break
    return outcomes, reasons, list(findings.values())


def write_finding(finding: Finding, folder: Path, name: str) -> None:
    """The input, and beside it the command and what came out."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{name}.mlir"
    source.write_bytes(finding.case.data)
    text = f"{finding.signature()}\n\n{finding.case.command(source.name)}\n\n"
    (folder / f"{name}.txt").write_text(
        f"{text}{finding.verdict.message}\n\n{finding.case.origin}\n"
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1 << 40)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--reasons", action="store_true", help="count refusals by reason, too")
    given = parser.parse_args(argv)
    start = time.monotonic()
    outcomes, reasons, findings = campaign(
        given.seed, given.findings, count=given.count, seconds=given.seconds
    )
    for text, count in outcomes.most_common():
        print(f"{count:7}  {text}")
    if given.reasons:
        for text, count in reasons.most_common():
            print(f"{count:7}    {text}")
    for finding in findings:
        print(f"{finding.signature()}\n    {finding.case.command('INPUT')}")
    total = sum(outcomes.values())
    print(f"{total} mutated inputs, {len(findings)} faults, {time.monotonic() - start:.0f} s")
    return bool(findings)


if __name__ == "__main__":
    raise SystemExit(main())
