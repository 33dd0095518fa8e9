"""The kinds of CPUs that programs are compiled for, and which of them the host can run."""

from __future__ import annotations

from functools import cache
from pathlib import Path

# What /proc/cpuinfo has to name for a program for that CPU to run.
_FLAGS = {
    "host": (),
    "skylake-avx512": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    "x86-64-v3": ("avx2", "bmi2", "f16c", "fma", "movbe"),
    "znver3": ("avx2", "bmi2", "f16c", "fma", "sha_ni", "vaes", "vpclmulqdq", "clzero"),
    "x86-64-v2": ("sse4_2", "popcnt"),
    "generic": (),
}
CPUS = tuple(_FLAGS)


@cache
def _host_flags() -> frozenset[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    flags = next((line for line in lines if line.startswith("flags")), "")
    return frozenset(flags.partition(":")[2].split())


def runs_here(cpu: str) -> bool:
    """Whether the host has all that a program compiled for ``cpu`` uses."""
    return all(flag in _host_flags() for flag in _FLAGS[cpu])


def has_f16c(cpu: str) -> bool:
    """Whether a CPU converts f16; IREE's function for the others makes subnormals zero."""
    return "f16c" in _host_flags() if cpu == "host" else cpu not in ("x86-64-v2", "generic")
