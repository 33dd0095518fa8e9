"""``python -m tests.fuzz``: random SPMD programs through JAX and headrace."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .spmd.generator import CPUS, MESHES, make_program
from .spmd.outcomes import Outcome, alike, is_fault, reason
from .spmd.programs import Program
from .spmd.shrink import shrink
from .spmd.snippet import snippet
from .spmd.supervisor import Supervisor


def batches(first: int, size: int) -> Iterator[list[Program]]:
    """Programs of seeds from ``first`` on; those of a batch share mesh and CPU."""
    while True:
        start = first - first % size
        mesh = MESHES[start * 2654435761 // 65536 % len(MESHES)]
        cpu = CPUS[start * 40503 // 256 % len(CPUS)]
        yield [make_program(seed, mesh, cpu) for seed in range(first, start + size)]
        first = start + size


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="stop after the batch in which they end")
    parser.add_argument("--count", type=int, help="how many programs (default 60, or no limit)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--batch", type=int, default=6, help="programs compiled at once")
    parser.add_argument("--no-shrink", action="store_true", help="print faults as they are found")
    parser.add_argument("--save", type=Path, help="folder for the scripts of faults")
    options = parser.parse_args()
    if options.count is None and options.seconds is None:
        options.count = 60
    return options


def main() -> int:
    options = arguments()
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    cpus: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    start, done, loose = time.monotonic(), 0, 0
    with Supervisor() as supervisor:
        for batch in batches(options.seed, options.batch):
            left = len(batch) if options.count is None else options.count - done
            batch = batch[:left]
            for program, outcome in zip(batch, supervisor.judge(batch), strict=True):
                done += 1
                counts[outcome.kind] += 1
                cpus[program.cpu] += 1
                loose += outcome.loose > 0.5
                if outcome.kind in ("refused", "crash"):
                    reasons[f"{outcome.kind}: {reason(outcome)}"] += 1
                if is_fault(outcome):
                    tell(supervisor, batch, program, outcome, options, seen)
            spent = time.monotonic() - start
            if options.count is not None and done >= options.count:
                break
            if options.seconds is not None and spent >= options.seconds:
                break
    print(f"{done} programs in {time.monotonic() - start:.0f} s: {dict(counts)}; loosely {loose}")
    print(f"compiled for {dict(cpus)}")
    for text, number in sorted(reasons.items()):
        print(f"  {number} {text}")
    return 1 if seen else 0


def tell(
    supervisor: Supervisor,
    batch: list[Program],
    program: Program,
    outcome: Outcome,
    options: argparse.Namespace,
    seen: set[tuple[str, str]],
) -> None:
    """Prints a fault; a kind of refusal or crash is made small once only."""
    origin = f"python -m tests.fuzz --seed={program.seed} --count=1 --batch={options.batch}"
    print(f"FAULT seed {program.seed}: {outcome.kind}: {outcome.detail}", flush=True)
    key = (outcome.kind, reason(outcome))
    again = key in seen and outcome.kind != "wrong"
    seen.add(key)
    if options.no_shrink or again:
        return

    def fails(candidate: Program) -> bool:
        return alike(supervisor.judge([candidate])[0], outcome)

    if fails(program):
        program = shrink(program, fails)
    else:
        print(f"only together with the others of its batch ({batch[0].seed} on)")
    text = snippet(program, origin)
    print(text, flush=True)
    if options.save is not None:
        options.save.mkdir(parents=True, exist_ok=True)
        (options.save / f"{outcome.kind}_{program.seed}.py").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
