"""``pack-panels``: programs against numpy, and against IREE without any packing."""

from __future__ import annotations

import re

import cpus
import numpy as np
import pytest
from dispatch_programs import Program, compiled, error, lowered
from fuzz.graphs.judge import Outcome, Setting, judge
from fuzz.graphs.profiles import graphs
from headrace.dialects import ir
from headrace.passes.targets.lookup import find_target

N = 128
TARGETS = ("cpu", "cpu+bf16")
PER_MODULE = 4


SIZES = ((128, 64, 1), (132, 192, 37), (160, 48, 302), (256, 320, 64), (2048, 16, 3))


def _layer(name: str, m: int, n: int, k: int, *, by_columns: bool) -> str:
    """tanh(x @ w + b), and x @ w."""
    weight = f"tensor<{n}x{k}xf32>" if by_columns else f"tensor<{k}x{n}xf32>"
    maps = ["m, k", "n, k" if by_columns else "k, n", "m, n"]
    maps = [f"affine_map<(m, n, k) -> ({dims})>" for dims in maps]
    x, y = f"tensor<{m}x{k}xf32>", f"tensor<{m}x{n}xf32>"
    whole = "affine_map<(i, j) -> (i, j)>"
    return f"""
func.func @{name}(%x: {x}, %w: {weight}, %b: tensor<{n}xf32>) -> ({y}, {y}) {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {y}
  %f = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
  %p = linalg.matmul indexing_maps = [{", ".join(maps)}]
    ins(%x, %w : {x}, {weight}) outs(%f : {y}) -> {y}
  %t = linalg.generic {{indexing_maps = [{whole}, affine_map<(i, j) -> (j)>, {whole}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%p, %b : {y}, tensor<{n}xf32>) outs(%e : {y}) {{
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %c : f32
    %1 = math.tanh %0 : f32
    linalg.yield %1 : f32
  }} -> {y}
  return %t, %p : {y}, {y}
}}
"""


def _panels(text: str) -> int:
    """How many weights the module packs."""
    return len(re.findall(r"flow.dispatch.region -> \(tensor<\d+x\d+x(16|64)xf32>\)", text))


def _name(sizes: tuple[int, int, int], by_columns: bool) -> str:
    return "_".join(["layer", *map(str, sizes), "turned" if by_columns else "plain"])


@cpus.cache
def _layers(target: str) -> Program:
    """All sizes, both ways."""
    text = "".join(
        _layer(_name(sizes, by_columns), *sizes, by_columns=by_columns)
        for sizes in SIZES
        for by_columns in (False, True)
    )
    module = lowered(text, target)
    for function in ir.operations_of(module.regions[0].blocks[0]):
        if function.name == "func.func":
            assert _panels(str(function)) == 1
    return Program(compiled(module, "cpu")[0])


