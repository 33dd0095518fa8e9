"""The --full switch: without it, what only large grids run is not selected."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the large grids whole")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: part of a large grid, run by `make test-full`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    left_out = [item for item in items if "full" in item.keywords]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if "full" not in item.keywords]
