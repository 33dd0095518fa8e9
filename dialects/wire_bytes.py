"""How many bytes a collective moves, and a tensor takes."""

from __future__ import annotations

from . import ir
from .headrace import CollectiveOp


def received_bytes(op: CollectiveOp) -> int | None:
    """What each device receives in one call by the ring algorithm.

    With N devices in a group: all-gather (N-1) x shard, reduce-scatter
    (N-1) x result, all-reduce 2(N-1)/N x size, all-to-all (N-1)/N x size,
    collective-permute the whole value. None where a size is dynamic.
    """
    n = op.group_size
    sent, result = tensor_bytes(op.operands[0].type), tensor_bytes(op.results[0].type)
    if sent is None or result is None:
        return None
    match op.operation.name.removeprefix("headrace."):
        case "all_gather":
            return (n - 1) * sent
        case "reduce_scatter":
            return (n - 1) * result
        case "all_reduce":
            return 2 * (n - 1) * sent // n
        case "all_to_all":
            return (n - 1) * sent // n
        case _:
            return sent


def tensor_bytes(type_: ir.Type) -> int | None:
    """Storage of a ranked tensor, sub-byte elements rounded up to bytes."""
    tensor = ir.RankedTensorType(type_)
    element = tensor.element_type
    width = element.width if isinstance(element, ir.FloatType | ir.IntegerType) else 64
    size = (width + 7) // 8
    for extent in tensor.shape:
        if extent == ir.ShapedType.get_dynamic_size():
            return None
        size *= extent
    return size
