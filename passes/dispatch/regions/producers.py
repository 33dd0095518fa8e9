"""What goes into one dispatch region with a tensor that is to be packed."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container

from ....dialects import ir
from ....dialects.headrace import DequantizeOp, QuantizeOp
from ....dialects.op_traits import RESHAPES, is_pure
from ....dialects.upstream.generic import GENERIC, iterators_of, maps_of
from ....dialects.upstream.linalg import tensor_type
from ...analysis.elementwise import (
    input_count,
    inputs_of,
    is_bit_extend,
    is_elementwise,
)
from ...analysis.matmul_loops import is_free
from .block_graph import BlockGraph
from .group import MOST_OPERANDS, Group, read_from_outside

_DECODE = DequantizeOp.OPERATION_NAME
_ENCODE = QuantizeOp.OPERATION_NAME

# What may move to below a region: nothing that talks to other devices, as when that
# happens is decided already.
_MOVABLE = ("affine.", "arith.", "linalg.", "math.", "scf.if", "tensor.")
# More would make regions of long blocks quadratic.
_MOST_MOVED = 64


def producer_group(
    graph: BlockGraph, encode: ir.Operation, taken: set[int], copied: set[int]
) -> Group | None:
    """What makes the tensor that ``encode`` packs, with the elementwise ops and
    reductions before it; None where that is not for this pass.

    ``taken``: ops that may not become members; ``copied``: what regions have
    copies of.
    """
    root = graph.producer(encode.operands[0])
    while root is not None and graph.ops[root].name in RESHAPES:
        root = graph.producer(graph.ops[root].operands[0])
    if root is None or root in taken or not _is_groupable(graph.ops[root]):
        return None
    group = Group(root, {root})
    _add_producers(graph, group, taken, copied)
    taken |= group.members | group.postponed
    copied |= group.clones
    return group


def _is_groupable(op: ir.Operation) -> bool:
    if op.name in (_ENCODE, _DECODE):
        return True
    if not op.name.startswith("linalg.") or op.name == "linalg.fill" or not is_free(op):
        return False
    return len(op.results) > 0 and all(
        isinstance(r.type, ir.RankedTensorType) and r.type.rank > 0 for r in op.results
    )


def _add_producers(graph: BlockGraph, group: Group, taken: set[int], copied: set[int]) -> None:
    """Pulls in ops that make what members read, latest first: all members that
    may read an op are then known when its turn comes."""

    def is_fixed(position: int) -> bool:
        return position in taken or position in copied or position in group.clones

    loops = _loop_count(graph.ops[group.anchor])
    fits: dict[int, bool] = {}
    waiting: list[int] = []

    def offer(member: int) -> None:
        for operand, map_ in _reads(graph.ops[member]):
            producer = graph.producer(operand)
            if producer is None:
                continue
            fit = _can_be_computed_with(graph.ops[producer], map_, loops)
            if producer not in fits:
                heapq.heappush(waiting, -producer)
            fits[producer] = fit and fits.get(producer, True)

    offer(group.anchor)
    while waiting:
        producer = -heapq.heappop(waiting)
        if not fits[producer] or producer in taken:
            continue
        is_decode = _is_decode(graph.ops[producer])
        if is_decode and _is_repeated(graph, group, producer):
            group.clones.add(producer)
            continue
        postponed = None
        if _may_move(graph, group, producer) and _sums_fit(graph, group, producer, loops):
            postponed = _readers_between(graph, producer, group.anchor, group.members, is_fixed)
        if postponed is not None:
            group.members.add(producer)
            group.postponed |= postponed
            offer(producer)
        elif is_decode:
            group.clones.add(producer)


def _readers_between(
    graph: BlockGraph,
    producer: int,
    anchor: int,
    members: Container[int],
    is_fixed: Callable[[int], bool],
) -> set[int] | None:
    """What would have to follow a region at ``anchor`` for ``producer`` to be one
    of its ``members``; None if it cannot.

    Those are the ops that read what ``producer`` makes, directly or not, and
    stand above the anchor. ``is_fixed`` says which are in regions.
    """
    found: set[int] = set()
    waiting = [producer]
    while waiting:
        position = waiting.pop()
        for result in graph.ops[position].results:
            for user in graph.users(result):
                if user > anchor:
                    break
                if user in found or (position == producer and user in members):
                    continue
                if (
                    user in members
                    or is_fixed(user)
                    or len(found) == _MOST_MOVED
                    or not _is_movable(graph.ops[user])
                ):
                    return None
                found.add(user)
                waiting.append(user)
    return found


def _is_movable(op: ir.Operation) -> bool:
    return op.name.startswith(_MOVABLE) and is_pure(op)


def _sums_fit(graph: BlockGraph, group: Group, producer: int, loops: int) -> bool:
    """Whether IREE tiles the region's reductions with one more op in it.

    It does tile any over as many loops as what is packed has, or a single one
    over more loops of which each element is read at one place. Others fail
    with "large vector sizes" on CPUs.
    """
    if not _reduces(graph.ops[producer]):
        return True
    sums = [m for m in (*group.members, producer) if _reduces(graph.ops[m])]
    if all(len(iterators_of(graph.ops[m])) == loops for m in sums):
        return True
    return len(sums) == 1 and _is_read_once(graph, group, producer)


def _is_read_once(graph: BlockGraph, group: Group, member: int) -> bool:
    """Whether a chain of single reads leads from an op to the group's anchor."""
    while member != group.anchor:
        results = list(graph.ops[member].results)
        users = graph.users(results[0])
        if len(results) > 1 or len(users) > 1:
            return False
        if list(graph.ops[users[0]].operands).count(results[0]) != 1:
            return False
        member = users[0]
    return True


