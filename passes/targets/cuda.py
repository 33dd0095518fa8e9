"""NVIDIA's GPUs, through CUDA."""

from __future__ import annotations

from dataclasses import replace

from ...dialects.fp8 import E4M3FN, E5M2
from .fp8_support import DECODED, Fp8Support
from .packing import NO_PACKING
from .target import Rates, Target
from .tiling import Tiling

# mma.sync of equal types; smaller or dynamic products miss it and end in scalar fp8 converts.
_FP8 = replace(DECODED, matmuls=((E4M3FN, E4M3FN), (E5M2, E5M2)), smallest_matmul=8)


def _cuda(name: str, fp8: Fp8Support, rates: Rates, chip: str | None = None) -> Target:
    """``chip``: what IREE compiles for, if not for the target itself."""
    return Target(
        name=name,
        device="cuda",
        backend=None,
        chip_flags=(f"--iree-cuda-target={chip or name}",),
        collectives="channel",
        fp8=fp8,
        tiling=Tiling.none(f"the encoding resolver of '{name}' is the identity"),
        packing=NO_PACKING,
        panels=(),
        own_attention="always",
        rounds_f16=True,
        rates=rates,
        variants={},
    )


TARGETS = (
    _cuda("sm_80", DECODED, Rates(chip="A100 SXM", fp8=None, half=312, single=19.5, link=300)),
    _cuda("sm_86", DECODED, Rates(chip="A10", fp8=None, half=125, single=31, link=32)),
    _cuda("sm_89", _FP8, Rates(chip="L40S", fp8=733, half=362, single=92, link=32)),
    # quirks.NO_SM_90; its driver runs sm_89's PTX.
    _cuda("sm_90", _FP8, Rates(chip="H100 SXM", fp8=1979, half=989, single=67, link=450), "sm_89"),
    _cuda("sm_120", _FP8, Rates(chip="RTX 5090", fp8=419, half=210, single=105, link=64)),
)
