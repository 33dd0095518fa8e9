"""Shared fixtures and the --full switch."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the large grids whole")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: part of a large grid, run by `make test-full`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    skip = pytest.mark.skip(reason="large grid: run by `make test-full`")
    for item in items:
        if "full" in item.keywords:
            item.add_marker(skip)
