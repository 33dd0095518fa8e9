"""Random programs of matmuls and the ops around them, for differential tests."""

from __future__ import annotations

import random

N = 24
WHOLE = "affine_map<(i, j) -> (i, j)>"
SWAPPED = "affine_map<(i, j) -> (j, i)>"
UNARY = ("math.tanh %a", "math.absf %a", "arith.negf %a", "math.exp %n")


class GraphWriter:
    """Writes one function; every value is a square matrix of numbers in [-1, 1] or so."""

    def __init__(self, name: str, seed: int, ops: int, size: int = N) -> None:
        self._n = size
        self._t = f"tensor<{size}x{size}xf32>"
        self._p = f"tensor<{size}x3x{size}xf32>"
        self._random = random.Random(seed)
        self._name = name
        self._lines: list[str] = []
        self._values = ["%x", "%y"]
        for index in range(ops):
            self._add(f"%v{index}")

    def text(self) -> str:
        """Returns the last value and one or two others, which may be read elsewhere."""
        results = [self._values[-1], *self._random.sample(self._values[2:], 2)]
        types = ", ".join(self._t for _ in results)
        return (
            f"func.func @{self._name}(%x: {self._t}, %y: {self._t}, %w: {self._t}, "
            f"%b: tensor<{self._n}xf32>, "
            f"%s: tensor<f32>, %q: tensor<{self._n}x{self._n}xi8>, %h: {self._p}) -> ({types}) {{\n"
            "  %zero = arith.constant 0.0 : f32\n"
            + "\n".join(self._lines)
            + f"\n  return {', '.join(results)} : {types}\n}}\n"
        )

    def _operand(self) -> str:
        """A recent value, mostly."""
        recent = self._values[-4:]
        return self._random.choice(recent if self._random.random() < 0.8 else self._values)

    def _add(self, name: str) -> None:
        kinds = (
            self._matmul, self._matmul, self._matmul, self._unary, self._unary, self._binary,
            self._bias, self._scale, self._transpose, self._row_sums, self._pool, self._decode,
            self._reshape,
        )  # fmt: skip
        self._random.choice(kinds)(name)
        self._values.append(name)

    def _generic(
        self, name: str, inputs: list[tuple[str, str, str]], body: str, out: str = WHOLE
    ) -> None:
        """``inputs``: value, type and map of each; the body reads %a, %c."""
        maps = ", ".join([*(m for _, _, m in inputs), out])
        names = ", ".join(v for v, _, _ in inputs)
        types = ", ".join(t for _, t, _ in inputs)
        elements = [t.rpartition("x")[2].rpartition("<")[2].rstrip(">") for _, t, _ in inputs]
        blocks = ", ".join(f"%{n}: {e}" for n, e in zip("ac", elements, strict=False))
        self._lines.append(
            f"  {name}_e = tensor.empty() : {self._t}\n"
            f"  {name} = linalg.generic {{indexing_maps = [{maps}], "
            f'iterator_types = ["parallel", "parallel"]}} ins({names} : {types}) '
            f"outs({name}_e : {self._t}) {{\n  ^bb0({blocks}, %o: f32):\n    {body}\n"
            f"    linalg.yield %r : f32\n  }} -> {self._t}"
        )

    def _matmul(self, name: str) -> None:
        a, b = self._operand(), self._random.choice(["%w", self._operand()])
        self._lines.append(
            f"  {name}_i = tensor.empty() : {self._t}\n"
            f"  {name}_f = linalg.fill ins(%zero : f32) outs({name}_i : {self._t}) -> {self._t}\n"
            f"  {name}_m = linalg.matmul ins({a}, {b} : {self._t}, {self._t}) outs({name}_f : {self._t}) -> {self._t}"
        )
        self._generic(name, [(f"{name}_m", self._t, WHOLE)], "%r = math.tanh %a : f32")

    def _unary(self, name: str) -> None:
        op = self._random.choice(UNARY)
        body = f"%n = math.absf %a : f32\n    %m = arith.negf %n : f32\n    %r = {op} : f32"
        self._generic(name, [(self._operand(), self._t, WHOLE)], body.replace("exp %n", "exp %m"))

    def _binary(self, name: str) -> None:
        inputs = [(self._operand(), self._t, WHOLE), (self._operand(), self._t, WHOLE)]
        self._generic(name, inputs, "%p = arith.mulf %a, %c : f32\n    %r = math.tanh %p : f32")

    def _bias(self, name: str) -> None:
        op = self._random.choice(["%r = math.tanh %p : f32", "%r = arith.negf %p : f32"])
        column = self._random.choice(["affine_map<(i, j) -> (j)>", "affine_map<(i, j) -> (i)>"])
        inputs = [(self._operand(), self._t, WHOLE), ("%b", f"tensor<{self._n}xf32>", column)]
        self._generic(name, inputs, f"%p = arith.mulf %a, %c : f32\n    {op}")

    def _scale(self, name: str) -> None:
        inputs = [
            (self._operand(), self._t, WHOLE),
            ("%s", "tensor<f32>", "affine_map<(i, j) -> ()>"),
        ]
        self._generic(name, inputs, "%r = arith.mulf %a, %c : f32")

    def _transpose(self, name: str) -> None:
        maps = self._random.choice([(SWAPPED, WHOLE), (WHOLE, SWAPPED)])
        self._generic(
            name, [(self._operand(), self._t, maps[0])], "%r = math.absf %a : f32", maps[1]
        )

    def _row_sums(self, name: str) -> None:
        a = self._operand()
        v = f"tensor<{self._n}xf32>"
        self._lines.append(
            f"  {name}_t = tensor.empty() : {v}\n"
            f"  {name}_z = linalg.fill ins(%zero : f32) outs({name}_t : {v}) -> {v}\n"
            f"  {name}_s = linalg.generic {{indexing_maps = [{WHOLE}, affine_map<(i, j) -> (i)>], "
            f'iterator_types = ["parallel", "reduction"]}} ins({a} : {self._t}) outs({name}_z : {v}) {{\n'
            "  ^bb0(%a: f32, %o: f32):\n    %0 = math.absf %a : f32\n"
            f"    %1 = arith.addf %0, %o : f32\n    linalg.yield %1 : f32\n  }} -> {v}"
        )
        one = "%k = arith.constant 1.0 : f32\n    %d = arith.addf %c, %k : f32\n    "
        inputs = [(a, self._t, WHOLE), (f"{name}_s", v, "affine_map<(i, j) -> (i)>")]
        self._generic(name, inputs, one + "%r = arith.divf %a, %d : f32")

    def _pool(self, name: str) -> None:
        """A sum along a dimension of its own, with or without an op before and after it."""
        whole = "affine_map<(i, k, j) -> (i, k, j)>"
        value = "%h"
        if self._random.random() < 0.5:
            value = f"{name}_p"
            self._lines.append(
                f"  {name}_h = tensor.empty() : {self._p}\n"
                f"  {name}_p = linalg.generic {{indexing_maps = [{whole}, {whole}], "
                f'iterator_types = ["parallel", "parallel", "parallel"]}} ins(%h : {self._p}) '
                f"outs({name}_h : {self._p}) {{\n  ^bb0(%a: f32, %o: f32):\n"
                f"    %r = math.tanh %a : f32\n    linalg.yield %r : f32\n  }} -> {self._p}"
            )
        total = self._random.choice([name, f"{name}_s"])
        square = "affine_map<(i, k, j) -> (i, j)>"
        self._lines.append(
            f"  {name}_t = tensor.empty() : {self._t}\n"
            f"  {name}_z = linalg.fill ins(%zero : f32) outs({name}_t : {self._t}) -> {self._t}\n"
            f"  {total} = linalg.generic {{indexing_maps = [{whole}, {square}, {square}], "
            f'iterator_types = ["parallel", "reduction", "parallel"]}} '
            f"ins({value}, {self._operand()} : {self._p}, {self._t}) outs({name}_z : {self._t}) {{\n"
            "  ^bb0(%a: f32, %c: f32, %o: f32):\n    %0 = arith.mulf %a, %c : f32\n"
            "    %1 = math.tanh %0 : f32\n"
            f"    %2 = arith.addf %1, %o : f32\n    linalg.yield %2 : f32\n  }} -> {self._t}"
        )
        if total != name:
            map_ = self._random.choice([WHOLE, SWAPPED])
            self._generic(name, [(total, self._t, map_)], "%r = math.tanh %a : f32")

    def _decode(self, name: str) -> None:
        body = "%f = arith.sitofp %a : i8 to f32\n    %r = math.tanh %f : f32"
        self._generic(name, [("%q", f"tensor<{self._n}x{self._n}xi8>", WHOLE)], body)

    def _reshape(self, name: str) -> None:
        flat = f"tensor<{self._n * self._n}xf32>"
        one = "affine_map<(i) -> (i)>"
        self._lines.append(
            f"  {name}_c = tensor.collapse_shape {self._operand()} [[0, 1]] : {self._t} into {flat}\n"
            f"  {name}_e = tensor.empty() : {flat}\n"
            f"  {name}_g = linalg.generic {{indexing_maps = [{one}, {one}], "
            f'iterator_types = ["parallel"]}} ins({name}_c : {flat}) outs({name}_e : {flat}) {{\n'
            "  ^bb0(%a: f32, %o: f32):\n    %0 = math.tanh %a : f32\n    linalg.yield %0 : f32\n"
            f"  }} -> {flat}\n"
            f"  {name} = tensor.expand_shape {name}_g [[0, 1]] output_shape [{self._n}, {self._n}] : "
            f"{flat} into {self._t}"
        )
