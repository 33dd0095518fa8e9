"""Builds ``iree_encoding`` ops and the encoding of a matmul's operands.

The wheel has no bindings for the dialect, so attributes are parsed from text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import ir
from ..upstream.linalg import DYNAMIC, TensorBuilder

SET_ENCODING = "iree_encoding.set_encoding"
UNSET_ENCODING = "iree_encoding.unset_encoding"

LHS = 0
MATMUL, SCALED_MATMUL = "matmul", "scaled_matmul"

_MAP = re.compile(r"affine_map<\([^)]*\) -> \([^)]*\)>")
_DIM = re.compile(r"d(\d+)")
_ENTRY = re.compile(rf"\[[^\]]*\]|{_MAP.pattern}")
_ENCODING = re.compile(
    r"#iree_encoding\.encoding<operand_index = (?P<index>\d+) : index, "
    r"op_type = (?P<op>(scaled_)?matmul), element_types = \[(?P<types>[^\]]*)\], "
    r"user_indexing_maps = \[(?P<maps>.*?)\]"
    r"(, iteration_sizes = \[(?P<sizes>[^\]]*)\])?>"
)


@dataclass(frozen=True)
class OperandEncoding:
    """``#iree_encoding.encoding`` of one operand of a matmul, to be changed and printed.

    ``op_type``: MATMUL of lhs, rhs and result, or SCALED_MATMUL of lhs, rhs,
    their scales per block, and result. ``element_types`` as the encoding has
    them (``ui8`` where the body extends unsigned); ``maps`` holds per operand
    a chain of maps: from the loops to the operand, and on to a tensor that it
    is computed from elementwise;
    ``sizes`` the size of each loop, DYNAMIC where it comes as an
    ``encoding_dims`` operand, None where no loop's size is given.
    """

    operand_index: int
    element_types: tuple[str, ...]
    maps: tuple[tuple[str, ...], ...]
    sizes: tuple[int, ...] | None
    op_type: str = MATMUL

    @classmethod
    def parse(cls, encoding: ir.Attribute) -> OperandEncoding | None:
        """What ``attribute`` printed; None for encodings of other ops, and for one that
        contradicts itself: IREE verifies none."""
        text = str(encoding)
        found = _ENCODING.fullmatch(text)
        if found is None:
            return None
        chains = tuple(tuple(_MAP.findall(entry)) for entry in _ENTRY.findall(found["maps"]))
        sizes = None
        if found["sizes"] is not None:
            listed = re.findall(r"[-\w?]+", found["sizes"])
            sizes = tuple(DYNAMIC if s == "?" else int(s) for s in listed)
        types = tuple(found["types"].split(", "))
        made = cls(int(found["index"]), types, chains, sizes, found["op"])
        return made if made._agrees() else None

    def _agrees(self) -> bool:
        """Whether there is a map and a type for each operand, and a size for each loop."""
        operands = 3 if self.op_type == MATMUL else 5
        if not len(self.maps) == len(self.element_types) == operands or not all(self.maps):
            return False
        loops = {len(_DIM.findall(chain[0].partition("->")[0])) for chain in self.maps}
        return (
            0 <= self.operand_index < operands
            and len(loops) == 1
            and (self.sizes is None or loops == {len(self.sizes)})
        )

    def at(self, operand_index: int) -> OperandEncoding:
        """The encoding of another operand of the same matmul."""
        return replace(self, operand_index=operand_index)

    @property
    def is_result(self) -> bool:
        return self.operand_index == len(self.maps) - 1

    def through(self, map_: ir.AffineMap) -> OperandEncoding:
        """For what the operand is computed from: ``map_`` leads from the
        operand's dimensions to those of the source."""
        maps = list(self.maps)
        maps[self.operand_index] = (*maps[self.operand_index], _map_text(map_))
        return replace(self, maps=tuple(maps))

    def matmul_sizes(self) -> tuple[int, int, int] | None:
        """The lengths of the loops m, n and k: 1 where there is no such loop,
        DYNAMIC where it is not known; None without ``iteration_sizes``, and
        with several loops of one kind (k and block of a scaled matmul)."""
        if self.sizes is None or len(self.maps) < 3:
            return None
        lhs, rhs, *_, out = (set(_DIM.findall(chain[0].split("->")[1])) for chain in self.maps)
        kinds = ((lhs & out) - rhs, (rhs & out) - lhs, (lhs & rhs) - out)
        if any(len(loops) > 1 for loops in kinds):
            return None
        m, n, k = (self.sizes[int(next(iter(loops)))] if loops else 1 for loops in kinds)
        return m, n, k

    def attribute(self, context: ir.Context) -> ir.Attribute:
        maps = ", ".join(c[0] if len(c) == 1 else f"[{', '.join(c)}]" for c in self.maps)
        sizes = ""
        if self.sizes is not None:
            listed = ", ".join("?" if s == DYNAMIC else str(s) for s in self.sizes)
            sizes = f", iteration_sizes = [{listed}]"
        text = (
            f"#iree_encoding.encoding<operand_index = {self.operand_index} : index, "
            f"op_type = {self.op_type}, element_types = [{', '.join(self.element_types)}], "
            f"user_indexing_maps = [{maps}]{sizes}>"
        )
        return ir.Attribute.parse(text, context)


def matmul_encoding(
    element_types: Sequence[str], maps: Sequence[ir.AffineMap], sizes: Sequence[int] | None
) -> OperandEncoding:
    """The encoding of lhs; ``at`` gives those of the other operands. With five
    operands the matmul is scaled in blocks."""
    chains = tuple((_map_text(m),) for m in maps)
    op_type = MATMUL if len(chains) == 3 else SCALED_MATMUL
    lengths = None if sizes is None else tuple(sizes)
    return OperandEncoding(LHS, tuple(element_types), chains, lengths, op_type)


def _map_text(map_: ir.AffineMap) -> str:
    return f"affine_map<{map_}>"


def encoded(type_: ir.Type, encoding: ir.Attribute | None) -> ir.RankedTensorType:
    """The tensor type with that encoding, or without one."""
    tensor = ir.RankedTensorType(type_)
    loc = ir.Location.unknown(type_.context)
    return ir.RankedTensorType.get(list(tensor.shape), tensor.element_type, encoding, loc=loc)


def set_encoding(
    b: TensorBuilder, value: ir.Value, encoding: ir.Attribute, dims: Sequence[ir.Value] = ()
) -> ir.Value:
    """Packs a tensor; ``dims`` are the sizes of the encoding's dynamic loops, in order."""
    return b.op(SET_ENCODING, [value, *dims], encoded(value.type, encoding))


def unset_encoding(
    b: TensorBuilder, value: ir.Value, sizes: Sequence[ir.Value] = (), dims: Sequence[ir.Value] = ()
) -> ir.Value:
    """Unpacks a tensor whose dynamic dimensions have ``sizes``."""
    with b.loc.context:
        segments = ir.DenseI32ArrayAttr.get([1, len(sizes), len(dims)])
    type_ = encoded(value.type, None)
    operands = [value, *sizes, *dims]
    return b.op(UNSET_ENCODING, operands, type_, {"operandSegmentSizes": segments})
