"""AMD's GPUs, through ROCm: CDNA (Instinct) and RDNA (Radeon)."""

from __future__ import annotations

from dataclasses import replace

from ...dialects.fp8 import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, Fp8Format
from .fp8_support import DECODED, pairs
from .packing import NO_PACKING, Packing, Types
from .target import Rates, Target
from .tiling import BF16_PRODUCT, F32_PRODUCT, I8_PRODUCT, Tiling

_OCP = (E4M3FN, E5M2)
_FNUZ = (E4M3FNUZ, E5M2FNUZ)
# The instructions take operands of two types, IREE only those of one.
_SCALED = tuple((t, t, "f8E8M0FNU", "f8E8M0FNU", "f32") for t in ("f4E2M1FN", "f8E4M3FN", "f8E5M2"))


def _rocm(
    name: str, fp8: tuple[Fp8Format, ...], tiling: Tiling, packing: Packing, rates: Rates
) -> Target:
    return Target(
        name=name,
        device="hip",
        backend=None,
        chip_flags=(f"--iree-rocm-target={name}",),
        collectives="channel",
        # Two different types that miss a matrix instruction end in an error.
        fp8=replace(DECODED, converted=fp8, matmuls=pairs(fp8), mixed_multiples=(16, 16, 32)),
        tiling=tiling,
        packing=packing,
        panels=(),
        # Where a length is dynamic it takes minutes to compile, if it does (heads of 16
        # in f16: 116 s for CDNA 3, 405 s for RDNA 4, 10 s for CUDA).
        own_attention="static",
        rounds_f16=True,
        rates=rates,
        variants={},
    )


def _cdna(name: str, fp8: tuple[Fp8Format, ...], scaled: tuple[Types, ...], rates: Rates) -> Target:
    """With MFMA instructions for these types.

    No such device was at hand to measure on: an element read and written at 4
    TB/s costs 1e-12 s, a multiply-add at 300 per ns 3e-15 s, and tiling saves a
    fifth of those (IREE issue 21195: 243 ms to 242 with twice the memory, 353
    to 242 with kernels for tiles).
    """
    multiplied = (
        *(F32_PRODUCT, ("f16", "f16", "f32"), BF16_PRODUCT, I8_PRODUCT),
        *((a.name, b.name, "f32") for a, b in pairs(fp8)),
        *scaled,
    )
    tiling = Tiling(
        types=multiplied,
        reason="",
        worth=1500,
        worth_unaligned=1500,
        worth_bf16=None,
        vector=1,
        narrowest=16,
        widest=None,
        panel=None,
        read_beside=None,
        stores_unpacked=True,
    )
    tiled = frozenset((*multiplied, ("f64", "f64", "f64")))
    packing = replace(NO_PACKING, packings=3, has_tiles=tiled.__contains__)
    return _rocm(name, fp8, tiling, packing, rates)


def _rdna(name: str, fp8: tuple[Fp8Format, ...], rates: Rates) -> Target:
    # quirks.RDNA_ENCODINGS
    tiling = Tiling.none("IREE fails to compile encoded matmuls for RDNA")
    return _rocm(name, fp8, tiling, NO_PACKING, rates)


TARGETS = (
    _cdna("gfx942", _FNUZ, (), Rates(chip="MI300X", fp8=2615, half=1307, single=163, link=448)),
    _cdna("gfx950", _OCP, _SCALED, Rates(chip="MI355X", fp8=5033, half=2517, single=157, link=538)),
    _rdna("gfx1201", _OCP, Rates(chip="RX 9070 XT", fp8=389, half=195, single=49, link=64)),
)
