"""What the CPU that a program is compiled for can do."""

from __future__ import annotations

from functools import cache
from pathlib import Path

# Those of LLVM's x86-64 CPUs that have AVX512-BF16.
_WITH_BF16 = frozenset(
    (
        *("cooperlake", "sapphirerapids", "emeraldrapids"),
        *("graniterapids", "graniterapids-d"),
        *("znver4", "znver5"),
    )
)
_CPU_INFO = Path("/proc/cpuinfo")


def multiplies_bf16(cpu: str) -> bool:
    """Whether a CPU, named as for ``--cpu``, has AVX512-BF16: bf16 products summed in f32.

    IREE has tiles for it on x86-64; without it a packed bf16 matmul is 50
    times slower than one in f32. A host that does not say what it can do
    counts as one without.
    """
    return _host_has_bf16() if cpu == "host" else cpu in _WITH_BF16


@cache
def _host_has_bf16() -> bool:
    try:
        text = _CPU_INFO.read_text()
    except OSError:
        return False
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "")
    return "avx512_bf16" in flags.split()
