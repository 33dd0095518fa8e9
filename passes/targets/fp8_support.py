"""What IREE's backend for each target can do with fp8 types.

Facts found by compiling for each target; the flags for these targets are in
``compiler.targets``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.fp8 import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, Fp8Format

# Target cpu, compiled for one with bf16 instructions; a name of passes alone.
CPU_WITH_BF16 = "cpu-bf16"
_OCP = (E4M3FN, E5M2)
_FNUZ = (E4M3FNUZ, E5M2FNUZ)


@dataclass(frozen=True)
class Fp8Support:
    """One target's fp8 abilities.

    Every target moves fp8 values of all four formats about; only arithmetic
    on them needs help.

    ``converted``: formats whose ``arith.extf`` and ``arith.truncf`` compile
    (quirks.FP8_CONVERTS_ON_CUDA).
    ``matmuls``: pairs that a contraction may have as operand types.
    ``smallest_matmul``: rows and columns a matmul needs for that, sizes known.
    ``mixed_multiples``: what rows, columns and depth must be multiples of,
    sizes known, where the two operand types differ.
    ``half_floats``: whether bf16 and f16 arithmetic compiles
    (quirks.VMVX_HALF_FLOATS).
    ``multiplies_bf16``: whether a CPU has instructions for bf16 products
    summed in f32.
    """

    name: str
    converted: tuple[Fp8Format, ...] = ()
    matmuls: tuple[tuple[Fp8Format, Fp8Format], ...] = ()
    smallest_matmul: int = 0
    mixed_multiples: tuple[int, int, int] = (1, 1, 1)
    half_floats: bool = True
    multiplies_bf16: bool = False

    @property
    def rounds_operands(self) -> bool:
        """Whether operands are decoded to f32 and may be rounded to bf16 or f16."""
        return self.is_cpu and self.half_floats

    @property
    def is_cpu(self) -> bool:
        """Whether operands in f32 are the fast ones, and f16 a detour."""
        return self.name in ("cpu", CPU_WITH_BF16, "vmvx")


def _pairs(formats: tuple[Fp8Format, ...]) -> tuple[tuple[Fp8Format, Fp8Format], ...]:
    return tuple((a, b) for a in formats for b in formats)


_SAME_OCP = tuple((f, f) for f in _OCP)

_SUPPORT = {
    s.name: s
    for s in (
        Fp8Support("cpu"),
        # Two different types that miss a matrix instruction end in an error.
        Fp8Support("gfx942", _FNUZ, _pairs(_FNUZ), mixed_multiples=(16, 16, 32)),
        Fp8Support("gfx950", _OCP, _pairs(_OCP), mixed_multiples=(16, 16, 32)),
        Fp8Support("gfx1201", _OCP, _pairs(_OCP), mixed_multiples=(16, 16, 32)),
        Fp8Support("sm_80"),
        Fp8Support("sm_86"),
        # Smaller or dynamic ones miss mma.sync and end in scalar fp8 converts.
        Fp8Support("sm_89", (), _SAME_OCP, smallest_matmul=8),
        Fp8Support("sm_90", (), _SAME_OCP, smallest_matmul=8),
        Fp8Support("sm_120", (), _SAME_OCP, smallest_matmul=8),
        Fp8Support("vmvx", half_floats=False),
        # IREE decodes in the kernel; with our own decoding in front it fails.
        Fp8Support("vulkan-rdna3", (), _pairs((*_OCP, *_FNUZ))),
        Fp8Support("vulkan-ampere", (), _pairs((*_OCP, *_FNUZ))),
    )
}

TARGET_NAMES = tuple(_SUPPORT)
_VARIANTS = {CPU_WITH_BF16: Fp8Support(CPU_WITH_BF16, multiplies_bf16=True)}


def fp8_support(target: str) -> Fp8Support:
    """The abilities of a target; HeadraceError with the known names if unknown."""
    if target in _VARIANTS:
        return _VARIANTS[target]
    if target not in _SUPPORT:
        raise unknown_target(target)
    return _SUPPORT[target]


def unknown_target(name: str) -> ir.HeadraceError:
    """The error for a name that is no target's."""
    return ir.HeadraceError(f"unknown target '{name}'; known are {', '.join(_SUPPORT)}")
