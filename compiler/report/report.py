"""The report of a compilation: what travels, what multiplies, what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, get_type_hints

from ...passes.pipeline import Instrumentation, Step
from ..iree.child import ChildResult
from ..options import CompileOptions
from ..pipelines import Settings
from .encodings import EncodingFusion, EncodingReader, NotEncoded
from .phases import Phases, read_phases
from .reader import Collective, Matmul, Reader, wire_bytes
from .timeline import Timeline, timeline


@dataclass(frozen=True)
class PassTime:
    name: str
    seconds: float


@dataclass(frozen=True)
class Report:
    """The keys of ``--report=FILE.json`` in their order, with what they mean.

    A field without a meaning is a part: its own keys stand in its place.
    """

    collectives: Annotated[
        list[Collective],
        "one entry per op of the final program: `op`, `element_type`, `bytes` (received per "
        "device and call by the ring algorithm), `trips` (how often it runs; null if only known "
        "at run time), `pipelined`, `reason` (why not), `wide_reason` (why it was not narrowed)",
    ]
    wire_bytes: Annotated[
        int | None,
        "sum of bytes x trips, per device and run of all functions; null if a trip count or size "
        "is dynamic",
    ]
    matmuls: Annotated[
        list[Matmul],
        "`lhs`, `rhs`, `result` (tensor types), `scaled`, `reason` (why an fp8-derived one stayed"
        " wide); copies that the pipeliner peeled off a loop are not counted again",
    ]
    timeline: Annotated[
        Timeline,
        "per loop with collectives the estimated time of a trip, before and after pipelining",
    ]
    passes: Annotated[
        list[PassTime],
        "`name` and `seconds` of each pass that ran, native ones included",
    ]
    encoding_fusion: Annotated[
        EncodingFusion,
        "`values`: per value that is packed in the dispatch that makes it: its type, "
        "`launches_saved`, `bytes_added` (what that dispatch stores more than before), `trips`; "
        "`total_without_option`, `total_with_option`: the sums without and with "
        "`--experimental-multi-use-encoding-fusion`, whichever was given; the other one is null "
        "unless the report reads phases",
    ]
    not_encoded: Annotated[
        list[NotEncoded],
        "matmuls that are not packed: `lhs`, `rhs`, `result`, and the `reason`",
    ]
    phases: Phases
    headrace_seconds: Annotated[float, "from the parsed module to the hand-over"]
    iree_seconds: Annotated[
        float | None,
        "in `iree-compile`, and the pass `separate-forwarded-refs`; null where neither ran",
    ]
    target: Annotated[str, "for which it was compiled"]
    options: Annotated[dict[str, object], "what the result depends on besides"]
    versions: Annotated[dict[str, str], "of headrace and the packages that the result depends on"]


def meanings(kind: Any) -> Iterator[tuple[str, str]]:
    """All keys of a report or a part in their order, with what they mean."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if hasattr(hint, "__metadata__"):
            yield name, hint.__metadata__[0]
        else:
            yield from meanings(hint)


def as_json(report: Any) -> dict[str, object]:
    """What ``json.dumps`` writes of a report."""
    keys = [name for name, _ in meanings(type(report))]
    found: dict[str, object] = {}
    for name, value in asdict(report).items():
        found |= {name: value} if name in keys else value
    return found


class ReportReaders:
    """What watches the passes for the report."""

    def __init__(self, settings: Settings, *, compare: bool) -> None:
        multi_use = settings.experimental_multi_use_encoding_fusion
        self._program = Reader()
        self._encodings = EncodingReader(settings.target, multi_use, compare=compare)
        self.hooks: list[Instrumentation] = [self._program, self._encodings]

    def report(
        self,
        options: CompileOptions,
        steps: Sequence[tuple[Step, float]],
        headrace_seconds: float,
        child: ChildResult | None,
    ) -> Report:
        """``child`` is iree-compile's run, if there was one."""
        collectives = self._program.collectives
        if child is not None:
            headrace_seconds += child.writing_seconds
        return Report(
            collectives=collectives,
            wire_bytes=wire_bytes(collectives),
            matmuls=self._program.matmuls,
            timeline=timeline(self._program.loops, options.target),
            passes=[PassTime(step.name, seconds) for step, seconds in steps],
            encoding_fusion=self._encodings.fusion(),
            not_encoded=self._encodings.refused,
            phases=read_phases(child.phases) if child is not None and options.report else Phases(),
            headrace_seconds=headrace_seconds,
            iree_seconds=child.seconds if child is not None else None,
            target=options.target,
            options=options.as_json(),
            versions=_versions(),
        )


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for package in ("headrace", "iree-base-compiler"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found
