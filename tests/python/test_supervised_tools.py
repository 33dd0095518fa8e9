"""A crash of native code is one error line of the tool, never a dead tool."""

from __future__ import annotations

import faulthandler
import os
import signal
import tempfile
from pathlib import Path

import pytest
from headrace.dialects.mlir import HeadraceError
from headrace.tools.command_line import run_supervised


def crash() -> int:
    faulthandler.disable()  # pytest's own would print the stack
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0


def refuse() -> int:
    raise HeadraceError("this input is refused")


def test_crash_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_supervised("headrace-compile", crash) == 1
    error = capfd.readouterr().err
    assert error.startswith("error: headrace-compile crashed (SIGSEGV) in native code\n")
    assert "--dump-ir=DIR" in error


def test_exit_code_passes_through() -> None:
    assert run_supervised("headrace-run", lambda: 7) == 7


def test_errors_are_printed_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_supervised("headrace-run", refuse) == 1
    assert capfd.readouterr().err == "error: this input is refused\n"


def test_termination_leaves_no_files(tmp_path: Path) -> None:
    def work() -> int:
        with tempfile.TemporaryDirectory(dir=tmp_path):
            assert list(tmp_path.iterdir())
            os.kill(os.getpid(), signal.SIGTERM)
        return 0

    assert run_supervised("headrace-compile", work) == 128 + signal.SIGTERM
    assert not list(tmp_path.iterdir())
