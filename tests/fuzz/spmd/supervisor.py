"""Judges programs in a process of their own, which may die or hang."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from .outcomes import Outcome
from .programs import Program

ROOT = Path(__file__).parents[3]
SECONDS_PER_PROGRAM = 60


class Supervisor:
    """Keeps one worker; use it as a context manager."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def judge(self, programs: Sequence[Program]) -> list[Outcome]:
        """The outcome of each; programs of a batch that kills the worker are tried alone."""
        answer = self._ask(programs)
        if isinstance(answer, list):
            return answer
        if len(programs) == 1:
            return [answer]
        return [self.judge([program])[0] for program in programs]

    def _ask(self, programs: Sequence[Program]) -> list[Outcome] | Outcome:
        child = self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(120 + SECONDS_PER_PROGRAM * len(programs), stop)
        timer.start()
        try:
            pickle.dump(list(programs), child.stdin)
            child.stdin.flush()
            return pickle.load(child.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            code = child.wait()
            if late.is_set():
                return Outcome("crash", "hang: no answer in time")
            return Outcome("crash", f"the process died (exit code {code}): {self._last_line()}")
        finally:
            timer.cancel()
            if child.poll() is not None:
                self._stop()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as the child
            self._child = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.spmd.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                cwd=ROOT,
            )
        return self._child

    def _last_line(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _stop(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        if self._log is not None:
            self._log.close()
        self._child = self._log = None
