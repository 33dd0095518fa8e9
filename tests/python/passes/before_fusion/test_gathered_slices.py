"""``hold-gathered-slices``: elements at computed places of slices, in real runs."""

from __future__ import annotations

import headrace
import numpy as np
import pytest
from cpu_programs import DTYPES, Program

ELEMENTS = ("f32", "bf16", "i8", "f8E4M3FN")


def _program(element: str, zero: str) -> str:
    t, n, x = f"tensor<2x{element}>", "tensor<2xi32>", f"tensor<1x2x3x{element}>"
    each = 'indexing_maps = [#d, #d], iterator_types = ["parallel"]'
    return f"""
#d = affine_map<(d) -> (d)>
func.func @take(%a: {x}, %i: {n}) -> {t} {{
  %zero = arith.constant {zero} : {element}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %x = tensor.extract_slice %a[0, 0, 2] [1, 2, 1] [1, 1, 1] : {x} to {t}
  %e = tensor.empty() : {t}
  %f = tensor.empty() : {n}
  %r = linalg.generic {{{each}}} ins(%i : {n}) outs(%f : {n}) {{
  ^bb0(%p: i32, %o: i32):
    %m = arith.remsi %p, %three : i32
    linalg.yield %m : i32
  }} -> {n}
  %k = linalg.generic {{{each}}} ins(%r : {n}) outs(%f : {n}) {{
  ^bb0(%p: i32, %o: i32):
    %m = arith.maxsi %p, %z : i32
    linalg.yield %m : i32
  }} -> {n}
  %y = linalg.generic {{{each}}} ins(%r : {n}) outs(%e : {t}) {{
  ^bb0(%p: i32, %o: {element}):
    %j = linalg.index 0 : index
    %v = tensor.extract %k[%j] : {n}
    %w = arith.index_cast %v : i32 to index
    %l = arith.maxsi %w, %c0 : index
    %h = arith.minsi %l, %c1 : index
    %q = tensor.extract %x[%h] : {t}
    %c = arith.cmpi sge, %p, %z : i32
    %s = arith.select %c, %q, %zero : {element}
    linalg.yield %s : {element}
  }} -> {t}
  return %y : {t}
}}
"""


@pytest.mark.each_cpu
@pytest.mark.parametrize("element", ELEMENTS)
def test_elements_of_a_slice(element: str) -> None:
    """As JAX's take_along_axis of a column: index 2 is clamped, a negative one gives 0."""
    text = _program(element, "0" if element == "i8" else "0.0")
    vmfb = headrace.compile(text).vmfb
    assert vmfb is not None
    program = Program(vmfb)
    x = np.arange(6).reshape(1, 2, 3).astype(DTYPES.get(element, np.int8))
    for places in ([0, 1], [1, 0], [2, -1], [-2, 5]):
        rest = np.fmod(places, 3)
        taken = x[0, np.clip(rest, 0, 1), 2].astype(np.float32)
        (got,) = program.results("take", x, np.array(places, np.int32))
        assert np.array_equal(got.astype(np.float32), np.where(rest < 0, 0, taken)), places
