"""Unpacks results after the elementwise ops that follow a matmul."""

from __future__ import annotations

import heapq
from itertools import islice

from ....dialects import ir
from ....dialects.iree.encoding import encoding_of
from ....dialects.iree.encoding_ops import (
    UNSET_ENCODING,
    OperandEncoding,
    encoded,
    set_encoding,
    unset_encoding,
)
from ....dialects.upstream.generic import maps_of
from ....dialects.upstream.linalg import TensorBuilder, dims_map
from ...analysis.elementwise import (
    element_bits,
    has_index_semantics,
    is_bit_extend,
    is_broadcast,
    is_costly,
    is_elementwise,
    made_by_empty,
    positions,
)
from ..regions.block_graph import OPAQUE, BlockGraph

# More ops than follow any matmul.
_LONGEST = 64


def sink_encodings(module: ir.Operation) -> None:
    """Moves each ``unset_encoding`` below elementwise ops, where that helps.

    %u = iree_encoding.unset_encoding %m
    %y = linalg.generic ins(%u, %scale : tensor<8x4xf32>, tensor<f32>)
    // =>
    %p = linalg.generic ins(%m, %scale) -> tensor<8x4xf32, #result>
    %y = iree_encoding.unset_encoding %p

    It helps, since IREE computes an op that follows the unpacking and
    reads anything else one element at a time (256 x 320 with an ``exp``: 0.2
    ms more on a matmul of 0.47 ms). Operands of lower rank are packed too,
    where the ops are costly enough; an op that reads another tensor of full
    rank stays behind: packing that would cost as much as is gained.
    """
    for block in ir.blocks_of(module):
        _sink_in(block)


def _sink_in(block: ir.Block) -> None:
    if any(op.name == UNSET_ENCODING for op in ir.operations_of(block)):
        graph = BlockGraph(block)
        unsets = [i for i, op in enumerate(graph.ops) if op.name == UNSET_ENCODING]
        # All before the first is moved: the graph knows nothing of new values.
        for unset, path in [(unset, _path(graph, unset)) for unset in unsets]:
            if path:
                _sink(graph, graph.ops[unset], path)
    for op in ir.operations_of(block):
        if op.name not in OPAQUE and not op.name.startswith("linalg."):
            for inner in ir.blocks_of(op):
                _sink_in(inner)


def _path(graph: BlockGraph, unset: int) -> list[int]:
    """Positions of the ops to move above an ``unset_encoding``, in order; of
    what they make only the last is used by others."""
    op = graph.ops[unset]
    encoding = encoding_of(op.operands[0].type)
    if encoding is None or OperandEncoding.parse(encoding) is None:
        return []
    inside: set[ir.Value] = {op.results[0]}
    path: list[int] = []
    whole: list[int] = [0]  # lengths at which nothing but the last value is read outside
    narrow = _LONGEST  # where the first operand that needs packing is
    waiting = list(graph.users(op.results[0]))
    while waiting and len(path) + len(waiting) <= _LONGEST:
        position = heapq.heappop(waiting)
        if path and position == path[-1]:
            continue
        user = graph.ops[position]
        if any(graph.is_captured(value) for value in inside):
            break
        others = _others(graph, user, inside)
        if others is None:
            break
        if others and narrow == _LONGEST:
            narrow = len(path)
        path.append(position)
        inside.add(user.results[0])
        if all(p == position for p in waiting):
            whole.append(len(path))
        # One more than the longest path ends the search.
        for p in islice(graph.users(user.results[0]), _LONGEST + 1):
            heapq.heappush(waiting, p)
    best = whole[-1]
    if best > narrow and not any(is_costly(graph.ops[p]) for p in path[:best]):
        best = max(length for length in whole if length <= narrow)
    return path[:best]


def _others(graph: BlockGraph, op: ir.Operation, inside: set[ir.Value]) -> list[int] | None:
    """Which operands need packing for ``op`` to work on packed tensors; None
    where it cannot, or should not."""
    if not is_elementwise(op) or len(op.results) != 1 or has_index_semantics(op):
        return None
    if is_bit_extend(op) or not made_by_empty(op.operands[-1]):
        return None
    maps = maps_of(op)
    if not maps[-1].is_permutation:
        return None
    found: list[int] = []
    for index, operand in enumerate(list(op.operands)[:-1]):
        map_ = maps[index]
        if operand in inside:
            if map_ != maps[-1]:
                return None
        elif isinstance(operand.type, ir.RankedTensorType) and operand.type.rank:
            is_small = len(map_.results) < map_.n_dims or _is_own_broadcast(graph, operand)
            # Nothing narrower than a byte: quirks.PACKED_MASK.
            if element_bits(operand) < 8 or not is_small or not map_.is_projected_permutation:
                return None
            found.append(index)
    return found


def _is_own_broadcast(graph: BlockGraph, value: ir.Value) -> bool:
    """Whether a tensor is a smaller one repeated, for one user."""
    producer = graph.producer(value)
    return (
        producer is not None and is_broadcast(graph.ops[producer]) and len(graph.users(value)) == 1
    )


def _sink(graph: BlockGraph, unset: ir.Operation, path: list[int]) -> None:
    encoding = encoding_of(unset.operands[0].type)
    parsed = None if encoding is None else OperandEncoding.parse(encoding)
    assert encoding is not None
    assert parsed is not None
    counts = ir.DenseI32ArrayAttr(unset.attributes["operandSegmentSizes"])
    operands = list(unset.operands)
    sizes, dims = operands[1 : 1 + counts[1]], operands[1 + counts[1] :]
    packed: ir.ValueMap = {unset.results[0]: operands[0]}
    ops = [graph.ops[position] for position in path]
    for op in ops:
        b = TensorBuilder(ir.InsertionPoint(op), op.location)
        maps = maps_of(op)
        loops = positions(maps[-1])
        made = op.clone(ip=b.ip).operation
        for index, operand in enumerate(list(op.operands)[:-1]):
            if operand in packed:
                made.operands[index] = packed[operand]
            elif isinstance(operand.type, ir.RankedTensorType) and operand.type.rank:
                with op.context:
                    map_ = dims_map(len(loops), [loops.index(x) for x in positions(maps[index])])
                attribute = parsed.through(map_).attribute(op.context)
                before = TensorBuilder(ir.InsertionPoint(made), op.location)
                made.operands[index] = set_encoding(before, operand, attribute, dims)
        type_ = encoded(op.results[0].type, encoding)
        before = TensorBuilder(ir.InsertionPoint(made), op.location)
        made.operands[len(op.operands) - 1] = before.op("tensor.empty", sizes, type_)
        made.results[0].set_type(type_)
        packed[op.results[0]] = made.results[0]
    last = ops[-1]
    b = TensorBuilder(ir.InsertionPoint(last), last.location)
    result = unset_encoding(b, packed[last.results[0]], sizes, dims)
    last.results[0].replace_all_uses_with(result)
    for op in (*reversed(ops), unset):
        op.erase()
