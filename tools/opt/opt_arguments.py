"""headrace-opt's command line."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path

from ...compiler.debugging.ir_printing import ALL, PrintPoints
from ...compiler.debugging.printing import TextForm
from ..command_line import ArgumentParser, file_name

MARKER = "// -----"

_DESCRIPTION = """\
Runs native and Python passes on MLIR text or bytecode.

  headrace-opt in.mlir --pass-pipeline='builtin.module(inline,raise-stablehlo,func.func(cse))'
  headrace-opt in.mlir --raise-stablehlo --canonicalize='max-iterations=3'

Every pass is also a flag, with options as its value; flags run in their order."""


def make_parser(prog: str) -> ArgumentParser:
    """All options but the passes' own flags; those are split off before."""
    parser = ArgumentParser(prog, _DESCRIPTION)
    parser.usage = f"{prog} [INPUT] [options] [--PASS[=OPTIONS] ...]"
    _add_files(parser)
    _add_passes(parser)
    _add_checks(parser)
    _add_text(parser)
    _add_debugging(parser)
    _add_information(parser)
    return parser


def _add_files(parser: ArgumentParser) -> None:
    parser.add_argument(
        "input", nargs="?", default="-", metavar="INPUT", type=file_name, help="default: stdin"
    )
    group = parser.add_argument_group("input and output")
    group.add_argument(
        "-o", dest="output", default="-", metavar="FILE", type=file_name, help="default: stdout"
    )
    group.add_argument("--emit-bytecode", action="store_true", help="write bytecode, not text")
    group.add_argument("--emit-bytecode-version", type=_count, metavar="N")
    group.add_argument(
        "--split-input-file",
        nargs="?",
        const=MARKER,
        metavar="MARKER",
        help=f"process the parts between lines '{MARKER}' on their own",
    )
    group.add_argument("--output-split-marker", default=MARKER, metavar="MARKER")
    group.add_argument("--no-implicit-module", action="store_true", help="put no module around")
    group.add_argument(
        "--allow-unregistered-dialect",
        action="store_true",
        help="accept ops that neither MLIR nor headrace knows",
    )


def _add_passes(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("passes")
    group.add_argument("--pass-pipeline", metavar="TEXT", help="not together with pass flags")
    group.add_argument(
        "--load-module",
        action="append",
        default=[],
        metavar="FILE.py",
        type=file_name,
        help="Python file that registers passes; repeatable",
    )
    group.add_argument("--run-reproducer", action="store_true", help="run the pipeline in INPUT")


def _add_checks(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("checks")
    group.add_argument(
        "--verify-each", type=_switch, nargs="?", const="1", default=True, metavar="0|1"
    )
    group.add_argument(
        "--verify-diagnostics",
        nargs="?",
        const="all",
        type=_one_of("all", "only-expected"),
        metavar="all|only-expected",
        help="compare diagnostics with '// expected-error @below {{...}}' and the like",
    )
    group.add_argument("--verify-roundtrip", action="store_true", help="print, parse, compare")


def _add_text(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("form of the text")
    group.add_argument("--mlir-print-op-generic", action="store_true")
    group.add_argument("--mlir-print-local-scope", action="store_true")
    group.add_argument("--mlir-print-debuginfo", action="store_true", help="with locations")
    group.add_argument("--mlir-pretty-debuginfo", action="store_true")
    group.add_argument("--mlir-elide-elementsattrs-if-larger", type=_count, metavar="N")
    group.add_argument("--mlir-elide-resource-strings-if-larger", type=_count, metavar="N")


def _add_debugging(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("debugging (to stderr)")
    group.add_argument("--remarks", action="store_true", help="what passes did not do, and why")
    for when in ("before", "after"):
        group.add_argument(
            f"--mlir-print-ir-{when}", nargs="?", const="all", action="append", metavar="PASS,..."
        )
        group.add_argument(f"--mlir-print-ir-{when}-all", action="store_true")
    group.add_argument("--mlir-print-ir-after-change", action="store_true")
    group.add_argument("--mlir-print-ir-after-failure", action="store_true")
    group.add_argument("--mlir-print-ir-module-scope", action="store_true")
    group.add_argument(
        "--mlir-print-ir-tree-dir", metavar="DIR", type=file_name, help="files, not stderr"
    )
    group.add_argument("--mlir-timing", action="store_true")
    group.add_argument("--mlir-pass-statistics", action="store_true")
    group.add_argument("--dump-pass-pipeline", action="store_true")
    group.add_argument(
        "--mlir-pass-pipeline-crash-reproducer",
        metavar="FILE",
        type=file_name,
        help="written on failure",
    )
    group.add_argument(
        "--mlir-pass-pipeline-local-reproducer",
        action="store_true",
        help="only the failing pass, and the IR before it",
    )
    group.add_argument("--mlir-disable-threading", action="store_true", help="always so")


def _add_information(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("information")
    group.add_argument(
        "--list-passes",
        nargs="?",
        const="headrace",
        type=_one_of("headrace", "all"),
        metavar="all",
        help="all: native ones too",
    )
    group.add_argument("--help-pass", metavar="NAME", help="what a pass does, its options")
    group.add_argument("--show-dialects", action="store_true")
    group.add_argument("--version", action="store_true")


def text_form(arguments: Namespace) -> TextForm:
    return TextForm(
        generic=arguments.mlir_print_op_generic,
        local_scope=arguments.mlir_print_local_scope,
        debug_info=arguments.mlir_print_debuginfo,
        pretty_debug_info=arguments.mlir_pretty_debuginfo,
        elide_elements_above=arguments.mlir_elide_elementsattrs_if_larger,
        elide_resources_above=arguments.mlir_elide_resource_strings_if_larger,
    )


def print_points(arguments: Namespace) -> PrintPoints | None:
    """Where to print IR, None for nowhere."""
    before = _pass_names(arguments.mlir_print_ir_before, arguments.mlir_print_ir_before_all)
    after = _pass_names(arguments.mlir_print_ir_after, arguments.mlir_print_ir_after_all)
    changes = arguments.mlir_print_ir_after_change
    failure = arguments.mlir_print_ir_after_failure
    tree = arguments.mlir_print_ir_tree_dir
    if not after and (changes or (tree and not before and not failure)):
        after = ALL
    if not (before or after or failure):
        return None
    return PrintPoints(
        before,
        after,
        only_changes=changes,
        on_failure=failure,
        module_scope=arguments.mlir_print_ir_module_scope,
        folder=Path(tree) if tree else None,
    )


def _pass_names(given: list[str] | None, every: bool) -> tuple[str, ...]:
    names = [name for text in given or [] for name in text.split(",") if name]
    return ALL if every or "all" in names else tuple(names)


def _switch(text: str) -> bool:
    if text not in ("0", "1", "false", "true"):
        raise ArgumentTypeError(f"expected 0 or 1, got '{text}'")
    return text in ("1", "true")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 63:
        raise ArgumentTypeError(f"expected a count, got '{text}'")
    return int(text)


def _one_of(*choices: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text not in choices:
            raise ArgumentTypeError(f"expected {' or '.join(choices)}, got '{text}'")
        return text

    return check
