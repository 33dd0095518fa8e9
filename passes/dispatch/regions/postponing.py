"""Moves ops that stand between two members of a dispatch region to below it."""

from __future__ import annotations

from collections.abc import Callable, Container

from ....dialects import ir
from ....dialects.op_traits import is_pure
from .block_graph import BlockGraph

# Nothing that talks to other devices: when that happens is decided already.
_MOVABLE = ("affine.", "arith.", "linalg.", "math.", "scf.if", "tensor.")

# More would make regions of long blocks quadratic.
_MOST = 64


def readers_between(
    graph: BlockGraph,
    maker: int,
    anchor: int,
    members: Container[int],
    is_fixed: Callable[[int], bool],
) -> set[int] | None:
    """What would have to follow a region at ``anchor`` for ``maker`` to be one
    of its ``members``; None if it cannot.

    Those are the ops that read what ``maker`` makes, directly or not, and
    stand above the anchor. ``is_fixed`` says which are in regions.
    """
    found: set[int] = set()
    waiting = [maker]
    while waiting:
        position = waiting.pop()
        for result in graph.ops[position].results:
            for reader in graph.readers(result):
                if reader > anchor:
                    break
                if reader in found or (position == maker and reader in members):
                    continue
                if (
                    reader in members
                    or is_fixed(reader)
                    or len(found) == _MOST
                    or not _is_movable(graph.ops[reader])
                ):
                    return None
                found.add(reader)
                waiting.append(reader)
    return found


def _is_movable(op: ir.Operation) -> bool:
    return op.name.startswith(_MOVABLE) and is_pure(op)
