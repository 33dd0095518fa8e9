"""The options of a compilation on a command line, shared by two tools."""

from __future__ import annotations

import argparse
from typing import Any

from ..compiler.options import CompileOptions, option_name
from ..dialects import ir
from ..passes.loops.pipeline_collectives import KINDS, MODES
from .command_line import file_name

_FIELDS = (
    "target",
    "cpu",
    "collectives",
    "function",
    "opt_level",
    "pipeline_order",
    "dump_ir",
)
_INTEGERS = ("devices", "pipeline_budget")
MULTI_USE = "experimental_multi_use_encoding_fusion"


def add_compile_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("compilation")
    group.add_argument("--target", metavar="T", help="default: cpu")
    group.add_argument("--cpu", metavar="NAME", help="CPU for --target=cpu; default: host")
    group.add_argument(
        "--collectives",
        metavar="FORM",
        help="devices: one program for all devices; channel: one per device, "
        "with RCCL/NCCL channels; default: devices for cpu and vmvx, else channel",
    )
    group.add_argument("--devices", metavar="N", help="default: as the module says")
    group.add_argument("--function", metavar="NAME", help="this public function only; default: all")
    group.add_argument("--opt-level", metavar="O0..O3", help="handed to IREE")
    group.add_argument(
        "--pipeline-collectives",
        metavar="KIND:MODE",
        action="append",
        default=[],
        help="which collectives are moved between loop trips, e.g. all-reduce:off; kinds: all, "
        f"{', '.join(KINDS)}; modes: {', '.join(MODES)} (ops with headrace.pipeline only); "
        "may be repeated, the last one wins; default: all:on",
    )
    group.add_argument(
        "--pipeline-order",
        metavar="ORDER",
        help="after-matmul (default) or before-matmul: loops are pipelined after or before "
        "fp8 matmuls are formed",
    )
    group.add_argument(
        "--pipeline-budget",
        metavar="BYTES",
        help="how much more a loop may carry from trip to trip; default: any",
    )
    group.add_argument(
        option_name(MULTI_USE),
        action="store_true",
        help="let a dispatch store a value both plain and packed, which saves a launch and costs "
        "memory; for testing, and may go away; --report says what it saved and added",
    )
    group.add_argument(
        "--iree-flag",
        metavar="FLAG",
        action="append",
        default=[],
        help="further flag for iree-compile, e.g. --iree-flag=--iree-llvmcpu-debug-symbols",
    )
    group.add_argument(
        "--dump-ir", metavar="DIR", type=file_name, help="write the IR after each pass"
    )


def given_compile_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that the user wrote, as fields of ``CompileOptions``."""
    found = {name: getattr(arguments, name) for name in (*_FIELDS, *_INTEGERS)}
    found = {name: value for name, value in found.items() if value is not None}
    for name in _INTEGERS:
        if name in found:
            found[name] = integer(found[name], option_name(name))
    if arguments.pipeline_collectives:
        found["pipeline_collectives"] = tuple(arguments.pipeline_collectives)
    if getattr(arguments, MULTI_USE):
        found[MULTI_USE] = True
    if arguments.iree_flag:
        found["iree_flags"] = tuple(arguments.iree_flag)
    return found


def integer(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ir.HeadraceError(f"{option} takes an integer, got '{text}'") from None


def compile_options(arguments: argparse.Namespace, **more: Any) -> CompileOptions:
    """Raises HeadraceError for a wrong value."""
    return CompileOptions.make(**given_compile_arguments(arguments), **more)
