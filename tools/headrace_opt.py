"""headrace-opt: runs passes on .mlir files, like mlir-opt."""

from __future__ import annotations

import re
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from ..compiler.debugging.ir_printing import IrPrinting
from ..compiler.debugging.printing import bytecode_of
from ..compiler.debugging.reproducer import Recipe, Reproducer, read_recipe
from ..compiler.debugging.timing import Statistics, Timing
from ..dialects import ir
from ..dialects.ir.parsing import parse_module, text_or_bytecode
from ..passes.pipeline import Instrumentation, Pipeline
from ..passes.registry import suggestion
from ..passes.remarks import collect_remarks
from . import command_line
from .opt import opt_arguments, pass_flags, pass_help
from .opt.module_checks import check_registered, check_round_trip
from .opt.opt_arguments import text_form
from .opt.pass_flags import PassFlag
from .opt.verify_diagnostics import check_diagnostics
from .supervisor import Activity, supervise


@dataclass(frozen=True)
class Chunk:
    """A part of the input: text, or bytecode, which is never split."""

    source: str | bytes
    name: str

    @property
    def text(self) -> str:
        return self.source if isinstance(self.source, str) else ""


@dataclass(frozen=True)
class Outcome:
    """What became of a chunk: a result or an error, and what was said."""

    data: bytes | None
    diagnostics: list[ir.Diagnostic]
    error: ir.HeadraceError | None = None

    def errors(self) -> list[ir.Diagnostic]:
        found = list(self.error.diagnostics) if self.error else []
        return [d for d in self.diagnostics if d.severity == "error"] + found


