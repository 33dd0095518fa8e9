"""The pass ``keep-update-order``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.barriers import hidden_zero
from ...dialects.op_traits import VIEWS
from ...dialects.upstream.linalg import TensorBuilder
from ...dialects.upstream.tensor import DYNAMIC
from ..base import Pass
from .buffers.part_ranges import PartRange, part_range, parts_of_concat
from .buffers.update_sources import Window

# Each with the operand that is the tensor of which they read or write a part.
_WRITERS = {"tensor.insert_slice": 1, "tensor.insert": 1}
_READERS = {"tensor.extract_slice": 0, "tensor.extract": 0}
_PARTS = _WRITERS | _READERS
# Transfers to where a tensor is are no copies.
_VIEWS = VIEWS | {"flow.tensor.transfer"}


@dataclass(frozen=True)
class KeepUpdateOrder(Pass):
    """Keeps what is written into a tensor, and what reads of it, in order where IREE loses it.

    Two ops on parts of a tensor that lie right beside each other run at once, which
    is right. But IREE asks that of an op and the users of its result only
    (quirks.UPDATE_ORDER_LOST): where ``y[0:4]`` is written, then ``y[4:8]``, then
    ``y[0:4]`` again, or read, all three run at once.

    The last of them is moved by a zero that IREE cannot see, and so waits for the one
    before it, which by then waits for what is before that. Loops have to be branches.

    Before::

        %0 = tensor.insert_slice %a into %y[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
        %1 = tensor.insert_slice %b into %0[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
        %2 = tensor.insert_slice %c into %1[0] [4] [1] : tensor<4xf32> into tensor<8xf32>

    After::

        %zero = util.optimization_barrier %c0 : index
        %0 = tensor.insert_slice %a into %y[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
        %1 = tensor.insert_slice %b into %0[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
        %2 = tensor.insert_slice %c into %1[%zero] [4] [1] : tensor<4xf32> into tensor<8xf32>
    """

    name: ClassVar[str] = "keep-update-order"

    def run(self, module: ir.Operation) -> None:
        for function in ir.functions_of(module):
            zero: ir.Value | None = None
            orders = _Orders()
            for op in ir.walk(function, bodies=False):
                if op.name in _PARTS and orders.loses(op):
                    b = TensorBuilder(ir.InsertionPoint(op), op.location)
                    zero = hidden_zero(b) if zero is None else zero
                    orders.forget(op)
                    _move(b, op, zero)


class _Orders:
    """Which ops are kept in order. A long chain of updates is walked for each of them."""

    def __init__(self) -> None:
        self._ranges: dict[ir.Operation, PartRange | None] = {}

    def loses(self, op: ir.Operation) -> bool:
        """Whether IREE may run ``op`` beside one before it that writes what ``op`` reads
        or writes. What reads what it writes is done, or reads another buffer: own-buffers."""
        last: PartRange | None = None
        for written in self._writes(op.operands[_PARTS[op.name]]):
            part = self._range(op)
            last = last or part
            if part is None or last is None or written is None or not written.touches(last):
                return False  # IREE keeps these two in order, and so all before them
            if not written.is_apart(part):
                return True
            last = written
        return False

    def forget(self, op: ir.Operation) -> None:
        """Before it is erased."""
        del self._ranges[op]

    def _range(self, op: ir.Operation) -> PartRange | None:
        if op not in self._ranges:
            self._ranges[op] = _range_of(op)
        return self._ranges[op]

    def _writes(self, tensor: ir.Value) -> Iterator[PartRange | None]:
        """What was written into a tensor, the last first."""
        value: ir.Value | None = tensor
        while value is not None and (op := ir.defining_op(value)) is not None:
            value = None
            if op.name in _VIEWS:
                value = op.operands[0]
            elif op.name in _WRITERS:
                value = op.operands[_WRITERS[op.name]]
                yield self._range(op)
            elif op.name == "tensor.concat":
                yield from reversed(parts_of_concat(op))


def _range_of(op: ir.Operation) -> PartRange | None:
    """The part that ``op`` reads or writes; None where IREE takes the whole tensor."""
    index = _PARTS[op.name]
    tensor, indices = op.operands[index], list(op.operands)[index + 1 :]
    if "static_offsets" not in op.attributes:
        return part_range(tensor, indices, [1] * len(indices))
    window = Window.of(op)
    if any(isinstance(step, ir.Value) or step != 1 for step in window.strides):
        return None
    return part_range(tensor, window.offsets, window.sizes)


def _move(b: TensorBuilder, op: ir.Operation, by: ir.Value) -> None:
    """Adds a number to where in the first dimension the part begins."""
    operands, attributes = list(op.operands), dict(op.attributes.items())
    place = _PARTS[op.name] + 1
    if "static_offsets" in attributes:
        offsets = list(ir.DenseI64ArrayAttr(attributes["static_offsets"]))
        if offsets[0] != DYNAMIC:
            operands.insert(place, b.index(offsets[0]))
            segments = list(ir.DenseI32ArrayAttr(attributes["operandSegmentSizes"]))
            segments[place] += 1
            with op.context:
                attributes["static_offsets"] = ir.DenseI64ArrayAttr.get([DYNAMIC, *offsets[1:]])
                attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
    operands[place] = b.op("arith.addi", [operands[place], by], by.type)
    moved = b.op(op.name, operands, op.results[0].type, attributes)
    op.results[0].replace_all_uses_with(moved)
    op.erase()
