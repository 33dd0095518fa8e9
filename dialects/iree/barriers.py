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
