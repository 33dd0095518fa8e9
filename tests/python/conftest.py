"""The mark ``each_cpu``, for tests that run for several CPUs; quick compiling."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from zlib import crc32

import cpus
import pytest
from quick_compiling import compiling_quickly

_MARK = "each_cpu"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        'each_cpu(which="one", by=None): runs for each CPU; without --full for which="all" of '
        'them, else for one by its name, by the module and the parameter that "by" names, if any',
    )


def pytest_report_header() -> str:
    return f"CPUs that programs are compiled for and run: {', '.join(cpus.CPUS)}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if any(metafunc.definition.iter_markers(_MARK)):
        metafunc.parametrize("cpu", cpus.CPUS, indirect=True, scope="module")


@pytest.fixture(scope="session", autouse=True)
def _quickly(pytestconfig: pytest.Config) -> Iterator[None]:
    with nullcontext() if pytestconfig.getoption("--full") else compiling_quickly():
        yield


@pytest.fixture(scope="module", autouse=True)
def cpu(request: pytest.FixtureRequest) -> Iterator[str]:
    """The CPU that ``host`` stands for in a test marked ``each_cpu``."""
    name: str | None = getattr(request, "param", None)
    if name is None:
        yield "host"
        return
    with cpus.compiling_for(name):
        yield name
        assert cpus.was_used(), "nothing was compiled for the CPU that the tests' ids name"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    left_out = [item for item in items if not _is_chosen(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if _is_chosen(item)]


def _is_chosen(item: pytest.Item) -> bool:
    mark = item.get_closest_marker(_MARK)
    if mark is None or "all" in mark.args or not isinstance(item, pytest.Function):
        return True
    parameters, own = item.callspec.params, item.callspec.params["cpu"]
    by = mark.kwargs.get("by")
    if by is None:  # the ids of all others, which come after the CPU's
        assert item.callspec.id.startswith(own)
        key = [item.originalname, item.callspec.id.removeprefix(own)]
    else:
        key = [str(parameters[by])] if by else []
    name = " ".join([item.path.name, *key])
    return own == cpus.CPUS[crc32(name.encode()) % len(cpus.CPUS)]
