"""Whether the generator finds a planted fault and makes it small; no compiler is run.

``python -m tests.fuzz.spmd.selftest``: programs count as wrong that hold an all_gather
and, after it, a roll. The shrunk ones are these two and nothing else.
"""

from __future__ import annotations

import sys
from itertools import islice

from .generator import make_program
from .programs import Program, all_statements
from .shrink import shrink


def is_planted(program: Program) -> bool:
    texts = [s.text for s in all_statements(program.statements)]
    gathers = [n for n, text in enumerate(texts) if "lax.all_gather" in text]
    return bool(gathers) and any("jnp.roll" in text for text in texts[gathers[0] :])


def main() -> int:
    found = [*islice(filter(is_planted, map(make_program, range(300))), 2)]
    if len(found) < 2:
        print(f"only {len(found)} of 300 programs have both")
        return 1
    for program in found:
        small = shrink(program, is_planted, trials=2000)
        if small.length() > 3 or small.devices > 1:
            print(f"seed {program.seed}: {small.length()} statements on {small.devices} devices")
            return 1
        if make_program(program.seed) != program:
            print(f"seed {program.seed} does not give the same program twice")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
