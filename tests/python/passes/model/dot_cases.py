"""Dots of two dequantized values, as StableHLO text and in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from device_programs import Argument, Case
from headrace.compiler.iree.element_types import Array

FP8 = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}
WIDE = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
Shape = tuple[int, ...]


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


@dataclass(frozen=True)
class Side:
    """One operand: an fp8 array, a scale, and what happens to the wide value.

    ``move`` gets the name of the wide value, a name to use up, and the wide
    type; it gives text whose result has ``move_name`` as its name. ``moved``
    does the same in numpy.
    """

    values: Array
    fp8: str = "f8E4M3FN"
    scale: float | Array | None = 1.0
    divide: bool = False
    move: Callable[[str, str, str], str] | None = None
    moved: Callable[[Array], Array] = lambda x: x

    def exact(self) -> Array:
        """The wide value in f64, scaled and moved."""
        wide = self.values.astype(FP8[self.fp8]).astype(np.float64)
        if self.scale is not None:
            scale = np.asarray(self.scale, np.float64)
            with np.errstate(divide="ignore"):
                wide = wide / scale if self.divide else wide * scale
        return self.moved(wide)


def dot_case(
    name: str,
    lhs: Side,
    rhs: Side,
    dims: str,
    einsum: str,
    *,
    wide: str = "f32",
    result: str = "f32",
    computed: str | None = None,
) -> Case:
    """A dot of two sides; ``dims`` in StableHLO's words, ``einsum`` in numpy's.

    ``computed``: the type of the dequantize, where that is not ``wide``.
    """
    computed = computed or wide
    exact = np.einsum(einsum, lhs.exact(), rhs.exact())
    expected = exact.astype(np.float32).astype(WIDE[result])
    arguments: list[Argument] = []
    for side in (lhs, rhs):
        fp8 = side.values.astype(FP8[side.fp8])
        arguments.append(Argument(tensor(fp8.shape, side.fp8), fp8[None]))
        if side.scale is not None:
            scale = np.asarray(side.scale).astype(WIDE[computed])
            arguments.append(Argument(tensor(scale.shape, computed), scale[None]))

    def body(names: Sequence[str], prefix: str) -> tuple[str, list[str]]:
        rest, lines, types, values = list(names), [], [], []
        for number, side in enumerate((lhs, rhs)):
            shape = side.values.shape
            operands, kinds = [rest.pop(0)], [tensor(shape, side.fp8)]
            if side.scale is not None:
                operands.append(rest.pop(0))
                kinds.append(tensor(np.shape(side.scale), computed))
            mode = "divide" if side.divide else "multiply"
            value = f"{prefix}d{number}"
            lines.append(
                f'{value} = "headrace.dequantize"({", ".join(operands)}) {{operandSegmentSizes = '
                f'array<i32: 1, {len(operands) - 1}>, scale_mode = "{mode}"}} : '
                f"({', '.join(kinds)}) -> {tensor(shape, computed)}"
            )
            if computed != wide:
                lines.append(
                    f"{prefix}c{number} = stablehlo.convert {value} : "
                    f"({tensor(shape, computed)}) -> {tensor(shape, wide)}"
                )
                value = f"{prefix}c{number}"
            if side.move is not None:
                lines.append(side.move(value, f"{prefix}m{number}", wide))
                value = f"{prefix}m{number}"
            values.append(value)
            types.append(tensor(side.exact().shape, wide))
        out = f"{prefix}r"
        lines.append(
            f"{out} = stablehlo.dot_general {values[0]}, {values[1]}, {dims} : "
            f"({', '.join(types)}) -> {tensor(expected.shape, result)}"
        )
        return "\n".join(lines), [out]

    return Case(name, tuple(arguments), body, (tensor(expected.shape, result),), (expected[None],))


def integers(shape: Shape, seed: int, limit: int = 4) -> Array:
    """Integers that every fp8 type holds, as are their sums in bf16."""
    generator = np.random.default_rng(seed)
    return generator.integers(-limit, limit + 1, shape).astype(np.float32)


MATMUL = "contracting_dims = [1] x [0]"
