"""Times and counts per pass, native and Python ones alike."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from ...dialects import ir
from ...passes.pipeline import Instrumentation, Step
from ...passes.rewriting import collect_statistics

_RULE = f"===-{'-' * 73}-==="


def _banner(title: str) -> list[str]:
    return [_RULE, f"... {title} ...".center(79).rstrip(), _RULE]


class Timing(Instrumentation):
    """Wall time of each step and of what is around them."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._around: dict[str, float] = {}
        self._steps: dict[int, tuple[Step, float]] = {}
        # Where the steps of a pipeline begin: in a second run they add up.
        self._first: dict[tuple[str, ...], int] = {}
        self._index = 0

    @contextmanager
    def measure(self, name: str) -> Generator[None]:
        """Adds the time of the block under ``name``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._add(name, time.perf_counter() - start)

    def _add(self, name: str, seconds: float) -> None:
        self._around[name] = self._around.get(name, 0.0) + seconds

    def begin(self, steps: Sequence[Step], module: ir.Operation) -> None:
        end = sum(map(len, self._first))
        self._index = self._first.setdefault(tuple(map(str, steps)), end)

    def after(self, step: Step, module: ir.Operation, seconds: float) -> None:
        before = self._steps[self._index][1] if self._index in self._steps else 0.0
        self._steps[self._index] = (step, before + seconds)
        self._index += 1

    def verified(self, step: Step | None, seconds: float) -> None:
        self._add("(verifier)", seconds)

    def steps(self) -> list[tuple[Step, float]]:
        """All that ran, in their order, and their seconds."""
        return [self._steps[index] for index in sorted(self._steps)]

    def total(self) -> float:
        """Seconds since this was made."""
        return time.perf_counter() - self._start

    def report(self) -> str:
        """The table that ``--mlir-timing`` prints."""
        total = self.total()
        rows = [(str(step), seconds) for step, seconds in self.steps()]
        rows += self._around.items()
        rows.append(("(rest)", total - sum(seconds for _, seconds in rows)))
        rows.append(("Total", total))
        lines = [*_banner("Execution time report"), f"  Total Execution Time: {total:.4f} seconds"]
        lines += ["", "  ----Wall Time----  ----Name----"]
        lines += [f"  {s:8.4f} ({s / total:6.1%})  {name}" for name, s in rows]
        return "\n".join(lines) + "\n"


class Statistics(Instrumentation):
    """Rewrites and misses per pattern, ops before and after each step."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._counts: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._ops = 0

    @contextmanager
    def collecting(self) -> Generator[None]:
        with collect_statistics() as self._counts:
            yield

    def before(self, step: Step, module: ir.Operation) -> None:
        self._seen = Counter(self._counts)
        self._ops = len(ir.walk(module))

    def after(self, step: Step, module: ir.Operation, seconds: float) -> None:
        self._lines.append(str(step))
        self._lines.append(f"  (S) {self._ops} ops before, {len(ir.walk(module))} after")
        new = self._counts - self._seen
        self._lines += [f"  (S) {new[name]} {name}" for name in sorted(new)]

    def report(self) -> str:
        """The list that ``--mlir-pass-statistics`` prints."""
        return "\n".join([*_banner("Pass statistics report"), *self._lines]) + "\n"
