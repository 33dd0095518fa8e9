"""Merges equal encodings of one value, and those that the target packs alike."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ....dialects import ir
from ....dialects.iree.encoding import UNSET_ENCODING, encoding_of, is_set_encoding
from ....dialects.op_traits import VIEWS
from ...remarks import remark
from ...targets.packing import Packing


def merge_encodings(ops: Sequence[ir.Operation], packing: Packing) -> list[ir.Operation]:
    """Merges encodings, and reshapes that lead to them; returns what is left.

    ``ops`` are the set_encodings and reshapes of one block in order. Native
    CSE would do the first half; but it does not run between setting encodings
    and fusing them, nor can it after fusion, when it would make regions yield
    one value twice.
    """
    first: dict[Hashable, ir.Operation] = {}
    alike: dict[Hashable, ir.Operation] = {}
    left: list[ir.Operation] = []
    interesting = _leading_to_encodings(ops)
    for op in ops:
        if ir.address_of(op) not in interesting:
            continue
        key = _key(op)
        same = first.setdefault(key, op)
        if same == op and is_set_encoding(op):
            like = alike.setdefault(_layout_key(op, packing), op)
            if like != op and _type_goes_no_further(op.results[0]):
                remark(op, "packed as another encoding of its source is: both are one now")
                same = first[key] = like
        if same == op:
            left.append(op)
            continue
        op.results[0].replace_all_uses_with(same.results[0])
        op.erase()
    return left


def _leading_to_encodings(ops: Sequence[ir.Operation]) -> set[int]:
    """Addresses of the encodings and of the reshapes between them and other ops."""
    found: set[int] = set()
    for op in reversed(ops):
        if is_set_encoding(op) or ir.address_of(op) in found:
            found.add(ir.address_of(op))
            producer = ir.defining_op(op.operands[0])
            if producer is not None and producer.name in VIEWS:
                found.add(ir.address_of(producer))
    return found


def _key(op: ir.Operation) -> Hashable:
    attributes: list[tuple[str, ir.Attribute]] = [(n, op.attributes[n]) for n in op.attributes]
    operands: list[ir.Value] = list(op.operands)
    type_: ir.Type = op.results[0].type
    return (op.name, tuple(operands), tuple(attributes), type_)


def _layout_key(op: ir.Operation, packing: Packing) -> Hashable:
    """Sizes given at run time are left out: no resolver of IREE's reads them."""
    encoding = encoding_of(op.results[0].type)
    source: ir.Value = op.operands[0]
    return (op.name, source, encoding and packing.layout_class(encoding))


def _type_goes_no_further(value: ir.Value) -> bool:
    """Whether all uses are inputs of linalg ops or unpack: no type follows from it."""
    for use in value.uses:
        op = use.owner.operation
        if op.name in UNSET_ENCODING:
            continue
        if not op.name.startswith("linalg.") or "operandSegmentSizes" not in op.attributes:
            return False
        if use.operand_number >= ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]:
            return False
    return True