def _is_repeated(graph: BlockGraph, group: Group, decode: int) -> bool:
    """Whether a decode of what is in memory has users outside that decode it
    for themselves: then nobody writes it."""
    op = graph.ops[decode]
    producer = graph.producer(op.operands[0])
    if producer is not None and _is_groupable(graph.ops[producer]):
        return False
    others = [r for r in graph.users(op.results[0]) if r not in group.members]
    return len(others) > 0 and all(graph.ops[r].name.startswith("linalg.") for r in others)


def _may_move(graph: BlockGraph, group: Group, producer: int) -> bool:
    """Whether the region may hold an op, if all who read it can be below.

    What others read becomes a second result: one at most, and none besides
    reductions: quirks.PACKED_BEFORE_REDUCTION.
    """
    if any(graph.is_captured(result) for result in graph.ops[producer].results):
        return False
    members = {*group.members, producer}
    shared = sum(_is_read_outside(graph, members, m) for m in members if m != group.anchor)
    if shared > 1 or (shared and any(_reduces(graph.ops[m]) for m in members)):
        return False
    return len(read_from_outside(graph, members)) < MOST_OPERANDS


def _is_read_outside(graph: BlockGraph, members: set[int], member: int) -> bool:
    results = graph.ops[member].results
    return any(user not in members for result in results for user in graph.users(result))


def _reduces(op: ir.Operation) -> bool:
    return op.name == GENERIC and not is_elementwise(op)


def _is_decode(op: ir.Operation) -> bool:
    return op.name == _DECODE or is_bit_extend(op)


def _reads(op: ir.Operation) -> list[tuple[ir.Value, ir.AffineMap | None]]:
    """The tensors that an op computes from; None stands for the identity."""
    if op.name == GENERIC:
        return list(zip(inputs_of(op), maps_of(op)[: input_count(op)], strict=True))
    if op.name in (_ENCODE, _DECODE):
        return [(op.operands[0], None)]
    return []


def _can_be_computed_with(producer: ir.Operation, map_: ir.AffineMap | None, loops: int) -> bool:
    """Whether an op can be computed tile by tile in the loops of a user that
    reads it through ``map_``."""
    if producer.name in (_ENCODE, _DECODE):
        return map_ is None or map_.is_permutation
    if producer.name != GENERIC:
        return False
    if not all(m.is_projected_permutation for m in maps_of(producer)):
        return False
    if map_ is None or map_.is_permutation:
        return True
    # A row's sum, say, that all elements of the row read.
    return (
        not is_elementwise(producer)
        and map_.is_projected_permutation
        and len(map_.results) > 0
        and len(iterators_of(producer)) == loops
    )


def _loop_count(op: ir.Operation) -> int:
    return len(iterators_of(op)) if op.name == GENERIC else tensor_type(op.results[0]).rank
