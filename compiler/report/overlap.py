"""What of a loop runs at once, as IREE's ``stream`` phase has it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...dialects import ir
from ...passes.analysis.contractions import is_matmul
from ...passes.analysis.trip_counts import ControlFlow, stated_device

_ENTRY_POINT = re.compile(r"@([\w$.-]+)::")


@dataclass(frozen=True)
class LoopOverlap:
    """What one loop's own blocks do in an iteration, on the first device.

    ``overlapped`` of the ``collectives`` stand in one concurrent region with
    a matmul's dispatch; ``copies`` counts buffers that are copied.
    """

    trips: int | None
    collectives: int
    overlapped: int
    copies: int


def read_overlap(module: ir.Operation, functions: list[ir.Operation]) -> list[LoopOverlap]:
    """The loops of functions in IREE's ``stream`` phase, in program order."""
    matmuls = _matmul_executables(module)
    found: list[LoopOverlap] = []
    for function in functions:
        blocks = list(function.regions[0].blocks)
        flow = ControlFlow(blocks)
        for header, own in flow.loops().items():
            ops = [op for block in own for op in _first_device(blocks[block])]
            collectives = [op for op in ops if op.name == "stream.cmd.collective"]
            found.append(
                LoopOverlap(
                    trips=flow.trips(header),
                    collectives=len(collectives),
                    overlapped=sum(_is_beside_matmul(op, matmuls) for op in collectives),
                    copies=sum(op.name == "stream.cmd.copy" for op in ops),
                )
            )
    return found


def _matmul_executables(module: ir.Operation) -> frozenset[str]:
    """Names of the executables that hold a matrix product."""
    return frozenset(
        ir.StringAttr(op.attributes["sym_name"]).value
        for op in ir.operations_of(module.regions[0].blocks[0])
        if op.name == "stream.executable" and any(is_matmul(inner) for inner in ir.walk(op))
    )


def _first_device(block: ir.Block) -> list[ir.Operation]:
    """All ops that the first device executes in a block."""
    return [
        inner
        for op in ir.operations_of(block)
        if op.name == "stream.cmd.execute" and stated_device(op) in (None, 0)
        for inner in ir.walk(op)
    ]


def _is_beside_matmul(op: ir.Operation, matmuls: frozenset[str]) -> bool:
    region = op.parent
    if region is None or region.operation.name != "stream.cmd.concurrent":
        return False
    return any(
        match[1] in matmuls
        for inner in ir.walk(region.operation)
        if inner.name == "stream.cmd.dispatch"
        for match in _ENTRY_POINT.finditer(str(inner.attributes["entry_points"]))
    )
