"""headrace-compile: from a per-device .mlir program to a .vmfb for IREE."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..compiler.driver import compile_with
from ..dialects import ir
from .command_line import (
    ArgumentParser,
    check_writable,
    file_name,
    read_input,
    run_supervised,
    write_output,
)
from .compile_arguments import add_compile_arguments, compile_options
from .supervisor import Activity

_DESCRIPTION = """\
Compiles a per-device StableHLO, torch or linalg program: gathers fp8 instead
of bf16, forms scaled fp8 matmuls, and hands the result to IREE."""


def main(argv: Sequence[str] | None = None) -> int:
    return run_supervised("headrace-compile", lambda activity: run(argv, activity))


def run(argv: Sequence[str] | None, activity: Activity) -> int:
    """The exit code; HeadraceError for what cannot be compiled. Works in this process."""
    parser = ArgumentParser("headrace-compile", _DESCRIPTION)
    parser.add_argument(
        "input", metavar="INPUT", type=file_name, help=".mlir text or bytecode; - for stdin"
    )
    parser.add_argument(
        "-o", dest="output", metavar="OUT", type=file_name, required=True, help="- for stdout"
    )
    parser.add_argument(
        "--emit", metavar="KIND", default="vmfb", help="vmfb, or mlir: as handed to IREE"
    )
    parser.add_argument(
        "--report", metavar="FILE.json", type=file_name, help="write what was done and found"
    )
    parser.add_argument("--remarks", action="store_true", help="print what passes did not do")
    add_compile_arguments(parser)
    parser.add_version()
    arguments = parser.parse_args(argv)
    options = compile_options(arguments, emit=arguments.emit, report=arguments.report is not None)
    for path in filter(None, (arguments.output, arguments.report)):
        check_writable(path)
    if arguments.report is not None:
        _check_report(arguments.report, arguments.output)
    source = read_input(arguments.input) if arguments.input == "-" else Path(arguments.input)
    result = compile_with(source, options, [activity])
    for remark in result.remarks if arguments.remarks else ():
        print(remark, file=sys.stderr)
    if arguments.report is not None:
        write_output(arguments.report, json.dumps(result.report, indent=2).encode() + b"\n")
    write_output(arguments.output, result.data())
    return 0


def _check_report(path: str, output: str) -> None:
    if path == output or os.path.realpath(path) == os.path.realpath(output):
        raise ir.HeadraceError(f"report and output are the same file, '{path}'")
    if path.endswith((".html", ".htm")):
        raise ir.HeadraceError("an HTML report is not available yet; use --report=FILE.json")
