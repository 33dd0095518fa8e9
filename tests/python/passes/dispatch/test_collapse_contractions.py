"""Contractions over several loops of a kind are packed, with numpy's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from dispatch_programs import Program, compiled, error, lowered

# Letters of lhs, rhs and out, and their sizes.
CASES = {
    "rows and depth": ("abkl,kln->abn", {"a": 4, "b": 16, "k": 16, "l": 3, "n": 80}),
    "columns": ("mk,knp->mnp", {"m": 72, "k": 40, "n": 3, "p": 16}),
    "batches": ("abmk,abkn->abmn", {"a": 2, "b": 3, "m": 64, "k": 40, "n": 48}),
    "out before rows": ("klm,nkl->nm", {"k": 5, "l": 8, "m": 64, "n": 48}),
}


def _program(letters: str, sizes: dict[str, int]) -> str:
    operands = letters.replace("->", ",").split(",")
    loops = ", ".join(sizes)
    maps = ", ".join(f"affine_map<({loops}) -> ({', '.join(o)})>" for o in operands)
    x, w, y = (f"tensor<{'x'.join(str(sizes[c]) for c in o)}xf32>" for o in operands)
    return f"""func.func @main(%x: {x}, %w: {w}) -> {y} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {y}
  %f = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
  %r = linalg.contract indexing_maps = [{maps}] ins(%x, %w : {x}, {w}) outs(%f : {y}) -> {y}
  return %r : {y}
}}
"""


@pytest.mark.each_cpu
@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str) -> None:
    letters, sizes = CASES[name]
    module = lowered(_program(letters, sizes), "cpu", estimate=False)
    assert str(module).count("iree_encoding.unset_encoding") == 1
    vmfb, counts = compiled(module, "cpu")
    assert counts["launches"] == 3
    random = np.random.default_rng(0)
    x, w = (
        random.standard_normal([sizes[c] for c in operand]).astype(np.float32)
        for operand in letters.partition("->")[0].split(",")
    )
    (found,) = Program(vmfb)("main", x, w)
    assert error(found, np.einsum(letters, x, w)) < 1e-5
