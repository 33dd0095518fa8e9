"""Reads ``iree_encoding`` ops and attributes.

The bindings have no classes for them, so attributes are read from their text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .mlir import Attribute, Operation, RankedTensorType, Type

SET_ENCODING = ("iree_encoding.set_encoding", "headrace.set_encoding")

_PREFIX = "#iree_encoding.encoding<"
_MAP = re.compile(r"affine_map<\(([^)]*)\) -> \(([^)]*)\)>")


def is_set_encoding(op: Operation) -> bool:
    """Whether ``op`` packs a tensor; its first operand is what it packs."""
    return op.name in SET_ENCODING


def encoding_of(type_: Type) -> Attribute | None:
    """The encoding of a tensor type; None where there is none."""
    return type_.encoding if isinstance(type_, RankedTensorType) else None


@dataclass(frozen=True)
class MatmulEncoding:
    """``#iree_encoding.encoding`` of one operand of a matmul.

    ``operand_index`` is 0 for lhs, 1 for rhs, 2 for the result. ``m``, ``n``
    and ``k`` are the static sizes of these loops: 1 where there is no such
    loop, None where the size is dynamic or not given. ``rest`` is the text of
    all other fields.
    """

    operand_index: int
    m: int | None
    n: int | None
    k: int | None
    rest: str

    @classmethod
    def parse(cls, encoding: Attribute) -> MatmulEncoding | None:
        """None for encodings of other ops, for chains of maps, and for matmuls
        with several loops of one kind."""
        text = str(encoding)
        if not text.startswith(_PREFIX):
            return None
        fields = _fields(text[len(_PREFIX) : -1])
        kinds = _kinds(fields.get("user_indexing_maps", ""))
        if fields.get("op_type") != "matmul" or kinds is None:
            return None
        m, n, k = (_size(fields, loop) for loop in kinds)
        rest = ", ".join(f"{key} = {text}" for key, text in fields.items() if key != _SIZES)
        return cls(int(fields["operand_index"].split()[0]), m, n, k, rest)


_SIZES = "iteration_sizes"


def _size(fields: dict[str, str], loop: int | None) -> int | None:
    if loop is None:
        return 1
    if _SIZES not in fields:
        return None
    size = fields[_SIZES].strip("[]").split(", ")[loop]
    return None if size == "?" else int(size)


def _kinds(maps: str) -> list[int | None] | None:
    """Which loop is m, n and k; None in their place where there is none."""
    found = _MAP.findall(maps)
    if len(found) != 3 or maps.count("[") != 1:
        return None
    loops: list[str] = found[0][0].split(", ")
    lhs, rhs, out = (set(results.split(", ")) for _, results in found)
    kinds: list[int | None] = []
    for members, others in (((lhs, out), rhs), ((rhs, out), lhs), ((lhs, rhs), out)):
        of_kind = [
            i for i, d in enumerate(loops) if all(d in s for s in members) and d not in others
        ]
        if len(of_kind) > 1:
            return None
        kinds.append(of_kind[0] if of_kind else None)
    return kinds


def _fields(text: str) -> dict[str, str]:
    """``a = x, b = [y, z]`` as a dictionary of texts."""
    fields: dict[str, str] = {}
    depth = start = 0
    for place, char in enumerate(text + ","):
        if char in "[<(":
            depth += 1
        elif char in "])" or (char == ">" and text[place - 1] != "-"):
            depth -= 1
        elif char == "," and depth == 0:
            key, _, value = text[start:place].partition(" = ")
            fields[key.strip()] = value.strip()
            start = place + 1
    return fields
