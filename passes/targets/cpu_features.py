"""What the CPU that a program is compiled for can do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, kw_only=True)
class CpuFeature:
    """Instructions that some CPUs have.

    ``name``: as in a pass's option, ``target=cpu+bf16``. ``flag``: Linux's name
    of them. ``cpus``: those of LLVM's CPUs that have them.
    """

    name: str
    flag: str
    cpus: frozenset[str]

    def is_of(self, cpu: str) -> bool:
        """Whether a CPU, named as for ``--cpu``, has them.

        A host that does not say what it can do counts as one without.
        """
        return self.flag in _host_flags() if cpu == "host" else cpu in self.cpus


@cache
def _host_flags() -> frozenset[str]:
    try:
        text = _CPU_INFO.read_text()
    except OSError:
        return frozenset()
    return frozenset(
        next((line for line in text.splitlines() if line.startswith("flags")), "").split()
    )
