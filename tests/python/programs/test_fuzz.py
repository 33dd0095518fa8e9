"""Random SPMD programs: a seeded few here, 3,000 in `make test-full`."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("jax") is None:
    pytest.skip("JAX is not installed: pip install 'headrace[jax]'", allow_module_level=True)

ROOT = Path(__file__).parents[3]


def run(seed: int, count: int) -> None:
    """Programs of seeds from ``seed`` on, in processes of their own; none may fail."""
    command = [sys.executable, "-m", "tests.fuzz", f"--seed={seed}", f"--count={count}"]
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("seed", range(0, 60, 30))
def test_programs(seed: int) -> None:
    run(seed, 30)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 4000, 100))
def test_many_programs(seed: int) -> None:
    run(seed, 100)


def test_a_fault_is_found_and_made_small() -> None:
    """A planted one: see selftest."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.spmd.selftest"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
