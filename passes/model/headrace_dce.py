"""headrace-dce: removes ops that nobody uses."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.op_traits import is_pure
from ..base import Pass


@dataclass(frozen=True)
class HeadraceDce(Pass):
    """Removes unused headrace ops, and what only they used.

    MLIR's own passes take unregistered ops for effects and keep them, and
    with them all that feeds them. Here every op that is known to be pure goes
    once nothing uses its results; whole chains in one run, in all regions.

    Before:
        %q = "headrace.quantize"(%x, %s) : ...
        %d = "headrace.dequantize"(%q, %s) : ...
        return %x
    After:
        return %x
    """

    name = "headrace-dce"

    def run(self, module: ir.Operation) -> None:
        # Users come after what they use, so that going backwards finds most
        # chains at once; what an erased op used is looked at again.
        waiting = dict.fromkeys(ir.walk(module))
        while waiting:
            op, _ = waiting.popitem()
            if op == module or ir.is_used(op) or not is_pure(op):
                continue
            inside = dict.fromkeys(ir.walk(op))
            producers = {
                producer: None
                for inner in inside
                for operand in inner.operands
                if (producer := ir.defining_op(operand)) and producer not in inside
            }
            for inner in inside:
                waiting.pop(inner, None)
            op.erase()
            waiting.update(producers)
