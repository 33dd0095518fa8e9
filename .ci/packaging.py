"""Builds sdist and wheel from a folder with another name, and uses both.

The folder is called headrace-main, as a downloaded archive unpacks: nothing
may depend on the checkout's name. The wheel is built from the sdist.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOP_LEVEL = {"headrace"}


def run(*command: str | Path, **options: object) -> str:
    return subprocess.run(
        [str(c) for c in command], check=True, text=True, stdout=subprocess.PIPE, **options
    ).stdout  # type: ignore[call-overload]


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        source = work / "headrace-main"
        files = run("git", "ls-files", "-z", cwd=ROOT).split("\0")
        for name in filter(None, files):
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
        run(sys.executable, "-m", "build", "--outdir", work / "dist", source)
        (sdist,) = (work / "dist").glob("*.tar.gz")
        (wheel,) = (work / "dist").glob("*.whl")
        check_sdist(sdist)
        check_wheel(wheel)
        check_install(wheel, work / "site")
        print(f"packaging: {sdist.name} and {wheel.name} are good")


def check_sdist(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}
    for needed in ("lit.cfg.py", "tests/dialects/verifier.mlir", "docs/generate.py", "LICENSE"):
        assert needed in names, f"{needed} is missing in the sdist"


def check_wheel(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {n.split("/")[0] for n in names if ".dist-info/" not in n}
    assert tops == TOP_LEVEL, f"the wheel installs {sorted(tops)}"
    for unwanted in ("lit.cfg.py", "tests/", "benchmarks/"):
        assert not any(unwanted in n for n in names), f"{unwanted} is in the wheel"
    assert "headrace/py.typed" in names


def check_install(wheel: Path, site: Path) -> None:
    """Uses the installed copy, not the editable one, through every package."""
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    code = (
        "import headrace, headrace.jax, headrace.passes.registry as r;"
        "[r.pass_class(n) for n in r.pass_names()]; print(headrace.__file__)"
    )
    where = run(sys.executable, "-c", code, env=environment, cwd=site).strip()
    assert where.startswith(str(site)), where
    run(sys.executable, "-m", "headrace.tools.headrace_opt", "--version", env=environment, cwd=site)


if __name__ == "__main__":
    main()
