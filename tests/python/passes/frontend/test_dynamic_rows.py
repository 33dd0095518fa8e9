"""Products of rows that were normalized, as attention's weights are, of dynamic sizes.

A dispatch that reduces rows of dynamic length, then packs what it computes from
them, does not compile for CPUs in IREE 3.13.
"""

from __future__ import annotations

import headrace
import numpy as np
import pytest
from cpu_programs import Program
from headrace.compiler.iree.element_types import Array
from headrace.passes.targets.lookup import target_names

Sizes = tuple[int | str, ...]
# Sizes of the weights: batches, rows, columns.
SHAPES: dict[str, Sizes] = {
    "one_batch": (1, 4, "?", "?"),
    "one_head": (4, 1, "?", "?"),
    "one_of_each": (1, 1, "?", "?"),
    "two_of_each": (2, 2, "?", "?"),
    "matrix": ("?", "?"),
    "dynamic_batch": ("?", "?", "?"),
    "static_rows": (1, 4, 24, "?"),
    "static_columns": (1, 4, "?", 24),
}
LENGTHS = ((1, 1), (1, 17), (16, 16), (5, 33), (64, 3), (48, 65))
COLUMNS = 32


def tensor(sizes: Sizes) -> str:
    return f"tensor<{'x'.join(map(str, (*sizes, 'f32')))}>"


def loops(count: int) -> str:
    return ", ".join(f"d{i}" for i in range(count))


def generic(maps: list[str], kinds: list[str], ins: str, outs: str, body: str, type_: str) -> str:
    iterators = ", ".join(f'"{kind}"' for kind in kinds)
    return (
        f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}}"
        f" ins({ins}) outs({outs}) {{\n{body}\n}} -> {type_}"
    )


def function(name: str, sizes: Sizes) -> str:
    """``(exp(x) / sum(exp(x))) @ w`` over the last dimension, batches collapsed."""
    rank = len(sizes)
    x, row = tensor(sizes), tensor(sizes[:-1])
    each = f"affine_map<({loops(rank)}) -> ({loops(rank)})>"
    short = f"affine_map<({loops(rank)}) -> ({loops(rank - 1)})>"
    parallel = ["parallel"] * rank
    dims = [f"%n{i}" for i, size in enumerate(sizes) if size == "?"]
    row_dims = [d for d in dims if d != f"%n{rank - 1}"]
    batches = sizes[:-2]
    flat: Sizes = batches
    collapse, weights = "", "%d"
    if rank == 4:
        flat = (np.prod(np.array(batches, int)).item(),)
        groups = "[[0, 1], [2], [3]]"
        collapse = (
            f"%c = tensor.collapse_shape %d {groups} : {x} into {tensor((*flat, *sizes[2:]))}"
        )
        weights = "%c"
    a = tensor((*flat, *sizes[-2:]))
    w, y = tensor((*flat, sizes[-1], COLUMNS)), tensor((*flat, sizes[-2], COLUMNS))
    sizes_of_x = "\n".join(
        f"%i{i} = arith.constant {i} : index\n%n{i} = tensor.dim %x, %i{i} : {x}"
        for i, size in enumerate(sizes)
        if size == "?"
    )
    exp = "^bb0(%a: f32, %o: f32):\n%q = math.exp %a : f32\nlinalg.yield %q : f32"
    add = "^bb0(%a: f32, %o: f32):\n%q = arith.addf %a, %o : f32\nlinalg.yield %q : f32"
    div = "^bb0(%a: f32, %b: f32, %o: f32):\n%q = arith.divf %a, %b : f32\nlinalg.yield %q : f32"
    product = "linalg.batch_matmul" if flat else "linalg.matmul"
    return f"""
      func.func @{name}(%x: {x}, %w: {w}) -> {y} {{
        %z = arith.constant 0.0 : f32
        {sizes_of_x}
        %e = tensor.empty({", ".join(dims)}) : {x}
        %p = {generic([each, each], parallel, f"%x : {x}", f"%e : {x}", exp, x)}
        %e1 = tensor.empty({", ".join(row_dims)}) : {row}
        %f1 = linalg.fill ins(%z : f32) outs(%e1 : {row}) -> {row}
        %s = {
        generic(
            [each, short],
            [*parallel[1:], "reduction"],
            f"%p : {x}",
            f"%f1 : {row}",
            add,
            row,
        )
    }
        %d = {generic([each, short, each], parallel, f"%p, %s : {x}, {row}", f"%e : {x}", div, x)}
        {collapse}
        %e2 = tensor.empty({", ".join(row_dims)}) : {y}
        %f2 = linalg.fill ins(%z : f32) outs(%e2 : {y}) -> {y}
        %r = {product} ins({weights}, %w : {a}, {w}) outs(%f2 : {y}) -> {y}
        return %r : {y}
      }}"""


def expected(x: Array, w: Array) -> Array:
    p = np.exp(x.astype(np.float64))
    weights = p / p.sum(-1, keepdims=True)
    return weights.reshape(*w.shape[:-2], *x.shape[-2:]) @ w.astype(np.float64)


def check(cpu: str) -> None:
    text = "".join(function(name, sizes) for name, sizes in SHAPES.items())
    vmfb = headrace.compile(text, target="cpu", cpu=cpu).vmfb
    assert vmfb is not None
    program = Program(vmfb)
    random = np.random.default_rng(0)
    for name, sizes in SHAPES.items():
        for rows, columns in LENGTHS:
            found = [3 if size == "?" else int(size) for size in sizes[:-2]]
            m, k = (
                length if size == "?" else int(size)
                for size, length in zip(sizes[-2:], (rows, columns), strict=True)
            )
            x = random.standard_normal((*found, m, k)).astype(np.float32)
            batch = [int(np.prod(found))] if found else []
            w = random.standard_normal((*batch, k, COLUMNS)).astype(np.float32)
            result, right = program(name, x, w), expected(x, w)
            assert np.abs(result - right).max() <= 2.0**-17 * np.abs(right).max(), (name, m, k)


def test_numbers() -> None:
    check("host")


@pytest.mark.full
@pytest.mark.parametrize("cpu", ["x86-64-v3", "generic"])
def test_numbers_of_other_cpus(cpu: str) -> None:
    check(cpu)


@pytest.mark.full
@pytest.mark.parametrize("target", [t for t in target_names() if t != "cpu"])
def test_compiles(target: str) -> None:
    text = "".join(function(name, sizes) for name, sizes in SHAPES.items())
    assert headrace.compile(text, target=target).vmfb
