"""What a target is: all that headrace knows of one, in one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .cpu_features import CpuFeature
from .fp8_support import Fp8Support
from .packing import Packing
from .tiling import Tiling

_COMMON = (
    # quirks.F64_DEMOTED
    "--iree-input-demote-f64-to-f32=false",
)


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Peak rates of a chip, for estimates: dense matmuls in Tflop/s by operand
    type, and what a device receives in GB/s.

    Vendors' figures, accumulation in f32. ``link`` is one direction, all
    links of a device in one machine together; PCIe where there are no others.
    ``fp8`` None: operands are decoded, and run at the rate of ``half``.
    """

    chip: str
    fp8: float | None
    half: float
    single: float
    link: float

    def flops(self, width: int) -> float:
        """Flop/s for operands of so many bits."""
        if width >= 32:
            return self.single * 1e12
        return (self.half if width > 8 or self.fp8 is None else self.fp8) * 1e12

    @property
    def received_bytes(self) -> float:
        """Byte/s."""
        return self.link * 1e9


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a program is compiled for.

    ``device`` is IREE's name of the HAL device, ``backend`` the code generator
    where a device has several, ``chip_flags`` what tells iree-compile the chip.
    ``collectives``: the form of collectives where none is asked for, ``devices``
    (all in one program) where that can run at once. ``panels``: the columns of
    a panel that ``pack-panels`` packs a weight in, the best first.
    ``own_attention``: whether IREE's attention op is right, and faster than its
    parts: never, where all lengths are static, or always.
    ``rounds_f16``: whether its converts from f32 to f16 are right
    (quirks.F16_SUBNORMALS_FLUSHED).
    ``variants``: the same target for CPUs of which a feature holds, the best first.
    """

    name: str
    device: str
    backend: str | None
    chip_flags: tuple[str, ...]
    collectives: Literal["devices", "channel"]
    fp8: Fp8Support
    tiling: Tiling
    packing: Packing
    panels: tuple[int, ...]
    own_attention: Literal["never", "static", "always"]
    rounds_f16: bool
    rates: Rates
    variants: Mapping[CpuFeature, Target]

    @property
    def is_cpu(self) -> bool:
        return self.backend == "llvm-cpu"

    @property
    def runs_here(self) -> bool:
        """Whether its programs run on the host's CPU."""
        return self.device == "local"

    def flags(self, collectives: str, devices: int, cpu: str = "host") -> tuple[str, ...]:
        """Flags of iree-compile for a program in that collectives form.

        ``devices`` is how many devices the program names in ``devices`` form;
        ``cpu`` is used by target cpu only.
        """
        names = [self.device]
        if collectives == "devices":
            names = [f"dev{i}={self.device}[{i}]" for i in range(devices)]
        found = [f"--iree-hal-target-device={name}" for name in names]
        if self.backend is not None:
            found.append(f"--iree-hal-local-target-device-backends={self.backend}")
        found += self.cpu_flags(cpu)
        if collectives == "devices":
            # quirks.CONST_EVAL_OF_NAMED_DEVICE
            found.append("--iree-opt-const-eval=false")
        return (*found, *self.chip_flags, *_COMMON)

    def cpu_flags(self, cpu: str) -> list[str]:
        """The flag that names the CPU, for target cpu only."""
        return [f"--iree-llvmcpu-target-cpu={cpu}"] if self.is_cpu else []

    def pass_target(self, cpu: str = "host") -> str:
        """What passes' option ``target`` is for programs for ``cpu``: ``cpu+bf16``, say."""
        found = (f"{self.name}+{feature.name}" for feature in self.variants if feature.is_of(cpu))
        return next(found, self.name)
