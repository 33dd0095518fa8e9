"""Overlaps collectives with computation by moving them between loop iterations."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import ir
from ...dialects.headrace import COLLECTIVES, is_collective
from ...dialects.upstream.scf import ForLoop
from ..analysis.pipelined_mark import PEELED, PIPELINE_REASON, give_reason, is_pipelined
from ..base import Pass
from ..remarks import remark
from .pipelining.pipeliner import Limits, pipeline_loop

KINDS = tuple(op.kind() for op in COLLECTIVES.values())
MODES = ("off", "on", "explicit")


@dataclass(frozen=True)
class PipelineCollectives(Pass):
    """Issues a collective an iteration ahead of its use, or uses it an iteration behind.

    Works on `scf.for`, inner loops first. *Backward*: a collective computed
    from the loop's index and invariants alone is issued one iteration earlier
    (prologue, rotated body, peeled last iteration). *Forward*: one whose result
    only flows into carried values that nothing else reads is finished one
    trip later. *Sink*: a small one of that kind leaves the loop and runs once
    on the data of all iterations. In each, n iterations execute n collectives (sink: 1),
    and results are the same bit for bit.

    A loop with a dynamic number of iterations is pipelined under a guard of two
    trips; a static count below two is left alone. A collective that is not
    moved gets the attribute `headrace.pipeline_reason`. Moved ones are
    marked `pipelined` and not moved again.
    """

    name = "pipeline-collectives"

    modes: tuple[str, ...] = dataclasses.field(
        default=(),
        metadata={
            "help": f"kind:mode pairs; kinds {', '.join(KINDS)}, all; modes {', '.join(MODES)} "
            "(only ops with the attribute headrace.pipeline). Later pairs win; all:on is the "
            "default"
        },
    )
    budget: int = dataclasses.field(
        default=-1, metadata={"help": "bytes a loop may carry more than before; -1: no limit"}
    )
    max_in_flight: int = dataclasses.field(
        default=-1,
        metadata={"help": "collectives that a loop may move to other trips; -1: no limit"},
    )
    sink_below: int = dataclasses.field(
        default=10240,
        metadata={"help": "bytes received per trip below which a collective is sunk"},
    )

    def __post_init__(self) -> None:
        try:
            mode_of_kinds(self.modes)
        except ValueError as error:
            raise ir.HeadraceError(f"pass '{self.name}': {error}") from None

    def run(self, module: ir.Operation) -> None:
        modes = mode_of_kinds(self.modes)
        limits = Limits(modes, self.budget, self.max_in_flight, self.sink_below)
        for op in reversed([o for o in ir.walk(module, bodies=False) if o.name == "scf.for"]):
            if PEELED not in op.attributes:
                pipeline_loop(ForLoop(op), limits)
        said: set[tuple[str, str]] = set()
        for op in ir.walk(module, bodies=False):
            if is_collective(op) and not is_pipelined(op):
                give_reason(op, _why_never_tried(op))
                reason = ir.StringAttr(op.attributes[PIPELINE_REASON]).value
                # A rotated loop has copies of one op at one place.
                if (place := (str(op.location), reason)) not in said:
                    said.add(place)
                    remark(op, f"not pipelined: {reason}")


def mode_of_kinds(pairs: Sequence[str]) -> dict[str, str]:
    """The mode of each kind after ``kind:mode`` pairs, of which later ones win.

    A kind may be spelt as the report does, with ``_``. Raises ValueError for
    unknown names.
    """
    found: dict[str, str] = dict.fromkeys(KINDS, "on")
    for pair in pairs:
        kind, colon, mode = pair.partition(":")
        kind = kind.replace("_", "-")
        if not colon:
            raise ValueError(f"expected kind:mode, got '{pair}'")
        if kind not in (*KINDS, "all"):
            raise ValueError(f"unknown kind '{kind}'; known: all, {', '.join(KINDS)}")
        if mode not in MODES:
            raise ValueError(f"unknown mode '{mode}'; known: {', '.join(MODES)}")
        found.update(dict.fromkeys(KINDS if kind == "all" else (kind,), mode))
    return found


def _why_never_tried(op: ir.Operation) -> str:
    """For a collective that stands in no body of a ``scf.for`` itself."""
    parent = op.parent.operation if op.parent is not None else None
    around = parent
    while around is not None and around.parent is not None:
        if around.name == "scf.while":
            return "its loop is not counted"
        if around.name == "scf.for":
            assert parent is not None
            return f"it is inside '{parent.name}' in its loop"
        around = around.parent.operation
    return "it is in no loop"
