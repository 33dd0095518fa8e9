"""The CPUs that tests compile for and run on.

What a program computes may depend on the CPU that it is compiled for: vectors
have other lengths, instructions come and go, and IREE's and headrace's choices
with them. A test marked ``each_cpu`` runs for each of ``CPUS``, named in its
id: with ``--full`` for all, else for one that a hash of its name picks (see
conftest.py).
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from headrace.passes.targets.target import Target

_V3 = frozenset(["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"])
# Of a CPU that has longer vectors than x86-64-v3.
_BEYOND_V3 = "avx512f"


def _runnable() -> tuple[str, ...]:
    """``host``, and those whose instructions are a part of the host's, but not the same part."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ("host", "generic")
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ("host", "generic")
    flags = set(next((line for line in lines if line.startswith("flags")), "").split())
    return ("host", *(["x86-64-v3"] if {*_V3, _BEYOND_V3} <= flags else []), "generic")


CPUS = _runnable()


class _Current:
    """The CPU of the running test, and whether anything was compiled for it."""

    cpu = "host"
    used = False


def current() -> str:
    """What ``host`` stands for in the running test, named as for ``--cpu``."""
    return _Current.cpu


def was_used() -> bool:
    """Whether the running test, or one before it in its module, compiled for its CPU."""
    return _Current.used


@contextmanager
def compiling_for(cpu: str) -> Iterator[None]:
    """All programs for the host's CPU are for ``cpu`` meanwhile."""
    flags, pass_target = Target.cpu_flags, Target.pass_target

    def named(name: str) -> str:
        _Current.used |= name in ("host", cpu)
        return cpu if name == "host" else name

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Current, "cpu", cpu)
        patch.setattr(_Current, "used", False)
        patch.setattr(Target, "cpu_flags", lambda t, name: flags(t, named(name)))
        patch.setattr(Target, "pass_target", lambda t, name="host": pass_target(t, named(name)))
        yield


def cache(function: Callable[..., Any]) -> Callable[..., Any]:
    """``functools.cache`` for what depends on the CPU of the running test."""
    kept = functools.cache(lambda _, *arguments, **named: function(*arguments, **named))

    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        _Current.used = True
        return kept(current(), *arguments, **named)

    return wrapper
