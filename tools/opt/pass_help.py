"""What headrace-opt tells about passes, dialects and versions."""

from __future__ import annotations

import inspect
import re

from ...dialects import ir
from ...dialects.ir.iree_opt import iree_opt_text, native_passes
from ...passes.base import Pass
from ...passes.registry import is_python_pass, pass_class, pass_names, suggestion


def list_passes(*, native: bool) -> str:
    """Names and summaries, in the order of the default pipeline."""
    summaries = {name: pass_class(name).summary() for name in pass_names()}
    lines = ["headrace passes:", *_columns(summaries)]
    if native:
        lines += ["", "native passes:", *_columns(native_passes())]
    return "\n".join([*lines, "", "See --help-pass=NAME for one of them."]) + "\n"


def _columns(summaries: dict[str, str]) -> list[str]:
    width = min(40, max(map(len, summaries), default=0))
    return [f"  {name:{width}}  {summary}".rstrip() for name, summary in summaries.items()]


def help_pass(name: str) -> str:
    """Docstring and options of a pass; HeadraceError if there is none."""
    if is_python_pass(name):
        return _python_pass_help(pass_class(name))
    text = _native_pass_help(name)
    if text is None:
        near = suggestion(name, [*pass_names(), *native_passes()])
        raise ir.HeadraceError(f"unknown pass '{name}'{near}")
    return text


def _python_pass_help(cls: type[Pass]) -> str:
    lines = [cls.name, "", inspect.cleandoc(cls.__doc__ or "(no documentation)"), ""]
    options = cls.describe_options()
    lines.append("options:" if options else "no options")
    for option in options:
        default = (
            "required" if option.default is None else f"default: {option.default or '(empty)'}"
        )
        lines.append(f"  {option.name}=<{option.type}>  ({default})")
        if option.help:
            lines.append(f"      {option.help}")
    return "\n".join(lines) + "\n"


def _native_pass_help(name: str) -> str | None:
    """The pass's lines of ``iree-opt --help``, indented as by itself."""
    found = re.search(
        rf"^( +)--{re.escape(name)} *-   (.*)\n((?:\1  +-.*\n| +=.*\n)*)",
        iree_opt_text("--help"),
        re.MULTILINE,
    )
    if not found:
        return None
    options = [line.removeprefix(found[1]) for line in found[3].splitlines()]
    listed = ["options:", *options] if options else ["no options"]
    return "\n".join([f"{name} (native)", "", found[2], "", *listed]) + "\n"


def show_dialects() -> str:
    native = iree_opt_text("--show-dialects").partition(":")[2].strip()
    names = sorted([*filter(None, native.split(",")), "headrace"])
    return f"Available Dialects: {','.join(names)}\n"
