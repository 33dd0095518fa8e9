"""What the dispatch passes ask about linalg ops."""

from __future__ import annotations

import re

from ...dialects import ir
from ...dialects.upstream.arith import WIDTHS
from ...dialects.upstream.generic import GENERIC, is_parallel, maps_of
from ...dialects.upstream.linalg import tensor_type

_INDEX_OPS = ("linalg.index", "tensor.extract")


def is_elementwise(op: ir.Operation) -> bool:
    """A ``linalg.generic`` without reductions."""
    return op.name == GENERIC and is_parallel(op)


def has_index_semantics(op: ir.Operation) -> bool:
    """Whether the body asks where it is, or reads tensors by itself: it must
    not be moved to another layout (IREE issue 23142)."""
    return any(inner.name in _INDEX_OPS for inner in ir.operations_of(op.regions[0].blocks[0]))


def positions(map_: ir.AffineMap) -> list[int]:
    """The loops of a projected permutation, in the order of its results."""
    return [ir.affine_position(e) for e in map_.results]


def element_bits(value: ir.Value) -> int:
    """The width of a tensor's elements; 64 for index."""
    type_ = tensor_type(value).element_type
    if isinstance(type_, ir.IntegerType):
        return type_.width
    if type(type_) in WIDTHS:
        return WIDTHS[type(type_)]
    small_float = re.match(r"f(\d+)E", str(type_))
    return int(small_float[1]) if small_float is not None else 64


def input_count(op: ir.Operation) -> int:
    """How many operands a linalg op has before its outs, one for each result; not every
    op says it itself."""
    return len(op.operands) - len(op.results)


def inputs_of(op: ir.Operation) -> list[ir.Value]:
    """The operands of a linalg op before its outs."""
    return list(op.operands)[: input_count(op)]


def is_bit_extend(op: ir.Operation) -> bool:
    """An elementwise op that makes wider elements from narrower ones: a decode.

    As IREE has it: one result, every loop parallel, one input with the
    result's rank and narrower elements, the other inputs smaller. Such an op
    is repeated where it is used: its result is never written to memory.
    """
    if not is_elementwise(op) or len(op.results) != 1:
        return False
    maps = maps_of(op)
    inputs = input_count(op)
    if not inputs or not maps[-1].is_permutation:
        return False
    result_bits = element_bits(op.results[0])
    full = [i for i in range(inputs) if maps[i].is_permutation]
    if len(full) != 1 or not all(m.is_projected_permutation for m in maps):
        return False
    return element_bits(op.operands[full[0]]) < result_bits and not has_index_semantics(op)


def is_broadcast(op: ir.Operation) -> bool:
    """An elementwise op all of whose inputs are smaller than its result."""
    if not is_elementwise(op) or len(op.results) != 1:
        return False
    maps = maps_of(op)
    inputs = maps[: input_count(op)]
    return (
        bool(inputs)
        and maps[-1].is_permutation
        and all(m.is_projected_permutation and m.n_dims > len(m.results) for m in inputs)
        and not has_index_semantics(op)
    )


def is_costly(op: ir.Operation) -> bool:
    """Whether an op takes so long per element that it had better be vectorised."""
    if not len(op.regions):
        return False
    cost = 0
    for inner in ir.operations_of(op.regions[0].blocks[0]):
        if inner.name != "arith.constant":
            heavy = inner.name == "arith.divf" or inner.name.startswith("math.")
            cost += 4 if heavy and inner.name != "math.absf" else 1
    return cost > 4


def made_by_empty(value: ir.Value) -> bool:
    producer = ir.defining_op(value)
    return producer is not None and producer.name == "tensor.empty"
