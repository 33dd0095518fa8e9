"""Passes as flags: ``--raise-stablehlo --canonicalize='max-iterations=3'``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import ir
from ...dialects.ir.iree_opt import native_passes
from ...passes.pipeline import NativePass, Pipeline, Step
from ...passes.pipeline_text import parse_options
from ...passes.registry import is_python_pass, pass_class, pass_names, suggestion
from ..command_line import ArgumentParser


@dataclass(frozen=True)
class PassFlag:
    """``--name=options``"""

    name: str
    options: str


def split_flags(argv: Sequence[str], parser: ArgumentParser) -> tuple[list[PassFlag], list[str]]:
    """Flags of passes, and what is left for the parser.

    A long option that the parser does not know counts as a pass: whether
    there is one is found out when the pipeline is made. MLIR's tools take
    one dash for two, and so do we.
    """
    known = parser.options()
    implied = parser.implied_values()
    flags: list[PassFlag] = []
    rest: list[str] = []
    for position, argument in enumerate(argv):
        if argument == "--":
            return flags, [*rest, *argv[position:]]
        if argument.startswith("-") and not argument.startswith("--"):
            name = argument[1:].partition("=")[0]
            if len(name) > 1 and (f"--{name}" in known or is_python_pass(name)):
                argument = f"-{argument}"
        name, _, options = argument.partition("=")
        if name.startswith("--") and name not in known:
            flags.append(PassFlag(name[2:], options))
        elif argument in implied:  # else argparse takes the next argument for its value
            rest.append(f"{argument}={implied[argument]}")
        else:
            rest.append(argument)
    return flags, rest


def pipeline_of(flags: Sequence[PassFlag], parser: ArgumentParser) -> Pipeline:
    """The passes in the order of their flags; HeadraceError for an unknown one."""
    return Pipeline([_step(flag, parser) for flag in flags])


def _step(flag: PassFlag, parser: ArgumentParser) -> Step:
    if is_python_pass(flag.name):
        return pass_class(flag.name).from_options(parse_options(flag.options))
    try:
        NativePass(flag.name).check()
    except ir.HeadraceError as error:
        if "unknown pass" in str(error):
            names = [option.lstrip("-") for option in parser.options()]
            near = suggestion(flag.name, [*names, *pass_names(), *native_passes()], "--")
            raise ir.HeadraceError(f"unknown option '--{flag.name}'{near}") from None
    step = NativePass(flag.name, parse_options(flag.options))
    step.check()
    return step
