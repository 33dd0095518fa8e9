"""Matmuls of OCP microscaling formats, packed for the instructions of gfx950."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dispatch_programs import lowered
from headrace.compiler.iree.child import run_iree_compile
from headrace.dialects import ir
from headrace.passes.targets.lookup import find_target


def _operand(name: str, shape: str, element: str) -> tuple[str, str]:
    """The argument, of bytes as IREE's interface has no such types, and its cast."""
    sizes = [int(size) for size in shape.split("x")]
    if element.startswith("f4"):
        sizes[-1] //= 2
    bytes_ = f"tensor<{'x'.join(map(str, sizes))}xi8>"
    type_ = f"tensor<{shape}x{element}>"
    return f"%{name}8: {bytes_}", f"  %{name} = flow.tensor.bitcast %{name}8 : {bytes_} -> {type_}"


def _program(element: str, m: int, n: int, k: int) -> str:
    scale = "f8E8M0FNU"
    operands = {
        "x": (f"{m}x{k}x32", element),
        "y": (f"{n}x{k}x32", element),
        "xs": (f"{m}x{k}", scale),
        "ys": (f"{n}x{k}", scale),
    }
    parts = [_operand(name, *operand) for name, operand in operands.items()]
    arguments = ", ".join(argument for argument, _ in parts)
    casts = "\n".join(cast for _, cast in parts)
    types = ", ".join(f"tensor<{shape}x{e}>" for shape, e in operands.values())
    blocks = ", ".join(f"%{name}0: {e}" for name, (_, e) in operands.items())
    loops = "affine_map<(m, n, k, b) -> "
    maps = ", ".join(f"{loops}({dims})>" for dims in ("m, k, b", "n, k, b", "m, k", "n, k", "m, n"))
    return f"""
func.func @main({arguments}) -> tensor<{m}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
{casts}
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %r = linalg.generic {{indexing_maps = [{maps}],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}}
      ins(%x, %y, %xs, %ys : {types}) outs(%f : tensor<{m}x{n}xf32>) {{
  ^bb0({blocks}, %acc: f32):
    %0 = arith.scaling_extf %x0, %xs0 : {element}, {scale} to f32
    %1 = arith.scaling_extf %y0, %ys0 : {element}, {scale} to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  }} -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
"""


# Whole tiles and such as are not; in quick runs the ones or the others for each element type.
SIZES = ((128, 256, 16), (100, 70, 13))


@pytest.mark.parametrize(
    ("element", "sizes"),
    [
        pytest.param(element, SIZES[j], marks=[] if j == i % 2 else pytest.mark.full)
        for i, element in enumerate(("f4E2M1FN", "f8E4M3FN", "f8E5M2"))
        for j in (0, 1)
    ],
)
def test_becomes_scaled_mfma(element: str, sizes: tuple[int, int, int], tmp_path: Path) -> None:
    module = lowered(_program(element, *sizes), "gfx950", estimate=False)
    packed = [op for op in ir.walk(module) if op.name == "iree_encoding.set_encoding"]
    assert len(packed) == 4
    dump = f"--iree-hal-dump-executable-intermediates-to={tmp_path}"
    run_iree_compile(module, (*find_target("gfx950").flags("channel", 1), dump))
    texts = [path.read_text() for path in tmp_path.glob("*.rocmasm")]
    assert re.search(r"v_mfma_scale_f32_16x16x128_f8f6f4", "\n".join(texts))


def test_small_ones_stay_plain() -> None:
    module = lowered(_program("f4E2M1FN", 128, 256, 16), "gfx950")
    assert "scaled_matmul" not in str(module)
