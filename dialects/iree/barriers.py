"""Values that IREE must have made before it makes what reads them."""

from __future__ import annotations

from .. import ir
from ..upstream.linalg import TensorBuilder

BARRIER = "util.optimization_barrier"


def hold(b: TensorBuilder, value: ir.Value, sizes: list[ir.Value]) -> tuple[ir.Value, ir.Operation]:
    """``value`` behind a barrier, and the barrier.

    ``sizes`` are the dynamic ones: IREE finds none behind a barrier that is not
    said there. One barrier per value, since its operands are all of one type.
    """
    held = b.op(BARRIER, [value], value.type)
    barrier = ir.defining_op(held)
    assert barrier is not None
    if sizes:
        held = b.op("flow.tensor.tie_shape", [held, *sizes], value.type)
    return held, barrier


def hidden_zero(b: TensorBuilder) -> ir.Value:
    """An index of zero that IREE takes for any: what it is added to is folded with nothing.

    Made at the function's start, as IREE ends what it runs in one go at a barrier.
    """
    place = b.ip.block.owner.operation
    function = next(op for op in (place, *ir.ancestors(place)) if op.name == "func.func")
    first = ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0])
    start = TensorBuilder(first, b.loc)
    zero = start.index(0)
    return start.op(BARRIER, [zero], zero.type)
