"""The tools, called as functions, do their work in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture(autouse=True)
def _unsupervised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork of a process with JAX's threads may lock itself out; how the tools
    supervise their work is tested where they run as programs (tests/python/tools)."""

    def work(body: Callable[[], int], crashed: object) -> int:
        return body()

    monkeypatch.setattr("headrace.tools.command_line.supervise", work)
