"""A child's end, of whatever kind, is a value; time and memory have limits."""

from __future__ import annotations

import os
import sys
import warnings

import pytest
from headrace.dialects.child_process import Ended, run_child, signal_name


def python(code: str, given: bytes = b"", **limits: float) -> Ended:
    return run_child([sys.executable, "-c", code], given, **limits)  # pyright: ignore


def test_both_streams_and_the_exit_code() -> None:
    code = (
        "import sys; data = sys.stdin.read(); print(data, end=''); print('e', file=sys.stderr);"
        "sys.exit(3)"
    )
    ended = python(code, b"x" * 200_000)
    assert (ended.status, ended.output, ended.errors) == (3, b"x" * 200_000, b"e\n")
    assert ended.reason == "exit code 3"
    assert ended.peak_bytes > 1 << 20
    assert ended.seconds > 0


def test_errors_in_the_output_keep_their_place() -> None:
    code = "import os; os.write(1, b'a'); os.write(2, b'b'); os.write(1, b'c')"
    ended = run_child([sys.executable, "-c", code], errors_in_output=True)
    assert (ended.output, ended.errors) == (b"abc", b"")


def test_a_crash_has_a_name() -> None:
    ended = python("import os; os.kill(os.getpid(), 11)")
    assert ended.reason == "SIGSEGV"
    assert signal_name(999) == "signal 999"


def test_an_interrupt_of_the_child_is_one_here() -> None:
    code = (
        "import os, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), 2)"
    )
    with pytest.raises(KeyboardInterrupt):
        python(code)


def test_limits() -> None:
    ended = python("import time; time.sleep(60)", most_seconds=0.2)
    assert ended.reason == "SIGKILL"
    assert 0.2 <= ended.seconds < 30
    if sys.platform == "linux":
        ended = python("import time; time.sleep(0.5); bytearray(1 << 30)", most_bytes=1 << 29)
        assert b"MemoryError" in ended.errors


def test_nothing_forks() -> None:
    """A fork may hang where JAX's threads are: Python warns of it."""
    forked: list[int] = []
    os.register_at_fork(before=lambda: forked.append(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert python("print(1)").output == b"1\n"
    assert not forked
