"""The ops of one dispatch region, before it is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from ....dialects import ir
from ....dialects.op_traits import INITS
from .block_graph import BlockGraph

# IREE takes no more bindings in a dispatch.
MOST_OPERANDS = 16


@dataclass
class Group:
    """Positions of the ops of one region. ``anchor``: where it is placed;
    ``postponed``: what moves to below it."""

    anchor: int
    members: set[int] = field(default_factory=set[int])
    clones: set[int] = field(default_factory=set[int])
    postponed: set[int] = field(default_factory=set[int])


def read_from_outside(graph: BlockGraph, members: set[int]) -> set[ir.Value]:
    """Tensors that a region of these ops would read."""
    found: set[ir.Value] = set()
    for member in sorted(members):
        for operand in graph.ops[member].operands:
            producer = graph.producer(operand)
            if producer is not None and (producer in members or graph.ops[producer].name in INITS):
                continue
            if isinstance(operand.type, ir.RankedTensorType):
                found.add(operand)
    return found
