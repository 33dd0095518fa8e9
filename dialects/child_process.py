"""Child processes: what may crash works in one, and the crash becomes a message.

They are started without a fork of this process, which may hold threads of JAX's.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True)
class Ended:
    """A child that has ended; ``status`` is its exit code, negative for a signal."""

    status: int
    output: bytes
    errors: bytes  # empty where they are in the output
    seconds: float
    peak_bytes: int  # largest resident size

    @property
    def reason(self) -> str:
        """What it ended with: ``SIGSEGV``, ``exit code 1``."""
        return signal_name(-self.status) if self.status < 0 else f"exit code {self.status}"


def run_child(
    command: Sequence[str],
    given: bytes = b"",
    *,
    errors_in_output: bool = False,
    environment: Mapping[str, str] | None = None,
    most_bytes: int | None = None,
    most_seconds: float | None = None,
) -> Ended:
    """Runs a program on ``given`` until it ends, or is killed for the time that it takes.

    ``most_bytes`` limits its memory, on Linux only. An exception here, as Ctrl-C is, ends it.
    """
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        source, output, errors = files
        source.write(given)
        source.seek(0)
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=source,
            stdout=output,
            stderr=subprocess.STDOUT if errors_in_output else errors,
            env=environment,
        )
        if most_bytes is not None:
            _limit_memory(process.pid, most_bytes)
        clock = threading.Timer(most_seconds or 0, process.kill)
        try:
            if most_seconds is not None:
                clock.start()
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            clock.cancel()
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode == -signal.SIGINT:  # Ctrl-C reached the child first
            raise KeyboardInterrupt
        for file in files:
            file.seek(0)
        peak = usage.ru_maxrss * 1024
        return Ended(process.returncode, output.read(), errors.read(), seconds, peak)


def signal_name(number: int) -> str:
    """``SIGSEGV`` and the like; real-time signals have numbers only."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@cache
def native_tool(name: str) -> str | None:
    """IREE's own program of that name; None in a package that lacks it.

    The Python wrapper of the same name takes 0.3 s to start, the native one 20 ms.
    """
    spec = find_spec("iree.compiler")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        binary = Path(folder) / "_mlir_libs" / name
        if binary.is_file():
            return str(binary)
    return None


def _limit_memory(process: int, limit: int) -> None:
    """Linux only; elsewhere a time limit has to do."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import resource

        resource.prlimit(process, resource.RLIMIT_AS, (limit, limit))
