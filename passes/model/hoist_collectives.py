"""Takes loop-invariant collectives out of their loops."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.cloning import Mapping, clone_ops
from ...dialects.mlir import InsertionPoint, Operation, walk
from ...dialects.scf import ForLoop
from ..base import Pass
from .loop_stages import Chain, LoopBody
from .pipelined_mark import is_collective


@dataclass(frozen=True)
class HoistCollectives(Pass):
    """A collective that gives the same in each trip runs once, before the loop.

    With it goes all that it is computed from. Inner loops come first, so that
    a collective can leave several. Pure ops may run though the loop does not.

    Before::

        scf.for %i = ... { %g = all_gather(%w); use(%g, %i) }

    After::

        %g = all_gather(%w)
        scf.for %i = ... { use(%g, %i) }
    """

    name = "hoist-collectives"

    def run(self, module: Operation) -> None:
        for op in reversed([o for o in walk(module) if o.name == "scf.for"]):
            _hoist(ForLoop(op))


def _hoist(loop: ForLoop) -> None:
    body = LoopBody(loop)
    moved: set[int] = set()
    collectives: list[int] = []
    for position, op in enumerate(body.ops):
        if is_collective(op):
            chain = body.chain(position)
            if isinstance(chain, Chain) and not chain.uses_index:
                moved.update(chain.positions)
                collectives.append(position)
    if not collectives:
        return
    # A carried value that never changes is its initial value.
    values: Mapping = {
        carried: loop.inits[slot]
        for slot, carried in enumerate(body.carried)
        if body.is_invariant(slot)
    }
    clone_ops([body.ops[p] for p in sorted(moved)], values, InsertionPoint(loop.op))
    for position in collectives:
        for result in body.ops[position].results:
            result.replace_all_uses_with(values[result])
    # The last first: what a later one read has no reader then.
    for position in sorted(moved, reverse=True):
        op = body.ops[position]
        if all(next(iter(r.uses), None) is None for r in op.results):
            op.erase()
