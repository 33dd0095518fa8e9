"""GPUs through Vulkan."""

from __future__ import annotations

from dataclasses import replace

from ...dialects.fp8 import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ
from .fp8_support import DECODED, pairs
from .packing import NO_PACKING
from .target import Rates, Target
from .tiling import Tiling


def _vulkan(chip: str, rates: Rates) -> Target:
    name = f"vulkan-{chip}"
    return Target(
        name=name,
        device="vulkan",
        backend=None,
        chip_flags=(f"--iree-vulkan-target={chip}",),
        collectives="channel",
        # IREE decodes in the kernel; with our own decoding in front it fails.
        fp8=replace(DECODED, matmuls=pairs((E4M3FN, E5M2, E4M3FNUZ, E5M2FNUZ))),
        tiling=Tiling.none(f"the encoding resolver of '{name}' is the identity"),
        packing=NO_PACKING,
        panels=(),
        # quirks.ATTENTION_ON_VULKAN; nor is there a workaround for quirks.BF16_MATMUL_ON_VULKAN.
        own_attention="never",
        rounds_f16=True,
        rates=rates,
        variants={},
    )


TARGETS = (
    _vulkan("rdna3", Rates(chip="RX 7900 XTX", fp8=None, half=123, single=61, link=32)),
    _vulkan("ampere", Rates(chip="RTX 3090", fp8=None, half=71, single=36, link=32)),
)