class OptTool:
    """headrace-opt, step by step; a subclass may override any of them."""

    prog = "headrace-opt"

    def __init__(self, *, supervised: bool = False) -> None:
        """``supervised``: work in a child process, so that a crash is an error."""
        self.supervised = supervised
        self.activity = Activity()
        self.timing: Timing | None = None
        self.statistics: Statistics | None = None
        self.reproducer: Reproducer | None = None

    def main(self, argv: Sequence[str]) -> int:
        """The exit code; raises HeadraceError for what stops the whole run."""
        parser = self.make_parser()
        flags, rest = pass_flags.split_flags(argv, parser)
        arguments = parser.parse_args(rest)
        for path in arguments.load_module:
            load_module(path)
        information = self.information(arguments)
        if information is not None:
            command_line.write_output("-", information.encode())
            return 0
        self.prepare(arguments)
        if not self.supervised:
            return self.run(arguments, flags)
        return supervise(lambda: self.run(arguments, flags), self.crash_error)

    def make_parser(self) -> command_line.ArgumentParser:
        return opt_arguments.make_parser(self.prog)

    def information(self, arguments: Namespace) -> str | None:
        """The answer to a question such as --list-passes; None if none was asked."""
        if arguments.version:
            return command_line.version_text(self.prog)
        if arguments.show_dialects:
            return pass_help.show_dialects()
        if arguments.list_passes:
            return pass_help.list_passes(native=arguments.list_passes == "all")
        if arguments.help_pass is not None:
            return pass_help.help_pass(arguments.help_pass)
        return None

    def prepare(self, arguments: Namespace) -> None:
        """Makes what a run reports to; refuses outputs that cannot be written."""
        command_line.check_writable(arguments.output)
        if arguments.mlir_timing:
            self.timing = Timing()
        if arguments.mlir_pass_statistics:
            self.statistics = Statistics()
        if path := arguments.mlir_pass_pipeline_crash_reproducer:
            command_line.check_writable(path)
            self.reproducer = Reproducer(
                path,
                local=arguments.mlir_pass_pipeline_local_reproducer,
                verify_each=arguments.verify_each,
            )

    def run(self, arguments: Namespace, flags: Sequence[PassFlag]) -> int:
        """Reads, processes and writes all chunks."""
        name = "<stdin>" if arguments.input == "-" else arguments.input
        self.activity.note(f"while reading '{name}'")
        if arguments.run_reproducer:
            data = command_line.read_input(arguments.input)
            recipe = self.reproducer_recipe(data, name, arguments, flags)
            pipeline = Pipeline.parse(recipe.pipeline)
            arguments.verify_each = recipe.verify_each
        else:
            pipeline = self.make_pipeline(arguments, flags)
            data = command_line.read_input(arguments.input)
        if arguments.dump_pass_pipeline:
            print(pipeline, file=sys.stderr)
        hooks = self.make_hooks(arguments, pipeline)
        chunks = split_input(data, name, arguments.split_input_file)
        if arguments.emit_bytecode and len(chunks) > 1:
            raise ir.HeadraceError("--emit-bytecode takes a single module, not a split input")
        code = self.run_chunks(chunks, pipeline, hooks, arguments)
        for report in filter(None, (self.timing, self.statistics)):
            print(report.report(), end="", file=sys.stderr)
        return code

    def run_chunks(
        self,
        chunks: Sequence[Chunk],
        pipeline: Pipeline,
        hooks: Sequence[Instrumentation],
        arguments: Namespace,
    ) -> int:
        """To stdout, results go at once; a file is only written if all is well."""
        code = 0
        written: list[bytes] = []
        for chunk in chunks:
            outcome = self.process(chunk, pipeline, hooks, arguments)
            code |= self.report(outcome, chunk, arguments)
            if outcome.data is None:
                continue
            marker = f"{arguments.output_split_marker}\n".encode() if written else b""
            written.append(marker + outcome.data)
            if arguments.output == "-":
                command_line.write_output("-", written[-1])
        if arguments.output != "-" and code == 0:
            command_line.write_output(arguments.output, b"".join(written))
        return code

    def make_pipeline(self, arguments: Namespace, flags: Sequence[PassFlag]) -> Pipeline:
        if arguments.pass_pipeline is None:
            return pass_flags.pipeline_of(flags, self.make_parser())
        if flags:
            raise ir.HeadraceError(
                f"--pass-pipeline cannot be mixed with the pass flag --{flags[0].name}"
            )
        return Pipeline.parse(arguments.pass_pipeline)

    def reproducer_recipe(
        self, data: bytes, name: str, arguments: Namespace, flags: Sequence[PassFlag]
    ) -> Recipe:
        if flags or arguments.pass_pipeline is not None:
            raise ir.HeadraceError("--run-reproducer takes its pipeline from the input only")
        return read_recipe(data.decode(errors="replace"), name)

    def make_hooks(self, arguments: Namespace, pipeline: Pipeline) -> list[Instrumentation]:
        """What watches the passes; raises HeadraceError for a name that none has."""
        hooks: list[Instrumentation | None] = [
            self.activity,
            self.reproducer,
            self.statistics,
            self.timing,
        ]
        points = opt_arguments.print_points(arguments)
        if points is not None:
            names = [step.name for step in pipeline.steps]
            for name in points.names():
                if name not in names:
                    near = suggestion(name, names)
                    raise ir.HeadraceError(f"no pass '{name}' in the pipeline to print IR at{near}")
            hooks.append(IrPrinting(points, text_form(arguments)))
        return [hook for hook in hooks if hook is not None]

    def process(
        self,
        chunk: Chunk,
        pipeline: Pipeline,
        hooks: Sequence[Instrumentation],
        arguments: Namespace,
    ) -> Outcome:
        """Parses, runs, writes; what goes wrong is in the outcome."""
        context = ir.make_context()
        with ExitStack() as stack:
            native = stack.enter_context(ir.collect_diagnostics(context))
            remarks = stack.enter_context(collect_remarks())
            if self.statistics:
                stack.enter_context(self.statistics.collecting())
            data, failure = None, None
            try:
                self.activity.note(f"while reading '{chunk.name}'")
                with self.timed("(parser)"):
                    module = self.parse(chunk, context, arguments)
                pipeline.run(module, hooks, verify_each=arguments.verify_each)
                self.activity.note("while writing")
                with self.timed("(output)"):
                    data = self.write(module, pipeline, chunk.name, arguments)
            except ir.HeadraceError as error:
                failure = error
            outcome = Outcome(data, [*native, *remarks], failure)
            return Outcome(None, outcome.diagnostics, failure) if outcome.errors() else outcome

    def timed(self, name: str) -> AbstractContextManager[None]:
        return self.timing.measure(name) if self.timing else nullcontext()

    def parse(self, chunk: Chunk, context: ir.Context, arguments: Namespace) -> ir.Operation:
        module = parse_module(
            chunk.source, chunk.name, context, implicit_module=not arguments.no_implicit_module
        )
        if not arguments.allow_unregistered_dialect:
            check_registered(module)
        if arguments.verify_roundtrip:
            check_round_trip(module, chunk.name)
        return module

    def write(
        self, module: ir.Operation, pipeline: Pipeline, name: str, arguments: Namespace
    ) -> bytes:
        if arguments.verify_roundtrip and pipeline.steps:
            check_round_trip(module, name)
        if arguments.emit_bytecode:
            return bytecode_of(module, arguments.emit_bytecode_version)
        known_valid = arguments.verify_each or not pipeline.steps
        return text_form(arguments).text(module, verified=known_valid).encode()

    def report(self, outcome: Outcome, chunk: Chunk, arguments: Namespace) -> int:
        """Prints diagnostics, or compares them with what is expected; the exit code."""
        if arguments.verify_diagnostics:
            found = [d for d in outcome.diagnostics if d.severity != "error"] + outcome.errors()
            only_expected = arguments.verify_diagnostics == "only-expected"
            faults = check_diagnostics(chunk.text, chunk.name, found, only_expected=only_expected)
            for fault in faults:
                command_line.print_error(ir.HeadraceError(fault))
            return int(bool(faults))
        for diagnostic in outcome.diagnostics:
            if diagnostic.severity != "error" and (
                diagnostic.severity != "remark" or arguments.remarks
            ):
                print(diagnostic, file=sys.stderr)
        if outcome.errors():
            error = ir.HeadraceError(*outcome.errors())
            error.__cause__ = outcome.error
            command_line.print_error(error)
        sys.stderr.flush()
        return int(bool(outcome.errors()))

    def crash_error(self, signal: str) -> ir.HeadraceError:
        """Called in the parent of a worker that died of a signal."""
        doing = self.activity.text()
        crash = ir.Diagnostic("error", f"{self.prog} crashed ({signal}) {doing}")
        if self.reproducer and self.reproducer.keep():
            return ir.HeadraceError(crash, ir.Diagnostic("note", "the reproducer was written"))
        if not doing.startswith("in pass"):
            return ir.HeadraceError(crash)
        hint = "--mlir-pass-pipeline-crash-reproducer=FILE saves the input of the passes"
        return ir.HeadraceError(crash, ir.Diagnostic("note", hint))


