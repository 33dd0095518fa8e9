"""Targets: their flags, and that lowered fp8 programs compile for each of them."""

from __future__ import annotations

import re
from pathlib import Path

import headrace
import numpy as np
import pytest
from cpu_programs import FP8, WIDE, Program, lower
from headrace.compiler.iree.child import run_iree_compile
from headrace.dialects import ir
from headrace.passes.targets.lookup import find_target, target_names

ALL = target_names()
MODELS = Path(__file__).parent.parent.parent / "models"

# The instruction that an aligned product of two fp8 tensors becomes.
INSTRUCTIONS = {
    "gfx942": r"v_mfma_f32_\w+_fp8_fp8",
    "gfx950": r"v_mfma_f32_16x16x128_f8f6f4",
    "gfx1201": r"v_wmma_f32_\w+_fp8_fp8",
    "sm_80": r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16\.f16\.f32",
    "sm_89": r"mma\.sync\.aligned\.m16n8k32\.row\.col\.f32\.e4m3\.e4m3\.f32",
    "sm_90": r"mma\.sync\.aligned\.m16n8k32\.row\.col\.f32\.e4m3\.e4m3\.f32",
    "sm_120": r"mma\.sync\.aligned\.m16n8k32\.row\.col\.f32\.e4m3\.e4m3\.f32",
}


def layer_text(rows: int, wide: str, lhs: str = "f8E4M3FN", rhs: str = "f8E4M3FN") -> str:
    """Quantize, transposed fp8 weight, scaled matmul, dequantize, all in one function."""
    return f"""
func.func @layer(%x: tensor<{rows}x256x{wide}>, %w: tensor<128x256x{rhs}>, %s: tensor<{wide}>,
    %sa: tensor<f32>, %sb: tensor<1x128xf32>)
    -> (tensor<{rows}x128x{wide}>, tensor<{rows}x256x{wide}>) {{
  %q = "headrace.quantize"(%x, %s) {{operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "divide", saturate = true}}
    : (tensor<{rows}x256x{wide}>, tensor<{wide}>) -> tensor<{rows}x256x{lhs}>
  %e = tensor.empty() : tensor<256x128x{rhs}>
  %t = linalg.transpose ins(%w : tensor<128x256x{rhs}>) outs(%e : tensor<256x128x{rhs}>)
    permutation = [1, 0]
  %y = "headrace.matmul"(%q, %t, %sa, %sb) {{
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, epilogue = "relu",
    lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}}
    : (tensor<{rows}x256x{lhs}>, tensor<256x128x{rhs}>, tensor<f32>, tensor<1x128xf32>)
    -> tensor<{rows}x128x{wide}>
  %d = "headrace.dequantize"(%q, %s) {{operandSegmentSizes = array<i32: 1, 1>,
    scale_mode = "multiply"}}
    : (tensor<{rows}x256x{lhs}>, tensor<{wide}>) -> tensor<{rows}x256x{wide}>
  return %y, %d : tensor<{rows}x128x{wide}>, tensor<{rows}x256x{wide}>
}}
"""


def compiled(text: str, target: str, *flags: str) -> bytes:
    channel = find_target(target).flags("channel", 1)
    return run_iree_compile(lower(text, target), (*channel, *flags)).vmfb


@pytest.mark.parametrize("target", ALL)
def test_fp8_layer_compiles(target: str, tmp_path: Path) -> None:
    """... and the matmul becomes the instruction that the target has for it."""
    wide = "f32" if target == "vmvx" else "bf16"
    dump = f"--iree-hal-dump-executable-intermediates-to={tmp_path}"
    program = compiled(layer_text(64, wide), target, dump)
    if target in INSTRUCTIONS:
        # PTX is text in the program, AMD's assembly is in the dump.
        texts = [p.read_bytes() for p in tmp_path.glob("*.rocmasm")] or [program]
        assert re.search(INSTRUCTIONS[target].encode(), b"\n".join(texts))


@pytest.mark.parametrize("target", ["gfx950", "sm_89"])
def test_a_row_compiles(target: str) -> None:
    assert compiled(layer_text(1, "bf16"), target)


# IREE 3.13 has no bf16 matmul there whose sizes fit its tensor core tiles.
ATTENTION_ON_VULKAN = [("vulkan-rdna3", "llama_fsdp"), ("vulkan-ampere", "llama_fsdp")]

