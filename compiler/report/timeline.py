"""An estimate of what pipelining is worth: time per iteration, before and after."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dialects import ir
from ...dialects.headrace import as_collective, is_collective
from ...passes.analysis.contractions import is_matmul, matmul_flops
from ...passes.analysis.pipelined_mark import PEELED, is_pipelined
from ...passes.analysis.trip_counts import LOOPS, loop_trips
from ...passes.targets.lookup import find_target
from ...passes.targets.target import Rates

NOTE = (
    "an estimate: matmuls and collectives only, at peak rates, without latency; after: every "
    "pipelined collective runs beside matmuls of its loop"
)


@dataclass
class LoopWork:
    """What an iteration of a loop with collectives computes and receives.

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


@dataclass(frozen=True)
class Trip:
    """How long an iteration takes, and what of that only communicates."""

    seconds: float
    exposed_seconds: float


@dataclass(frozen=True)
class LoopTimeline:
    """None where a size or a trip count is only known at run time."""

    trips: int | None
    compute_seconds: float | None = None
    communication_seconds: float | None = None
    before: Trip | None = None
    after: Trip | None = None
    bound: str | None = None


@dataclass(frozen=True)
class Timeline:
    """The loops with collectives, at the peak rates of a chip and a link."""

    note: str
    chip: str
    link_bytes_per_second: float
    loops: list[LoopTimeline]


def timeline(loops: list[LoopWork], target: str) -> Timeline:
    """The report's ``timeline``: seconds per iteration of each loop, and what bounds it.

    Before, an iteration computes and communicates in turn; after, what is pipelined
    is hidden behind the matmuls, so the iteration takes the longer of the two, and
    only what sticks out is exposed.
    """
    rates = find_target(target).rates
    found = [_loop_timeline(work, rates) for work in loops]
    return Timeline(NOTE, rates.chip, rates.received_bytes, found)


def _loop_timeline(work: LoopWork, rates: Rates) -> LoopTimeline:
    if not work.known:
        return LoopTimeline(work.trips)
    compute = sum(flops / rates.flops(width) for width, flops in work.flops.items())
    hidden = work.pipelined_bytes / rates.received_bytes
    other = work.other_bytes / rates.received_bytes
    exposed = max(0.0, hidden - compute) + other
    return LoopTimeline(
        work.trips,
        compute,
        hidden + other,
        before=Trip(compute + hidden + other, hidden + other),
        after=Trip(compute + exposed, exposed),
        bound="compute" if compute >= hidden + other else "communication",
    )


def _loop_around(op: ir.Operation) -> ir.Operation | None:
    return next((around for around in ir.ancestors(op) if around.name in LOOPS), None)


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
