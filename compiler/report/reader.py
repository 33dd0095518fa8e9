"""The part of the report on the program: what travels, and what multiplies."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dialects import ir
from ...dialects.fp8 import fp8_format
from ...dialects.headrace import MatmulOp, as_collective, is_collective
from ...dialects.op_traits import is_convolution
from ...dialects.ops.base import WIDE_REASON
from ...dialects.upstream.contraction import scaled_contraction_loops
from ...passes.analysis.contractions import is_product
from ...passes.analysis.near_fp8 import comes_from_fp8
from ...passes.analysis.pipelined_mark import PEELED, PIPELINE_REASON
from ...passes.analysis.trip_counts import trips_of
from ...passes.pipeline import Instrumentation
from .timeline import LoopWork, read_loop_work


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
    """One matrix product or convolution; ``reason`` says why an fp8-derived one stayed wide."""

    lhs: str
    rhs: str
    result: str
    scaled: bool
    reason: str | None


def read_collectives(module: ir.Operation) -> list[Collective]:
    """All collectives, before lowering, with loops in ``scf`` form."""
    return [
        Collective(
            op=op.name.removeprefix("headrace."),
            element_type=str(ir.RankedTensorType(op.operands[0].type).element_type),
            bytes=as_collective(op).received_bytes(),
            trips=trips_of(op),
            pipelined=ir.BoolAttr(op.attributes["pipelined"]).value,
            reason=_text(op, PIPELINE_REASON),
            wide_reason=_text(op, WIDE_REASON),
        )
        for op in ir.walk(module, bodies=False)
        if is_collective(op)
    ]


def read_matmuls(module: ir.Operation) -> list[Matmul]:
    """All matrix products and convolutions, after those that can be are ``headrace.matmul``.

    Copies that the pipeliner peeled off a loop are not counted again.
    """
    found: list[Matmul] = []
    for op in ir.walk(module, bodies=False):
        if PEELED in op.attributes or not is_product(op):
            continue
        lhs, rhs = op.operands[0].type, op.operands[1].type
        narrow = fp8_format(lhs) is not None or fp8_format(rhs) is not None
        in_blocks = scaled_contraction_loops(op) is not None
        found.append(
            Matmul(
                lhs=str(lhs),
                rhs=str(rhs),
                result=str(op.results[0].type),
                scaled=(op.name == MatmulOp.OPERATION_NAME and narrow) or in_blocks,
                reason=_why_wide(op),
            )
        )
    return found


def _why_wide(op: ir.Operation) -> str | None:
    if is_convolution(op) and any(map(comes_from_fp8, list(op.operands)[:2])):
        return "the convolution stays wide: headrace has none of fp8 values"
    return _text(op, WIDE_REASON)


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
