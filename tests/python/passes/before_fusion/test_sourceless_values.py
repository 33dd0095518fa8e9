"""``hold-sourceless-values``: what is made of constants and indices alone, in real runs."""

from __future__ import annotations

import headrace
import numpy as np
import pytest
from cpu_programs import Program
from headrace.compiler.iree.element_types import Array

CPUS = ("host", "x86-64-v3", "x86-64-v2")
WHOLE, ROW = "affine_map<(d0, d1) -> (d0, d1)>", "affine_map<(d0, d1) -> (d0)>"
KINDS = 'iterator_types = ["parallel", "reduction"]'


def run(text: str, cpu: str, *arguments: Array) -> list[Array]:
    vmfb = headrace.compile(text, target="cpu", cpu=cpu).vmfb
    assert vmfb is not None
    return Program(vmfb).results("main", *arguments)


def _indices(size: str, after: str, results: str, types: str) -> str:
    """Two results of indices alone: i, as i8, and i * i."""
    dynamic = "%n" if size == "?" else ""
    t8, t32 = f"tensor<{size}xi8>", f"tensor<{size}xi32>"
    return f"""
func.func @main(%a: tensor<4xi32>, %s: tensor<{size}xf32>) -> ({types}) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<{size}xf32>
  %e = tensor.empty({dynamic}) : {t8}
  %f = tensor.empty({dynamic}) : {t32}
  %v:2 = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}} outs(%e, %f : {t8}, {t32}) {{
  ^bb0(%o: i8, %p: i32):
    %i = linalg.index 0 : index
    %x = arith.index_cast %i : index to i32
    %y = arith.trunci %x : i32 to i8
    %z = arith.muli %x, %x : i32
    linalg.yield %y, %z : i8, i32
  }} -> ({t8}, {t32})
  {after}
  return {results} : {types}
}}
"""


@pytest.mark.one_of("cpu")
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("size", ["33", "?"])
def test_results_are_not_swapped(size: str, cpu: str) -> None:
    """Returned, and one of them updated: a copy of it was one of the other."""
    t8, t32 = f"tensor<{size}xi8>", f"tensor<{size}xi32>"
    update = f"%w = tensor.insert_slice %a into %v#1[3] [4] [1] : tensor<4xi32> into {t32}"
    text = _indices(size, update, "%v#0, %v#1, %w", f"{t8}, {t32}, {t32}")
    a, s = np.arange(50, 54, dtype=np.int32), np.zeros(33, np.float32)
    places, squares, updated = run(text, cpu, a, s)
    i = np.arange(33)
    assert np.array_equal(places, i.astype(np.int8))
    assert np.array_equal(squares, i * i)
    expected = i * i
    expected[3:7] = a
    assert np.array_equal(updated, expected)


@pytest.mark.one_of("cpu")
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("count", [2, 64, 65])
def test_results_of_a_constant_are_not_swapped(count: int, cpu: str) -> None:
    """One of up to 64 f32 goes into the dispatch; its first result is updated in part."""
    t = f"tensor<{count}xf32>"
    values = np.arange(count, dtype=np.float32) - 0.5
    whole = "affine_map<(d0) -> (d0)>"
    text = f"""
func.func @main() -> ({t}, {t}) {{
  %c = arith.constant dense<{values.tolist()}> : {t}
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : {t}
  %v:2 = linalg.generic {{indexing_maps = [{whole}, {whole}, {whole}], iterator_types = ["parallel"]}}
      ins(%c : {t}) outs(%e, %e : {t}, {t}) {{
  ^bb0(%a: f32, %o: f32, %p: f32):
    %x = arith.mulf %a, %half : f32
    %y = arith.subf %half, %a : f32
    linalg.yield %x, %y : f32, f32
  }} -> ({t}, {t})
  %s = tensor.extract_slice %v#0[1] [1] [1] : {t} to tensor<1xf32>
  %f = tensor.empty() : tensor<1xf32>
  %d = linalg.generic {{indexing_maps = [{whole}, {whole}], iterator_types = ["parallel"]}}
      ins(%s : tensor<1xf32>) outs(%f : tensor<1xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %x = arith.addf %a, %a : f32
    linalg.yield %x : f32
  }} -> tensor<1xf32>
  %w = tensor.insert_slice %d into %v#0[1] [1] [1] : tensor<1xf32> into {t}
  return %v#1, %w : {t}, {t}
}}"""
    differences, updated = run(text, cpu)
    expected = values / 2
    expected[1] *= 2
    assert np.array_equal(differences, 0.5 - values)
    assert np.array_equal(updated, expected)


