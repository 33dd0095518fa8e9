"""Scales found behind random chains of broadcasts and reshapes.

What is found must give the same full-size value: each number of the scale
repeated over a block. That is checked with numpy, on the indices themselves.
"""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.frontend.quantization.stablehlo_scales import Scale, find_scale

Shape = tuple[int, ...]


def _factorized(rng: random.Random, size: int) -> list[int]:
    """Some factors of ``size`` in some order, perhaps with a 1 in between."""
    factors: list[int] = []
    left = size
    while left > 1:
        factor = rng.choice([d for d in range(2, left + 1) if left % d == 0])
        factors.append(factor)
        left //= factor
    if rng.random() < 0.3:
        factors.insert(rng.randint(0, len(factors)), 1)
    return factors


class _Chain:
    """Text of a chain of ops, and the value that it computes."""

    def __init__(self, rng: random.Random, transposing: float) -> None:
        self.rng = rng
        self.transposing = transposing  # how often a broadcast transposes
        shape = [rng.choice((1, 2, 3, 4)) for _ in range(rng.randint(0, 3))]
        self.source = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
        self.value = self.source
        self.lines: list[str] = []
        self.values = [self.source]
        for _ in range(rng.randint(1, 4)):
            if self.value.size > 200:
                break
            rng.choice((self._broadcast, self._broadcast, self._reshape))()

    def _emit(self, text: str, value: np.ndarray) -> None:
        number = len(self.lines)
        before = f"%v{number - 1}" if number else "%s"
        types = f"({_type(self.value.shape)}) -> {_type(value.shape)}"
        self.lines.append(f"%v{number} = stablehlo.{text.format(before)} : {types}")
        self.value = value
        self.values.append(value)

    def _broadcast(self) -> None:
        rng, shape = self.rng, list(self.value.shape)
        # Sizes of 1 may grow; new dimensions come in at any place.
        grown = [rng.choice((1, 2, 4)) if s == 1 else s for s in shape]
        target: list[int] = list(grown)
        dims = list(range(len(shape)))
        for _ in range(rng.randint(0, 2)):
            place = rng.randint(0, len(target))
            target.insert(place, rng.choice((1, 2, 3)))
            dims = [d + (d >= place) for d in dims]
        if len(dims) > 1 and rng.random() < self.transposing:
            i, j = rng.sample(range(len(dims)), 2)
            target[dims[i]], target[dims[j]] = target[dims[j]], target[dims[i]]
            dims[i], dims[j] = dims[j], dims[i]
        order = sorted(range(len(dims)), key=dims.__getitem__)
        moved = self.value.transpose(order)
        keep = [1] * len(target)
        for axis, old in enumerate(order):
            keep[dims[old]] = moved.shape[axis]
        value = np.broadcast_to(moved.reshape(keep), target)
        self._emit(f"broadcast_in_dim {{}}, dims = {dims}", value)

    def _reshape(self) -> None:
        shape = _factorized(self.rng, self.value.size)
        self._emit("reshape {}", self.value.reshape(shape))

    @property
    def text(self) -> str:
        body = "\n".join(self.lines)
        last = f"%v{len(self.lines) - 1}"
        result = _type(self.value.shape)
        return f"""
func.func @f(%s: {_type(self.source.shape)}) -> {result} {{
{body}
return {last} : {result}
}}"""


def _type(shape: Shape) -> str:
    return f"tensor<{''.join(f'{s}x' for s in shape)}f32>"


def _spread(scale: np.ndarray, shape: Shape) -> np.ndarray:
    """Each number of the scale repeated over its block."""
    for axis, size in enumerate(shape):
        scale = np.repeat(scale, size // scale.shape[axis], axis=axis)
    return scale


def _found(chain: _Chain, context: ir.Context) -> tuple[Scale | None, int]:
    """The scale, and which value of the chain it starts from."""
    module: ir.Operation = parse_module(chain.text, "chain", context)
    ops = [op for op in ir.walk(module) if op.name.startswith("stablehlo.")]
    scale = find_scale(ops[-1].results[0])
    if scale is None:
        return None, 0
    made = [op.results[0] for op in ops]
    return scale, made.index(scale.source) + 1 if scale.source in made else 0


SEEDS = [
    pytest.param(range(300), id="subset"),
    pytest.param(range(300, 6000), id="all", marks=pytest.mark.full),
]


@pytest.mark.parametrize("seeds", SEEDS)
def test_what_is_found_is_the_value(seeds: range) -> None:
    context = ir.make_context()
    kinds = {"none": 0, "one": 0, "axis": 0, "block": 0, "restarted": 0}
    for seed in seeds:
        chain = _Chain(random.Random(seed), transposing=0.15)
        scale, start = _found(chain, context)
        if scale is None:
            kinds["none"] += 1
            continue
        source = chain.values[start]
        kinds["restarted"] += start > 0
        if math.prod(scale.shape) == 1:
            kinds["one"] += 1
            assert np.all(chain.value == source.reshape(())), chain.text
            continue
        assert len(scale.shape) == chain.value.ndim, chain.text
        sizes = zip(scale.shape, chain.value.shape, strict=True)
        kinds["axis" if all(s in (1, d) for s, d in sizes) else "block"] += 1
        spread = _spread(source.reshape(scale.shape), chain.value.shape)
        assert np.array_equal(spread, chain.value), chain.text
    assert all(kinds.values()), kinds


@pytest.mark.parametrize("seeds", SEEDS)
def test_no_scale_of_the_source_is_missed(seeds: range) -> None:
    """Where nothing is found, no grid of the source's numbers is the value."""
    context = ir.make_context()
    for seed in seeds:
        chain = _Chain(random.Random(seed), transposing=0.0)
        if chain.source.size == chain.value.size or _found(chain, context)[0]:
            continue
        for sizes in _grids(chain):
            spread = _spread(chain.source.reshape(sizes), chain.value.shape)
            assert not np.array_equal(spread, chain.value), (sizes, chain.text)


def _grids(chain: _Chain) -> list[Shape]:
    """All grids of as many blocks as the source has numbers."""
    divisors = [[s for s in range(1, d + 1) if d % s == 0] for d in chain.value.shape]
    grids = itertools.product(*divisors)
    return [g for g in grids if math.prod(g) == chain.source.size]
