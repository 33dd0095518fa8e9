"""A crash of native code is one error line of the tool, never a dead tool."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from headrace.dialects import ir
from headrace.tools.command_line import run_supervised
from headrace.tools.supervisor import Activity

MODEL = Path(__file__).parent.parent.parent / "models" / "fsdp_scan"
PROGRAMS = ("headrace-opt", "headrace-compile", "headrace-run")


@pytest.fixture(autouse=True)
def signals_are_heard() -> Iterator[None]:
    """Whoever starts the tests in the background has them ignore SIGINT, and what
    is ignored stays so in the tools: here they shall hear it."""
    heard = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in heard.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def crash(activity: Activity) -> int:
    faulthandler.disable()  # pytest's own would print the stack
    activity.note("in pass 'cse'")
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0


def refuse(activity: Activity) -> int:
    raise ir.HeadraceError("this input is refused")


def test_crash_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_supervised("headrace-compile", crash) == 1
    error = capfd.readouterr().err
    assert error.startswith("error: headrace-compile crashed (SIGSEGV) in pass 'cse'\n")
    assert "--dump-ir=DIR" in error


def test_exit_code_passes_through() -> None:
    assert run_supervised("headrace-run", lambda _: 7) == 7


def test_errors_are_printed_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_supervised("headrace-run", refuse) == 1
    assert capfd.readouterr().err == "error: this input is refused\n"


def test_termination_leaves_no_files(tmp_path: Path) -> None:
    def work(activity: Activity) -> int:
        with tempfile.TemporaryDirectory(dir=tmp_path):
            assert list(tmp_path.iterdir())
            os.kill(os.getpid(), signal.SIGTERM)
        return 0

    assert run_supervised("headrace-compile", work) == 128 + signal.SIGTERM
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("program", PROGRAMS)
def test_interrupt_while_the_program_loads(program: str) -> None:
    """In the middle of the imports, wherever a native one may lose the exception."""
    code = f"""
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == "iree.compiler._mlir_libs":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from headrace.tools import start
sys.exit(start.{program.replace("-", "_")}())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize("to_group", [True, False])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stop_while_iree_compiles(tmp_path: Path, number: int, to_group: bool) -> None:
    """As a terminal sends it, and as ``kill`` does: no process and no file is left."""
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    program = subprocess.Popen(
        [
            Path(sys.executable).with_name("headrace-compile"),
            MODEL / "model.mlir",
            *("-o", work / "out.vmfb", f"--report={work / 'report.json'}"),
        ],
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    )
    while not list(temporary.glob("headrace-*/module.mlirbc")):
        assert program.poll() is None
        time.sleep(0.01)
    time.sleep(0.1)
    (os.killpg if to_group else os.kill)(program.pid, number)
    _, error = program.communicate()
    assert (program.returncode, error) == (128 + number, b"")
    assert not list(work.iterdir())
    assert not list(temporary.iterdir())
    with pytest.raises(ProcessLookupError):
        os.killpg(program.pid, 0)


def test_interrupt_that_native_code_turns_into_another_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def work(activity: Activity) -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except BaseException:
            raise RuntimeError("in a callback") from None
        return 0

    assert run_supervised("headrace-opt", work) == 130
    assert capfd.readouterr().err == ""


def test_work_that_hears_no_signal_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.tools.supervisor._PATIENCE", 1)
    tool = os.getpid()

    def work(activity: Activity) -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        os.kill(tool, signal.SIGINT)
        time.sleep(60)
        return 0

    start = time.monotonic()
    assert run_supervised("headrace-opt", work) == 130
    assert time.monotonic() - start < 20


def test_ignored_signals_stay_ignored() -> None:
    """As nohup has it."""

    def work(activity: Activity) -> int:
        os.kill(os.getpid(), signal.SIGHUP)
        return 7

    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run_supervised("headrace-opt", work) == 7
    finally:
        signal.signal(signal.SIGHUP, old)
