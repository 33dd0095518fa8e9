"""Targets: their names, and what iree-compile has to be told for each."""

from __future__ import annotations

from dataclasses import dataclass

from ..passes.targets.fp8_support import CPU_WITH_BF16, TARGET_NAMES, unknown_target
from .iree.cpu_features import multiplies_bf16

_COMMON = (
    # quirks.F64_DEMOTED
    "--iree-input-demote-f64-to-f32=false",
)


@dataclass(frozen=True)
class Target:
    """What a program is compiled for.

    ``device`` is IREE's name of the HAL device, ``backend`` the code
    generator where a device has several, ``architecture`` the chip's flag.
    """

    name: str
    device: str
    architecture: tuple[str, ...] = ()
    backend: str | None = None

    @property
    def is_cpu(self) -> bool:
        return self.backend == "llvm-cpu"

    @property
    def default_collectives(self) -> str:
        """``devices`` (all in one program) where that can run at once, else ``channel``."""
        return "devices" if self.device == "local" else "channel"

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
        return (*found, *self.architecture, *_COMMON)

    def pass_target(self, cpu: str = "host") -> str:
        """The name of the target for passes, which may depend on ``cpu``."""
        return CPU_WITH_BF16 if self.is_cpu and multiplies_bf16(cpu) else self.name

    def cpu_flags(self, cpu: str) -> list[str]:
        """The flag that names the CPU, for target cpu only."""
        return [f"--iree-llvmcpu-target-cpu={cpu}"] if self.is_cpu else []


def _cuda(name: str, chip: str) -> Target:
    return Target(name, "cuda", (f"--iree-cuda-target={chip}",))


def _hip(name: str) -> Target:
    return Target(name, "hip", (f"--iree-rocm-target={name}",))


def _vulkan(chip: str) -> Target:
    # quirks.BF16_MATMUL_ON_VULKAN has no workaround.
    return Target(f"vulkan-{chip}", "vulkan", (f"--iree-vulkan-target={chip}",))


_TARGETS = {
    t.name: t
    for t in (
        Target("cpu", "local", (), "llvm-cpu"),
        _hip("gfx942"),
        _hip("gfx950"),
        _hip("gfx1201"),
        _cuda("sm_80", "sm_80"),
        _cuda("sm_86", "sm_86"),
        _cuda("sm_89", "sm_89"),
        # quirks.NO_SM_90; its driver runs sm_89's PTX.
        _cuda("sm_90", "sm_89"),
        _cuda("sm_120", "sm_120"),
        Target("vmvx", "local", (), "vmvx"),
        _vulkan("rdna3"),
        _vulkan("ampere"),
    )
}


def find_target(name: str) -> Target:
    """The target of that name; HeadraceError that lists the known ones."""
    if name not in _TARGETS:
        raise unknown_target(name)
    return _TARGETS[name]


def target_names() -> tuple[str, ...]:
    """All targets, cpu first."""
    return TARGET_NAMES
