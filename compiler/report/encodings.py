"""The part of the report on packed matmuls: what is packed where, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from ...dialects import ir
from ...passes.analysis.trip_counts import trips_of
from ...passes.dispatch.fuse_encodings import FuseEncodings
from ...passes.dispatch.fusion.region import fused_values
from ...passes.dispatch.set_encodings import choose_matmuls
from ...passes.pipeline import Instrumentation, Step
from ...passes.targets.tiling import tiling_of


@dataclass(frozen=True)
class Fused:
    """A value that is packed where it is made, by one launch that makes both.

    ``launches_saved`` and ``bytes_added`` are for one run of its dispatch:
    bytes that the dispatch stores more than it did before. ``trips`` says how
    often that runs, None where it is dynamic.
    """

    value: str
    launches_saved: int
    bytes_added: int | None
    trips: int | None


@dataclass(frozen=True)
class NotEncoded:
    """A matrix product that is not packed, and why."""

    lhs: str
    rhs: str
    result: str
    reason: str


@dataclass
class EncodingReader(Instrumentation):
    """Reads what the dispatch stage did, before programs are written out per device.

    With ``compare`` the fusion is also tried the other way, with or without
    the option for values that have other users, on a copy.
    """

    target: str
    multi_use: bool
    compare: bool
    fused: list[Fused] = field(default_factory=list[Fused])
    other: list[Fused] = field(default_factory=list[Fused])
    refused: list[NotEncoded] = field(default_factory=list[NotEncoded])

    def before(self, step: Step, module: ir.Operation) -> None:
        if step.name == "set-encodings":
            self.refused = _read_refused(module, self.target)
        if step.name == FuseEncodings.name and self.compare:
            copy = module.clone().operation
            FuseEncodings(self.target, not self.multi_use).run(copy)
            self.other = _read_fused(copy)

    def after(self, step: Step, module: ir.Operation, seconds: float) -> None:
        if step.name == FuseEncodings.name:
            self.fused = _read_fused(module)

    def entries(self) -> dict[str, object]:
        """The part of the report that this reader knows."""
        given, other = _totals(self.fused), _totals(self.other) if self.compare else None
        return {
            "encoding_fusion": {
                "values": [asdict(f) for f in self.fused],
                "total_without_option": other if self.multi_use else given,
                "total_with_option": given if self.multi_use else other,
            },
            "not_encoded": [asdict(r) for r in self.refused],
        }


def _read_fused(module: ir.Operation) -> list[Fused]:
    return [
        Fused(v.value, v.launches_saved, v.bytes_added, trips_of(op))
        for op in ir.walk(module, bodies=False)
        for v in fused_values(op)
    ]


def _read_refused(module: ir.Operation, target: str) -> list[NotEncoded]:
    return [
        NotEncoded(*_types(op), reason)
        for op, reason in choose_matmuls(module, tiling_of(target)).refused
    ]


def _types(op: ir.Operation) -> tuple[str, str, str]:
    lhs, rhs = list(op.operands)[:2]
    return str(lhs.type), str(rhs.type), str(op.results[0].type)


def _totals(values: Sequence[Fused]) -> dict[str, int | None]:
    """Sums; None where an addend is not known."""
    added = [v.bytes_added for v in values]
    runs = [None if v.trips is None else v.launches_saved * v.trips for v in values]
    return {
        "launches_saved": sum(v.launches_saved for v in values),
        "launches_saved_per_run": _sum(runs),
        "bytes_added": _sum(added),
    }


def _sum(addends: Sequence[int | None]) -> int | None:
    known = [a for a in addends if a is not None]
    return sum(known) if len(known) == len(addends) else None
