"""The pass ``release-sorts``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.barriers import BARRIER
from ..base import Pass


@dataclass(frozen=True)
class ReleaseSorts(Pass):
    """Takes away the barriers of ``keep-sorts``, once nothing looks for a top-k any more.

    They would hide whose buffer it is that a sort updates, and keep collectives from being
    pipelined around it.

    Before: %b = util.optimization_barrier %x
            %s:2 = iree_linalg_ext.sort outs(%b, %i)
    After:  %s:2 = iree_linalg_ext.sort outs(%x, %i)
    """

    name: ClassVar[str] = "release-sorts"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module):
            if op.name in ("iree_linalg_ext.sort", "iree_linalg_ext.topk"):
                for index in range(len(op.operands)):
                    _release(op, op.operands[index])


def _release(op: ir.Operation, operand: ir.Value) -> None:
    """The one operand of a barrier that only ``op`` reads, in its place."""
    barrier = ir.defining_op(operand)
    if barrier is None or barrier.name != BARRIER or len(barrier.operands) != 1:
        return
    if all(user == op for user in ir.users_of(operand)):
        operand.replace_all_uses_with(barrier.operands[0])
        barrier.erase()