def split_input(data: bytes, name: str, marker: str | None) -> list[Chunk]:
    """The chunks between lines that begin with ``marker``; empty ones are dropped.

    A chunk starts with as many empty lines as there are lines above it, so
    that its locations are those in the whole file.
    """
    source = text_or_bytecode(data, name)
    if isinstance(source, bytes) or not marker:
        return [Chunk(source, name)]
    chunks: list[Chunk] = []
    lines = 0
    for part in re.split(rf"^[ \t]*{re.escape(marker)}.*$", source, flags=re.MULTILINE):
        if part.strip():
            chunks.append(Chunk("\n" * lines + part, name))
        lines += part.count("\n")
    return chunks or [Chunk("", name)]


def load_module(path: str) -> None:
    """Runs a file of ``--load-module``, which adds its passes with ``register_pass``.

    Raises HeadraceError, with the line in that file, if it cannot be run.
    """
    file = Path(path)
    if not file.is_file():
        raise ir.HeadraceError(f"cannot read '{path}': no such file")
    name = f"headrace_module_{file.stem}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ir.HeadraceError(f"'{path}' is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except ir.HeadraceError:
        raise
    except (Exception, SystemExit) as error:
        raise ir.HeadraceError(
            f"cannot load '{path}'{_line(error, path)}: {type(error).__name__}: {error}"
        ) from error


def _line(error: BaseException, path: str) -> str:
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(Path(path))]
    return f" (line {lines[-1]})" if lines else ""


def main() -> int:
    return command_line.run_tool(lambda: OptTool(supervised=True).main(sys.argv[1:]))
