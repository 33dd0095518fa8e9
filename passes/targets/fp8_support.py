"""What a target's code generator can do with fp8 types."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.fp8 import Fp8Format


@dataclass(frozen=True, kw_only=True)
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
    ``half_floats``: whether bf16 and f16 arithmetic compiles (quirks.VMVX_HALF_FLOATS).
    ``multiplies_in_f32``: whether operands in f32 are the fast ones, and f16 a detour.
    ``multiplies_bf16``: whether products of bf16 summed in f32 are faster still.
    """

    converted: tuple[Fp8Format, ...]
    matmuls: tuple[tuple[Fp8Format, Fp8Format], ...]
    smallest_matmul: int
    mixed_multiples: tuple[int, int, int]
    half_floats: bool
    multiplies_in_f32: bool
    multiplies_bf16: bool

    @property
    def rounds_operands(self) -> bool:
        """Whether operands are decoded to f32 and may be rounded to bf16 or f16."""
        return self.multiplies_in_f32 and self.half_floats


# All are decoded by integers, and multiplied in f16 or wider.
DECODED = Fp8Support(
    converted=(),
    matmuls=(),
    smallest_matmul=0,
    mixed_multiples=(1, 1, 1),
    half_floats=True,
    multiplies_in_f32=False,
    multiplies_bf16=False,
)


def pairs(formats: tuple[Fp8Format, ...]) -> tuple[tuple[Fp8Format, Fp8Format], ...]:
    """All pairs of these, for ``matmuls``."""
    return tuple((a, b) for a in formats for b in formats)