# In make test, one of each way to treat fp8: native FNUZ and OCP, integers, decoded.
QUICK = ("gfx942", "sm_80", "sm_89", "vulkan-ampere")


@pytest.mark.parametrize(
    ("target", "model"),
    [
        pytest.param(t, m, marks=() if (t in QUICK and m == "fsdp_scan") else pytest.mark.full)
        for t in ALL
        for m in ("fsdp_scan", "llama_fsdp", "tp_mlp")
        if t not in ("cpu", "vmvx") and (t, m) not in ATTENTION_ON_VULKAN
    ],
)
def test_whole_models_compile(target: str, model: str, tmp_path: Path) -> None:
    """Loops, channels and all; the loop's product is the target's instruction."""
    dump = f"--iree-hal-dump-executable-intermediates-to={tmp_path}"
    result = headrace.compile(MODELS / model / "model.mlir", target=target, iree_flags=[dump])
    assert result.vmfb
    if target in INSTRUCTIONS:
        texts = [p.read_bytes() for p in tmp_path.glob("*.rocmasm")] or [result.vmfb]
        assert re.search(INSTRUCTIONS[target].encode(), b"\n".join(texts))


@pytest.mark.full
@pytest.mark.parametrize(("target", "model"), ATTENTION_ON_VULKAN)
def test_attention_on_vulkan_is_a_clean_error(target: str, model: str) -> None:
    with pytest.raises(ir.HeadraceError, match=r"model.mlir:\d+:\d+: error: IREE cannot compile"):
        headrace.compile(MODELS / model / "model.mlir", target=target)


def test_vmvx_refuses_a_bf16_model() -> None:
    with pytest.raises(ir.HeadraceError, match="vmvx"):
        headrace.compile(MODELS / "fsdp_scan" / "model.mlir", target="vmvx")


@pytest.mark.full
@pytest.mark.parametrize("rows", [1, 13, 64])
@pytest.mark.parametrize("rhs", FP8)
@pytest.mark.parametrize("lhs", FP8)
@pytest.mark.parametrize("target", [t for t in ALL if t != "vmvx"])
def test_every_pair_compiles(target: str, lhs: str, rhs: str, rows: int) -> None:
    assert compiled(layer_text(rows, "bf16", lhs, rhs), target)


def test_vmvx_runs_what_it_compiles() -> None:
    """A bf16 quantize is computed in f32, which vmvx has; arithmetic in bf16 is refused."""
    text = layer_text(64, "bf16")
    random = np.random.default_rng(1)
    x = random.standard_normal((64, 256)).astype(WIDE["bf16"])
    weight = random.standard_normal((128, 256)).astype(FP8["f8E4M3FN"])
    scale = np.array(0.02, WIDE["bf16"])
    factors = np.float32(0.02), random.random((1, 128)).astype(np.float32)
    results = []
    for target in ("cpu", "vmvx"):
        run = Program(compiled(text, target))
        results.append(run.results("layer", x, weight, scale, *factors))
    for a, b in zip(*results, strict=True):
        difference = np.abs(a.astype(np.float32) - b.astype(np.float32)).max()
        assert difference <= 2.0**-7 * np.abs(a.astype(np.float32)).max()


def test_unknown_target_lists_the_known_ones() -> None:
    with pytest.raises(ir.HeadraceError) as caught:
        find_target("gfx90a")
    assert str(caught.value).startswith("error: unknown target 'gfx90a'; known are cpu, gfx942,")
    assert all(name in str(caught.value) for name in ALL)


def test_flags() -> None:
    assert "--iree-cuda-target=sm_89" in find_target("sm_90").flags("channel", 1)
    flags = find_target("cpu").flags("devices", 2, cpu="znver4")
    assert flags[:2] == (
        "--iree-hal-target-device=dev0=local[0]",
        "--iree-hal-target-device=dev1=local[1]",
    )
    assert "--iree-llvmcpu-target-cpu=znver4" in flags
    assert not [f for f in find_target("gfx950").flags("channel", 1) if "llvmcpu" in f]


def test_default_collectives() -> None:
    assert find_target("cpu").collectives == "devices"
    assert find_target("gfx942").collectives == "channel"
