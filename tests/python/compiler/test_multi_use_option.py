"""``--experimental-multi-use-encoding-fusion``: what turns it on, and what does not."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import headrace
import pytest
from dispatch_programs import without_panels
from headrace.compiler.options import CompileOptions, option_name
from headrace.dialects import ir
from headrace.tools.headrace_compile import main

CASE = without_panels("a2_multiuse_nocollapse")
NAME = "experimental_multi_use_encoding_fusion"
# For each other option values that differ from its default and compile the case.
OTHERS: dict[str, list[Any]] = {
    "target": ["cpu"],
    "cpu": ["znver4"],
    "collectives": ["channel", "devices"],
    "devices": [1, 2],
    "function": ["main"],
    "opt_level": ["O0", "O1", "O2", "O3"],
    "pipeline_collectives": ["all:explicit"],
    "pipeline_order": ["before-matmul"],
    "pipeline_budget": [0],
    "emit": ["mlir"],
    "report": [True],
    "dump_ir": ["ir"],
    "iree_flags": ["--iree-opt-level=O3", "--iree-opt-data-tiling"],
}


def stores_twice(module: ir.Operation) -> bool:
    """Whether a dispatch region stores a value plain and packed."""
    return any(op.name == "flow.dispatch.region" and len(op.results) > 1 for op in ir.walk(module))


def test_every_other_option_is_tried() -> None:
    assert set(OTHERS) | {NAME} == {f.name for f in dataclasses.fields(CompileOptions)}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in OTHERS.items() for value in values]
)
def test_no_other_option_turns_it_on(
    name: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"emit": "mlir", name: value}
    assert not stores_twice(headrace.compile(CASE, **options).module)
    assert stores_twice(headrace.compile(CASE, **options, **{NAME: True}).module)


def test_it_is_off_by_default() -> None:
    assert CompileOptions() == CompileOptions.make(**{NAME: False})
    result = headrace.compile(CASE, emit="mlir")
    assert not stores_twice(result.module)
    options: Any = result.report["options"]
    assert options[NAME] is False


def test_it_takes_nothing_but_true_and_false() -> None:
    with pytest.raises(ir.HeadraceError, match="takes True or False, got 'yes'"):
        headrace.compile(CASE, **{NAME: "yes"})


@pytest.mark.parametrize("tool", ["headrace_compile", "headrace_run"])
def test_help_says_what_it_is_for(tool: str) -> None:
    code = f"from headrace.tools.{tool} import main; main(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    words = " ".join(done.stdout.split())
    said = words.partition(f"{option_name(NAME)} let")[2].partition(" --iree-flag")[0]
    assert "for testing" in said
    assert "may go away" in said


def test_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "out.mlir"
    case = tmp_path / "case.mlir"
    case.write_text(CASE)
    arguments = [str(case), "--emit=mlir", "-o", str(path)]
    assert main([*arguments, "--opt-level=O3"]) == 0
    plain = path.read_text()
    assert main([*arguments, option_name(NAME)]) == 0
    assert path.read_text() != plain
