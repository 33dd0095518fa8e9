"""Runs a tool's work in a child process, so that a crash becomes an error.

Native code can crash on input (quirks.PERMUTATION_OF_FLOATS is one way). The child
is a fork made before any MLIR context exists, which costs about a millisecond.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from types import FrameType

from ..dialects import ir
from ..dialects.child_process import signal_name
from ..passes.pipeline import Instrumentation, Step

_SIZE = 4096


# How long a child that is told to stop may take: it is told again each second.
_PATIENCE = 4
# A terminal and the parent both pass a signal on, which must not cut the clean-up short.
_ONE_PRESS = 0.5


class _Terminated(BaseException):
    """Leaves the child's work by way of its ``finally``s: files and processes go."""


class Activity(Instrumentation):
    """What the child is doing, in memory that outlives it."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _SIZE)

    def note(self, text: str) -> None:
        self._shared.seek(0)
        self._shared.write(text.encode(errors="replace")[: _SIZE - 1] + b"\0")

    def text(self) -> str:
        return self._shared[:].partition(b"\0")[0].decode(errors="replace")

    def before(self, step: Step, module: ir.Operation) -> None:
        self.note(f"in pass '{step.name}'")

    def end(self, module: ir.Operation) -> None:
        self.note("after the last pass")


def supervise(body: Callable[[], int], crashed: Callable[[str], ir.HeadraceError]) -> int:
    """The exit code of ``body``, run in a child process where that can be.

    If the child dies of a signal, raises what ``crashed`` makes of its name.
    """
    if not hasattr(os, "fork"):
        return body()
    # Who ignores a signal, as nohup does, has it ignored.
    stopping = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    heard = [n for n in stopping if signal.getsignal(n) is not signal.SIG_IGN]
    sys.stdout.flush()
    sys.stderr.flush()
    # A signal between the fork and the handlers waits for those.
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    child = os.fork()
    if child == 0:
        os._exit(_work(body, heard, unblocked))  # what comes after is for the parent alone
    status, told = _wait(child, heard, unblocked)
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    number = os.WTERMSIG(status)
    if told or number in stopping:
        return 128 + (told or number)
    raise crashed(signal_name(number))


def _work(body: Callable[[], int], heard: Sequence[int], unblocked: Iterable[int]) -> int:
    """The child's exit code."""
    stop = _Stop()
    try:
        for number in heard:
            signal.signal(number, stop)
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        code = body()
        sys.stdout.flush()
        sys.stderr.flush()
        for number in heard:
            signal.signal(number, signal.SIG_IGN)
    except BaseException:
        if not stop.number:
            raise
        code = 1
    # Native code that calls Python turns _Terminated into another error.
    return 128 + stop.number if code and stop.number else code


class _Stop:
    """Signal handler of the child: raises, once for each press, and makes it quiet."""

    def __init__(self) -> None:
        self.number = 0
        self._last = -math.inf

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last > _ONE_PRESS:
            self.number, self._last = number, now
            sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
            os.dup2(sys.stderr.fileno(), 2)
            raise _Terminated(number)


def _wait(child: int, heard: Sequence[int], unblocked: Iterable[int]) -> tuple[int, int]:
    """The child's wait status, and the signal it was told to stop with, else 0.

    Signals meant for the tool go on to the child. Native code does not let it
    hear them, so after some seconds it is killed.
    """
    told: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:
        told.append(number)
        signal.setitimer(signal.ITIMER_REAL, 1, 1)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    def remind(number: int, frame: FrameType | None) -> None:
        told.append(told[0])
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL if len(told) > _PATIENCE else told[0])

    old = [(number, signal.signal(number, forward)) for number in heard]
    old.append((signal.SIGALRM, signal.signal(signal.SIGALRM, remind)))
    signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
    try:
        return os.waitpid(child, 0)[1], next(iter(told), 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in old:
            signal.signal(number, handler)
