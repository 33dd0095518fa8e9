"""headrace-opt: runs passes on .mlir files."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from ..dialects.mlir import (
    Diagnostic,
    HeadraceError,
    Operation,
    collect_diagnostics,
    make_context,
    parse_module,
)
from ..passes.pipeline import Pipeline
from ..passes.pipeline_text import parse_options
from ..passes.registry import is_python_pass, pass_class
from ..passes.remarks import collect_remarks
from .command_line import ArgumentParser, print_error, read_input, run_tool
from .verify_diagnostics import check_diagnostics


@dataclass
class Outcome:
    """What became of one chunk of the input."""

    module: Operation | None
    diagnostics: list[Diagnostic]
    error: HeadraceError | None


class OptTool:
    """headrace-opt, step by step; a subclass may override any of them."""

    prog = "headrace-opt"

    def main(self, argv: Sequence[str]) -> int:
        parser = self.make_parser()
        flags, rest = self.split_pass_flags(argv, parser)
        arguments = parser.parse_args(rest)
        pipeline = self.make_pipeline(arguments, flags)
        text = read_input(arguments.input).decode()
        name = "<stdin>" if arguments.input == "-" else arguments.input
        code = 0
        for index, chunk in enumerate(self.split(text, arguments)):
            outcome = self.process(chunk, name, pipeline)
            if outcome.module is not None:
                print(("// -----\n" if index else "") + str(outcome.module).strip())
            code |= self.report(outcome, chunk, name, arguments)
        return code

    def make_parser(self) -> ArgumentParser:
        parser = ArgumentParser(self.prog, "Runs passes on .mlir files.")
        parser.add_argument("input", nargs="?", default="-")
        parser.add_argument("--pass-pipeline")
        parser.add_argument("--split-input-file", nargs="?", const="// -----")
        parser.add_argument("--verify-diagnostics", nargs="?", const="all")
        parser.add_argument("--remarks", action="store_true")
        return parser

    def split_pass_flags(
        self, argv: Sequence[str], parser: ArgumentParser
    ) -> tuple[list[tuple[str, str]], list[str]]:
        flags: list[tuple[str, str]] = []
        rest: list[str] = []
        for argument in argv:
            name, _, options = argument[2:].partition("=")
            if argument.startswith("--") and is_python_pass(name):
                flags.append((name, options))
            else:
                rest.append(argument)
        return flags, rest

    def make_pipeline(self, arguments: Namespace, flags: list[tuple[str, str]]) -> Pipeline:
        if flags and arguments.pass_pipeline:
            raise HeadraceError("--pass-pipeline cannot be mixed with flags of single passes")
        if arguments.pass_pipeline:
            return Pipeline.parse(arguments.pass_pipeline)
        return Pipeline([pass_class(n).from_options(parse_options(o)) for n, o in flags])

    def split(self, text: str, arguments: Namespace) -> list[str]:
        """Chunks, each with empty lines in front so that line numbers hold."""
        if arguments.split_input_file is None:
            return [text]
        pattern = re.compile(rf"^[ \t]*{re.escape(arguments.split_input_file)}.*$", re.MULTILINE)
        chunks: list[str] = []
        line = 0
        for chunk in pattern.split(text):
            if chunk.strip() or not chunks:
                chunks.append("\n" * line + chunk)
            line += chunk.count("\n")
        return chunks

    def process(self, chunk: str, name: str, pipeline: Pipeline) -> Outcome:
        context = make_context()
        with collect_diagnostics(context) as native, collect_remarks() as remarks:
            try:
                module = parse_module(chunk, name, context)
                pipeline.run(module)
            except HeadraceError as error:
                return Outcome(None, [*native, *remarks], error)
            return Outcome(module, [*native, *remarks], None)

    def report(self, outcome: Outcome, chunk: str, name: str, arguments: Namespace) -> int:
        errors = outcome.error.diagnostics if outcome.error else ()
        if arguments.verify_diagnostics:
            faults = check_diagnostics(
                chunk,
                name,
                [*outcome.diagnostics, *errors],
                only_expected=arguments.verify_diagnostics == "only-expected",
            )
            print_error(HeadraceError(*faults))
            return int(bool(faults))
        sys.stdout.flush()
        for diagnostic in outcome.diagnostics:
            if diagnostic.severity != "remark" or arguments.remarks:
                print(diagnostic, file=sys.stderr)
        if outcome.error:
            print_error(outcome.error)
        return int(outcome.error is not None)


def main() -> int:
    return run_tool(lambda: OptTool().main(sys.argv[1:]))
