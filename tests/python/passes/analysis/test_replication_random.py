"""The replication analysis on random programs, run on four simulated devices: what
it calls equal must be equal, whatever the devices' own data."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from replication_programs import F, all_reduce, classes_of, permute

GROUPS = [
    [[0, 1, 2, 3]],
    [[0, 1], [2, 3]],
    [[0, 2], [1, 3]],
    [[3, 1], [0, 2]],
    [[1, 2]],
]
PERMUTES = [
    [(0, 1), (1, 0), (2, 3), (3, 2)],
    [(0, 1), (1, 2), (2, 3), (3, 0)],
    [(0, 2)],
    [(1, 3), (3, 0)],
]


@dataclass(frozen=True)
class _Line:
    kind: str
    x: str
    y: str
    groups: list[list[int]]
    pairs: list[tuple[int, int]]

    def mlir(self) -> str:
        if self.kind == "all_reduce":
            shape = f"{len(self.groups)}x{len(self.groups[0])}"
            groups = f"replica_groups = dense<{self.groups}> : tensor<{shape}xi64>"
            return all_reduce(f"%{self.x}", groups)
        if self.kind == "permute":
            return permute(f"%{self.x}", self.pairs)
        return f"stablehlo.{self.kind} %{self.x}, %{self.y} : {F}"

    def run(self, x: list[object], y: list[object]) -> list[object]:
        """The values of the four devices, as terms: only the same computation
        of the same data is equal."""
        if self.kind == "permute":
            found: list[object] = ["zero"] * 4
            for source, target in self.pairs:
                found[target] = x[source]
            return found
        if self.kind == "all_reduce":
            found = [("left out", device) for device in range(4)]
            for group in self.groups:
                for device in group:
                    found[device] = ("reduced", tuple(x[d] for d in group))
            return found
        return [(self.kind, a, b) for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("seed", range(30))
def test_random_programs(seed: int) -> None:
    rng = random.Random(seed)
    held: dict[str, list[object]] = {
        "own": ["a", "b", "c", "d"],
        "all": ["e"] * 4,
        "half": ["f", "f", "g", "g"],
    }
    body = [
        "%h = stablehlo.slice %pairs [0:1] : (tensor<2xf32>) -> tensor<1xf32>",
        f"%half = stablehlo.reshape %h : (tensor<1xf32>) -> {F}",
    ]
    kinds = ["add", "maximum", "all_reduce", "permute"]
    names = [f"v{i}" for i in range(12)]
    for name in names:
        x, y = rng.choice(list(held)), rng.choice(list(held))
        line = _Line(rng.choice(kinds), x, y, rng.choice(GROUPS), rng.choice(PERMUTES))
        body.append(f"%{name} = {line.mlir()}")
        held[name] = line.run(held[x], held[y])
    values = ", ".join(f"%{name}" for name in names)
    found = classes_of("\n".join(body), values, ", ".join([F] * len(names)))
    for name, classes in zip(names, found, strict=True):
        for a in range(4):
            for b in range(4):
                if classes[a] == classes[b]:
                    assert held[name][a] == held[name][b], (name, body)
