"""headrace-opt: runs passes on .mlir files."""

from __future__ import annotations

import argparse
import sys

from ..dialects.mlir import HeadraceError, make_context, parse_module
from ..passes.pipeline import Pipeline


def main() -> int:
    parser = argparse.ArgumentParser(prog="headrace-opt")
    parser.add_argument("input", nargs="?", default="-")
    parser.add_argument("--pass-pipeline", default="builtin.module()")
    parser.add_argument("--split-input-file", action="store_true")
    arguments = parser.parse_args()
    text = sys.stdin.read() if arguments.input == "-" else open(arguments.input).read()
    chunks = text.split("// -----") if arguments.split_input_file else [text]
    try:
        pipeline = Pipeline.parse(arguments.pass_pipeline)
        for index, chunk in enumerate(chunks):
            module = parse_module(chunk, arguments.input, make_context())
            pipeline.run(module)
            print(("// -----\n" if index else "") + str(module))
    except HeadraceError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
