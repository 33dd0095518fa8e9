"""The keys of the report: fields of dataclasses, whose annotations say what they mean.

A field without a meaning is a part: its own keys stand in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, get_type_hints


def meanings(kind: Any) -> Iterator[tuple[str, str]]:
    """All keys in their order, with what they mean."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if hasattr(hint, "__metadata__"):
            yield name, hint.__metadata__[0]
        else:
            yield from meanings(hint)


def as_json(report: Any) -> dict[str, object]:
    """What ``json.dumps`` writes of a report."""
    keys = [name for name, _ in meanings(type(report))]
    found: dict[str, object] = {}
    for name, value in asdict(report).items():
        found |= {name: value} if name in keys else value
    return found
