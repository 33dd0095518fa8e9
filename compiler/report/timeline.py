"""An estimate of what pipelining is worth: time per trip, before and after."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dialects import ir
from ...dialects.headrace import as_collective, is_collective
from ...passes.analysis.contractions import is_matmul, matmul_flops
from ...passes.analysis.pipelined_mark import PEELED, is_pipelined
from ...passes.analysis.trip_counts import LOOPS, loop_trips
from ...passes.targets.rates import rates_of

NOTE = (
    "an estimate: matmuls and collectives only, at peak rates, without latency; after: every "
    "pipelined collective runs beside matmuls of its loop"
)


@dataclass
class LoopWork:
    """What a trip of a loop with collectives computes and receives.

    ``flops`` is by the width of the wider operand in bits. Loops inside count
    as often as they run; ``known`` is false where a size or a trip count is
    only known at run time.
    """

    trips: int | None
    flops: dict[int, int] = field(default_factory=dict[int, int])
    pipelined_bytes: int = 0
    other_bytes: int = 0
    known: bool = True


def read_loop_work(module: ir.Operation) -> list[LoopWork]:
    """The loops around collectives, innermost ones, before lowering; copies left out."""
    loops = {
        parent: LoopWork(loop_trips(parent))
        for op in ir.walk(module, bodies=False)
        if is_collective(op) and (parent := _loop_around(op)) is not None
    }
    for op in ir.walk(module, bodies=False):
        if not is_collective(op) and not is_matmul(op):
            continue
        times: int | None = 1
        parent = _loop_around(op)
        while parent is not None:
            if parent in loops:
                _add(loops[parent], op, times)
            own = loop_trips(parent)
            times = None if own is None or times is None else times * own
            parent = _loop_around(parent)
    return [work for loop, work in loops.items() if PEELED not in loop.attributes]


def timeline(loops: list[LoopWork], target: str) -> dict[str, object]:
    """The report's ``timeline``: seconds per trip of each loop, and what bounds it.

    Before, a trip computes and communicates in turn; after, what is pipelined
    is hidden behind the matmuls, so the trip takes the longer of the two, and
    only what sticks out is exposed.
    """
    rates = rates_of(target)
    return {
        "note": NOTE,
        "chip": rates.chip,
        "link_bytes_per_second": rates.link,
        "loops": [_loop_timeline(work, target) for work in loops],
    }


def _loop_timeline(work: LoopWork, target: str) -> dict[str, object]:
    rates = rates_of(target)
    if not work.known:
        unknown = ("compute_seconds", "communication_seconds", "before", "after", "bound")
        return {"trips": work.trips, **dict.fromkeys(unknown)}
    compute = sum(flops / rates.flops(target, width) for width, flops in work.flops.items())
    hidden, other = work.pipelined_bytes / rates.link, work.other_bytes / rates.link
    exposed = max(0.0, hidden - compute) + other
    return {
        "trips": work.trips,
        "compute_seconds": compute,
        "communication_seconds": hidden + other,
        "before": {"seconds": compute + hidden + other, "exposed_seconds": hidden + other},
        "after": {"seconds": compute + exposed, "exposed_seconds": exposed},
        "bound": "compute" if compute >= hidden + other else "communication",
    }


def _loop_around(op: ir.Operation) -> ir.Operation | None:
    parent = op.parent
    while parent is not None:
        if parent.operation.name in LOOPS:
            return parent.operation
        parent = parent.operation.parent
    return None


def _add(work: LoopWork, op: ir.Operation, times: int | None) -> None:
    amount = as_collective(op).received_bytes() if is_collective(op) else matmul_flops(op)
    if amount is None or times is None:
        work.known = False
    elif not is_collective(op):
        width = max(_width(v.type) for v in list(op.operands)[:2])
        work.flops[width] = work.flops.get(width, 0) + amount * times
    elif is_pipelined(op):
        work.pipelined_bytes += amount * times
    else:
        work.other_bytes += amount * times


def _width(type_: ir.Type) -> int:
    element = ir.RankedTensorType(type_).element_type
    return element.width if isinstance(element, ir.FloatType | ir.IntegerType) else 64
