"""Programs that a script with JAX of its own writes: text, inputs and JAX's results of each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from headrace.compiler.iree.element_types import Array

_HERE = Path(__file__).parent


def written(script: str, names: Sequence[str], factory: pytest.TempPathFactory) -> Path:
    """The folder that ``script`` writes; one process of a run of the tests runs it, others wait."""
    folder = run_folder(factory) / script
    done = folder / "done"
    try:
        folder.mkdir()
    except FileExistsError:
        while not done.exists():
            time.sleep(0.2)
    else:
        try:
            (path,) = _HERE.rglob(f"{script}.py")
            subprocess.run([sys.executable, path, folder, *names], check=True)
        finally:
            done.touch()
    return folder


def run_folder(factory: pytest.TempPathFactory) -> Path:
    """That of all processes of this run of the tests."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def arrays(folder: Path, name: str) -> tuple[list[Array], list[Array]]:
    """The inputs of a program, and JAX's results."""
    inputs, results = (np.load(folder / f"{name}.{kind}.npz").values() for kind in ("in", "out"))
    return list(inputs), list(results)


def together(folder: Path) -> str:
    """The programs as functions of one module, named as they are."""
    head, functions = "", list[str]()
    for path in sorted(folder.glob("*.mlir")):
        head, _, body = path.read_text().rstrip().removesuffix("}").partition("{\n")
        for symbol in re.findall(r"(?:func\.func \w+|sdy\.mesh) @(\w+)", body):
            own = path.stem if symbol == "main" else f"{path.stem}.{symbol}"
            body = re.sub(rf"@{symbol}\b", f"@{own}", body)
        functions.append(body)
    return "\n".join([f"{head}{{", *functions, "}"])
