"""Cases run in child processes, and judged."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from headrace.passes.registry import pass_class, pass_names
from headrace.tools import headrace_compile
from headrace.tools.command_line import READING, run_tool
from headrace.tools.headrace_opt import OptTool
from headrace.tools.supervisor import Activity

from .cases import INPUT, Case, make_case
from .isolation import Death, isolated
from .verdicts import NATIVE_CRASH, Verdict, judge


def run_case(case: Case, folder: Path, activity: Activity) -> Verdict:
    """Runs the tool in this process, on a file in ``folder``."""
    source, output = folder / INPUT, folder / "output"
    source.write_bytes(case.data)
    output.unlink(missing_ok=True)
    arguments = [str(source), *case.arguments, "-o", str(output)]
    activity.note(READING)
    with tempfile.TemporaryFile() as log:
        code = _with_output(log.fileno(), lambda: _run_tool(case.tool, arguments, activity))
        log.seek(0)
        printed = log.read().decode(errors="replace")
    return judge(code, printed.replace(str(source), "input"), written=output.exists())


def _run_tool(tool: str, arguments: Sequence[str], activity: Activity) -> int:
    if tool == "headrace-compile":
        return run_tool(lambda: headrace_compile.run(arguments, activity))
    opt = OptTool()
    opt.activity = activity
    return run_tool(lambda: opt.main(arguments))


def _with_output(file: int, body: Callable[[], int]) -> int:
    """Runs ``body`` with all output in ``file``: native code prints to the descriptors,
    and ``sys.stderr`` may be pytest's own."""
    kept = os.dup(1), os.dup(2)
    os.dup2(file, 1)
    os.dup2(file, 2)
    try:
        with (
            open(1, "w", closefd=False) as out,
            open(2, "w", closefd=False) as err,
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            return body()
    finally:
        for number, old in enumerate(kept, start=1):
            os.dup2(old, number)
            os.close(old)


def run_cases(
    seed: int, indices: Sequence[int], folder: Path
) -> Iterator[tuple[int, Case, Verdict]]:
    """Makes and runs the cases of these numbers, in child processes."""
    activity = Activity()
    for name in pass_names():
        pass_class(name)  # imported once, not in each child

    def work(index: int) -> tuple[Case, Verdict]:
        (folder / "arguments").write_text("headrace-opt\n(while it was made)")
        activity.note(READING)
        case = make_case(seed, index, folder)
        (folder / "arguments").write_text("\n".join((case.tool, case.origin, *case.arguments)))
        return case, run_case(case, folder, activity)

    for index, result in isolated(indices, work):
        if isinstance(result, Death):
            tool, origin, *arguments = (folder / "arguments").read_text().split("\n")
            data = (folder / INPUT).read_bytes()
            case = Case(tool, tuple(arguments), data, origin)
            yield index, case, _died(result, activity)
        else:
            yield index, *result


def _died(death: Death, activity: Activity) -> Verdict:
    """A crash of MLIR's reader or of a native pass the tools report as an error."""
    doing = activity.text()
    step = re.search("in pass '(.*)'", doing)
    native = doing.startswith("while reading") or (step and step[1] not in pass_names())
    fault = "hang" if death.reason == "hang" else NATIVE_CRASH if native else "crash"
    return Verdict(fault, -1, f"{death.reason} {re.sub(r'/[^ ]*/', '', doing)}")


def run_again(case: Case, folder: Path) -> Verdict:
    """The verdict on one case, from a child process of its own.

    ``folder`` is not that of ``run_cases``, whose child may be at work on the next case.
    """
    activity = Activity()
    _, result = next(isolated([case], lambda c: run_case(c, folder, activity)))
    return _died(result, activity) if isinstance(result, Death) else result
