"""Aligning reorders a body and nothing else, and it stays a valid program."""

from __future__ import annotations

import random

import pytest
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.dialects.upstream.scf import ForLoop
from headrace.passes.lowering.align_collectives import AlignCollectives

TENSOR = "tensor<16x16xf32>"
GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
BODY_OPS = 30


def random_loop(seed: int) -> str:
    """A body of gathers, reductions, matmuls, sums, and calls with effects."""
    rng = random.Random(seed)
    values = ["%h", "%x", "%w"]
    lines: list[str] = []
    for n in range(BODY_OPS):
        a, b = rng.choice(values), rng.choice(values)
        kind = rng.choice(["gather", "matmul", "matmul", "add", "add", "call", "reduce"])
        mark = "pipelined = " + rng.choice(["true", "true", "false"])
        if kind == "gather":
            lines += [
                f"%s{n} = tensor.extract_slice {a}[0, 0] [8, 16] [1, 1] : {TENSOR} "
                "to tensor<8x16xf32>",
                f'%v{n} = "headrace.all_gather"(%s{n}) {{dim = 0 : i64, {mark}, {GROUPS}}} '
                f": (tensor<8x16xf32>) -> {TENSOR}",
            ]
        elif kind == "reduce":
            lines.append(
                f'%v{n} = "headrace.all_reduce"({a}) {{reduction = "add", {mark}, {GROUPS}}} '
                f": ({TENSOR}) -> {TENSOR}"
            )
        elif kind == "matmul":
            lines.append(
                f"%v{n} = linalg.matmul ins({a}, {b} : {TENSOR}, {TENSOR}) outs(%x : {TENSOR}) "
                f"-> {TENSOR}"
            )
        elif kind == "add":
            lines.append(f"%v{n} = arith.addf {a}, {b} : {TENSOR}")
        else:
            lines.append(f"%v{n} = func.call @effect({a}) : ({TENSOR}) -> {TENSOR}")
        values.append(f"%v{n}")
    body = "\n".join(lines)
    return f"""
func.func private @effect({TENSOR}) -> {TENSOR}
func.func @f(%x: {TENSOR}, %w: {TENSOR}) -> ({TENSOR}, {TENSOR}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x, %g = %w) -> ({TENSOR}, {TENSOR}) {{
    {body}
    scf.yield {rng.choice(values)}, {values[-1]} : {TENSOR}, {TENSOR}
  }}
  return %r#0, %r#1 : {TENSOR}, {TENSOR}
}}"""


def loop_of(module: ir.Operation) -> ForLoop:
    (loop,) = [ForLoop(op) for op in ir.walk(module) if op.name == "scf.for"]
    return loop


def check(seed: int) -> int:
    """Returns how many ops changed their place among the others."""
    module = parse_module(random_loop(seed), f"seed{seed}", ir.make_context())
    loop = loop_of(module)
    before = loop.body_ops()
    reads: dict[int, list[ir.Value]] = {hash(op): list(op.operands) for op in before}
    effects = [op for op in before if op.name == "func.call"]
    AlignCollectives().run(module)
    assert module.verify()
    after = loop.body_ops()
    assert sorted(map(hash, after)) == sorted(reads)
    assert all(list(op.operands) == reads[hash(op)] for op in after)
    assert [op for op in after if op.name == "func.call"] == effects
    return sum(a != b for a, b in zip(before, after, strict=True))


def test_random_bodies() -> None:
    moved = [check(seed) for seed in range(60)]
    assert sum(m > 0 for m in moved) > 20


@pytest.mark.full
@pytest.mark.parametrize("start", range(60, 1060, 100))
def test_more_random_bodies(start: int) -> None:
    for seed in range(start, start + 100):
        check(seed)
