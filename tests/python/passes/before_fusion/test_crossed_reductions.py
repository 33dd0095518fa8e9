"""``hold-crossed-reductions``: results of reductions read in two ways, in real runs."""

from __future__ import annotations

import headrace
import numpy as np
import pytest
from cpu_programs import Program

CPUS = ("host", "x86-64-v3", "x86-64-v2")
N = 24


def _distances(name: str, reduction: str, size: str) -> str:
    """What a row gives and what another gives, for each pair of rows."""
    x, s, d = f"tensor<{size}x16xf32>", f"tensor<{size}xf32>", f"tensor<{size}x{size}xf32>"
    first = "0.0" if reduction == "addf" else "-1.0e30"
    dynamic = ("%n", "%n, %n") if size == "?" else ("", "")
    return f"""
func.func @{name}(%x: {x}) -> ({d}, {s}) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : {x}
  %z = arith.constant {first} : f32
  %e = tensor.empty({dynamic[0]}) : {s}
  %f = linalg.fill ins(%z : f32) outs(%e : {s}) -> {s}
  %s = linalg.reduce {{ arith.{reduction} }} ins(%x : {x}) outs(%f : {s}) dimensions = [1]
  %h = tensor.empty({dynamic[1]}) : {d}
  %m = linalg.map {{ math.absf }} ins(%s : {s}) outs(%e : {s})
  %a = linalg.broadcast ins(%m : {s}) outs(%h : {d}) dimensions = [1]
  %b = linalg.broadcast ins(%s : {s}) outs(%h : {d}) dimensions = [0]
  %d = linalg.map {{ arith.subf }} ins(%a, %b : {d}, {d}) outs(%h : {d})
  return %d, %s : {d}, {s}
}}
"""


@pytest.mark.one_of("cpu")
@pytest.mark.parametrize("cpu", CPUS)
def test_pairs_of_rows(cpu: str) -> None:
    cases = [(r, s) for r in ("addf", "maximumf") for s in (str(N), "?")]
    names = [f"f{i}" for i in range(len(cases))]
    text = "".join(_distances(n, *c) for n, c in zip(names, cases, strict=True))
    vmfb = headrace.compile(text, target="cpu", cpu=cpu).vmfb
    assert vmfb is not None
    program = Program(vmfb)
    x = np.random.default_rng(0).integers(-9, 9, (N, 16)).astype(np.float32)
    for name, (reduction, _) in zip(names, cases, strict=True):
        s = x.sum(1) if reduction == "addf" else x.max(1)
        found, rows = program.results(name, x)
        assert np.array_equal(rows, s)
        assert np.array_equal(found, np.abs(s)[:, None] - s[None]), cases


@pytest.mark.one_of("cpu")
@pytest.mark.parametrize("cpu", CPUS)
def test_distances_from_jax(cpu: str) -> None:
    """|x - y| ** 2 as x ** 2 + y ** 2 - 2 x y, as StableHLO."""
    square = f"tensor<{N}x{N}xf32>"
    text = f"""
func.func @main(%x: tensor<{N}x16xf32>) -> ({square}, {square}) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %q = stablehlo.multiply %x, %x : tensor<{N}x16xf32>
  %s = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<{N}x16xf32>, tensor<f32>) -> tensor<{N}xf32>
  %a = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<{N}xf32>) -> {square}
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<{N}xf32>) -> {square}
  %c = stablehlo.add %a, %b : {square}
  %p = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1]
    : (tensor<{N}x16xf32>, tensor<{N}x16xf32>) -> {square}
  %t = stablehlo.add %p, %p : {square}
  %d = stablehlo.subtract %c, %t : {square}
  return %d, %c : {square}, {square}
}}
"""
    vmfb = headrace.compile(text, target="cpu", cpu=cpu).vmfb
    assert vmfb is not None
    x = np.random.default_rng(0).integers(-9, 9, (N, 16)).astype(np.float32)
    found, _ = Program(vmfb).results("main", x)
    assert np.array_equal(found, ((x[:, None] - x[None]) ** 2).sum(-1))
