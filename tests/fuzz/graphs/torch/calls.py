"""Torch ops as torch-mlir writes them."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import Type, Value
from ..numerics import FLOATS
from ..writer import Writer

# PyTorch's numbers of its types.
CODES = {
    "i8": 1, "i16": 2, "i32": 3, "i64": 4, "f16": 5, "f32": 6, "f64": 7, "i1": 11, "bf16": 15,
    "f8E5M2": 23, "f8E4M3FN": 24,
}  # fmt: skip


FLOAT = FLOATS[:3]


def ints(name: str, values: Sequence[int]) -> list[str]:
    """Defines ``%~name``: a list of integers."""
    parts = [f"%~{name}{i}" for i in range(len(values))]
    lines = [f"{p} = torch.constant.int {v}" for p, v in zip(parts, values, strict=True)]
    types = ", ".join(["!torch.int"] * len(values))
    listed = (
        f"torch.prim.ListConstruct {', '.join(parts)}" if values else "torch.prim.ListConstruct"
    )
    return [*lines, f"%~{name} = {listed} : ({types}) -> !torch.list<int>"]


def integer(name: str, value: int) -> str:
    return f"%~{name} = torch.constant.int {value}"


_NONE = {"%none": "!torch.none", "%true": "!torch.bool", "%false": "!torch.bool"}


def call(
    op: str,
    operands: Sequence[str],
    types: Sequence[str],
    results: Sequence[Type],
    target: str = "%=",
) -> str:
    """One op. Types of operands by name, where not given as ``None``."""
    shown = [*types]
    many = f":{len(results)}" if len(results) > 1 else ""
    made = ", ".join(r.torch for r in results)
    return f"{target}{many} = torch.{op} {', '.join(operands)} : {', '.join(shown)} -> {made}"


def floats(writer: Writer, *ranks: int) -> Value:
    return writer.value(lambda t: t.element in FLOAT and (not ranks or t.rank in ranks))
