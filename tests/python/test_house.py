"""The plan of the house: which floor may import which, and what stands where."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from headrace.passes import registry

ROOT = Path(__file__).parents[2]
# From the top floor down.
FLOORS = ("tools", "compiler", "passes", "dialects")
FILES = sorted(f for floor in FLOORS for f in (ROOT / floor).rglob("*.py"))
MOST_FILES = 15


def _imported(file: Path) -> Iterator[str]:
    """The modules that a file names in imports, from the root: ``passes.base``."""
    package = list(file.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            yield ".".join([*base, *([node.module] if node.module else [])])
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("floor", FLOORS)
def test_imports_only_go_down(floor: str) -> None:
    above = FLOORS[: FLOORS.index(floor)]
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in FILES
        if file.is_relative_to(ROOT / floor)
        for name in _imported(file)
        if name.removeprefix("headrace.").partition(".")[0] in above
    ]
    assert not wrong


def test_the_bindings_have_one_door() -> None:
    users = {
        str(file.relative_to(ROOT).parent)
        for file in FILES
        for name in _imported(file)
        if name.startswith("iree.compiler")
    }
    assert users == {"dialects/ir"}


def test_no_folder_is_crowded() -> None:
    folders = Counter(
        file.parent.relative_to(ROOT)
        for top in (*FLOORS, "tests", "docs", "examples", "benchmarks", ".ci")
        for file in (ROOT / top).rglob("*.py")
    )
    assert {str(folder): n for folder, n in folders.items() if n > MOST_FILES} == {}


def test_only_passes_stand_at_the_top_of_a_stage() -> None:
    stages = {file.parent for file in FILES if file.name == "__init__.py"}
    for stage in sorted(s for s in stages if s.parent == ROOT / "passes"):
        if stage.name in ("analysis", "targets"):
            continue
        found = {file.stem.replace("_", "-") for file in stage.glob("*.py")} - {"--init--"}
        assert found <= set(registry.pass_names()), f"in {stage.name} stands what is no pass"
