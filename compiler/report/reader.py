"""The part of the report on the program: what travels, and what multiplies."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import HeadraceOp
from ...dialects.ops.collectives import CollectiveOp
from ...dialects.wire_bytes import received_bytes
from ...passes.analysis.contractions import Contraction, contraction_of
from ...passes.analysis.pipelined_mark import PEELED, PIPELINE_REASON
from ...passes.analysis.trip_counts import trips_of
from ...passes.pipeline import Instrumentation
from .timeline import LoopWork, read_loop_work

DOTS = frozenset(
    (
        "stablehlo.dot_general",
        "stablehlo.dot",
        "linalg.matmul",
        "linalg.batch_matmul",
        "linalg.matvec",
        "linalg.vecmat",
        "linalg.dot",
        "linalg.contract",
    )
)


@dataclass(frozen=True)
class Collective:
    """One collective of the final program; ``bytes`` is per device and call."""

    op: str
    element_type: str
    bytes: int | None
    trips: int | None
    pipelined: bool
    reason: str | None
    wide_reason: str | None


@dataclass(frozen=True)
class Matmul:
    """One matrix product; ``reason`` says why an fp8-derived one stayed wide."""

    lhs: str
    rhs: str
    result: str
    scaled: bool
    reason: str | None


def read_collectives(module: ir.Operation) -> list[Collective]:
    """All collectives, before lowering, with loops in ``scf`` form."""
    found: list[Collective] = []
    for op in ir.walk(module, bodies=False):
        declared = HeadraceOp.operations.get(op.name)
        if declared is None or not issubclass(declared, CollectiveOp):
            continue
        collective = declared(op)
        found.append(
            Collective(
                op=op.name.removeprefix("headrace."),
                element_type=str(ir.RankedTensorType(op.operands[0].type).element_type),
                bytes=received_bytes(collective),
                trips=trips_of(op),
                pipelined=ir.BoolAttr(op.attributes["pipelined"]).value,
                reason=_text(op, PIPELINE_REASON),
                wide_reason=_text(op, "headrace.wide_reason"),
            )
        )
    return found


def read_matmuls(module: ir.Operation) -> list[Matmul]:
    """All matrix products, after those that can be are ``headrace.matmul``.

    Copies that the pipeliner peeled off a loop are not counted again.
    """
    found: list[Matmul] = []
    for op in ir.walk(module, bodies=False):
        if PEELED in op.attributes or not _is_matmul(op):
            continue
        lhs, rhs = op.operands[0].type, op.operands[1].type
        narrow = fp8_format(lhs) is not None or fp8_format(rhs) is not None
        found.append(
            Matmul(
                lhs=str(lhs),
                rhs=str(rhs),
                result=str(op.results[0].type),
                scaled=op.name == "headrace.matmul" and narrow,
                reason=_text(op, "headrace.wide_reason"),
            )
        )
    return found


def _is_matmul(op: ir.Operation) -> bool:
    if op.name == "linalg.generic":
        return isinstance(contraction_of(op), Contraction)
    return op.name == "headrace.matmul" or op.name in DOTS


def _text(op: ir.Operation, name: str) -> str | None:
    return ir.StringAttr(op.attributes[name]).value if name in op.attributes else None


@dataclass
class Reader(Instrumentation):
    """Reads the program where its collectives and matmuls are plain to see.

    Matmuls once all scaled ones are formed, and none is lowered; collectives once
    loops are pipelined.
    """

    matmuls: list[Matmul] = field(default_factory=list[Matmul])
    collectives: list[Collective] = field(default_factory=list[Collective])
    loops: list[LoopWork] = field(default_factory=list[LoopWork])

    def stage_ends(self, stage: str, module: ir.Operation) -> None:
        if stage == "matmuls":
            self.matmuls = read_matmuls(module)

    def stage_begins(self, stage: str, module: ir.Operation) -> None:
        if stage == "lowering":
            self.collectives = read_collectives(module)
            self.loops = read_loop_work(module)


def wire_bytes(collectives: list[Collective]) -> int | None:
    """Bytes received per device and run of the program; None if a loop's trip
    count or a size is only known at run time."""
    total = 0
    for collective in collectives:
        if collective.bytes is None or collective.trips is None:
            return None
        total += collective.bytes * collective.trips
    return total
