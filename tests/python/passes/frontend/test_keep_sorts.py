"""``keep-sorts``: sorts of a value and its positions, in real runs against NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import headrace
import numpy as np
import pytest
from cpu_programs import Program
from headrace.compiler.iree.element_types import Array


@dataclass(frozen=True)
class Sort:
    """``sort(x, iota)``, or of both the other way round; then its first results along ``dim``."""

    shape: tuple[int, ...]
    dim: int
    compares: tuple[int, int] = (0, 1)
    direction: str = "GT"
    iota_dim: int | None = None
    iota_first: bool = False
    places: tuple[int, int] = (0, 3)

    @property
    def text(self) -> str:
        sizes = "x".join(map(str, self.shape))
        elements = ["f32", "i32"]
        names = ["%x", "%i"]
        if self.iota_first:
            elements, names = elements[::-1], names[::-1]
        types = [f"tensor<{sizes}x{element}>" for element in elements]
        bounds = [f"0:{size}" for size in self.shape]
        bounds[self.dim] = "{}:{}".format(*self.places)
        taken = list(self.shape)
        taken[self.dim] = self.places[1] - self.places[0]
        results = [f"tensor<{'x'.join(map(str, taken))}x{element}>" for element in elements]
        a, b = self.compares
        key = elements[a // 2]
        kind = "TOTALORDER" if key == "f32" else "SIGNED"
        arguments = ", ".join(f"%a{n}: tensor<{elements[n // 2]}>" for n in range(4))
        return f"""
func.func @main(%x: tensor<{sizes}xf32>) -> ({", ".join(results)}) {{
  %i = stablehlo.iota dim = {self.counted} : tensor<{sizes}xi32>
  %s:2 = "stablehlo.sort"({", ".join(names)}) ({{
  ^bb0({arguments}):
    %c = stablehlo.compare {self.direction}, %a{a}, %a{b}, {kind}
      : (tensor<{key}>, tensor<{key}>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}) {{dimension = {self.dim} : i64, is_stable = true}}
    : ({", ".join(types)}) -> ({", ".join(types)})
  %v = stablehlo.slice %s#0 [{", ".join(bounds)}] : ({types[0]}) -> {results[0]}
  %j = stablehlo.slice %s#1 [{", ".join(bounds)}] : ({types[1]}) -> {results[1]}
  return %v, %j : {", ".join(results)}
}}
"""

    @property
    def counted(self) -> int:
        return self.dim if self.iota_dim is None else self.iota_dim

    def results(self, x: Array) -> list[Array]:
        """NumPy's."""
        places = np.indices(self.shape, np.int32)[self.counted]
        operands: list[Array] = [places, x] if self.iota_first else [x, places]
        a, b = self.compares
        key = operands[a // 2]
        rising = (self.direction == "GT") != (a < b)
        order = np.argsort(key if rising else -key, axis=self.dim, kind="stable")
        taken = [np.take_along_axis(each, order, self.dim) for each in operands]
        return [np.take(each, range(*self.places), self.dim) for each in taken]


SORTS = {
    "top-k": Sort((4, 8), 1),
    "bottom-k": Sort((8,), 0, direction="LT"),
    "by position": Sort((8,), 0, (2, 3)),
    "by position, rising": Sort((8,), 0, (3, 2)),
    "turned round": Sort((4, 8), 1, (1, 0)),
    "positions first": Sort((8,), 0, (2, 3), iota_first=True),
    "positions first, by position": Sort((8,), 0, (0, 1), iota_first=True),
    "the middle": Sort((4, 8), 1, places=(2, 5)),
    "all": Sort((4, 8), 1, places=(0, 8)),
    "columns": Sort((8, 4), 0, places=(0, 4)),
    "columns of a square": Sort((4, 4), 0),
    "positions along another dim": Sort((4, 8), 1, iota_dim=0),
}


@pytest.mark.parametrize("name", SORTS)
def test_descending_sorts(name: str) -> None:
    sort = SORTS[name]
    vmfb = headrace.compile(sort.text).vmfb
    assert vmfb is not None
    x = np.random.default_rng(0).permutation(np.prod(sort.shape)).reshape(sort.shape)
    x = (x // 2).astype(np.float32)  # with ties
    got = Program(vmfb).results("main", x)
    for ours, theirs in zip(got, sort.results(x), strict=True):
        assert np.array_equal(ours, theirs)


def test_broadcast_scalars() -> None:
    """What folds to the broadcast of a scalar: ``argsort(where(m, x, x))``, and its top-k."""
    text = """
func.func @main(%x: tensor<f32>, %m: tensor<8xi1>)
    -> (tensor<8xi32>, tensor<8xf32>, tensor<3xf32>, tensor<3xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %y = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %z = stablehlo.select %m, %y, %y : tensor<8xi1>, tensor<8xf32>
  %s:2 = "stablehlo.sort"(%z, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true}
    : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %v, %j = chlo.top_k(%z, k = 3) : tensor<8xf32> -> (tensor<3xf32>, tensor<3xi32>)
  return %s#1, %s#0, %v, %j : tensor<8xi32>, tensor<8xf32>, tensor<3xf32>, tensor<3xi32>
}
"""
    vmfb = headrace.compile(text).vmfb
    assert vmfb is not None
    got = Program(vmfb).results("main", np.array(5, np.float32), np.arange(8) % 2 == 0)
    want = (np.arange(8), np.full(8, 5), np.full(3, 5), np.arange(3))
    for ours, right in zip(got, want, strict=True):
        assert np.array_equal(ours, right)
