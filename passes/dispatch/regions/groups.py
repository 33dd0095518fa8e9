"""Which ops go into one dispatch region.

A group is placed where its last member stands. All its members move down to
there, so whoever else reads them has to stand below, or to be postponed: that
is checked against the positions before any move, which makes all groups of a
block legal together, without a search for cycles.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from itertools import islice

from ....dialects import ir
from ....dialects.headrace import DequantizeOp, MatmulOp, QuantizeOp
from ....dialects.iree.encoding import encoding_of, is_set_encoding
from ....dialects.iree.encoding_ops import UNSET_ENCODING
from ....dialects.op_traits import INITS
from ....dialects.upstream.generic import GENERIC, maps_of
from ....dialects.upstream.linalg import tensor_type
from ...analysis.elementwise import (
    input_count,
    is_bit_extend,
    is_costly,
    is_elementwise,
    positions,
)
from ...targets.tiling import Tiling
from .block_graph import BlockGraph
from .group import MOST_OPERANDS, Group, read_from_outside
from .producers import producer_group

# More ops than follow any matmul.
_LONGEST = 64

_DECODE = DequantizeOp.OPERATION_NAME
_ENCODE = QuantizeOp.OPERATION_NAME
_MATMUL = MatmulOp.OPERATION_NAME

_Axes = tuple[int, ...]


def find_groups(graph: BlockGraph, tiling: Tiling) -> list[Group]:
    """The regions of a block, by anchor; each op is a member of one at most."""
    taken: set[int] = set()
    copied: set[int] = set()
    groups: list[Group] = []
    for position, op in enumerate(graph.ops):
        if _is_encoded_matmul(op) or op.name == _MATMUL:
            group = _matmul_group(graph, position, tiling, taken)
            copied |= group.clones
            groups.append(group)
    for op in graph.ops:
        if is_set_encoding(op):
            group = producer_group(graph, op, taken, copied)
            if group is not None:
                groups.append(group)
    return sorted(groups, key=lambda g: g.anchor)


def _is_encoded_matmul(op: ir.Operation) -> bool:
    """A contraction of packed operands."""
    if not op.name.startswith("linalg.") or len(op.operands) not in (3, 5) or len(op.results) != 1:
        return False
    if any(encoding_of(o.type) is None for o in op.operands):
        return False
    return op.name != GENERIC or not is_elementwise(op)


def _matmul_group(graph: BlockGraph, root: int, tiling: Tiling, taken: set[int]) -> Group:
    """A matmul, what decodes its packed operands, the unpacking of its result,
    and the elementwise ops that follow, as far as one value leaves the region
    besides that of the last op: the one that a gradient asks for, say.

    IREE computes an op behind the unpacking that reads other tensors one
    element at a time on CPUs: cheap ops are still better off here, with up to
    ``read_beside`` such tensors, than in a dispatch of their own.
    """
    limit = tiling.read_beside
    path = [root]
    best = 1
    beside: set[ir.Value] = set()
    result = graph.ops[root].results[0]
    # Per dimension of a value the dimension of the matmul's result that it runs along.
    inside: dict[ir.Value, _Axes] = {result: tuple(range(tensor_type(result).rank))}
    waiting = list(graph.users(result))
    while waiting and len(path) + len(waiting) <= _LONGEST:
        position = heapq.heappop(waiting)
        if position == path[-1]:
            continue
        op = graph.ops[position]
        if position in taken or any(graph.is_captured(o) for o in inside):
            break
        axes = _axes_of_results(op, inside)
        if axes is None:
            break
        if not any(encoding_of(o.type) for o in op.operands):
            others = [o for o in op.operands if _is_read(graph, o) and o not in inside]
            beside.update(others)
            if limit is not None and others and (len(beside) > limit or is_costly(op)):
                break
        if len(read_from_outside(graph, {*path, position})) >= MOST_OPERANDS:
            break
        path.append(position)
        inside.update(dict.fromkeys(op.results, axes))
        if _leave(graph, list(inside)[: -len(op.results)], position, tiling):
            best = len(path)
        for result in op.results:
            # One more than the longest path ends the search.
            for user in islice(graph.users(result), _LONGEST + 1):
                heapq.heappush(waiting, user)
    group = Group(path[best - 1], set(path[:best]))
    for member in path[:best]:
        _add_decodes(graph, group, member)
    taken |= group.members
    return group


def _leave(graph: BlockGraph, values: list[ir.Value], position: int, tiling: Tiling) -> bool:
    """Whether a region whose last op is at ``position`` may yield what others
    read of ``values``: one plain tensor at most."""
    read = [v for v in values if (users := graph.users(v)) and users[-1] > position]
    return len(read) <= 1 and all(
        encoding_of(v.type) is None and (tiling.stores_unpacked or not _is_unpacked(v))
        for v in read
    )


def _is_unpacked(value: ir.Value) -> bool:
    producer = ir.defining_op(value)
    return producer is not None and producer.name == UNSET_ENCODING


def _is_read(graph: BlockGraph, value: ir.Value) -> bool:
    """Whether a tensor comes from memory: not an empty one or a fill."""
    producer = graph.producer(value)
    is_init = producer is not None and graph.ops[producer].name in INITS
    return isinstance(value.type, ir.RankedTensorType) and not is_init


def _add_decodes(graph: BlockGraph, group: Group, root: int) -> None:
    """Decodes and broadcasts of packed operands, in whole chains."""
    waiting = [root]
    while waiting:
        for operand in graph.ops[waiting.pop()].operands:
            producer = graph.producer(operand)
            if producer is None or producer in group.members or producer in group.clones:
                continue
            op = graph.ops[producer]
            if op.name == _DECODE or (encoding_of(operand.type) is not None and is_elementwise(op)):
                group.clones.add(producer)
                waiting.append(producer)


def _axes_of_results(op: ir.Operation, inside: Mapping[ir.Value, _Axes]) -> _Axes | None:
    """How the results of ``op`` lie, if it can be computed tile by tile, right
    where the values ``inside`` are made; None if it cannot.

    It may turn what it reads, as long as all that it reads of ``inside`` is
    turned alike.
    """
    if op.name == UNSET_ENCODING:
        return inside[op.operands[0]]
    if op.name == _ENCODE:
        return inside.get(op.operands[0])
    if not is_elementwise(op) or is_bit_extend(op):
        return None
    maps = maps_of(op)
    inputs = input_count(op)
    outs = maps[inputs:]
    if any(o in inside for o in list(op.operands)[inputs:]):
        return None
    if not outs[0].is_permutation or any(m != outs[0] for m in outs):
        return None
    axis_of_loop: dict[int, int] = {}
    for operand, map_ in zip(op.operands, maps, strict=True):
        if operand not in inside:
            continue
        if not map_.is_permutation:
            return None
        for loop, axis in zip(positions(map_), inside[operand], strict=True):
            if axis_of_loop.setdefault(loop, axis) != axis:
                return None
    return tuple(axis_of_loop[loop] for loop in positions(outs[0]))
