"""Pieces of the text of linalg and tensor ops in the templates of nodes."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import Type, Value

Dims = tuple[int, ...]


def dims_map(loops: int, dims: Sequence[int]) -> str:
    """``affine_map<(d0, d1) -> (d1)>``."""
    inputs = ", ".join(f"d{i}" for i in range(loops))
    return f"affine_map<({inputs}) -> ({', '.join(f'd{d}' for d in dims)})>"


def kinds(parallel: int, reduction: int = 0) -> str:
    """The iterator types of a generic, the reductions last."""
    return "[" + ", ".join(['"parallel"'] * parallel + ['"reduction"'] * reduction) + "]"


def size(name: str, operand: int, dim: int, type: Type) -> list[str]:
    """Defines ``%~name``: a size of an operand, as the program reads it."""
    return [
        f"%~{name}c = arith.constant {dim} : index",
        f"%~{name} = tensor.dim %${operand}, %~{name}c : {type}",
    ]


def empty(
    name: str, type: Type, operands: Sequence[Value], sources: Sequence[tuple[int, int]]
) -> list[str]:
    """Defines ``%~name``: an empty tensor. ``sources``: for each dimension an
    operand and one of its dimensions of that size."""
    lines: list[str] = []
    sizes: list[str] = []
    for position, dynamic in enumerate(type.dynamic):
        if dynamic:
            operand, dim = sources[position]
            lines += size(f"{name}{position}", operand, dim, operands[operand].type)
            sizes.append(f"%~{name}{position}")
    return [*lines, f"%~{name} = tensor.empty({', '.join(sizes)}) : {type}"]


def fill(name: str, source: str, literal: str, type: Type) -> list[str]:
    """Defines ``%~name``: ``%~source`` filled with a constant."""
    return [
        f"%~{name}z = arith.constant {literal}{'' if type.element == 'i1' else f' : {type.element}'}",
        f"%~{name} = linalg.fill ins(%~{name}z : {type.element}) "
        f"outs(%~{source} : {type}) -> {type}",
    ]


def zero(element: str) -> str:
    return "false" if element == "i1" else "0" if element[0] == "i" else "0.0"


def ins(operands: Sequence[Value], start: int = 0) -> str:
    names = ", ".join(f"%${i + start}" for i in range(len(operands)))
    return f"ins({names} : {', '.join(str(o.type) for o in operands)})"
