"""Mutated inputs: each is accepted, or refused with one clear error."""

from __future__ import annotations

from pathlib import Path

import pytest

from .campaign import campaign
from .mutations.isolation import Death, isolated
from .mutations.verdicts import NATIVE_CRASH, judge

_SEED = 9


@pytest.mark.parametrize(
    ("seed", "count"),
    [(_SEED, 500), pytest.param(_SEED + 1, 20_000, marks=pytest.mark.full)],
)
def test_mutated_inputs(tmp_path: Path, seed: int, count: int) -> None:
    """A crash of MLIR's reader or of a native pass is an error of the tools, not of headrace's
    making; anything else that is no clear refusal is a fault."""
    outcomes, _, findings = campaign(seed, tmp_path, count=count, trials=40)
    assert sum(outcomes.values()) == count
    faults = [f for f in findings if f.verdict.fault != NATIVE_CRASH]
    assert not faults, "\n".join(
        f"{f.signature()}\n{f.case.command('INPUT')}\n{f.case.data!r}" for f in faults
    )
    # The mutations are such that most programs reach the passes, and many the end.
    accepted = sum(n for what, n in outcomes.items() if what.endswith("accepted"))
    assert accepted > count // 5, outcomes
    crashes = sum(n for what, n in outcomes.items() if what.endswith(NATIVE_CRASH))
    assert crashes <= count // 100, outcomes


def _work(item: str) -> str:
    match item:
        case "crash":
            import os

            os.abort()
        case "hang":
            while True:
                pass
        case "exit":
            raise SystemExit(3)
        case _:
            return item.upper()


def test_a_death_costs_one_item() -> None:
    items = ["a", "crash", "b", "hang", "exit", "c", *"defg" * 40]
    found = list(isolated(items, _work, seconds=1))
    assert [item for item, _ in found] == items
    died = {item: result.reason for item, result in found if isinstance(result, Death)}
    assert died == {"crash": "SIGABRT", "hang": "hang", "exit": "exit code 1"}
    assert all(result == item.upper() for item, result in found if item not in died)


@pytest.mark.parametrize(
    ("code", "printed", "written", "fault"),
    [
        (0, "", True, ""),
        (0, "remark: this stays wide\n", True, ""),
        (1, "a.mlir:1:2: error: expected a type\nnote: here\n", False, ""),
        (0, "", False, "no output"),
        (1, "", False, "no error line"),
        (0, "error: something is wrong\n", True, "an error, but exit code 0"),
        (1, "error: something is wrong\n", True, "an error, but an output"),
        (1, "error: one is wrong\nerror: so is two\n", False, "several errors"),
        (1, "error: \n", False, "unclear error"),
        (1, "error: Failure while executing pass pipeline\n", False, "unclear error"),
        (1, "error: pass 'cse' raised KeyError (x.py:1): 'a'\n", False, "internal exception"),
        (1, "error: internal error: KeyError: 'a' (x.py:1)\n", False, "internal exception"),
        (1, "Traceback (most recent call last):\n", False, "traceback"),
        (2, "error: something is wrong\n", False, "exit code 2"),
    ],
)
def test_judgement(code: int, printed: str, written: bool, fault: str) -> None:
    assert judge(code, printed, written=written).fault == fault
