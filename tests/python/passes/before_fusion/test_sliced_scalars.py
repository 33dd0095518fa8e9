"""``widen-sliced-scalars``: one element of a tensor as a tensor of higher rank, in real runs."""

from __future__ import annotations

import headrace
import numpy as np
import pytest
from cpu_programs import Program

ELEMENT, SLICE = "tensor<1x1xf32>", "tensor.extract_slice %x[%i] [1] [1] : {} to tensor<1xf32>"
EXPAND = "tensor.expand_shape {} [[0, 1]] output_shape [1, 1] : tensor<1xf32> into " + ELEMENT
TEXT = f"""
func.func @result(%x: tensor<3xf32>, %i: index) -> {ELEMENT} {{
  %s = {SLICE.format("tensor<3xf32>")}
  %e = {EXPAND.format("%s")}
  return %e : {ELEMENT}
}}
func.func @negated(%x: tensor<?xf32>, %i: index) -> tensor<2x1xf32> {{
  %s = {SLICE.format("tensor<?xf32>")}
  %n = arith.negf %s : tensor<1xf32>
  %a = {EXPAND.format("%s")}
  %b = {EXPAND.format("%n")}
  %r = tensor.concat dim(0) %a, %b : ({ELEMENT}, {ELEMENT}) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}}
func.func @last(%x: tensor<3xf32>, %n: index, %z: {ELEMENT}) -> {ELEMENT} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> {ELEMENT} {{
    %s = {SLICE.format("tensor<3xf32>")}
    %e = {EXPAND.format("%s")}
    scf.yield %e : {ELEMENT}
  }}
  return %r : {ELEMENT}
}}
"""


@pytest.mark.each_cpu
def test_sliced_element_of_higher_rank() -> None:
    vmfb = headrace.compile(TEXT).vmfb
    assert vmfb is not None
    program = Program(vmfb)
    x, z = np.array([3, -5, 7], np.float32), np.array([[9]], np.float32)
    for i, element in enumerate(x):
        assert program.results("result", x, i)[0].tolist() == [[element]]
        assert program.results("negated", x, i)[0].tolist() == [[element], [-element]]
        assert program.results("last", x, i + 1, z)[0].tolist() == [[element]]
    assert program.results("last", x, 0, z)[0].tolist() == [[9]]
