"""docs/limits.md names errors that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import headrace
import pytest

ROOT = Path(headrace.__file__).parent
_GAP = "\N{HORIZONTAL ELLIPSIS}"


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """All strings of the sources, with gaps where values are put in."""
    found: list[str] = []
    for folder in ("compiler", "dialects", "passes", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.JoinedStr):
                    parts = [v.value if isinstance(v, ast.Constant) else _GAP for v in node.values]
                    found.append("".join(map(str, parts)))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value.replace("{}", _GAP))
    return found


def _listed() -> list[str]:
    text = (Path(__file__).parents[3] / "docs" / "limits.md").read_text()
    # The tables of two columns: what, and the error.
    rows = re.findall(r"^\|[^|]*\| ([^|]*) \|$", text, re.MULTILINE)
    return [
        error
        for row in rows
        if row not in ("error", "---")
        for error in re.findall("`([^`]*)`", row)
    ]


def test_there_are_errors_of_each_kind() -> None:
    assert len(_listed()) > 25


@pytest.mark.parametrize("error", _listed())
def test_the_error_is_in_the_sources(error: str, texts: list[str]) -> None:
    assert any(error in text for text in texts)
