"""Each quirk has a canary and a workaround that names it; each name is a quirk's."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from headrace.dialects.iree.quirks import SEEN_IN, all_quirks

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "docs"))
from generate import PRODUCT, quirk_references  # noqa: E402


def test_each_quirk_has_a_canary() -> None:
    tests = "\n".join(path.read_text() for path in HERE.glob("test_*.py"))
    canaries = re.findall(r"^@canary\n(?:@.*\n)*def test_(\w+)", tests, re.MULTILINE)
    assert sorted(name.upper() for name in canaries) == sorted(all_quirks())


def test_each_quirk_is_named_where_it_is_worked_around() -> None:
    assert sorted(quirk_references()) == sorted(all_quirks())


def test_the_version_stands_in_one_place() -> None:
    """Where it was seen, not what it is seen in: figures in docstrings are of it too."""
    version = re.compile(rf"\b{re.escape(SEEN_IN)}\b")
    paths = [path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py")]
    found = [path.name for path in paths if version.search(path.read_text())]
    assert found == ["quirks.py"]
