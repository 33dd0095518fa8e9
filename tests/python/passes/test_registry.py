"""Which passes there are: built in, registered, from entry points."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from headrace.dialects import ir
from headrace.passes import registry
from headrace.passes.base import Pass


@dataclass(frozen=True)
class Nothing(Pass):
    """Does nothing."""

    name = "test-nothing"

    def run(self, module: ir.Operation) -> None: ...


def test_register_and_find() -> None:
    registry.register_pass(Nothing)
    assert registry.is_python_pass("test-nothing")
    assert registry.pass_class("test-nothing") is Nothing
    assert "test-nothing" in registry.pass_names()
    with pytest.raises(ir.HeadraceError, match="'test-nothing' is already registered"):
        registry.register_pass(Nothing)


def test_a_built_in_name_is_taken() -> None:
    with pytest.raises(ir.HeadraceError, match="'headrace-dce' is already registered"):
        registry.register_pass(type("Other", (Nothing,), {"name": "headrace-dce"}))


def test_a_name_is_needed() -> None:
    with pytest.raises(ir.HeadraceError, match="pass class Other has no name"):
        registry.register_pass(type("Other", (Nothing,), {"name": ""}))


def test_unknown_name() -> None:
    with pytest.raises(
        ir.HeadraceError, match="unknown pass 'headrace-dc'; did you mean 'headrace-"
    ):
        registry.pass_class("headrace-dc")


def test_every_built_in_pass_keeps_the_rules() -> None:
    for name in registry._BUILTIN:
        found = registry.pass_class(name)
        assert issubclass(found, Pass)
        assert found.name == name
        assert found.__module__.rpartition(".")[2] == name.replace("-", "_")
        assert found.summary(), f"{name} has no docstring"
        for option in found.describe_options():
            assert option.help, f"{name}: option {option.name} has no help text"


_PLUGIN = '''
from dataclasses import dataclass
from headrace.passes.base import Pass

@dataclass(frozen=True)
class Third(Pass):
    """Comes from a third party."""
    name = "third-party"
    def run(self, module):
        print("third party was here")

other = 3
'''


def _install(folder: Path, entries: str) -> None:
    """A distribution as pip would install it, in ``folder``."""
    (folder / "third_party.py").write_text(_PLUGIN)
    info = folder / "third_party-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: third-party\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[headrace.passes]\n{entries}\n")


def _opt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from headrace.tools.headrace_opt import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input="",
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(folder)},
        check=False,
    )


def test_third_party_pass_by_entry_point(tmp_path: Path) -> None:
    _install(tmp_path, "third-party = third_party:Third")
    done = _opt(tmp_path, "--third-party")
    assert done.stderr == ""
    assert done.stdout == "third party was here\nmodule {\n}\n"
    assert "Comes from a third party." in _opt(tmp_path, "--help-pass=third-party").stdout


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("headrace-dce = third_party:Third", "a pass named 'headrace-dce' is already registered"),
        ("x-pass = third_party:Third", "the entry point 'x-pass' holds a pass named 'third-party'"),
        (
            "x-pass = third_party:other",
            "'third_party:other' of the entry point 'x-pass' is no pass",
        ),
        ("x-pass = third_party:Nope", "cannot be loaded from 'third_party:Nope': AttributeError"),
        ("x-pass = nowhere:Third", "cannot be loaded from 'nowhere:Third': ModuleNotFoundError"),
    ],
)
def test_broken_entry_points(tmp_path: Path, entries: str, message: str) -> None:
    _install(tmp_path, entries)
    done = _opt(tmp_path, "--x-pass")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
