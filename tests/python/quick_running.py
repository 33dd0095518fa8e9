"""Compiled programs loaded and run in forks of one process, for quick runs of the tests.

Most of what ``runtime_child.py`` takes are its imports. Here a process imports them once and
forks for each job, so that a program that crashes still takes no other with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:  # the server forks, and needs none of it
    from headrace.dialects.child_process import Ended

# Of so many jobs one has a process of its own, as users' have.
ONE_IN = 8


@contextmanager
def running_quickly() -> Iterator[None]:
    """In this process only."""
    import pytest
    from headrace.compiler.iree import runtime

    with pytest.MonkeyPatch.context() as patch, _Forks(runtime._CHILD) as forks:
        patch.setattr(runtime, "run_child", forks.run_child)
        yield


class _Forks:
    """Stands for ``run_child``; starts its server when it is first asked."""

    def __init__(self, child: Path) -> None:
        self._child = str(child)
        self._server: subprocess.Popen[str] | None = None
        self._jobs = 0

    def __enter__(self) -> _Forks:
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.communicate()  # its input ends, and so does it

    def run_child(self, command: Sequence[str]) -> Ended:
        from headrace.dialects.child_process import Ended, run_child

        self._jobs += 1
        if self._jobs % ONE_IN == 0 or self._child not in command:
            return run_child(command)
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-W", "ignore", __file__, self._child],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # no threads where it forks
            )
        job, server = command[-1], self._server
        assert server.stdin is not None
        assert server.stdout is not None
        print(job, file=server.stdin, flush=True)
        status = int(server.stdout.readline())
        return Ended(status, b"", _log(job).read_bytes(), seconds=0.0, peak_bytes=0)


def _log(job: str) -> Path:
    return Path(f"{job}.log")


def _serve(jobs: IO[str], child: Path) -> None:
    sys.path.insert(0, str(child.parent))
    main = import_module(child.stem).main
    for line in jobs:
        job = line.rstrip("\n")
        process = os.fork()
        if process == 0:
            _do(main, job)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _do(main: Any, job: str) -> None:
    """Ends the process, as what ``runtime_child.py`` runs does."""
    with _log(job).open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    sys.argv = [sys.argv[1], job]
    try:
        main()
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
    finally:
        os._exit(1)


if __name__ == "__main__":
    _serve(sys.stdin, Path(sys.argv[1]))