@pytest.mark.each_cpu(by="target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_sizes(sizes: tuple[int, int, int], by_columns: bool, target: str) -> None:
    """Whole numbers: sums are exact in any order."""
    m, n, k = sizes
    random = np.random.default_rng(0)
    x, w = (random.integers(-3, 4, s).astype(np.float32) for s in ((m, k), (k, n)))
    b = random.standard_normal(n).astype(np.float32)
    weight = np.ascontiguousarray(w.T) if by_columns else w
    activated, product = _layers(target)(_name(sizes, by_columns), x, weight, b)
    assert np.array_equal(product, x @ w)
    assert error(activated, np.tanh(x @ w + b)) < 1e-6


@pytest.mark.each_cpu
def test_weights_of_loops() -> None:
    """One launch packs the weight, before the loop."""
    text = f"""
func.func @main(%x: tensor<{N}x{N}xf32>, %w: tensor<{N}x{N}xf32>) -> tensor<{N}x{N}xf32> {{
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<{N}x{N}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{N}x{N}xf32>) -> tensor<{N}x{N}xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<{N}x{N}xf32> {{
    %y = linalg.matmul ins(%h, %w : tensor<{N}x{N}xf32>, tensor<{N}x{N}xf32>)
      outs(%f : tensor<{N}x{N}xf32>) -> tensor<{N}x{N}xf32>
    scf.yield %y : tensor<{N}x{N}xf32>
  }}
  return %r : tensor<{N}x{N}xf32>
}}
"""
    module = lowered(text, "cpu")
    (region,) = [op for op in ir.walk(module) if op.name == "flow.dispatch.region"]
    assert region.parent is not None
    assert region.parent.operation.name == "func.func"
    random = np.random.default_rng(0)
    x = random.integers(-3, 4, (N, N)).astype(np.float32)
    w = np.eye(N, dtype=np.float32)[random.permutation(N)]
    (found,) = Program(compiled(module, "cpu")[0])("main", x, w)
    assert np.array_equal(found, x @ w @ w @ w)


@pytest.mark.each_cpu
@pytest.mark.parametrize(
    ("batch", "multi_use"),
    [
        pytest.param(batch, multi_use, marks=[] if batch == (not multi_use) else pytest.mark.full)
        for batch in range(16)
        for multi_use in (False, True)
    ],
)
def test_random_graphs(batch: int, multi_use: bool, cpu: str) -> None:
    """Products in a net, in sizes that have panels."""
    found = graphs("panels", range(batch * PER_MODULE, (batch + 1) * PER_MODULE))
    setting = Setting("cpu", cpu, multi_use=multi_use, pack=True)
    assert _panels(str(setting.lowered("".join(g.text for g in found)))) > 0
    assert [str(o) for o in judge(found, setting)] == [str(Outcome("ok"))] * len(found)


def _matmul(name: str, lhs: str, rhs: str, init: str, n: int = N) -> str:
    t = f"tensor<{n}x{n}xf32>"
    return f"  {name} = linalg.matmul ins({lhs}, {rhs} : {t}, {t}) outs({init} : {t}) -> {t}\n"


@pytest.mark.each_cpu
def test_sums_start_from_what_the_init_is_filled_with() -> None:
    t = f"tensor<{N}x{N}xf32>"
    text = f"""
func.func @main(%x: {t}, %w: {t}) -> {t} {{
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : {t}
  %f = linalg.fill ins(%two : f32) outs(%e : {t}) -> {t}
{_matmul("%y", "%x", "%w", "%f")}
  return %y : {t}
}}
"""
    module = lowered(text, "cpu")
    assert _panels(str(module)) == 1
    x, w = np.random.default_rng(0).integers(-3, 4, (2, N, N)).astype(np.float32)
    (found,) = Program(compiled(module, "cpu")[0])("main", x, w)
    assert np.array_equal(found, x @ w + 2)


@pytest.mark.each_cpu
def test_product_is_a_weight() -> None:
    t = f"tensor<{N}x{N}xf32>"
    text = f"""
func.func @main(%x: {t}, %w: {t}) -> {t} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {t}
  %f = linalg.fill ins(%zero : f32) outs(%e : {t}) -> {t}
{_matmul("%p", "%x", "%w", "%f")}{_matmul("%y", "%p", "%p", "%f")}
  return %y : {t}
}}
"""
    module = lowered(text, "cpu")
    assert _panels(str(module)) == 2
    x, w = np.random.default_rng(0).integers(-2, 3, (2, N, N)).astype(np.float32)
    (found,) = Program(compiled(module, "cpu")[0])("main", x, w)
    assert np.array_equal(found, x @ w @ (x @ w))


@pytest.mark.each_cpu
def test_result_is_packed(cpu: str) -> None:
    """Panels' dispatch packs the result for another matmul: IREE limits how much
    of it at once, and more so on CPUs with shorter vectors."""
    n = 512
    t, same = f"tensor<{n}x{n}xf32>", "affine_map<(i, j) -> (i, j)>"
    text = f"""
func.func @main(%x: {t}, %w: {t}) -> {t} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {t}
  %f = linalg.fill ins(%zero : f32) outs(%e : {t}) -> {t}
{_matmul("%p", "%x", "%w", "%f", n)}
  %a = linalg.generic {{indexing_maps = [{same}, {same}],
      iterator_types = ["parallel", "parallel"]}} ins(%p : {t}) outs(%e : {t}) {{
  ^bb0(%i: f32, %o: f32):
    %0 = math.absf %i : f32
    linalg.yield %0 : f32
  }} -> {t}
{_matmul("%y", "%a", "%w", "%f", n)}
  return %y : {t}
}}
"""
    module = lowered(text, find_target("cpu").pass_target(cpu))
    regions = [str(op) for op in ir.walk(module) if op.name == "flow.dispatch.region"]
    assert sum("compilation_info" in r and "set_encoding" in r for r in regions) == 1
    x, w = np.random.default_rng(0).integers(-1, 2, (2, n, n)).astype(np.float32)
    (found,) = Program(compiled(module, "cpu", cpu)[0])("main", x, w)
    assert np.array_equal(found, np.abs(x @ w) @ w)


@pytest.mark.each_cpu
def test_packed_as_it_is_and_turned(cpu: str) -> None:
    """As gradients of two matmuls ask for: no dispatch packs both, which IREE
    would do in one piece."""
    n = 512
    t = f"tensor<{n}x{n}xf32>"
    dot = "stablehlo.dot_general"
    text = f"""
func.func @main(%x: {t}, %w: {t}, %z: {t}) -> ({t}, {t}, {t}) {{
  %p = {dot} %x, %w, contracting_dims = [1] x [0] : ({t}, {t}) -> {t}
  %a = stablehlo.abs %p : {t}
  %e = stablehlo.multiply %a, %z : {t}
  %g = {dot} %e, %x, contracting_dims = [0] x [0] : ({t}, {t}) -> {t}
  %h = {dot} %e, %w, contracting_dims = [1] x [1] : ({t}, {t}) -> {t}
  return %a, %g, %h : {t}, {t}, {t}
}}
"""
    module = lowered(text, find_target("cpu").pass_target(cpu))
    x, w, z = np.random.default_rng(0).integers(-1, 2, (3, n, n)).astype(np.float32)
    a, g, h = Program(compiled(module, "cpu", cpu)[0])("main", x, w, z)
    expected = np.abs(x @ w)
    assert np.array_equal(a, expected)
    assert np.array_equal(g, (expected * z).T @ x)
    assert np.array_equal(h, (expected * z) @ w.T)
