"""From a model to a ``.vmfb``: ``headrace.compile``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dialects import ir, verifier
from ..passes.pipeline import Instrumentation, NativePass, Step
from ..passes.remarks import collect_remarks
from ..passes.targets.lookup import find_target
from ..passes.targets.target import Target
from . import metadata, pipelines
from .debugging.ir_printing import after_each_step
from .debugging.timing import Timing
from .files import write_file
from .inputs.input_forms import Source, load_module
from .iree.child import ChildResult, run_iree_compile
from .iree.flag_faults import GivenFlag
from .options import CompileOptions
from .program import Program, read_program
from .report.phases import PHASES
from .report.report import ReportReaders, as_json
from .report.rounding_analysis import RoundingReader
from .unlowered import check_lowered, explain_unlowered

if TYPE_CHECKING:
    from .iree.loaded import LoadedProgram


@dataclass(frozen=True)
class CompileResult:
    """What a compilation gave.

    ``module`` is the module as handed to IREE, in the context of the input;
    ``report`` is what ``--report`` writes;
    ``vmfb`` is None after ``emit="mlir"``; ``remarks`` say what passes did not
    do, and why.
    """

    module: ir.Operation
    report: dict[str, object]
    vmfb: bytes | None
    remarks: tuple[ir.Diagnostic, ...]

    def data(self) -> bytes:
        """The ``.vmfb``, or the module's text where there is none."""
        return str(self.module).encode() + b"\n" if self.vmfb is None else self.vmfb

    def load(self, **options: Any) -> LoadedProgram:
        """The program in this process, ready to be called; ``options`` as ``headrace.load``'s."""
        from .iree.loaded import LoadedProgram  # brings IREE's runtime

        if self.vmfb is None:
            raise ir.HeadraceError("emit='mlir' makes no program that can be loaded")
        return LoadedProgram(self.vmfb, **options)

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
    timing = Timing()
    watching = [*hooks, timing]
    if options.dump_ir is not None:
        watching.append(after_each_step(Path(options.dump_ir)))

    with module.context, module.location, collect_remarks() as remarks:
        program, readers = _run_passes(module, options, target, watching)
    seconds = timing.total()
    child = None if options.emit == "mlir" else _hand_over(program, options, watching)

    # As chosen: what the result depends on.
    chosen = replace(options, collectives=program.form, devices=program.devices)
    report = as_json(readers.report(chosen, timing.steps(), seconds, child))
    if child is None:
        return CompileResult(program.module, report, None, tuple(remarks))
    found = (*remarks, *child.diagnostics)
    return CompileResult(program.module, report, child.vmfb, found)


def _run_passes(
    module: ir.Operation,
    options: CompileOptions,
    target: Target,
    hooks: Sequence[Instrumentation],
) -> tuple[Program, ReportReaders]:
    """The program as IREE is handed it, metadata included, and what was read on the way."""
    watching = [*hooks, Checkpoints()]
    roundings = RoundingReader()
    try:
        program = read_program(module, options, target, watching)
        readers = ReportReaders(program.settings, compare=options.report)
        pipeline = pipelines.build_default(program.settings)
        watching += [*readers.hooks, roundings]
        pipeline.run(program.module, watching, verify_each=False)
    except ir.HeadraceError as error:
        raise explain_unlowered(error) from error
    check_lowered(program.module)
    metadata.attach(program.module, roundings.noted(program.functions))
    return program, readers


def _hand_over(
    program: Program, options: CompileOptions, hooks: Sequence[Instrumentation]
) -> ChildResult:
    """What IREE makes of the program."""
    return run_iree_compile(
        program.module,
        iree_flags(program.target, options, program.form, program.devices),
        PHASES if options.report else (),
        given_flags(program.target, options),
        hooks,
    )


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
