"""Takes loop-invariant collectives out of their loops."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.headrace import is_collective
from ...dialects.op_traits import is_total
from ...dialects.upstream.scf import ForLoop
from ..base import Pass
from ..remarks import remark
from .pipelining.stages import Chain, LoopBody


@dataclass(frozen=True)
class HoistCollectives(Pass):
    """A collective that gives the same in each iteration runs once, before the loop.

    With it goes all that it is computed from. Inner loops come first, so that
    a collective can leave several. Where the loop may not run at all, ops
    that are not defined for all operands stay, and with them the collective
    that is computed from them.

    Before::

        scf.for %i = ... { %g = collective(%w); use(%g, %i) }

    After::

        %g = collective(%w)
        scf.for %i = ... { use(%g, %i) }
    """

    name = "hoist-collectives"

    def run(self, module: ir.Operation) -> None:
        for op in reversed([o for o in ir.walk(module, bodies=False) if o.name == "scf.for"]):
            _hoist(ForLoop(op))


def _hoist(loop: ForLoop) -> None:
    if not any(is_collective(op) for op in loop.body_ops()):
        return
    body = LoopBody(loop)
    runs = (loop.trips() or 0) > 0
    moved: set[int] = set()
    for position in body.collectives:
        chain = body.chain(position)
        if not isinstance(chain, Chain) or chain.uses_index:
            continue
        partial = [body.ops[p] for p in chain.positions if not is_total(body.ops[p])]
        if runs or not partial:
            moved.update(chain.positions)
        else:
            remark(
                body.ops[position],
                f"not hoisted: '{partial[0].name}' before it may be undefined, and the loop "
                "may have no trip",
            )
    if not moved:
        return
    # A carried value that never changes is its initial value.
    values: ir.ValueMap = {
        carried: loop.inits[slot]
        for slot, carried in enumerate(body.carried)
        if body.is_invariant(slot)
    }
    ir.clone_ops([body.ops[p] for p in sorted(moved)], values, ir.InsertionPoint(loop.op))
    # What else reads a moved op in the loop reads the copy before the loop,
    # but for a dequantize, which stays beside its matmul.
    for position in sorted(moved):
        if not body.stays_beside(position):
            for result in body.ops[position].results:
                result.replace_all_uses_with(values[result])
    # The last first: what a later one read has no reader then.
    for position in sorted(moved, reverse=True):
        if not ir.is_used(body.ops[position]):
            body.ops[position].erase()
