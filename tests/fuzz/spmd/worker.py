"""A process that judges programs: pickled batches in, pickled outcomes out."""

from __future__ import annotations

import os
import pickle
import sys


def main() -> None:
    # Whatever libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from .judge import judge

    while True:
        try:
            programs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(judge(programs), answers)
        answers.flush()


if __name__ == "__main__":
    main()
