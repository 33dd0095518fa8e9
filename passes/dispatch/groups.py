"""Which ops go into one dispatch region.

A group is placed where its last member stands. All its members move down to
there, so whoever else reads them has to stand below: that is checked against
the positions before any move, which makes all groups of a block legal
together, without a search for cycles.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import islice

from ...dialects.encoding import encoding_of, is_set_encoding
from ...dialects.encoding_ops import UNSET_ENCODING
from ...dialects.generic import GENERIC, iterators_of, maps_of
from ...dialects.headrace import DequantizeOp, MatmulOp, QuantizeOp
from ...dialects.linalg import tensor_type
from ...dialects.mlir import AffineMap, Operation, RankedTensorType, Value
from .block_graph import BlockGraph
from .elementwise import (
    input_count,
    is_bit_extend,
    is_costly,
    is_elementwise,
    is_permutation,
    is_projected_permutation,
)

# IREE takes no more bindings in a dispatch.
_MOST_OPERANDS = 16

# More ops than follow any matmul.
_LONGEST = 64

_RESHAPES = ("tensor.collapse_shape", "tensor.expand_shape")
_DECODE = DequantizeOp.OPERATION_NAME
_ENCODE = QuantizeOp.OPERATION_NAME
_MATMUL = MatmulOp.OPERATION_NAME


@dataclass
class Group:
    """Positions of the ops of one region. ``anchor``: where it is placed."""

    anchor: int
    members: set[int] = field(default_factory=set[int])
    clones: set[int] = field(default_factory=set[int])


def find_groups(graph: BlockGraph, limit: int | None) -> list[Group]:
    """The regions of a block, by anchor; each op is a member of one at most.

    ``limit``: how many other tensors may be read behind an unpacking.
    """
    taken: set[int] = set()
    groups: list[Group] = []
    for position, op in enumerate(graph.ops):
        if _is_encoded_matmul(op) or op.name == _MATMUL:
            groups.append(_matmul_group(graph, position, limit, taken))
    for op in graph.ops:
        if is_set_encoding(op):
            group = _producer_group(graph, op, taken)
            if group is not None:
                groups.append(group)
    return sorted(groups, key=lambda g: g.anchor)


def _is_encoded_matmul(op: Operation) -> bool:
    """A contraction of packed operands."""
    if not op.name.startswith("linalg.") or len(op.operands) not in (3, 5) or len(op.results) != 1:
        return False
    if any(encoding_of(o.type) is None for o in op.operands):
        return False
    return op.name != GENERIC or not is_elementwise(op)


def _matmul_group(graph: BlockGraph, root: int, limit: int | None, taken: set[int]) -> Group:
    """A matmul, what decodes its packed operands, the unpacking of its result,
    and the elementwise ops that follow, as far as one value leaves the region.

    IREE 3.13 computes an op behind the unpacking that reads other tensors one
    element at a time on CPUs: cheap ops are still better off here, with up to
    ``limit`` such tensors, than in a dispatch of their own.
    """
    path = [root]
    best = 1
    beside: set[Value] = set()
    inside: set[Value] = set(graph.ops[root].results)
    waiting = list(graph.readers(graph.ops[root].results[0]))
    while waiting and len(path) + len(waiting) <= _LONGEST:
        position = heapq.heappop(waiting)
        if position == path[-1]:
            continue
        op = graph.ops[position]
        if position in taken or any(graph.is_captured(o) for o in inside):
            break
        if not _continues(op, inside):
            break
        if not any(encoding_of(o.type) for o in op.operands):
            others = [o for o in op.operands if _is_read(graph, o) and o not in inside]
            beside.update(others)
            if limit is not None and others and (len(beside) > limit or is_costly(op)):
                break
        if len(_read_from_outside(graph, {*path, position})) >= _MOST_OPERANDS:
            break
        path.append(position)
        inside.update(op.results)
        if all(p == position for p in waiting):
            best = len(path)
        for result in op.results:
            # One more than the longest path ends the search.
            for reader in islice(graph.readers(result), _LONGEST + 1):
                heapq.heappush(waiting, reader)
    group = Group(path[best - 1], set(path[:best]))
    for member in path[:best]:
        _add_decodes(graph, group, member)
    taken |= group.members
    return group


def _is_read(graph: BlockGraph, value: Value) -> bool:
    """Whether a tensor comes from memory: not an empty one or a fill."""
    maker = graph.maker(value)
    is_init = maker is not None and graph.ops[maker].name in ("tensor.empty", "linalg.fill")
    return isinstance(value.type, RankedTensorType) and not is_init


def _add_decodes(graph: BlockGraph, group: Group, root: int) -> None:
    """Decodes and broadcasts of packed operands, in whole chains."""
    waiting = [root]
    while waiting:
        for operand in graph.ops[waiting.pop()].operands:
            maker = graph.maker(operand)
            if maker is None or maker in group.members or maker in group.clones:
                continue
            op = graph.ops[maker]
            if op.name == _DECODE or (encoding_of(operand.type) is not None and is_elementwise(op)):
                group.clones.add(maker)
                waiting.append(maker)


def _continues(op: Operation, inside: set[Value]) -> bool:
    """Whether an op can be computed tile by tile, right where the values
    ``inside`` are made."""
    if op.name == UNSET_ENCODING:
        return True
    if op.name == _ENCODE:
        return op.operands[0] in inside
    if not is_elementwise(op) or is_bit_extend(op):
        return False
    maps = maps_of(op)
    inputs = input_count(op)
    read = [m for o, m in zip(op.operands, maps, strict=True) if o in inside]
    if not is_permutation(read[0]) or any(o in inside for o in list(op.operands)[inputs:]):
        return False
    return all(m == read[0] for m in (*read, *maps[inputs:]))


def _producer_group(graph: BlockGraph, encode: Operation, taken: set[int]) -> Group | None:
    """What makes the tensor that ``encode`` packs, with the elementwise ops and
    reductions before it; None where that is not for this pass."""
    root = graph.maker(encode.operands[0])
    while root is not None and graph.ops[root].name in _RESHAPES:
        root = graph.maker(graph.ops[root].operands[0])
    if root is None or root in taken or not _is_groupable(graph.ops[root]):
        return None
    group = Group(root, {root})
    _add_producers(graph, group, taken)
    taken |= group.members
    return group


def _is_groupable(op: Operation) -> bool:
    if op.name in (_ENCODE, _DECODE):
        return True
    if not op.name.startswith("linalg.") or op.name == "linalg.fill":
        return False
    return len(op.results) > 0 and all(
        isinstance(r.type, RankedTensorType) and r.type.rank > 0 for r in op.results
    )


def _add_producers(graph: BlockGraph, group: Group, taken: set[int]) -> None:
    """Pulls in ops that make what members read, latest first: all members that
    may read an op are then known when its turn comes."""
    loops = _loop_count(graph.ops[group.anchor])
    fits: dict[int, bool] = {}
    waiting: list[int] = []

    def offer(member: int) -> None:
        for operand, map_ in _reads(graph.ops[member]):
            maker = graph.maker(operand)
            if maker is None:
                continue
            fit = _can_be_computed_with(graph.ops[maker], map_, loops)
            if maker not in fits:
                heapq.heappush(waiting, -maker)
            fits[maker] = fit and fits.get(maker, True)

    offer(group.anchor)
    while waiting:
        maker = -heapq.heappop(waiting)
        if not fits[maker] or maker in taken:
            continue
        if _reduces(graph.ops[maker]) and not _one_nest(graph, group, maker, loops):
            continue
        is_decode = _is_decode(graph.ops[maker])
        if is_decode and _is_repeated(graph, group, maker):
            group.clones.add(maker)
        elif _may_move(graph, group, maker):
            group.members.add(maker)
            offer(maker)
        elif is_decode:
            group.clones.add(maker)


def _is_repeated(graph: BlockGraph, group: Group, decode: int) -> bool:
    """Whether a decode of what is in memory has readers outside that decode it
    for themselves: then nobody writes it."""
    op = graph.ops[decode]
    maker = graph.maker(op.operands[0])
    if maker is not None and _is_groupable(graph.ops[maker]):
        return False
    others = [r for r in graph.readers(op.results[0]) if r not in group.members]
    return len(others) > 0 and all(graph.ops[r].name.startswith("linalg.") for r in others)


def _may_move(graph: BlockGraph, group: Group, maker: int) -> bool:
    """Whether everyone outside who reads an op stands below the group.

    What others read becomes a second result: one at most, and none besides
    reductions (IREE issue 24058: a store is left outside the loop over
    workgroups).
    """
    outside = False
    for result in graph.ops[maker].results:
        if graph.is_captured(result):
            return False
        for reader in graph.readers(result):
            if reader > group.anchor:
                outside = True
                break
            if reader not in group.members:
                return False
    reduces = [_reduces(graph.ops[m]) for m in (*group.members, maker)]
    shared = sum(_is_read_below(graph, group, m) for m in group.members if m != group.anchor)
    if (outside or shared) and (any(reduces) or (outside and shared)):
        return False
    return len(_read_from_outside(graph, {*group.members, maker})) < _MOST_OPERANDS


def _is_read_below(graph: BlockGraph, group: Group, member: int) -> bool:
    results = graph.ops[member].results
    return any(readers and readers[-1] > group.anchor for readers in map(graph.readers, results))


def _reduces(op: Operation) -> bool:
    return op.name == GENERIC and not is_elementwise(op)


def _is_decode(op: Operation) -> bool:
    return op.name == _DECODE or is_bit_extend(op)


def _reads(op: Operation) -> list[tuple[Value, AffineMap | None]]:
    """The tensors that an op computes from; None stands for the identity."""
    if op.name == GENERIC:
        maps = maps_of(op)
        inputs = list(op.operands)[: input_count(op)]
        return list(zip(inputs, maps[: len(inputs)], strict=True))
    if op.name in (_ENCODE, _DECODE):
        return [(op.operands[0], None)]
    return []


def _can_be_computed_with(maker: Operation, map_: AffineMap | None, loops: int) -> bool:
    """Whether an op can be computed tile by tile in the loops of a reader that
    reads it through ``map_``."""
    if maker.name in (_ENCODE, _DECODE):
        return map_ is None or is_permutation(map_)
    if maker.name != GENERIC:
        return False
    if not all(is_projected_permutation(m) for m in maps_of(maker)):
        return False
    if is_elementwise(maker):
        return map_ is None or is_permutation(map_)
    if map_ is None or not is_projected_permutation(map_) or not map_.results:
        return False
    # A row's sum, say, that all elements of the row read; or one sum for each.
    return is_permutation(map_) or len(iterators_of(maker)) == loops


def _one_nest(graph: BlockGraph, group: Group, reduction: int, loops: int) -> bool:
    """Whether the reductions of a group stay in one loop nest: all along the
    anchor's own loops, or only one, which adds a loop to them."""
    depths = {_loop_count(graph.ops[m]) for m in group.members if _reduces(graph.ops[m])}
    return not depths or depths == {loops} == {_loop_count(graph.ops[reduction])}


def _loop_count(op: Operation) -> int:
    return len(iterators_of(op)) if op.name == GENERIC else tensor_type(op.results[0]).rank


def _read_from_outside(graph: BlockGraph, members: set[int]) -> set[Value]:
    """Tensors that a region of these ops would read."""
    found: set[Value] = set()
    for member in sorted(members):
        for operand in graph.ops[member].operands:
            maker = graph.maker(operand)
            if maker is not None and (
                maker in members or graph.ops[maker].name in ("tensor.empty", "linalg.fill")
            ):
                continue
            if isinstance(operand.type, RankedTensorType):
                found.add(operand)
    return found
