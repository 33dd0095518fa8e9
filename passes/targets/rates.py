"""Peak rates of a chip of each target, for estimates."""

from __future__ import annotations

from dataclasses import dataclass

from .fp8_support import fp8_support


@dataclass(frozen=True)
class Rates:
    """Dense matmul rates in flop/s by operand type, and what a device receives in byte/s.

    Vendors' peak figures, accumulation in f32. ``link`` is one direction, all
    links of a device in one machine together; PCIe where there are no others.
    ``fp8`` None: operands are decoded.
    """

    chip: str
    fp8: float | None
    half: float
    single: float
    link: float

    def flops(self, target: str, width: int) -> float:
        """The rate for operands of so many bits."""
        if width >= 32:
            return self.single
        if width > 8:
            return self.half
        if self.fp8 is not None:
            return self.fp8
        return self.single if fp8_support(target).is_cpu else self.half


_T, _G = 1e12, 1e9

_RATES = {
    # No measurement: a desktop with a memory bus of some 20 GB/s per device.
    "cpu": Rates("a CPU with 1 Tflop/s", None, 1 * _T, 1 * _T, 20 * _G),
    "vmvx": Rates("an interpreter with 10 Gflop/s", None, 0.01 * _T, 0.01 * _T, 20 * _G),
    "gfx942": Rates("MI300X", 2615 * _T, 1307 * _T, 163 * _T, 448 * _G),
    "gfx950": Rates("MI355X", 5033 * _T, 2517 * _T, 157 * _T, 538 * _G),
    "gfx1201": Rates("RX 9070 XT", 389 * _T, 195 * _T, 49 * _T, 64 * _G),
    "sm_80": Rates("A100 SXM", None, 312 * _T, 19.5 * _T, 300 * _G),
    "sm_86": Rates("A10", None, 125 * _T, 31 * _T, 32 * _G),
    "sm_89": Rates("L40S", 733 * _T, 362 * _T, 92 * _T, 32 * _G),
    "sm_90": Rates("H100 SXM", 1979 * _T, 989 * _T, 67 * _T, 450 * _G),
    "sm_120": Rates("RTX 5090", 419 * _T, 210 * _T, 105 * _T, 64 * _G),
    "vulkan-rdna3": Rates("RX 7900 XTX", None, 123 * _T, 61 * _T, 32 * _G),
    "vulkan-ampere": Rates("RTX 3090", None, 71 * _T, 36 * _T, 32 * _G),
}


def rates_of(target: str) -> Rates:
    """The rates of a target by its full name."""
    return _RATES[target]
