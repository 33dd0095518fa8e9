"""Every StableHLO op that moves data, between a dequantize and a dot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from device_programs import Case
from dot_cases import Shape, Side, dot_case, integers, tensor
from headrace.compiler.iree.element_types import Array

ZERO_FILLING = ("pad", "select", "concatenate", "update")
# What a scale per row follows, and still leaves the sum along the last dim.
WITH_ROWS = ("reshape", "broadcast", "reverse", "slice", "strided slice", "dynamic slice", "select")


def movement(
    name: str,
    shape: Shape,
    move: Callable[[str, str, str], str],
    moved: Callable[[Array], Array],
    scale: float | Array = 0.5,
    fp8: str = "f8E5M2",
) -> Case:
    """One data movement op on rhs, before a product of its last dim with a vector."""
    rhs = Side(integers(shape, 11), fp8, scale, move=move, moved=moved)
    after = rhs.exact().shape
    lhs = Side(integers(after[-1:], 12), scale=2.0)
    letters = "abcd"[: len(after) - 1]
    dims = f"contracting_dims = [0] x [{len(after) - 1}]"
    return dot_case(name, lhs, rhs, dims, f"k,{letters}k->{letters}")


def movement_cases() -> list[Case]:
    """Every StableHLO op of the movement interface; zeros in FNUZ types too."""
    rows = 2.0 ** integers((4, 1), 13)

    def unary(op: str, rest: str, after: Shape, before: Shape = (4, 8)):
        def text(value: str, name: str, wide: str) -> str:
            types = f"({tensor(before, wide)}) -> {tensor(after, wide)}"
            return f"{name} = stablehlo.{op} {value}{rest} : {types}"

        return text

    def pad(value: str, name: str, wide: str) -> str:
        types = f"({tensor((4, 8), wide)}, tensor<{wide}>) -> {tensor((10, 7), wide)}"
        return f"""
            {name}z = stablehlo.constant dense<0.0> : tensor<{wide}>
            {name} = stablehlo.pad {value}, {name}z, low = [1, -1], high = [2, 0],
                interior = [1, 0] : {types}"""

    def padded(x: Array) -> Array:
        out = np.zeros((10, 7))
        out[1:8:2] = x[:, 1:]
        return out

    def select(value: str, name: str, wide: str) -> str:
        type_ = tensor((4, 8), wide)
        return f"""
            {name}p = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
            {name}q = stablehlo.broadcast_in_dim {name}p, dims = [0] :
                (tensor<4xi1>) -> tensor<4x8xi1>
            {name}z = stablehlo.constant dense<0.0> : {type_}
            {name} = stablehlo.select {name}q, {name}z, {value} : tensor<4x8xi1>, {type_}"""

    def concatenate(value: str, name: str, wide: str) -> str:
        part, zeros, whole = (tensor((n, 8), wide) for n in (4, 2, 10))
        return f"""
            {name}z = stablehlo.constant dense<0.0> : {zeros}
            {name} = stablehlo.concatenate {value}, {name}z, {value}, dim = 0 :
                ({part}, {zeros}, {part}) -> {whole}"""

    def dynamic_slice(value: str, name: str, wide: str) -> str:
        types = f"({tensor((4, 8), wide)}, tensor<i32>, tensor<i32>) -> {tensor((2, 4), wide)}"
        return f"""
            {name}i = stablehlo.constant dense<1> : tensor<i32>
            {name}j = stablehlo.constant dense<9> : tensor<i32>
            {name} = stablehlo.dynamic_slice {value}, {name}i, {name}j, sizes = [2, 4] : {types}"""

    def update(value: str, name: str, wide: str) -> str:
        part, whole = tensor((4, 8), wide), tensor((6, 9), wide)
        return f"""
            {name}z = stablehlo.constant dense<0.0> : {whole}
            {name}i = stablehlo.constant dense<1> : tensor<i32>
            {name} = stablehlo.dynamic_update_slice {name}z, {value}, {name}i, {name}i :
                ({whole}, {part}, tensor<i32>, tensor<i32>) -> {whole}"""

    def gather(value: str, name: str, wide: str) -> str:
        types = f"({tensor((4, 8), wide)}, tensor<3x1xi32>) -> {tensor((3, 8), wide)}"
        return f"""
            {name}i = stablehlo.constant dense<[[3], [0], [0]]> : tensor<3x1xi32>
            {name} = "stablehlo.gather"({value}, {name}i) <{{
                dimension_numbers = #stablehlo.gather<offset_dims = [1],
                    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
                slice_sizes = array<i64: 1, 8>}}> : {types}"""

    transpose = unary("transpose", ", dims = [1, 0]", (8, 4))
    broadcast = unary("broadcast_in_dim", ", dims = [0, 2]", (4, 3, 8))
    reverse = unary("reverse", ", dims = [0, 1]", (4, 8))

    def reversed_text(value: str, name: str, wide: str) -> str:
        return reverse(value, name, wide).partition(" : ")[0] + f" : tensor<4x8x{wide}>"

    def slice_text(value: str, name: str, wide: str) -> str:
        types = f"(tensor<4x8x{wide}>) -> tensor<2x6x{wide}>"
        return f"{name} = stablehlo.slice {value} [1:3, 1:7] : {types}"

    def strided_text(value: str, name: str, wide: str) -> str:
        return slice_text(value, name, wide).replace("[1:3,", "[0:4:2,")

    moves: list[tuple[str, Callable[[str, str, str], str], Callable[[Array], Array]]] = [
        ("transpose", transpose, lambda x: x.T),
        ("reshape", unary("reshape", "", (2, 2, 8)), lambda x: x.reshape(2, 2, 8)),
        ("broadcast", broadcast, lambda x: np.broadcast_to(x[:, None], (4, 3, 8))),
        ("reverse", reversed_text, lambda x: x[::-1, ::-1]),
        ("slice", slice_text, lambda x: x[1:3, 1:7]),
        ("strided slice", strided_text, lambda x: x[0:4:2, 1:7]),
        ("dynamic slice", dynamic_slice, lambda x: x[1:3, 4:8]),
        ("pad", pad, padded),
        ("select", select, lambda x: x * np.array([[0.0], [1.0], [0.0], [1.0]])),
        ("concatenate", concatenate, lambda x: np.concatenate([x, np.zeros((2, 8)), x])),
        ("update", update, lambda x: np.pad(x, ((1, 1), (1, 0)))),
        ("gather", gather, lambda x: x[[3, 0, 0]]),
    ]
    found = [movement(name, (4, 8), text, fn) for name, text, fn in moves]
    found += [
        movement(f"{n} fnuz", (4, 8), t, f, fp8="f8E4M3FNUZ")
        for n, t, f in moves
        if n in ZERO_FILLING
    ]
    return found + [
        movement(f"{n} rows", (4, 8), t, f, scale=rows) for n, t, f in moves if n in WITH_ROWS
    ]
