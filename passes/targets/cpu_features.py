"""What the CPU that a program is compiled for can do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, kw_only=True)
class CpuFeature:
    """Instructions that some CPUs have, or that some lack.

    ``name``: as in a pass's option, ``target=cpu+bf16``. ``flag``: Linux's name
    of them. ``lacked``: whether it is that they are not there. ``cpus``: those of
    LLVM's CPUs of which it holds.
    """

    name: str
    flag: str
    lacked: bool
    cpus: frozenset[str]

    def is_of(self, cpu: str) -> bool:
        """Whether it holds of a CPU, named as for ``--cpu``; not of a host that says nothing."""
        if cpu != "host":
            return cpu in self.cpus
        flags = _host_flags()
        return bool(flags) and (self.flag in flags) != self.lacked


@cache
def _host_flags() -> frozenset[str]:
    try:
        text = _CPU_INFO.read_text()
    except OSError:
        return frozenset()
    return frozenset(
        next((line for line in text.splitlines() if line.startswith("flags")), "").split()
    )
