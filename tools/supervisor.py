"""Runs a tool's work in a child process, so that a crash becomes an error.

Native passes can crash on input. The child is a fork made before any MLIR
context exists, which costs about a millisecond.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from ..dialects.mlir import HeadraceError, Operation
from ..passes.pipeline import Instrumentation, Step

_SIZE = 4096


class _Terminated(BaseException):
    """Leaves the child's work by way of its ``finally``s: files and processes go."""


class Activity(Instrumentation):
    """What the child is doing, in memory that outlives it."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _SIZE)

    def note(self, text: str) -> None:
        self._shared.seek(0)
        self._shared.write(text.encode()[: _SIZE - 1] + b"\0")

    def text(self) -> str:
        return self._shared[:].partition(b"\0")[0].decode(errors="replace")

    def before(self, step: Step, module: Operation) -> None:
        self.note(f"in pass '{step.name}'")

    def end(self, module: Operation) -> None:
        self.note("after the last pass")


def supervise(body: Callable[[], int], crashed: Callable[[str], HeadraceError]) -> int:
    """The exit code of ``body``, run in a child process where that can be.

    If the child dies of a signal, raises what ``crashed`` makes of its name.
    """
    if not hasattr(os, "fork"):
        return body()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _terminate)
        try:
            code = body()
        except _Terminated as stop:
            code = 128 + int(stop.args[0])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # what comes after is for the parent alone
    status = _wait(child)
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    number = os.WTERMSIG(status)
    if number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        return 128 + number
    raise crashed(_signal_name(number))


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated(number)


def _wait(child: int) -> int:
    """Waits, and lets signals meant for the tool reach the child."""

    def forward(number: int, frame: FrameType | None) -> None:
        os.kill(child, number)

    old: Sequence[tuple[int, object]] = [
        (signal.SIGINT, signal.signal(signal.SIGINT, signal.SIG_IGN)),  # it gets its own
        (signal.SIGTERM, signal.signal(signal.SIGTERM, forward)),
        (signal.SIGHUP, signal.signal(signal.SIGHUP, forward)),
    ]
    try:
        return os.waitpid(child, 0)[1]
    finally:
        for number, handler in old:
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