def _sum(name: str, made: str, combined: str, element: str) -> str:
    """Of 2 x 8 over the second dimension, from one; ``made`` defines %f."""
    t, r = f"tensor<2x8x{element}>", f"tensor<2x{element}>"
    literal, kind = ("", "i") if element[0] == "i" else (".0", "f")
    return f"""
func.func @{name}(%x: {t}, %s: tensor<{element}>) -> ({r}, {r}) {{
  %v = tensor.extract %s[] : tensor<{element}>
  %five = arith.constant 5{literal} : {element}
  %one = arith.constant 1{literal} : {element}
  %e = tensor.empty() : {t}
  {made.format(e=element, t=t)}
  %i = tensor.empty() : {r}
  %j = linalg.fill ins(%one : {element}) outs(%i : {r}) -> {r}
  %r = linalg.generic {{indexing_maps = [{WHOLE}, {ROW}], {KINDS}}}
      ins(%f : {t}) outs(%j : {r}) {{
  ^bb0(%in: {element}, %out: {element}):
    %c = arith.add{kind} %out, {combined} : {element}
    linalg.yield %c : {element}
  }} -> {r}
  return %r, %r : {r}, {r}
}}
"""


# How the tensor is made, what is added, and the number that this is.
SUMS = {
    "constant_fill": ("%f = linalg.fill ins(%five : {e}) outs(%e : {t}) -> {t}", "%in", 5),
    "fill": ("%f = linalg.fill ins(%v : {e}) outs(%e : {t}) -> {t}", "%in", 3),
    "constant": ("%f = tensor.cast %x : {t} to {t}", "%five", 5),
    "number": ("%f = tensor.cast %x : {t} to {t}", "%v", 3),
}
DTYPES = {"f32": np.float32, "i32": np.int32, "i8": np.int8, "f16": np.float16}


@pytest.mark.one_of("cpu")
@pytest.mark.parametrize("cpu", CPUS)
def test_sums_have_all_their_terms(cpu: str) -> None:
    text = "".join(_sum(f"{n}_{e}", *SUMS[n][:2], e) for n in SUMS for e in DTYPES)
    vmfb = headrace.compile(text, target="cpu", cpu=cpu).vmfb
    assert vmfb is not None
    program = Program(vmfb)
    for name, (_, _, value) in SUMS.items():
        for element, dtype in DTYPES.items():
            arguments = np.zeros((2, 8), dtype), np.array(3, dtype)
            for found in program.results(f"{name}_{element}", *arguments):
                assert np.array_equal(found, np.full(2, 1 + 8 * value, dtype)), (name, element)


def _quantized(name: str, side: str, points: tuple[int, int]) -> str:
    """A product of a filled operand and a given one."""
    given, filled = "tensor<8x8xi8>", "tensor<8x8xi8>"
    names = "%f, %a" if side == "lhs" else "%a, %f"
    return f"""
func.func @{name}(%a: {given}) -> (tensor<8x8xi32>, tensor<8x8xi32>) {{
  %c = arith.constant -9 : i8
  %p = arith.constant {points[0]} : i32
  %q = arith.constant {points[1]} : i32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : {filled}
  %f = linalg.fill ins(%c : i8) outs(%e : {filled}) -> {filled}
  %i = tensor.empty() : tensor<8x8xi32>
  %j = linalg.fill ins(%zero : i32) outs(%i : tensor<8x8xi32>) -> tensor<8x8xi32>
  %r = linalg.quantized_matmul ins({names}, %p, %q : {given}, {filled}, i32, i32)
    outs(%j : tensor<8x8xi32>) -> tensor<8x8xi32>
  return %r, %r : tensor<8x8xi32>, tensor<8x8xi32>
}}
"""


@pytest.mark.one_of("cpu")
@pytest.mark.parametrize("cpu", CPUS)
def test_zero_points_of_filled_operands(cpu: str) -> None:
    cases = {
        f"{side}_{p}_{q}": (side, (p, q))
        for side in ("lhs", "rhs")
        for p, q in ((0, 3), (2, 0), (2, 3))
    }
    vmfb = headrace.compile(
        "".join(_quantized(n, *case) for n, case in cases.items()), target="cpu", cpu=cpu
    ).vmfb
    assert vmfb is not None
    program = Program(vmfb)
    a = np.random.default_rng(0).integers(-9, 9, (8, 8))
    c = np.full((8, 8), -9)
    for name, (side, (p, q)) in cases.items():
        left, right = (c, a) if side == "lhs" else (a, c)
        for found in program.results(name, a.astype(np.int8)):
            assert np.array_equal(found, (left - p) @ (right - q)), name
