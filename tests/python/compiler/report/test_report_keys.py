"""One list of keys and of options: the JSON, the help texts and the guide have them all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import headrace
import pytest
from headrace.compiler.options import CompileOptions, compile_option_list, option_name
from headrace.compiler.report.report import Report, as_json, meanings
from headrace.tools.command_line import ArgumentParser
from headrace.tools.compile_arguments import add_compile_arguments, given_compile_arguments

GUIDE = (Path(headrace.__file__).parent / "docs" / "headrace-compile.md").read_text()
ADD = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@dataclass(frozen=True)
class Inner:
    b: Annotated[int | None, "second"] = None
    c: Annotated[list[int] | None, "third"] = None


@dataclass(frozen=True)
class Outer:
    a: Annotated[Inner, "first"]
    inner: Inner
    d: Annotated[int, "fourth"]


def test_keys_of_a_part_stand_in_its_place() -> None:
    assert list(meanings(Outer)) == [
        ("a", "first"),
        ("b", "second"),
        ("c", "third"),
        ("d", "fourth"),
    ]
    found = as_json(Outer(Inner(1), Inner(2, [3]), 4))
    assert json.dumps(found) == '{"a": {"b": 1, "c": null}, "b": 2, "c": [3], "d": 4}'


@pytest.mark.parametrize("options", [{"emit": "mlir"}, {"report": True}])
def test_a_report_has_all_keys_in_their_order(options: dict[str, Any]) -> None:
    report = headrace.compile(ADD, **options).report
    assert list(report) == [name for name, _ in meanings(Report)]
    assert (report["launches"] is not None) == ("report" in options)
    json.dumps(report)


def test_the_guide_tells_all_keys_and_options() -> None:
    for name, meaning in meanings(Report):
        assert f"| `{name}` | {meaning} |" in GUIDE
    for option in compile_option_list():
        assert f"`{option.flag}=" in GUIDE or f"`{option.flag}`" in GUIDE


def test_what_is_written_is_what_is_asked_for() -> None:
    values: dict[str, Any] = {
        "target": "gfx950",
        "cpu": "generic",
        "collectives": "channel",
        "devices": 4,
        "function": "main",
        "opt_level": "O2",
        "pipeline_collectives": ["all:off", "all-gather:on"],
        "pipeline_order": "before-matmul",
        "pipeline_budget": 0,
        "experimental_multi_use_encoding_fusion": True,
        "iree_flags": ["--a=b", "-c"],
        "dump_ir": "folder",
    }
    shared = [option.name for option in compile_option_list() if option.help]
    assert shared == list(values)
    arguments: list[str] = []
    for name, value in values.items():
        parts: list[Any] = value if isinstance(value, list) else [value]
        arguments += [
            option_name(name) if part is True else f"{option_name(name)}={part}" for part in parts
        ]
    parser = ArgumentParser("tool", "")
    add_compile_arguments(parser)
    assert given_compile_arguments(parser.parse_args(arguments)) == values
    assert given_compile_arguments(parser.parse_args([])) == {}
    made = CompileOptions.make(**values)
    assert made.pipeline_collectives == ("all:off", "all-gather:on")
    assert made.as_json()["iree_flags"] == ["--a=b", "-c"]
