"""The options of a compilation on a command line, shared by two tools."""

from __future__ import annotations

import argparse
from typing import Any

from ..compiler.options import CompileOption, CompileOptions, compile_option_list
from ..dialects import ir
from .command_line import file_name


def add_compile_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("compilation")
    for option in _shared():
        how: dict[str, Any] = {"metavar": option.metavar}
        if option.type is bool:
            how = {"action": "store_true"}
        elif option.is_list:
            how |= {"action": "append", "default": []}
        elif option.metavar == "DIR":
            how["type"] = file_name
        group.add_argument(option.flag, dest=option.name, help=option.help, **how)


def given_compile_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that the user wrote, as fields of ``CompileOptions``."""
    found: dict[str, Any] = {}
    for option in _shared():
        value = getattr(arguments, option.name)
        if value is None or value is False or value == []:
            continue
        found[option.name] = _integer(value, option.flag) if option.type is int else value
    return found


def _shared() -> list[CompileOption]:
    return [option for option in compile_option_list() if option.help]


def _integer(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ir.HeadraceError(f"{option} takes an integer, got '{text}'") from None


def compile_options(arguments: argparse.Namespace, **more: Any) -> CompileOptions:
    """Raises HeadraceError for a wrong value."""
    return CompileOptions.make(**given_compile_arguments(arguments), **more)
