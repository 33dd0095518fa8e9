"""Runs the wheel's own ``iree-compile`` as a child process.

IREE can crash on input, and a crash must not take the user's process with
it; so the module goes to a child as bytecode, which the same version reads.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...dialects import ir
from ...dialects.child_process import Ended, native_tool, run_child
from ...dialects.ir.parsing import parse_module_file
from ...passes.handover.separate_forwarded_refs import has_branches
from ...passes.pipeline import Instrumentation
from .. import pipelines
from ..unlowered import without_op
from .flag_faults import TRIVIAL_PROGRAM, GivenFlag, check_cpu, check_flags

_LINE = re.compile(
    r"(?:(?P<file>[^\s:][^:]*):(?P<line>\d+):(?P<column>\d+): )?"
    r"(?P<severity>error|warning|remark|note): (?P<message>.*)"
)

# What the tools beneath iree-compile say, whose own error only says that they failed: linkers
# and assemblers (lld, ptxas), and LLVM, whose errors name no place in the program. They are
# printed before IREE's own.
# "iree-lld: error: ...", "ptxas fatal   : ...", "ptxas x.ptx, line 5; error   : ...",
# "<unknown>:0: error: ...", "fatal error: ...", "LLVM ERROR: ...". What comes
# before has no quote, "=" or "%": printed IR may hold any text.
_TOOL_ERROR = re.compile(r"(?:[^\"'=%]*[\s:;])?(?:LLVM ERROR|fatal error|error|fatal)\s*: .*", re.I)
# An error of MLIR's with its place is a diagnostic, and read as one.
_PLACED = re.compile(r"[^\s:][^:]*:\d+:\d+: \w+: .*")
_SHOWN_TOOL_ERRORS = 5

# Ends an error of a tool that IREE ran: what the tool said follows as notes.
_SEE_ABOVE = " (check above for more specific error messages)"


@dataclass(frozen=True)
class ChildResult:
    """What one run of ``iree-compile`` gave and cost."""

    vmfb: bytes
    writing_seconds: float  # of the bytecode, before the child starts
    seconds: float
    peak_bytes: int  # largest resident size of the child
    phases: dict[str, str]  # phase name to IR text, of the phases asked for
    diagnostics: tuple[ir.Diagnostic, ...]  # warnings


def iree_compile_binary() -> str:
    binary = native_tool("iree-compile")
    if binary is None:
        raise ir.HeadraceError("iree-compile is missing from the iree-base-compiler package")
    return binary


def run_iree_compile(
    module: ir.Operation,
    flags: Sequence[str],
    phases: Sequence[str] = (),
    given: Sequence[GivenFlag] = (),
    hooks: Sequence[Instrumentation] = (),
) -> ChildResult:
    """Compiles ``module`` (unchanged) to a ``.vmfb``.

    ``flags`` are the whole command line, ``given`` those of them that the
    user chose: where they are at fault the error says so.

    A program with branches is stopped as VM program, repaired, and then goes
    on: see ``separate-forwarded-refs``. ``hooks`` watch that.

    ``phases`` names the compilation phases whose IR shall be kept, e.g.
    ``flow``. Raises HeadraceError with IREE's first error, its place, and the
    errors of the tools that IREE ran; for a child that crashed, with the place
    of a saved reproducer.
    """
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        source, output = Path(folder, "module.mlirbc"), Path(folder, "module.vmfb")
        start = time.perf_counter()
        ir.write_bytecode(module, source)
        writing_seconds = time.perf_counter() - start
        dumps = Path(folder, "phases")
        child = _Child(flags, given)
        asked = [*flags, f"--dump-compilation-phases-to={dumps}"] if phases else [*flags]
        whole = not any(flag.startswith(("--compile-to", "--compile-from")) for flag in flags)
        settings = pipelines.Settings(has_branches=whole and has_branches(module))
        repair = pipelines.build(pipelines.AFTER_IREE, settings)
        if repair.steps:
            repaired = Path(folder, "repaired.mlirbc")
            first = child.compile(
                module, source, Path(folder, "vm.mlir"), [*asked, "--compile-to=vm"]
            )
            start = time.perf_counter()
            program = parse_module_file(Path(folder, "vm.mlir"), module.context)
            repair.run(program, hooks, verify_each=False)
            ir.write_bytecode(program, repaired)
            first = replace(first, seconds=first.seconds + time.perf_counter() - start)
            last = child.compile(program, repaired, output, [*flags, "--compile-from=vm"])
        else:
            first = last = child.compile(module, source, output, asked)
        return ChildResult(
            output.read_bytes(),
            writing_seconds,
            first.seconds if first is last else first.seconds + last.seconds,
            max(first.peak_bytes, last.peak_bytes),
            {phase: _phase_text(dumps, phase) for phase in phases},
            tuple(d for d in first.found if d.severity == "warning"),
        )


@dataclass(frozen=True)
class _Run:
    """One successful run of the child."""

    found: list[ir.Diagnostic]
    seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class _Child:
    """``iree-compile`` with the flags of one compilation."""

    flags: Sequence[str]
    given: Sequence[GivenFlag]

    def compile(
        self, module: ir.Operation, source: Path, output: Path, flags: Sequence[str]
    ) -> _Run:
        """Runs the child; HeadraceError, on account of flags or ``module``, where it fails."""
        command = [iree_compile_binary(), str(source), *flags, "-o", str(output)]
        ended = run_measured(command)
        text = ended.output.decode(errors="replace")
        check_cpu(text, self.given)
        found = parse_diagnostics(text)
        if ended.status != 0 or not output.is_file():
            check_flags(self.given, self._trivial_failure)
            if _is_crash(ended, text):
                raise _crash(module, flags, ended, text)
            raise _failure(found, text, ended)
        return _Run(found, ended.seconds, ended.peak_bytes)

    def _trivial_failure(self, given: Sequence[GivenFlag]) -> str | None:
        left_out = {g.flag: None for g in self.given if g not in given}
        flags = [flag for flag in self.flags if flag not in left_out]
        with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
            source, output = Path(folder, "trivial.mlir"), Path(folder, "trivial.vmfb")
            source.write_text(TRIVIAL_PROGRAM)
            ended = run_measured([iree_compile_binary(), str(source), *flags, "-o", str(output)])
            written = output.is_file()
        if ended.status == 0:
            return None if written else "iree-compile writes no program"
        text = ended.output.decode(errors="replace")
        return _crash_reason(ended, text) if _is_crash(ended, text) else _reason(text, ended)


def run_measured(command: Sequence[str]) -> Ended:
    """One malloc arena for all threads: with one for each, as glibc has it, the
    peak on a large module is half as high again, and varies from run to run.
    """
    return run_child(
        command, errors_in_output=True, environment={"MALLOC_ARENA_MAX": "1", **os.environ}
    )


def parse_diagnostics(text: str) -> list[ir.Diagnostic]:
    """The ``file:line:column: severity: message`` lines of a tool's output."""
    found: list[ir.Diagnostic] = []
    for line in text.splitlines():
        if match := _LINE.fullmatch(line.strip()):
            place = (match["file"] or "", int(match["line"] or 0), int(match["column"] or 0))
            found.append(ir.Diagnostic(match["severity"], match["message"], *place))
    return found


