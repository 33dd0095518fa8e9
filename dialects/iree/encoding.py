"""What packs a tensor, and how a type says that it is packed."""

from __future__ import annotations

from .. import ir

SET_ENCODING = ("iree_encoding.set_encoding", "headrace.set_encoding")
UNSET_ENCODING = ("iree_encoding.unset_encoding", "headrace.unset_encoding")


def is_set_encoding(op: ir.Operation) -> bool:
    """Whether ``op`` packs a tensor; its first operand is what it packs."""
    return op.name in SET_ENCODING


def encoding_of(type_: ir.Type) -> ir.Attribute | None:
    """The encoding of a tensor type; None where there is none."""
    return type_.encoding if isinstance(type_, ir.RankedTensorType) else None
