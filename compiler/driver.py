"""From a model to a ``.vmfb``: ``headrace.compile``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..dialects import ir, verifier
from ..passes.pipeline import Instrumentation, NativePass, Step
from ..passes.remarks import collect_remarks
from . import metadata, pipelines
from .files import write_file
from .inputs.input_forms import Source, load_module
from .iree.child import run_iree_compile
from .iree.flag_faults import GivenFlag
from .options import CompileOptions
from .program import read_program
from .report import phases as report_phases, reader as report
from .report.encodings import EncodingReader
from .report.rounding_analysis import RoundingReader
from .targets import Target, find_target
from .unlowered import check_lowered, explain_unlowered


@dataclass(frozen=True)
class CompileResult:
    """What a compilation gave.

    ``module`` is the module as handed to IREE, in the context of the input;
    ``vmfb`` is None after ``emit="mlir"``; ``remarks`` say what passes did not
    do, and why.
    """

    module: ir.Operation
    report: report.Report
    vmfb: bytes | None
    remarks: tuple[ir.Diagnostic, ...]

    def data(self) -> bytes:
        """The ``.vmfb``, or the module's text where there is none."""
        return str(self.module).encode() + b"\n" if self.vmfb is None else self.vmfb

    def save(self, path: str | Path) -> None:
        """Writes ``data()`` in one step; HeadraceError if it cannot."""
        write_file(path, self.data())


def compile_program(source: Source, target: str = "cpu", **options: Any) -> CompileResult:
    """Compiles a per-device program for IREE.

    ``source`` is a module of ``iree.compiler.ir`` in any context (it stays
    unchanged), MLIR text or bytecode, or a path. ``options`` are the fields
    of ``CompileOptions``. Raises HeadraceError for anything that cannot be
    compiled.
    """
    return compile_with(source, CompileOptions.make(target=target, **options))


def compile_with(
    source: Source, options: CompileOptions, hooks: Sequence[Instrumentation] = ()
) -> CompileResult:
    """``compile_program`` with the options as one object; ``hooks`` watch all passes."""
    target = find_target(options.target)
    module = load_module(source, ir.make_context())
    ir.prepare_context(module.context)
    extra = [IrDumper(options.dump_ir)] if options.dump_ir is not None else []

    start = time.perf_counter()
    with module.context, module.location, collect_remarks() as remarks:
        reader = report.Reader()
        watching = [*hooks, Checkpoints(), reader, *extra]
        roundings = RoundingReader()
        try:
            program = read_program(module, options, target, watching)
            settings = program.settings
            multi_use = options.experimental_multi_use_encoding_fusion
            encodings = EncodingReader(settings.target, multi_use, compare=options.report)
            pipeline = pipelines.build_default(settings)
            pipeline.run(program.module, [*watching, roundings, encodings], verify_each=False)
        except ir.HeadraceError as error:
            raise explain_unlowered(error) from error
        check_lowered(program.module)
        metadata.attach(program.module, roundings.noted(program.functions))
    headrace_seconds = time.perf_counter() - start
    module = program.module

    entries: report.Report = {
        **reader.entries(target.name),
        **encodings.entries(),
        **report_phases.no_phases(),
        "headrace_seconds": headrace_seconds,
        "iree_seconds": None,
        "target": target.name,
        "options": {
            **options.as_json(),
            "collectives": program.form,
            "devices": program.devices,
        },
        "versions": report.versions(),
    }
    if options.emit == "mlir":
        return CompileResult(module, entries, None, tuple(remarks))
    child = run_iree_compile(
        module,
        iree_flags(target, options, program.form, program.devices),
        report_phases.PHASES if options.report else (),
        given_flags(target, options),
        [*hooks, reader, *extra],
    )
    entries["iree_seconds"] = child.seconds
    entries["headrace_seconds"] = headrace_seconds + child.writing_seconds
    if options.report:
        entries |= report_phases.read_phases(child.phases)
    return CompileResult(module, entries, child.vmfb, (*remarks, *child.diagnostics))


def iree_flags(target: Target, options: CompileOptions, form: str, devices: int) -> tuple[str, ...]:
    """The command line of iree-compile, without input and output."""
    level = (f"--iree-opt-level={options.opt_level}",) if options.opt_level else ()
    return (*target.flags(form, devices, options.cpu), *level, *options.iree_flags)


def given_flags(target: Target, options: CompileOptions) -> list[GivenFlag]:
    """The flags of iree-compile whose values are the user's."""
    found = [GivenFlag(flag, f"--iree-flag={flag}") for flag in options.iree_flags]
    if target.is_cpu and options.cpu != "host":
        (flag,) = target.cpu_flags(options.cpu)
        found.insert(0, GivenFlag(flag, f"--cpu={options.cpu}"))
    return found


class Checkpoints(Instrumentation):
    """Verifies the input natively, the result, and what Python passes hand to native ones.

    A native pass may crash on an invalid module, and takes valid ones to
    valid ones. Verifying after every pass as headrace-opt does would take
    longer than the passes.
    """

    def __init__(self) -> None:
        self._since: list[str] = []

    def begin(self, steps: Sequence[Step], module: ir.Operation) -> None:
        ir.verify_natively(module)

    def before(self, step: Step, module: ir.Operation) -> None:
        if isinstance(step, NativePass):
            self._check(module)

    def after(self, step: Step, module: ir.Operation, seconds: float) -> None:
        if not isinstance(step, NativePass):
            self._since.append(step.name)

    def end(self, module: ir.Operation) -> None:
        self._check(module)

    def _check(self, module: ir.Operation) -> None:
        if not self._since:
            return
        try:
            ir.verify_natively(module)
            verifier.verify(module, bodies=False)
        except ir.HeadraceError as error:
            note = ir.Diagnostic("note", f"after pass {', '.join(self._since)}")
            raise ir.HeadraceError(*error.diagnostics, note) from None
        self._since.clear()


class IrDumper(Instrumentation):
    """Writes the module after each pass: ``DIR/07-commute-collectives.mlir``."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._count = 0
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # What an earlier run left would mix with this one's files.
            for old in self._folder.glob("[0-9][0-9]-*.mlir"):
                old.unlink()
        except OSError as error:
            raise ir.HeadraceError(f"cannot write to '{folder}': {error.strerror}") from None

    def after(self, step: Step, module: ir.Operation, seconds: float) -> None:
        self._count += 1
        write_file(
            self._folder / f"{self._count:02}-{step.name}.mlir", str(module).encode() + b"\n"
        )