def tool_errors(text: str) -> list[str]:
    """The error lines of tools in what iree-compile printed, each once, in their order.

    Not those that name a place in the program, nor bare ``error: ...`` lines,
    which are iree-compile's. Beyond five there is one line with their number.
    """
    found: dict[str, None] = {}
    for line in map(str.strip, text.splitlines()):
        own = _PLACED.fullmatch(line) or line.startswith("error: ")
        if not own and _TOOL_ERROR.fullmatch(line):
            found.setdefault(line.removeprefix("<unknown>:0: error: "))
    shown = list(found)
    if len(shown) > _SHOWN_TOOL_ERRORS:
        shown[_SHOWN_TOOL_ERRORS:] = [f"and {len(shown) - _SHOWN_TOOL_ERRORS} more errors"]
    return shown


def _is_crash(ended: Ended, text: str) -> bool:
    """LLVM's own handlers turn some crashes into exit codes."""
    return (
        not 0 <= ended.status < 128 or "PLEASE submit a bug report" in text or "LLVM ERROR" in text
    )


def _reason(text: str, ended: Ended) -> str:
    """The first error that a child printed, with those of tools, or its first line."""
    errors = [d.message for d in parse_diagnostics(text) if d.severity == "error"]
    found = [without_op(errors[0])] if errors else []
    found += tool_errors(text)
    if found:
        return "; ".join(found)
    lines = text.strip().splitlines() or [ended.reason]
    return lines[0].removeprefix("iree-compile: ").partition("  Try: ")[0]


def _failure(found: Sequence[ir.Diagnostic], text: str, ended: Ended) -> ir.HeadraceError:
    errors = [d for d in found if d.severity == "error"]
    if not errors:
        return ir.HeadraceError(f"iree-compile failed: {_reason(text, ended)}")
    first = errors[0]
    reason = without_op(first.message).removesuffix(_SEE_ABOVE)
    message = f"IREE cannot compile this program: {reason}"
    notes = [ir.Diagnostic("note", line) for line in tool_errors(text)]
    notes.append(ir.Diagnostic("note", "--emit=mlir writes the module that IREE was given"))
    return ir.HeadraceError(
        ir.Diagnostic("error", message, first.file, first.line, first.column), *notes
    )


def _crash_reason(ended: Ended, text: str) -> str:
    return next((line for line in text.splitlines() if "LLVM ERROR" in line), ended.reason)


def _crash(module: ir.Operation, flags: Sequence[str], ended: Ended, text: str) -> ir.HeadraceError:
    folder = Path(tempfile.mkdtemp(prefix="headrace-reproducer-"))
    source = folder / "module.mlir"
    source.write_text(str(module.get_asm(enable_debug_info=True)))
    command = shlex.join([iree_compile_binary(), str(source), *flags, "-o", os.devnull])
    (folder / "reproduce.sh").write_text(f"#!/bin/sh\n{command}\n")
    return ir.HeadraceError(
        f"iree-compile crashed ({_crash_reason(ended, text)}); "
        f"reproduce with: sh {folder / 'reproduce.sh'}"
    )


def _phase_text(dumps: Path, phase: str) -> str:
    for path in sorted(dumps.glob(f"*.{phase}.mlir")):
        return path.read_text()
    raise ir.HeadraceError(f"iree-compile wrote no IR of its phase '{phase}'")
