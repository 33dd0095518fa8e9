"""The pass ``hold-skipped-elements``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.barriers import hold
from ...dialects.op_traits import VIEWS
from ...dialects.upstream.generic import GENERIC, is_parallel, maps_of
from ...dialects.upstream.linalg import TensorBuilder, tensor_type
from ...dialects.upstream.tensor import dynamic_sizes
from ..base import Pass

# One loop, or several that walk a window one element at a time.
_COVERING = re.compile(r"d\d+( \+ d\d+)*")


@dataclass(frozen=True)
class HoldSkippedElements(Pass):
    """Has a value made whole before an op reads only some of its elements.

    Where the value has other users, IREE fuses what makes it into that op, and writes
    the elements alone that it reads: quirks.SKIPPED_ELEMENTS_UNWRITTEN. Convolutions and
    poolings with strides become such ops where their windows are of one element.

    Before::

        %y = linalg.generic ins(%x) { arith.negf }
        %c = linalg.depthwise_conv_1d_nwc_wc {strides = dense<2>} ins(%y, %k)
        %d = linalg.generic ins(%y) { math.exp }

    After::

        %y = linalg.generic ins(%x) { arith.negf }
        %h = util.optimization_barrier %y
        %c = linalg.depthwise_conv_1d_nwc_wc {strides = dense<2>} ins(%h, %k)
        %d = linalg.generic ins(%y) { math.exp }
    """

    name: ClassVar[str] = "hold-skipped-elements"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module, bodies=False):
            if not op.name.startswith("linalg."):
                continue
            for index, operand in enumerate(op.operands):
                if _skips(op, index) and _has_other_users(operand):
                    b = TensorBuilder(ir.InsertionPoint(op), op.location)
                    op.operands[index], _ = hold(b, operand, dynamic_sizes(b, operand))


def _skips(op: ir.Operation, index: int) -> bool:
    """Whether an op may leave elements of an operand unread."""
    if op.name != GENERIC:
        strides = op.attributes.get("strides")
        return index == 0 and strides is not None and {*_integers(strides)} != {1}
    if not isinstance(op.operands[index].type, ir.RankedTensorType):
        return False
    shape = tensor_type(op.operands[index]).shape
    results = maps_of(op)[index].results
    return any(
        size != 1 and not _COVERING.fullmatch(str(each))
        for size, each in zip(shape, results, strict=True)
    )


def _integers(attribute: ir.Attribute) -> list[int]:
    return [int(each) for each in ir.DenseIntElementsAttr(attribute)]


def _has_other_users(value: ir.Value) -> bool:
    """Of the value itself, or of what IREE fuses with what makes it."""
    pending, seen = [value], set[int]()
    while pending:
        value = pending.pop()
        op = ir.defining_op(value)
        if op is None or ir.address_of(op) in seen:
            continue
        seen.add(ir.address_of(op))
        is_view = op.name in VIEWS
        if not is_view and not op.name.startswith("linalg."):
            continue
        if sum(len(ir.users_of(result)) for result in op.results) > 1:
            return True
        if is_view:
            pending.append(op.operands[0])
        elif op.name != GENERIC or is_parallel(op):
            pending.extend(op.operands)
    return False
