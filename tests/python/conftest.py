"""The marks ``each_cpu`` and ``one_of``, by which quick runs take a part of a grid; quick compiling."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import cpus
import pytest
from jax_files import run_folder
from quick_compiling import compiling_quickly
from quick_running import running_quickly

_MARK = "each_cpu"
_ONE_OF = "one_of"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        'each_cpu(which="one", by=None): runs for each CPU; without --full for which="all" of '
        'them, else for one by its name, by the parameter that "by" names or, if "", the module',
    )
    config.addinivalue_line(
        "markers",
        "one_of(parameter): without --full runs for one value of that parameter with each "
        "combination of the others, which a hash of their ids picks",
    )


def pytest_report_header() -> str:
    return f"CPUs that programs are compiled for and run: {', '.join(cpus.CPUS)}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if any(metafunc.definition.iter_markers(_MARK)):
        metafunc.parametrize("cpu", cpus.CPUS, indirect=True, scope="module")


@pytest.fixture(scope="session", autouse=True)
def _quickly(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    if pytestconfig.getoption("--full"):
        yield
        return
    kept = run_folder(tmp_path_factory) / "compiled"
    kept.mkdir(exist_ok=True)
    with compiling_quickly(kept), running_quickly():
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
    represented = _represented(items)
    left_out = [item for item in items if item in represented or not _is_for_its_cpu(item)]
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


def _represented(items: list[pytest.Item]) -> set[pytest.Item]:
    """Of tests marked ``one_of`` those for which another runs, with another value."""
    grids: dict[str, list[pytest.Function]] = {}
    for item in items:
        mark = item.get_closest_marker(_ONE_OF)
        if mark is None or not isinstance(item, pytest.Function) or "full" in item.keywords:
            continue
        (parameter,) = mark.args
        others = {k: v for k, v in item.callspec.indices.items() if k != parameter}
        grids.setdefault(f"{item.path.name} {item.originalname} {others}", []).append(item)
    chosen = {grid[crc32(name.encode()) % len(grid)] for name, grid in grids.items()}
    return {item for grid in grids.values() for item in grid} - chosen


def _is_for_its_cpu(item: pytest.Item) -> bool:
    mark = item.get_closest_marker(_MARK)
    if mark is None or "all" in mark.args or not isinstance(item, pytest.Function):
        return True
    parameters, own = item.callspec.params, item.callspec.params["cpu"]
    by = mark.kwargs.get("by")
    if by is None:  # the ids of all others, which come after the CPU's
        assert item.callspec.id.startswith(own)
        name = f"{item.path.name} {item.originalname} {item.callspec.id.removeprefix(own)}"
    else:  # files that share what they compile name one parameter alike
        name = str(parameters[by]) if by else item.path.name
    return own == cpus.CPUS[crc32(name.encode()) % len(cpus.CPUS)]
