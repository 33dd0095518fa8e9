"""``python -m tests.fuzz.graphs [--seconds=N] [--seed=N] [--profile=NAME] [--targets=all]``.

Prints each graph that fails, made small, as MLIR, and counts outcomes by
reason at the end. Exits 1 if there was a fault.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter

from .judge import CPUS, GPU_TARGETS, Setting, judge, kind_of_failure
from .profiles import PROFILES, graphs
from .shrink import as_before, shrink

BATCH = 30


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.graphs", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--profile", choices=[*PROFILES])
    parser.add_argument("--targets", default="cpu", help="cpu, gpu, or all; or names")
    given = parser.parse_args()
    names = {"cpu": ["cpu"], "gpu": [*GPU_TARGETS], "all": ["cpu", *GPU_TARGETS]}
    settings = settings_of(names.get(given.targets, given.targets.split(",")))
    profiles = [given.profile] if given.profile else [*PROFILES]
    kinds: Counter[str] = Counter()
    shown: Counter[tuple[str, str]] = Counter()
    end = time.monotonic() + given.seconds
    for index in itertools.count():
        if time.monotonic() > end:
            break
        setting = settings[index % len(settings)]
        profile = profiles[index % len(profiles)]
        first = given.seed + BATCH * index
        batch = graphs(profile, range(first, first + BATCH))
        for graph, outcome in zip(batch, judge(batch, setting), strict=True):
            kinds[f"{outcome.kind} {outcome.listed or ''}".strip()] += 1
            if not outcome.is_fault:
                continue
            what = kind_of_failure(outcome)
            shown[what] += 1
            print(f"{profile} {graph.name} {setting}: {outcome.kind}: {outcome.reason}", flush=True)
            if shown[what] <= 2:
                print(shrink(graph, as_before(outcome, setting)).text, flush=True)
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")
    return 1 if shown else 0


def settings_of(targets: list[str]) -> list[Setting]:
    """Each target, and each CPU, without and with the option."""
    found: list[Setting] = []
    for target in targets:
        for cpu in CPUS if target == "cpu" else ("host",):
            found += [Setting(target, cpu), Setting(target, cpu, multi_use=True)]
    return found


if __name__ == "__main__":
    sys.exit(main())
