"""Targets that run on the host: CPUs through LLVM, and VMVX, IREE's interpreter."""

from __future__ import annotations

from dataclasses import replace

from .cpu_features import CpuFeature
from .fp8_support import DECODED
from .packing import NO_PACKING, Packing, Types
from .target import Rates, Target
from .tiling import BF16_PRODUCT, F32_PRODUCT, I8_PRODUCT, Tiling

# AVX512-BF16: bf16 products summed in f32. IREE has tiles for it on x86-64;
# without it a packed bf16 matmul is 50 times slower than one in f32.
BF16 = CpuFeature(
    name="bf16",
    flag="avx512_bf16",
    lacked=False,
    cpus=frozenset(
        (
            *("cooperlake", "sapphirerapids", "emeraldrapids"),
            *("graniterapids", "graniterapids-d"),
            *("znver4", "znver5"),
        )
    ),
)

# All of x86-64 that LLVM knows; others than x86-64 convert f16 without a feature.
NO_F16C = CpuFeature(
    name="no-f16c",
    flag="f16c",
    lacked=True,
    cpus=frozenset(
        (
            *("generic", "x86-64", "x86-64-v2"),
            *("nocona", "core2", "penryn", "nehalem", "corei7", "westmere"),
            *("sandybridge", "corei7-avx"),
            *("bonnell", "atom", "silvermont", "slm", "goldmont", "goldmont-plus", "tremont"),
            *("k8", "k8-sse3", "opteron", "opteron-sse3", "athlon64", "athlon64-sse3", "athlon-fx"),
            *("amdfam10", "barcelona", "btver1", "bdver1"),
        )
    ),
)


def _is_unscaled(types: Types) -> bool:
    return len(types) == 3


def _has_cpu_tiles(types: Types) -> bool:
    return _is_unscaled(types) and (types[2] in ("f32", "f16", "bf16") or types == I8_PRODUCT)


_PLAIN = Target(
    name="cpu",
    device="local",
    backend="llvm-cpu",
    chip_flags=(),
    collectives="devices",
    fp8=replace(DECODED, multiplies_in_f32=True),
    # Seen on Zen 4 with iree-compile, CPU time: 33 untiled multiply-adds per ns
    # (14 where the columns are no multiple of 16), 55 tiled, 0.9 ns per packed element.
    tiling=Tiling(
        types=(F32_PRODUCT, I8_PRODUCT),
        reason="",
        worth=128,
        worth_unaligned=20,
        worth_bf16=None,
        vector=16,
        narrowest=1,
        # No resolver for CPUs has a wider tile.
        widest=64,
        # IREE limits a kernel's stack to 32 KiB, and puts decoded panels there.
        panel=15 << 10,
        read_beside=2,
        stores_unpacked=False,
    ),
    packing=Packing(
        # More than one fails on CPUs whose tiles differ by operand, and not each time.
        packings=1,
        has_tiles=_has_cpu_tiles,
        follows_narrow_side=True,
        packs_before_reductions=False,
        packs_after_dynamic_rows=False,
        packs_sums_as_results=False,
    ),
    panels=(16,),
    # It takes 12 to 40 times as long as its parts (8 heads of 512x64 in f32: 282 ms for
    # 23 ms on Zen 5).
    own_attention="never",
    rounds_f16=True,
    # No measurement: a desktop with a memory bus of some 20 GB/s per device.
    rates=Rates(chip="a CPU with 1 Tflop/s", fp8=None, half=1, single=1, link=20),
    variants={},
)

_WITH_BF16 = replace(
    _PLAIN,
    fp8=replace(_PLAIN.fp8, multiplies_bf16=True),
    # 29 untiled multiply-adds per ns, 89 tiled; without bf16 instructions 0.5.
    # 32 x 512 x 512, which is 30 per packed element, takes 0.12 ms for 0.28, and
    # 16 x 512 x 512 0.23 for 0.17.
    tiling=replace(_PLAIN.tiling, types=(*_PLAIN.tiling.types, BF16_PRODUCT), worth_bf16=24),
    # All CPUs with the feature have AVX-512.
    panels=(64, *_PLAIN.panels),
)

CPU = replace(_PLAIN, variants={BF16: _WITH_BF16, NO_F16C: replace(_PLAIN, rounds_f16=False)})

VMVX = Target(
    name="vmvx",
    device="local",
    backend="vmvx",
    chip_flags=(),
    collectives="devices",
    fp8=replace(DECODED, half_floats=False, multiplies_in_f32=True),
    tiling=Tiling.none("VMVX runs packed matmuls no faster (128 x 128 x 128: 42 ms for 42)"),
    packing=replace(NO_PACKING, packings=2, has_tiles=_is_unscaled, follows_narrow_side=True),
    panels=(),
    # quirks.ATTENTION_ON_VMVX
    own_attention="never",
    rounds_f16=True,
    rates=Rates(chip="an interpreter with 10 Gflop/s", fp8=None, half=0.01, single=0.01, link=20),
    variants={},
)
