"""Many pieces of work in a child process, under a watch: a crash or a hang costs one of them.

A fork for each would cost more than the work. So a child does one after the
other and says what came out, and where it dies the next child goes on behind.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from headrace.dialects.child_process import signal_name

_T = TypeVar("_T")
_R = TypeVar("_R")

# Pieces per child: contexts of MLIR are not always freed at once.
_BATCH = 100
_TICK = os.sysconf("SC_CLK_TCK")
# A deadlock uses no CPU; a busy machine gives little.
_PATIENCE = 6


@dataclass(frozen=True)
class Death:
    """What ended the child: a signal's name, ``hang``, or ``exit code N``."""

    reason: str


def isolated(
    items: Sequence[_T], work: Callable[[_T], _R], *, seconds: float = 20, memory: int = 12 << 30
) -> Iterator[tuple[_T, _R | Death]]:
    """``(item, work(item))`` of each, or the child's death; results are pickled.

    ``seconds`` of CPU are allowed for each item, and six times as many on the
    clock; ``memory`` is the child's address space in bytes.
    """
    position = 0
    while position < len(items):
        child, pipe = _start(items[position : position + _BATCH], work, memory)
        with contextlib.ExitStack() as stack:
            stack.callback(_end, child)
            results = stack.enter_context(os.fdopen(pipe, "rb"))
            for item in items[position : position + _BATCH]:
                position += 1
                if not _wait(child, pipe, seconds):
                    yield item, Death("hang")
                    break
                try:
                    yield item, pickle.load(results)
                except EOFError:
                    yield item, Death(_reason(os.waitpid(child, 0)[1]))
                    break


def _start(items: Sequence[_T], work: Callable[[_T], _R], memory: int) -> tuple[int, int]:
    """The child and what it writes to."""
    sys.stdout.flush()
    sys.stderr.flush()
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    code = 1
    try:
        os.close(read)
        os.setpgid(0, 0)
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        for item in items:
            # Unbuffered, and nothing follows until the result is read: see _wait.
            os.write(write, pickle.dumps(work(item)))
        code = 0
    except BaseException:
        traceback.print_exc()  # of the work itself: what it watches, it has caught
    finally:
        os._exit(code)


def _wait(child: int, pipe: int, seconds: float) -> bool:
    """Whether the child said something, or ended, in its time."""
    start, cpu = time.monotonic(), _cpu_seconds(child)
    while not select.select([pipe], [], [], 0.5)[0]:
        if _cpu_seconds(child) - cpu > seconds or time.monotonic() - start > _PATIENCE * seconds:
            return False
    return True


def _cpu_seconds(process: int) -> float:
    try:
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK


def _end(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)


def _reason(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal_name(os.WTERMSIG(status))
    return f"exit code {os.waitstatus_to_exitcode(status)}"
